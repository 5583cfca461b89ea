//go:build unix

package index

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	ossignal "os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"quarry/index/vectors"
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

// outOfRoom makes a tree with an index in a process of its own, fills that process's disk,
// as how says, changes more than there is room for, and answers what the process says then.
func outOfRoom(t *testing.T, dir, state, args, how string) (p *another, said string) {
	t.Helper()
	write(t, dir, project)
	r := rand.New(rand.NewPCG(1, 1))
	for range 4 {
		mutate(t, r, dir, 300)
	}
	p = spawn(t, dir, state+args)
	t.Cleanup(func() { p.kill(t) })
	p.expect(t, "owner true")
	p.expect(t, "settled")
	p.say(t, how)
	p.expect(t, "full")
	for range 8 {
		mutate(t, r, dir, 300)
	}
	p.say(t, "rescan")
	return p, p.next(t)
}

func TestFullDisk(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	p, line := outOfRoom(t, dir, state, "", "fill the disk")
	if !strings.HasPrefix(line, "told ") || !strings.Contains(line, "in memory") || !strings.Contains(line, "Free some disk space") {
		t.Errorf("the other process said %q, want that the index is in memory", line)
	}
	x := start(t, Config{Dir: dir, StateDir: t.TempDir()})
	want, err := x.Store().Totals(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p.expect(t, fmt.Sprintf("in memory true, kept, sound true, %+v", want))
	// There is room for this process: it keeps what is on disk, though the other lives.
	clock := newManual()
	y := open(t, Config{Dir: dir, StateDir: state, Clock: clock})
	defer shut(t, y)
	until(t, "another process to write the index on disk", func() bool { clock.move(ownerPoll); return y.isOwner() })
	settle(t, y)
	if got, want := dump(t, y), dump(t, x); got != want || y.Store().InMemory() {
		t.Errorf("on disk %v: %s", !y.Store().InMemory(), firstDifference(got, want))
	}
}

// The first thing that a scan has no room for is a note that the index is behind.
func TestFullDiskForTheFirstWrite(t *testing.T) {
	dir := t.TempDir()
	p, line := outOfRoom(t, dir, t.TempDir(), "", "leave no room")
	if !strings.HasPrefix(line, "told ") || !strings.Contains(line, "in memory") {
		t.Errorf("the other process said %q, want that the index is in memory", line)
	}
	want, err := start(t, Config{Dir: dir}).Store().Totals(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p.expect(t, fmt.Sprintf("in memory true, kept, sound true, %+v", want))
}

// An index that went to memory for want of room is on disk again, by itself, when there is
// room: what was indexed meanwhile is there, and so is what only the database on disk had.
func TestFullDiskThatHasRoomAgain(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	p, line := outOfRoom(t, dir, state, "|hurried", "fill the disk")
	if !strings.Contains(line, "in memory") || !strings.Contains(line, "looks again every few minutes") {
		t.Errorf("the other process said %q, want that the index is in memory", line)
	}
	want, err := start(t, Config{Dir: dir, StateDir: t.TempDir()}).Store().Totals(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p.expect(t, fmt.Sprintf("in memory true, kept, sound true, %+v", want))
	p.say(t, "make room")
	if line := p.next(t); !strings.HasSuffix(line, " is on disk again.") {
		t.Errorf("the other process said %q, want that the index is on disk", line)
	}
	p.say(t, "rescan")
	p.expect(t, fmt.Sprintf("in memory false, kept, sound true, %+v", want))
}

// fullDiskEmbedChild runs as a process of its own, whose files cannot grow for a while:
// what was embedded is searched on, the user is told once, and all goes on by
// itself when there is room again.
func fullDiskEmbedChild(dir, state string) error {
	notified := 0
	ctx := context.Background()
	models := newFakeModels("m")
	models.dims["m"] = 40_000 // so that the vectors outgrow the database many times over
	var x *Index
	settled := func() (err error) {
		if err = x.Settle(ctx); err == nil {
			err = x.embedding.Settle(ctx)
		}
		return err
	}
	reopen := func() (err error) {
		if x != nil {
			if err := x.Close(); err != nil {
				return err
			}
		}
		x, err = Open(Config{Dir: dir, StateDir: state, Clock: hurried{time.Now()}, Notify: func(m string) {
			notified++
			if !strings.Contains(m, "free some disk space") {
				fmt.Println("told", m)
			}
		}})
		if err != nil {
			return err
		}
		x.embedding.SetEmbedders(models.use("m"))
		return settled()
	}
	// The first index leaves a log whose length depends on how many transactions it
	// took; the second begins without one.
	if err := errors.Join(reopen(), reopen()); err != nil {
		return err
	}
	defer func() { _ = x.Close() }() // the process ends
	before := x.embedding.Vectors()
	defer before.Release()
	room := vectors.Size(before.Dim, before.Len())
	for _, name := range []string{x.state.database(), x.state.database() + "-wal"} {
		if info, err := os.Stat(name); err == nil && info.Size() > room/4 {
			return fmt.Errorf("%s has %d bytes: the disk would be full for the database and not only for the vectors", name, info.Size())
		}
	}
	if err := limitFileSize(room); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "late.go"), []byte("package m\n\nfunc late() {}\n"), 0o600); err != nil {
		return err
	}
	x.Rescan()
	for range 3 {
		if err := settled(); !errors.Is(err, syscall.EFBIG) {
			return fmt.Errorf("on a full disk settling ended with %v, want %v", err, syscall.EFBIG)
		}
	}
	set := x.embedding.Vectors()
	fmt.Println("full: told", notified, "in memory", x.Store().InMemory(), "new vectors", set.Vectors()-before.Vectors())
	set.Release()
	if err := limitFileSize(1 << 40); err != nil {
		return err
	}
	if err := settled(); err != nil {
		return err
	}
	set = x.embedding.Vectors()
	fmt.Println("room: told", notified, "in memory", x.Store().InMemory(), "new vectors", set.Vectors()-before.Vectors())
	set.Release()
	return nil
}

func init() { fullDiskEmbed = fullDiskEmbedChild }

func TestFullDiskWhileEmbedding(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	shuffle(t, rand.New(rand.NewPCG(1, 1)), dir, 1)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), embedChildEnv+"="+dir+"|"+state+"|full")
	out, err := cmd.CombinedOutput()
	want := "full: told 1 in memory false new vectors 0\nroom: told 1 in memory false new vectors 1\n"
	if err != nil || string(out) != want {
		t.Errorf("the process said %q (%v), want %q", out, err, want)
	}
}
