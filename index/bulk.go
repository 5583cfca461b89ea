package index

import (
	"context"
	"runtime/debug"
	"sync"
)

// bulk is a first index in the making: the database is filled in another way than
// it is kept (store.BeginBulk), and the garbage collector runs less often. It
// belongs to the coordinator.
type bulk struct{ release func() }

func (b *bulk) begin(ctx context.Context, c *coordinator) {
	c.settleErr(ctx, c.Store().BeginBulk())
	if b.release == nil {
		b.release = relaxCollector(bulkGCPercent)
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
const briefGCPercent = 800

var collector struct {
	mu     sync.Mutex // guards the fields below
	users  int
	before int
}

// relaxCollector sets a percentage until the last caller of release; the first caller's
// counts. A setting that somebody chose stays.
func relaxCollector(percent int) (release func()) {
	collector.mu.Lock()
	defer collector.mu.Unlock()
	if collector.users++; collector.users == 1 {
		if collector.before = debug.SetGCPercent(percent); collector.before != 100 {
			debug.SetGCPercent(collector.before)
		}
	}
	return sync.OnceFunc(func() {
		collector.mu.Lock()
		defer collector.mu.Unlock()
		if collector.users--; collector.users == 0 {
			debug.SetGCPercent(collector.before)
		}
	})
}
