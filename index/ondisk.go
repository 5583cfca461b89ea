package index

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/gofrs/flock"
)

// An index that could not be written any more lives in memory, and looks now and then
// whether there is room again: a disk that was full for a minute is no reason to index
// anew at each start for the rest of the day.
const (
	diskAgainFirst = time.Minute
	diskAgainMost  = 10 * time.Minute
	// maxProbe is how much is written to find out, in bytes, of what the index needs.
	maxProbe = 64 << 20
)

// diskRetry is what the coordinator knows of an index that is in memory for want of room, because
// a quarry of another version has the one on disk, or because that was removed.
type diskRetry struct {
	again time.Time // when to look
	pause time.Duration
}

// returnToDisk looks, if it is time, whether the index can be kept on disk again. The
// answer is when to look next, zero if it is there.
func (c *coordinator) returnToDisk(ctx context.Context, now time.Time) time.Time {
	e := &c.retry
	if !c.isOwner() || !c.Store().InMemory() {
		*e = diskRetry{}
		return time.Time{}
	}
	var other *OtherVersion
	first := diskAgainFirst
	if why := c.NotKept(); errors.As(why, &other) || errors.Is(why, errRemoved) {
		first = heartbeatEvery
	}
	if e.again.IsZero() {
		e.pause = first
		e.again = now.Add(e.pause)
	}
	if now.Before(e.again) {
		return e.again
	}
	err := c.moveToDisk(ctx)
	if err == nil {
		*e = diskRetry{}
		return time.Time{}
	}
	c.cfg.Log.Debug("the index stays in memory", "error", err)
	if e.pause = min(2*e.pause, diskAgainMost); other != nil {
		e.pause = first // it costs next to nothing
	}
	e.again = now.Add(e.pause)
	return e.again
}

// moveToDisk goes on with the index on disk, which may be older than the one in memory:
// what is missing there is read again, and who follows keeps the rest until then. If
// another process has it by now, this one reads it.
func (c *coordinator) moveToDisk(ctx context.Context) error {
	dir, err := databaseDir(c.cfg.StateDir, c.root.Dir())
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return err
	}
	if c.state.lock == nil || c.state.dir != dir {
		c.state.dir, c.state.lock = dir, flock.New((&stateFiles{dir: dir}).lockFile())
	}
	if c.state.lock.Locked() {
		return fmt.Errorf("the lock of %s is being given up", dir) // by who embeds
	}
	if err := c.state.otherVersion(); err != nil {
		return err
	}
	if err := c.hasRoom(ctx, dir); err != nil {
		return err
	}
	c.state.opened = nil
	won, err := c.state.becomeOwner()
	if err != nil {
		return err
	}
	if !won && c.Store().InMemory() {
		return fmt.Errorf("another process is about to write %s", dir)
	}
	c.troubles.end(inMemory)
	c.cfg.Log.Info("the index is on disk again", "root", c.root.Dir())
	c.troubles.tell("The index of " + c.root.Dir() + " is on disk again.")
	if won {
		c.resumeWipe(ctx)
		c.fill.later(c.cfg.Clock.Now())
		c.startOver()
		c.stopped.Go(func() { c.check(ctx) })
	}
	return nil
}

// hasRoom tries to write what the index takes.
func (c *coordinator) hasRoom(ctx context.Context, dir string) error {
	size, err := c.Store().Size(ctx)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "room-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	block := make([]byte, 1<<20)
	for left := min(2*size, maxProbe); left > 0 && err == nil; left -= int64(len(block)) {
		_, err = f.Write(block)
	}
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}
