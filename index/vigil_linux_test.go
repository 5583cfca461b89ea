package index

import (
	"os"
	"testing"
)

// Who reads what another process writes is told of a change, and of the end of that
// process, without looking: the clock by which it looks stands.
func TestReaderIsTold(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	write(t, dir, project)
	p := spawn(t, dir, state)
	defer p.kill(t)
	p.expect(t, "owner true")
	p.expect(t, "settled")
	clock := newManual()
	reader := open(t, Config{Dir: dir, StateDir: state, Clock: clock})
	defer shut(t, reader)
	until(t, "the writer to have a name", func() bool { return reader.state.writer() == p.cmd.Process.Pid })
	// At the first look it learns who writes; what happened until the next it may have to
	// look for, and afterwards it is told.
	for looks := reader.timesRefused(); reader.timesRefused() < looks+2; {
		clock.move(ownerPoll)
	}
	write(t, dir, map[string]string{"late.go": "package m\n\nfunc late() {}\n"})
	until(t, "what changed, without a look", func() bool { return symbols(t, reader, "late.go") != nil })
	p.kill(t)
	until(t, "the reader to take over, without a look", reader.isOwner)
	until(t, "the reader to have its name there", func() bool { return reader.state.writer() == os.Getpid() })
}
