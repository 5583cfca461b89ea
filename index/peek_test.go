package index

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A file that was written a moment before it was indexed is not out of date for that, however
// soon somebody asks; one whose text is another is, though its size and time are the same.
func TestPeekAtFreshFiles(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	write(t, dir, map[string]string{"a.go": "package a\n", "b.go": "package b\n"})
	now := time.Now().Add(time.Hour) // fresh, whenever it is indexed
	for _, name := range []string{"a.go", "b.go"} {
		if err := os.Chtimes(filepath.Join(dir, name), now, now); err != nil {
			t.Fatal(err)
		}
	}
	cfg := Config{Dir: dir, StateDir: state}
	x := start(t, cfg)
	settle(t, x)
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	ask := func() Difference {
		t.Helper()
		st, err := Peek(t.Context(), cfg, time.Minute)
		if err != nil || st.Stale == nil {
			t.Fatal(st, err)
		}
		return *st.Stale
	}
	if d := ask(); d != (Difference{}) {
		t.Errorf("nothing was changed, and it says %+v", d)
	}
	write(t, dir, map[string]string{"b.go": "package c\n"})
	if err := os.Chtimes(filepath.Join(dir, "b.go"), now, now); err != nil {
		t.Fatal(err)
	}
	if d := ask(); d != (Difference{Changed: 1}) {
		t.Errorf("one was changed, and it says %+v", d)
	}
}
