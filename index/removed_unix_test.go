//go:build unix

package index

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Whoever removes the files of an index while a quarry has it open is told, and a moment later
// the index is on disk again, for that quarry and for one that only reads.
func TestRemovedFolder(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	write(t, dir, project)
	clock := newManual()
	var mu sync.Mutex
	var told []string
	x := open(t, Config{Dir: dir, StateDir: state, Clock: clock, Notify: func(m string) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, m)
	}})
	defer shut(t, x)
	settle(t, x)
	y := open(t, Config{Dir: dir, StateDir: state, Clock: clock})
	defer shut(t, y)
	until(t, "the second to read", func() bool { clock.move(ownerPoll); return !y.Store().InMemory() })
	if err := os.Rename(x.state.dir, filepath.Join(t.TempDir(), "gone")); err != nil {
		t.Fatal(err)
	}
	has := func(what string) bool {
		mu.Lock()
		defer mu.Unlock()
		return strings.Contains(strings.Join(told, "\n"), what)
	}
	until(t, "word of the loss", func() bool { clock.move(ownerPoll); return has("its files were removed. quarry writes them again") })
	until(t, "the index on disk", func() bool { clock.move(ownerPoll); return has("is on disk again") })
	defer func() {
		t.Logf("x: memory %v owner %v troubles %v; y: memory %v owner %v troubles %v; told %q", x.Store().InMemory(), x.isOwner(), x.Troubles(), y.Store().InMemory(), y.isOwner(), y.Troubles(), told)
	}()
	until(t, "both on the same database, with no trouble left", func() bool {
		clock.move(ownerPoll)
		return !x.Store().InMemory() && !y.Store().InMemory() && x.isOwner() != y.isOwner() && len(x.Troubles())+len(y.Troubles()) == 0
	})
	write(t, dir, map[string]string{"late.go": "package m\n\nfunc late() {}\n"})
	x.Rescan()
	y.Rescan()
	settle(t, x)
	settle(t, y)
	want := dump(t, start(t, Config{Dir: dir, StateDir: t.TempDir()}))
	for who, of := range map[string]*Index{"the first": x, "the second": y} {
		until(t, who+" to have the new file", func() bool { clock.move(ownerPoll); return dump(t, of) == want })
	}
}
