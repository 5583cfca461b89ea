package index

import (
	"context"
	"runtime/debug"
	"slices"
	"sync"

	"quarry/index/addresses"
)

// bulk is a first index in the making: the database is filled in another way than
// it is kept (store.BeginBulk), and the garbage collector runs less often. It
// belongs to the coordinator.
type bulk struct{ release func() }

func (b *bulk) begin(ctx context.Context, c *coordinator) {
	c.settleErr(ctx, c.Store().BeginBulk())
	if b.release == nil {
		b.release = garbage.ask(bulkGCPercent)
	}
}

// end makes what was filled ready to be asked by name, in whatever process the filling
// began.
func (b *bulk) end(ctx context.Context, c *coordinator) error {
	b.stop()
	if ctx.Err() != nil {
		return ctx.Err() // the next process ends it
	}
	err := c.Store().EndBulk()
	c.settleErr(ctx, err)
	return err
}

// stop lets the collector run as ever.
func (b *bulk) stop() {
	if b.release != nil {
		b.release()
		b.release = nil
	}
}

// bulkGCPercent is how much the heap may grow between two collections while a first
// index reads: little lives and much dies, so that half of the collections do. At
// 400 it would be a little faster and take 60 MB more.
const bulkGCPercent = 200

// briefGCPercent is the same for a process that answers one question and ends, as long
// as there is nothing to read: all that it makes is not worth a collection.
const briefGCPercent = 2400

// loadGCPercent is the same for making a search index in memory: much of what is made
// lives on, and a heap that grows by half of it is what a first index takes most.
const loadGCPercent = 40

// SpareMemory lets the collector run more often until release is called.
func SpareMemory() (release func()) { return garbage.ask(loadGCPercent) }

// garbage is the process's collector.
var garbage = collector{set: debug.SetGCPercent, limited: addresses.Limited}

// A collector has a percentage, by which the heap may grow between two collections, that
// several may ask for at once.
type collector struct {
	set func(percent int) (before int)
	// limited: the heap may not grow as it likes (package addresses), so that no percentage
	// above the usual one counts. Garbage that nobody collects takes the addresses of what is
	// mapped and of threads, and Go's runtime ends the process when they are refused.
	limited func() bool

	mu    sync.Mutex // guards the fields below
	asked []int      // percentages, of which the smallest counts
}

// usualGCPercent is Go's own percentage.
const usualGCPercent = 100

// ask sets a percentage until release is called. One that the user chose stays.
func (c *collector) ask(percent int) (release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.limited() {
		percent = min(percent, usualGCPercent)
	}
	if len(c.asked) == 0 {
		if before := c.set(percent); before != usualGCPercent {
			c.set(before)
			return func() {}
		}
	}
	c.asked = append(c.asked, percent)
	c.set(slices.Min(c.asked))
	return sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		at := slices.Index(c.asked, percent)
		c.asked = slices.Delete(c.asked, at, at+1)
		if len(c.asked) > 0 {
			c.set(slices.Min(c.asked))
		} else {
			c.set(usualGCPercent)
		}
	})
}
