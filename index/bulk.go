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
		b.release = relaxCollector()
	}
}

func (b *bulk) end(ctx context.Context, c *coordinator) {
	c.settleErr(ctx, c.Store().EndBulk())
	b.stop()
}

// stop lets the collector run as ever: resolving keeps more alive than reading.
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

var collector struct {
	mu     sync.Mutex // guards the fields below
	users  int
	before int
}

// relaxCollector sets bulkGCPercent until the last caller of release. A setting
// that somebody chose stays.
func relaxCollector() (release func()) {
	collector.mu.Lock()
	defer collector.mu.Unlock()
	if collector.users++; collector.users == 1 {
		if collector.before = debug.SetGCPercent(bulkGCPercent); collector.before != 100 {
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
