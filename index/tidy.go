package index

import (
	"context"
	"errors"
	"time"

	"quarry/index/store"
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
	case c.moved != nil, !c.written && c.merge == mergeDone && !c.wipe && !c.fill.due && c.cutAt.IsZero() && c.wipeAt.IsZero():
	case !c.throttle.open():
		return now.Add(quiet)
	case c.written && c.Store().LogIsLong():
		// Before merging goes on: a log that is moved in short pieces stays short.
		c.written = false
		c.run(ctx, (*coordinator).moveLog)
	case c.merge != mergeDone:
		c.mergeStep(ctx)
		return now
	case c.wipe && !now.Before(c.wipeAt):
		c.run(ctx, (*coordinator).wipeNow)
	case c.fill.due && !now.Before(c.fill.at):
		c.fillStep(ctx)
		return now
	case !c.cutAt.IsZero() && !now.Before(c.cutAt):
		c.cutAt = time.Time{}
		c.run(ctx, (*coordinator).cutLog)
	case !c.wipeAt.IsZero() && !now.Before(c.wipeAt):
		c.run(ctx, (*coordinator).wipeNow)
	default:
		c.written = false
		var next time.Time // zero if nothing is due
		for _, at := range []time.Time{c.fill.at, c.cutAt, c.wipeAt} {
			if next.IsZero() || !at.IsZero() && at.Before(next) {
				next = at
			}
		}
		return next
	}
	return time.Time{}
}

// cutAfter is how long after a commit the log is emptied: until then it has what was removed or
// written over, and who types fluently makes one commit a pause.
const cutAfter = 2 * time.Second

// cutAtLast is how long after a commit the log is emptied at the latest, where somebody writes all the time.
const cutAtLast = 30 * time.Second

// cutLater notes that the log has something.
func (c *coordinator) cutLater() {
	now := c.cfg.Clock.Now()
	if c.cutAt.IsZero() {
		c.uncut = now
	}
	if c.cutAt = now.Add(cutAfter); c.cutAt.Sub(c.uncut) > cutAtLast {
		c.cutAt = c.uncut.Add(cutAtLast)
	}
}

// A task is a step of tidying that takes long and runs beside the coordinator, which goes on with what is more
// urgent. then is called by the coordinator when it has ended, unless the database is another one.
type task func(c *coordinator, ctx context.Context, s *store.Store) (then func(), err error)

// ended is how a task ended.
type ended struct {
	then func()
	err  error
}

func (c *coordinator) run(ctx context.Context, do task) {
	moved, s := make(chan ended, 1), c.Store()
	c.moved = moved
	c.stopped.Go(func() {
		var end ended
		end.then, end.err = do(c, ctx, s)
		if s != c.Store() {
			end = ended{} // it was replaced meanwhile
		}
		moved <- end
	})
}

// taskEnded takes what a task says.
func (c *coordinator) taskEnded(ctx context.Context, end ended) {
	c.moved = nil
	if end.then != nil {
		end.then()
	}
	c.settleErr(ctx, end.err)
}

// againAfter answers how soon a task is tried again, which is after pause unless it failed. That there
// is no room for it is no fault of the index, which has what it needs.
func (c *coordinator) againAfter(pause time.Duration, err error) (time.Duration, error) {
	switch {
	case err == nil:
		return pause, nil
	case errors.Is(err, store.ErrFull):
		c.cfg.Log.Debug("tidy the index", "error", err)
		return tidyAgain, nil
	}
	return tidyAgain, err
}

func (c *coordinator) moveLog(ctx context.Context, s *store.Store) (then func(), err error) {
	return nil, s.Checkpoint(ctx)
}

func (c *coordinator) cutLog(ctx context.Context, s *store.Store) (then func(), err error) {
	done, err := s.CutLog(ctx)
	again, err := c.againAfter(quiet, err) // somebody was at work
	return func() {
		if !done && c.cutAt.IsZero() {
			c.uncut = c.cfg.Clock.Now()
			c.cutAt = c.uncut.Add(again)
		}
	}, err
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
	c.wipe, c.wipeAt = true, time.Time{}
	c.settleErr(ctx, c.Store().WipeLater())
}

// resumeWipe goes on with what a process before did not end.
func (c *coordinator) resumeWipe(ctx context.Context) {
	c.noteWipe(ctx)
	if c.Store().HasLog() {
		c.cutLater()
	}
}

// noteWipe notes what the database says is to leave its files.
func (c *coordinator) noteWipe(ctx context.Context) {
	due, left, err := c.Store().NeedsWipe(ctx)
	c.wipe = c.wipe || due
	if left {
		c.wipeLater()
	}
	c.settleErr(ctx, err)
}

// wipeRate is how much of a database is written anew, in bytes a second, for the sake of what has
// left it that may be read: SQLite leaves copies of few of the rows.
const wipeRate = 40_000

// How soon what did not end is tried again.
const (
	wipeAgain = 5 * time.Second
	tidyAgain = 10 * time.Minute // after an error, such as that there is no room
)

// wipeLater notes that rows went, if that is not known yet.
func (c *coordinator) wipeLater() {
	if c.wipeAt.IsZero() && !c.Store().InMemory() {
		size, _ := c.Store().FileSize(context.Background()) // soon, where it cannot be known
		c.wipeAt = c.cfg.Clock.Now().Add(max(cutAfter, time.Duration(size*1000/wipeRate)*time.Millisecond))
	}
}

func (c *coordinator) wipeNow(ctx context.Context, s *store.Store) (then func(), err error) {
	done, err := s.Wipe(ctx)
	again, err := c.againAfter(wipeAgain, err)
	return func() {
		if c.wipeAt = (time.Time{}); done {
			c.wipe = false
			c.noteWipe(ctx) // of what left after it was written
		} else {
			c.wipeAt = c.cfg.Clock.Now().Add(again)
		}
	}, err
}
