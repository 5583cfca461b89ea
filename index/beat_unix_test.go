//go:build unix

package index

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
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
	if m := <-told; !strings.Contains(m, fmt.Sprintf("Another quarry (process %d) holds the index", p.cmd.Process.Pid)) {
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
