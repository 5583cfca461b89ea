//go:build unix

package index

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The user of a second editor is told when the process that writes was stopped, as by
// Ctrl+Z in the first; when it goes on, so does everything.
func TestStoppedWriterIsTold(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	write(t, dir, project)
	p := spawn(t, dir, state)
	defer p.kill(t)
	p.expect(t, "owner true")
	p.expect(t, "settled")
	clock, told := newManual(), make(chan string, 10)
	reader := open(t, Config{Dir: dir, StateDir: state, Clock: clock, Notify: func(m string) { told <- m }})
	defer shut(t, reader)
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	until(t, "the user to be told", func() bool { clock.move(ownerPoll); return len(told) > 0 })
	if m := <-told; !strings.Contains(m, fmt.Sprintf("quarry (process %d) holds the index of ", p.cmd.Process.Pid)) {
		t.Errorf("told %q", m)
	}
	if symbols(t, reader, "main.go") == nil {
		t.Error("what was indexed before cannot be read")
	}
	write(t, dir, map[string]string{"late.go": "package m\n\nfunc late() {}\n"})
	if err := p.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	until(t, "what changed meanwhile", func() bool { clock.move(ownerPoll); return symbols(t, reader, "late.go") != nil })
	until(t, "the trouble to be over", func() bool { clock.move(ownerPoll); return len(reader.Troubles()) == 0 })
}

// Beside a writer that is stopped nobody takes an old index for the folder: a reader knows at
// once, but only while something differs.
func TestStoppedWriterIsNotTrusted(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	write(t, dir, project)
	p := spawn(t, dir, state)
	defer p.kill(t)
	p.expect(t, "owner true")
	p.expect(t, "settled")
	reader := open(t, Config{Dir: dir, StateDir: state})
	defer shut(t, reader)
	unserved := func() *Unserved {
		t.Helper()
		c, err := reader.Coverage(t.Context(), time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		return c.Unserved
	}
	until(t, "the writer to have a name", func() bool { return reader.state.writer() == p.cmd.Process.Pid })
	write(t, dir, map[string]string{"early.go": "package m\n\nfunc early() {}\n"})
	if u := unserved(); u != nil {
		t.Errorf("a writer that is well: %v", u)
	}
	until(t, "what changed before", func() bool { return symbols(t, reader, "early.go") != nil })
	if err := reader.Served(t.Context()); err != nil {
		t.Errorf("beside a writer that is well: %v", err)
	}

	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	until(t, "the writer to stop", func() bool { _, hangs := reader.reading.writerHangs(); return hangs })
	if u, err := unserved(), reader.Served(t.Context()); u != nil || err != nil {
		t.Errorf("though nothing differs: %v, %v", u, err)
	}
	write(t, dir, map[string]string{"late.go": "package m\n\nfunc late() {}\n"})
	until(t, "the reader to know that something differs", func() bool { return unserved() != nil })
	want := Unserved{p.cmd.Process.Pid, reader.root.Dir(), &Difference{New: 1}}
	for name, got := range map[string]error{"Coverage": unserved(), "Served": reader.Served(t.Context())} {
		var u *Unserved
		if !errors.As(got, &u) || u.PID != want.PID || u.Dir != want.Dir || u.Stale == nil || *u.Stale != *want.Stale {
			t.Errorf("%s: %v", name, got)
		}
	}
	if st, err := reader.Status(t.Context()); err != nil || len(st.Troubles) != 1 {
		t.Errorf("status: %q, %v", st.Troubles, err)
	}
	if st, err := Peek(t.Context(), Config{Dir: dir, StateDir: state}, time.Minute); err != nil || len(st.Troubles) != 1 || st.Stale == nil || st.Stale.New != 1 {
		t.Errorf("who looks only: %q, %+v, %v", st.Troubles, st.Stale, err)
	}

	if err := p.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	until(t, "what changed meanwhile", func() bool { return symbols(t, reader, "late.go") != nil })
	if u, err := unserved(), reader.Served(t.Context()); u != nil || err != nil {
		t.Errorf("after it goes on: %v, %v", u, err)
	}
}

// Beside a writer that is well a reader says that it knows all only where it does: an agent
// that asks for what was just written is not told that there is no such thing.
func TestReaderKnowsWhenItIsBehind(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	write(t, dir, project)
	p := spawn(t, dir, state)
	defer p.kill(t)
	p.expect(t, "owner true")
	p.expect(t, "settled")
	reader := open(t, Config{Dir: dir, StateDir: state})
	defer shut(t, reader)
	current := func() bool {
		t.Helper()
		c, err := reader.Coverage(t.Context(), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		return c.Current
	}
	until(t, "the reader to know all", current)
	for i := range 20 {
		name := fmt.Sprintf("late%d.go", i)
		write(t, dir, map[string]string{name: fmt.Sprintf("package m\n\nfunc late%d() {}\n", i)})
		if current() && symbols(t, reader, name) == nil {
			t.Errorf("it knows all but %s", name)
		}
		until(t, "the reader to know all again", current)
		if symbols(t, reader, name) == nil {
			t.Errorf("it knows all but %s", name)
		}
	}
}
