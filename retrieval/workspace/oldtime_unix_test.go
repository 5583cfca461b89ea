//go:build unix

package workspace_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"quarry/index/walk"
)

// A file that was written under its old size and time has the line that it has now, although
// nobody told of it.
func TestLinesUnderAnOldTime(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.txt": "alphabet here\n", "b.txt": "zetabet there\n"})
	<-time.After(walk.Racy) // else its time is not believed anyway
	w := open(t, false, dir)
	if _, err := w.Await(t.Context()); err != nil {
		t.Fatal(err)
	}
	there := "b.txt:1: zetabet there"
	if got := w.lines(`re:"zeta[b]et"`, 100); !slices.Equal(got, []string{there}) {
		t.Fatalf("found %q", got)
	}
	path := filepath.Join(dir, "a.txt")
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"a.txt": "zetabeta here\n"})
	if err := os.Chtimes(path, before.ModTime(), before.ModTime()); err != nil {
		t.Fatal(err)
	}
	if got, want := w.lines(`re:"zeta[b]et"`, 100), []string{"a.txt:1: zetabeta here", there}; !slices.Equal(got, want) {
		t.Errorf("found %q, not %q", got, want)
	}
}
