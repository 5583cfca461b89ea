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
	case c.moved != nil, !c.written && c.merge == mergeDone && !c.wipe && !c.fill.due && c.cutAt.IsZero():
	case !c.throttle.open():
		return now.Add(quiet)
	case c.written && c.Store().LogIsLong():
		// Before merging goes on: a log that is moved in short pieces stays short.
		c.written = false
		c.checkpoint(ctx, false)
	case c.merge != mergeDone:
		c.mergeStep(ctx)
		return now
	case c.wipe:
		return c.wipeNow(ctx, now)
	case c.fill.due && !now.Before(c.fill.at):
		c.fillStep(ctx)
		return now
	case !c.cutAt.IsZero() && !now.Before(c.cutAt):
		c.cutAt = time.Time{}
		c.checkpoint(ctx, true)
	default:
		c.written = false
		if c.cutAt.IsZero() || c.fill.due && c.fill.at.Before(c.cutAt) {
			return c.fill.at // zero if nothing is due
		}
		return c.cutAt
	}
	return time.Time{}
}

// cutAfter is how long after a commit the log is emptied: until then it has what was removed or
// written over, and who types fluently makes one commit a pause.
const cutAfter = 2 * time.Second

// cutLater notes that the log has something.
func (c *coordinator) cutLater() { c.cutAt = c.cfg.Clock.Now().Add(cutAfter) }

// checkpointed is how a checkpoint ended. again: it was to empty the log, and somebody was at work.
type checkpointed struct {
	again bool
	err   error
}

func (c *coordinator) checkpoint(ctx context.Context, cut bool) {
	moved, s := make(chan checkpointed, 1), c.Store()
	c.moved = moved
	c.stopped.Go(func() {
		var end checkpointed
		if cut {
			var done bool
			done, end.err = s.CutLog(ctx)
			end.again = !done && end.err == nil
		} else {
			end.err = s.Checkpoint(ctx)
		}
		if s != c.Store() {
			end = checkpointed{} // it was replaced meanwhile
		}
		moved <- end
	})
}

// checkpointEnded takes what a checkpoint says.
func (c *coordinator) checkpointEnded(ctx context.Context, end checkpointed) {
	c.moved = nil
	if end.again && c.cutAt.IsZero() {
		c.cutAt = c.cfg.Clock.Now().Add(quiet)
	}
	c.settleErr(ctx, end.err)
}

func (c *coordinator) mergeStep(ctx context.Context) {
	done, err := c.Store().Merge(c.merge == mergeBegin)
	c.written, c.merge = true, mergeGoOn
	if done || err != nil {
		c.merge = mergeDone
	}
	c.settleErr(ctx, err)
}

// excludedLeaves notes that what the rules leave out from now on was in the index: its text is
// to leave the database's log at once. What is kept beside the database is forgotten once it
// has left.
func (c *coordinator) excludedLeaves(ctx context.Context) {
	c.wipe = true
	c.settleErr(ctx, c.Store().WipeLater())
}

// resumeWipe goes on with what a process before did not end.
func (c *coordinator) resumeWipe(ctx context.Context) {
	due, err := c.Store().NeedsWipe(ctx)
	c.wipe = c.wipe || due
	if c.Store().HasLog() {
		c.cutLater()
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
