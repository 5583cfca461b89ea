package watch

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
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

// TestRenamedFolder: what is below a renamed folder is told of by its new name once
// that was added.
func TestRenamedFolder(t *testing.T) {
	dir := t.TempDir()
	below := func(names ...string) string { return filepath.Join(append([]string{dir}, names...)...) }
	if err := os.MkdirAll(below("deep", "er"), 0o755); err != nil {
		t.Fatal(err)
	}
	seen := make(chan string, 100)
	w, err := New(func(path string) { seen <- path }, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	add := func(dirs ...string) {
		for _, d := range dirs {
			if err := w.Add(d); err != nil {
				t.Fatal(err)
			}
		}
	}
	wait := func(name, gone string) {
		t.Helper()
		deadline := time.After(time.Minute)
		for {
			select {
			case got := <-seen:
				if got == name {
					return
				}
				if strings.HasPrefix(got, gone+string(filepath.Separator)) {
					t.Fatalf("told of %s, which is now below another name", got)
				}
			case <-deadline:
				t.Fatalf("%s was not told", name)
			}
		}
	}
	add(dir, below("deep"), below("deep", "er"))
	for i := range 3 { // there and back and there
		from, to := "deep", "moved"
		if i == 1 {
			from, to = to, from
		}
		if err := os.Rename(below(from), below(to)); err != nil {
			t.Fatal(err)
		}
		wait(below(from), below(from))
		wait(below(to), below(from))
		add(below(to), below(to, "er"))
		for _, name := range []string{below(to, "er", "a.txt"), below(to, "b.txt")} {
			if err := os.WriteFile(name, nil, 0o644); err != nil {
				t.Fatal(err)
			}
			wait(name, below(from))
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
			wait(name, below(from))
		}
	}
}

// What is said of watches that are used up names what to raise, and not the disk of the
// system's own words.
func TestLimitIsSaidInWordsThatHelp(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the limits of inotify are Linux's")
	}
	for errno, want := range map[syscall.Errno]string{
		syscall.ENOSPC: "fs.inotify.max_user_watches",
		syscall.EMFILE: "fs.inotify.max_user_instances",
	} {
		text := (&LimitError{errno}).Error()
		if !strings.Contains(text, want) || strings.Contains(text, "no space left") {
			t.Errorf("%v: %s", errno, text)
		}
	}
}
