//go:build unix

package index

import (
	"fmt"
	"math/rand/v2"
	"os"
	ossignal "os/signal"
	"strings"
	"syscall"
	"testing"
)

func init() { fillDisk = limitFileSize }

// limitFileSize lets no file of this process grow past size: to SQLite that is
// what a full disk is.
func limitFileSize(size int64) error {
	ossignal.Ignore(syscall.SIGXFSZ) // the write shall fail, not the process
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	limit.Cur = uint64(size)
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)
}

func TestFullDisk(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	write(t, dir, project)
	r := rand.New(rand.NewPCG(1, 1))
	for range 4 {
		mutate(t, r, dir, 300)
	}
	p := spawn(t, dir, state)
	defer p.kill(t)
	p.expect(t, "owner true")
	p.expect(t, "settled")
	p.say(t, "fill the disk")
	p.expect(t, "full")
	for range 8 {
		mutate(t, r, dir, 300)
	}
	p.say(t, "rescan")
	if line := p.next(t); !strings.HasPrefix(line, "told ") || !strings.Contains(line, "in memory") || !strings.Contains(line, "Free some disk space") {
		t.Errorf("the other process said %q, want that the index is in memory", line)
	}
	x := start(t, Config{Dir: dir, StateDir: t.TempDir()})
	want, err := x.Store().Totals(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p.expect(t, fmt.Sprintf("in memory true, sound true, %+v", want))
	if entries, err := os.ReadDir(state); err != nil || len(entries) == 0 {
		t.Errorf("the index on disk is gone: %v", err)
	}
}
