package index

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"quarry/index/store"
)

// awaitText waits until every file has its row in the full-text table.
func awaitText(t *testing.T, x *Index) {
	t.Helper()
	settle(t, x)
	until(t, "the full-text table is filled", func() bool {
		if m, ok := x.cfg.Clock.(*manual); ok {
			m.move(fillAfter)
		}
		due, err := x.Store().TextDue(t.Context(), 1)
		return err == nil && len(due) == 0
	})
}

// having answers the paths of the files that have a term, those that are due left out.
func having(t *testing.T, x *Index, term string) []string {
	t.Helper()
	m, err := x.Store().MatchAny(t.Context(), []string{term}, 1000, 0)
	if err != nil {
		t.Fatal(err)
	}
	list := []string{}
	slices.Sort(m.Files)
	if _, err := x.Store().Load(t.Context(), append([]int64{}, m.Files...), func(f *store.File) error {
		list = append(list, f.Path)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(list)
	return list
}

// The full-text table is filled when nothing was indexed for a while and nobody needs the
// machine, from disk and from what is open in an editor; not before.
func TestTextIsFilledWhenNobodyWaits(t *testing.T) {
	dir, clock := t.TempDir(), newManual()
	files := map[string]string{"open.go": "package a // zebra\n"}
	for i := range 3 * fillFiles {
		files[fmt.Sprintf("f%d.go", i)] = fmt.Sprintf("package a\n\n// common words\nfunc F%d() {}\n", i)
	}
	write(t, dir, files)
	x := start(t, Config{Dir: dir, Clock: clock})
	due := func() int {
		t.Helper()
		list, err := x.Store().TextDue(t.Context(), 1000)
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	if n := due(); n != len(files) {
		t.Errorf("at once %d of %d files are due", n, len(files))
	}
	leave := x.Busy()
	clock.move(fillAfter)
	if n := due(); n != len(files) {
		t.Errorf("while somebody needs the machine %d of %d files are due", n, len(files))
	}
	leave()
	awaitText(t, x)
	if got := having(t, x, "common"); len(got) != 3*fillFiles {
		t.Errorf("%d files have the words, want %d", len(got), 3*fillFiles)
	}
	x.DidOpen(filepath.Join(dir, "open.go"), "package a // giraffe\n")
	awaitText(t, x)
	if got := having(t, x, "zebra"); len(got) > 0 {
		t.Errorf("%q has what the editor has not", got)
	}
	if got := having(t, x, "giraff"); !slices.Equal(got, []string{"open.go"}) {
		t.Errorf("%q has what the editor has", got)
	}
	if err := x.Store().Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// What is no longer as the record has it gets a row without its text: another record
// comes with the next event or scan.
func TestTextThatChangedMeanwhileIsNotWritten(t *testing.T) {
	dir, clock := t.TempDir(), newManual()
	write(t, dir, map[string]string{"a.go": "package a // zebra\n", "gone.go": "package a // zebra\n"})
	x := start(t, Config{Dir: dir, Clock: clock})
	write(t, dir, map[string]string{"a.go": "package a // giraffe\n", "gone.go": ""})
	awaitText(t, x)
	for _, term := range []string{"zebra", "giraff"} {
		if got := having(t, x, term); len(got) > 0 {
			t.Errorf("%q has %s", got, term)
		}
	}
	x.FilesChanged([]string{filepath.Join(dir, "a.go"), filepath.Join(dir, "gone.go")})
	until(t, "the change to be indexed", func() bool { clock.move(time.Second); return !slices.Contains(paths(t, x), "gone.go") })
	awaitText(t, x)
	if got := having(t, x, "giraff"); !slices.Equal(got, []string{"a.go"}) {
		t.Errorf("%q has the new text", got)
	}
	if err := x.Store().Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// A process that is killed while it fills the table, or before it began, leaves the rest to
// the next.
func TestTextIsFilledAfterAKill(t *testing.T) {
	rounds, files := 6, 200
	dir, state := t.TempDir(), t.TempDir()
	r := rand.New(rand.NewPCG(7, 1))
	for range 6 {
		mutate(t, r, dir, files)
	}
	for round := range rounds {
		p := spawn(t, dir, state+"|hurried")
		p.expect(t, "owner true")
		p.expect(t, "settled")
		if round%2 == 0 {
			awaitFirstText(t, dir, state)
		}
		p.kill(t)
		mutate(t, r, dir, files)
	}
	x := start(t, Config{Dir: dir, StateDir: state, Clock: hurried{time.Now()}, Notify: func(m string) { t.Errorf("told: %s", m) }})
	awaitText(t, x)
	var cut terms
	for _, name := range paths(t, x) {
		text, err := x.Text(name)
		if err != nil {
			t.Fatal(err)
		}
		if words := strings.Fields(cut.of(text)); !slices.Contains(having(t, x, words[len(words)-1]), name) {
			t.Errorf("%s is not found by %q", name, words[len(words)-1])
		}
	}
	if err := x.Store().Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// awaitFirstText waits until another process has written some of the table.
func awaitFirstText(t *testing.T, dir, state string) {
	t.Helper()
	folder, err := databaseDir(state, dir)
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.OpenToRead((&stateFiles{dir: folder}).database())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	all, err := s.Totals(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	until(t, "the other process has written some rows", func() bool {
		due, err := s.TextDue(t.Context(), int(all.Files))
		return err == nil && len(due) < int(all.Files)
	})
}

// A step is bounded, so that an edit does not wait for long.
func TestStepsOfTextAreSmall(t *testing.T) {
	dir, clock := t.TempDir(), newManual()
	large := "package a\n\n" + strings.Repeat("// words of a long comment\n", fillBytes/24)
	for i := range 4 {
		write(t, dir, map[string]string{fmt.Sprintf("f%d.go", i): large})
	}
	x := start(t, Config{Dir: dir, Clock: clock})
	c := &coordinator{Index: x}
	for left := 3; left >= 0; left-- {
		c.fill.later(clock.Now())
		c.fillStep(t.Context())
		if due, err := x.Store().TextDue(t.Context(), 9); err != nil || len(due) != left {
			t.Fatalf("%d files are due, %v; want %d", len(due), err, left)
		}
	}
}

// An index in memory is searched in memory, and so is one of a command that ends.
func TestTextIsNotFilledInVain(t *testing.T) {
	for name, cfg := range map[string]Config{"a command that ends": {Brief: true, StateDir: t.TempDir()}, "in memory": {StateDir: "/dev/null/quarry"}} {
		clock := newManual()
		cfg.Dir, cfg.Clock = t.TempDir(), clock
		write(t, cfg.Dir, project)
		x := start(t, cfg)
		if inMemory := x.Store().InMemory(); inMemory != (name == "in memory") {
			t.Fatalf("%s: in memory %v", name, inMemory)
		}
		c := &coordinator{Index: x}
		c.fill.later(clock.Now())
		c.fillStep(t.Context())
		if due, err := x.Store().TextDue(t.Context(), 9); err != nil || len(due) != 5 || c.fill.due {
			t.Errorf("%s: %d files are due, %v, and more is to do: %v", name, len(due), err, c.fill.due)
		}
	}
}

func TestTermsAreDistinct(t *testing.T) {
	var cut terms
	for range 2 {
		got := strings.Fields(cut.of("readFile(file) // reads the file; readFile"))
		if want := []string{"readfile", "read", "file", "the"}; !slices.Equal(got, want) {
			t.Errorf("terms %q, want %q", got, want)
		}
	}
}
