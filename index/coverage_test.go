package index

import (
	"testing"
	"time"
)

// covered answers whether an index says that it knows all that is there now.
func covered(t *testing.T, x *Index) bool {
	t.Helper()
	c, err := x.Coverage(t.Context(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return c.Current
}

// Nobody need tell of a change: who writes the index looks, too, before it says that it knows all,
// and then indexes what it missed. What is left out for what is in it does not count for ever.
func TestWriterLooksBeforeItKnowsAll(t *testing.T) {
	for name, stateDir := range map[string]string{"on disk": t.TempDir(), "in memory": "/dev/null/no"} {
		dir := t.TempDir()
		write(t, dir, project)
		x := open(t, Config{Dir: dir, StateDir: stateDir})
		defer shut(t, x)
		settle(t, x)
		if !covered(t, x) {
			t.Fatalf("%s: it does not know what it has just read", name)
		}
		write(t, dir, map[string]string{"late.go": "package m\n\nfunc late() {}\n", "binary.dat": "\x00\x01\x02"})
		if covered(t, x) {
			t.Errorf("%s: it knows all but late.go", name)
		}
		since := time.Now()
		until(t, "all to be known", func() bool {
			c, err := x.Coverage(t.Context(), since)
			if err != nil {
				t.Fatal(err)
			}
			return c.Current
		})
		if symbols(t, x, "late.go") == nil {
			t.Errorf("%s: it knows all but late.go", name)
		}
	}
}

// Who only reads has the process that writes look, where nobody told that one of a change.
func TestReaderAsksTheWriterToLook(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	write(t, dir, project)
	writer := open(t, Config{Dir: dir, StateDir: state})
	defer shut(t, writer)
	settle(t, writer)
	reader := open(t, Config{Dir: dir, StateDir: state})
	defer shut(t, reader)
	until(t, "the reader to know all", func() bool { return covered(t, reader) })
	for _, name := range []string{"one.go", "two.go"} {
		write(t, dir, map[string]string{name: "package m\n\nfunc late() {}\n"})
		if covered(t, reader) {
			t.Errorf("it knows all but %s", name)
		}
		until(t, "the writer to look", func() bool { return covered(t, reader) })
		if symbols(t, reader, name) == nil {
			t.Errorf("it knows all but %s", name)
		}
	}
	write(t, dir, map[string]string{"three.go": "package m\n\nfunc late() {}\n"})
	if err := reader.Served(t.Context()); err != nil || symbols(t, reader, "three.go") == nil {
		t.Errorf("served, but for three.go: %v", err)
	}
}
