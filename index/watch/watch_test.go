package watch

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestWatch(t *testing.T) {
	dir := t.TempDir()
	seen := make(chan string, 100)
	w, err := New(func(path string) { seen <- path }, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{dir, dir, filepath.Join(dir, "missing")} {
		if err := w.Add(d); err != nil {
			t.Errorf("add %s: %v", d, err)
		}
	}
	name := filepath.Join(dir, "a.txt")
	steps := []func() error{
		func() error { return os.WriteFile(name, []byte("a"), 0o644) },
		func() error { return os.WriteFile(name, []byte("b"), 0o644) },
		func() error { return os.Rename(name, name+".old") },
		func() error { return os.Remove(name + ".old") },
	}
	for i, step := range steps {
		for len(seen) > 0 {
			<-seen
		}
		if err := step(); err != nil {
			t.Fatal(err)
		}
		select {
		case <-seen:
		case <-time.After(time.Minute):
			t.Fatalf("step %d was not told", i)
		}
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if err := w.Add(dir); err != nil {
		t.Errorf("add after Close: %v", err)
	}
}
