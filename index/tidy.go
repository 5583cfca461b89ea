package index

import (
	"context"
	"time"
)

// mergeState is how far merging the full-text table is, after a scan that read
// much.
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
	case c.moved != nil, !c.written && c.merge == mergeDone:
	case !c.gate.open():
		return now.Add(quiet)
	case c.written && c.Store().LogIsLong():
		// Before merging goes on: a log that is moved in short pieces stays short.
		c.written = false
		c.checkpoint(ctx)
	case c.merge != mergeDone:
		c.mergeStep(ctx)
		return now
	default:
		c.written = false
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
