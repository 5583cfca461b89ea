package index

import (
	"context"
	"time"
)

// mergeState is how far merging the full-text tables is, after much was written to them.
type mergeState int

const (
	mergeDone mergeState = iota
	mergeBegin
	mergeGoOn
)

// tidy does one small step of what makes the database quicker to read, while nobody
// needs the machine. An edit waits for a step at most, and for a checkpoint not at
// all. The answer is when to look again, zero if there is nothing left to do or a
// checkpoint at work, whose end wakes the coordinator.
func (c *coordinator) tidy(ctx context.Context, now time.Time) time.Time {
	switch {
	case c.moved != nil, !c.written && c.merge == mergeDone && !c.wipe && !c.fill.due:
	case !c.throttle.open():
		return now.Add(quiet)
	case c.written && c.Store().LogIsLong():
		// Before merging goes on: a log that is moved in short pieces stays short.
		c.written = false
		c.checkpoint(ctx)
	case c.merge != mergeDone:
		c.mergeStep(ctx)
		return now
	case c.wipe:
		return c.wipeNow(ctx, now)
	case c.fill.due && !now.Before(c.fill.at):
		c.fillStep(ctx)
		return now
	default:
		c.written = false
		return c.fill.at // zero if nothing is due
	}
	return time.Time{}
}

func (c *coordinator) checkpoint(ctx context.Context) {
	moved, s := make(chan error, 1), c.Store()
	c.moved = moved
	c.stopped.Go(func() {
		err := s.Checkpoint(ctx)
		if s != c.Store() {
			err = nil // it was replaced meanwhile
		}
		moved <- err
	})
}

func (c *coordinator) mergeStep(ctx context.Context) {
	done, err := c.Store().Merge(c.merge == mergeBegin)
	c.written, c.merge = true, mergeGoOn
	if done || err != nil {
		c.merge = mergeDone
	}
	c.settleErr(ctx, err)
}

// excludedLeaves notes that what the rules leave out from now on was in the index:
// its text is to leave the database's files, too. Merging the full-text tables takes
// out the words. What is kept beside the database is forgotten once it has left.
func (c *coordinator) excludedLeaves(ctx context.Context) {
	c.wipe, c.merge = true, mergeBegin
	c.settleErr(ctx, c.Store().WipeLater())
}

// resumeWipe goes on with what a process before did not end.
func (c *coordinator) resumeWipe(ctx context.Context) {
	due, err := c.Store().NeedsWipe(ctx)
	if due {
		c.wipe, c.merge = true, mergeBegin
	}
	c.settleErr(ctx, err)
}

// wipeNow is the last step of that; the answer is tidy's.
func (c *coordinator) wipeNow(ctx context.Context, now time.Time) time.Time {
	done, err := c.Store().Wipe(ctx)
	if c.wipe = !done && err == nil; c.wipe {
		return now.Add(quiet)
	}
	c.settleErr(ctx, err)
	return now // something else may be left
}
