package index

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"time"

	"quarry/index/addresses"
	"quarry/index/store"
)

const (
	// mergeAbove is how many bytes a scan must have read for the full-text table to
	// be worth merging.
	mergeAbove = 4 << 20
	// Progress is called for work that takes longer than a moment, and not more often
	// than a user can read.
	progressAfter = 500 * time.Millisecond
	progressEvery = 100 * time.Millisecond
)

// limit says how much of a scan is written at once: a commit makes the full-text
// table write a segment, and an edit waits for the batch before it.
type limit struct {
	bytes int64
	files int
	delay time.Duration
}

// While no document is open nobody waits, and larger batches save merging.
var (
	limitOpen = limit{1 << 20, 512, 300 * time.Millisecond}
	limitIdle = limit{4 << 20, 2048, time.Second}
)

func (c *coordinator) batchLimit() limit {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.buffers) == 0 {
		return limitIdle
	}
	return limitOpen
}

// beginScan starts the next requested scan.
func (c *coordinator) beginScan(ctx context.Context) {
	c.mu.Lock()
	dir, found := "", c.scans[""]
	if found {
		clear(c.scans)
	} else {
		for dir = range c.scans {
			found = true
			delete(c.scans, dir)
			break
		}
	}
	c.mu.Unlock()
	if !found {
		return
	}
	if dir == "" {
		first, err := c.compareMaker(ctx)
		if err != nil {
			c.settleErr(ctx, err)
			return
		}
		if first {
			c.brief.stop()
			c.bulk.begin(ctx, c)
		}
	}
	if dir == "" {
		c.tellBehind(ctx)
		c.watching.heads()                   // they may have come, or lie elsewhere
		c.scanned, _ = os.Stat(c.root.Dir()) // the scan will say what is wrong
	}
	clear(c.fresh)
	c.read, c.shown, c.began = Progress{}, time.Time{}, c.cfg.Clock.Now()
	s := startScan(ctx, c.Index, dir, dir == "" && len(c.outdated) > 0)
	c.preferOpen(s)
	c.scan = s
	c.mu.Lock()
	c.running = s
	c.mu.Unlock()
}

// compareMaker notes which records another quarry made, or one that cannot be known,
// so that a scan of the whole root reads all of them again. first: none has ended yet.
func (c *coordinator) compareMaker(ctx context.Context) (first bool, err error) {
	c.outdated = nil
	ended, began, err := madeWith(ctx, c.Store())
	if err != nil || cmp.Or(ended, began) == madeBy {
		return ended == "", err
	}
	stats, err := c.Store().Stats(ctx, "")
	if err != nil {
		return false, err
	}
	if len(stats) == 0 { // only then all there will be is made by this one, however often it is cut short
		return ended == "", c.Store().PutMeta(scanBegan, madeBy)
	}
	c.outdated = make(map[string]bool, len(stats))
	for name := range stats {
		c.outdated[name] = true
	}
	return ended == "", nil
}

// add takes one result of the scan into the batch.
func (c *coordinator) add(ctx context.Context, r result) {
	c.brief.stop()
	if c.tellBehind(ctx); c.scan == nil {
		return // there is no room for that: the index moved to memory, where a scan begins anew
	}
	c.read.Files++
	c.read.Done += r.entry.Size
	c.read.Total, c.read.OfFiles = c.scan.total, c.scan.files
	if r.doc == nil && !r.touch {
		c.scan.unread++ // what is left out is neither done nor missing at the end
	}
	c.noteCount(count{c.scan.met - c.scan.files + c.read.Files - c.scan.unread, c.scan.met - c.scan.unread})
	c.show(false)
	rel := r.entry.Path
	switch {
	case r.touch:
		c.batch.Touch = append(c.batch.Touch, r.touched())
	case r.doc == nil:
		before := len(c.batch.Remove)
		c.settleErr(ctx, c.removeKnown(ctx, rel, &c.batch))
		if c.scan == nil {
			return
		}
		c.batch.private = c.batch.private || r.secret && len(c.batch.Remove) > before
	default:
		if old, ok := c.scan.takeGone(r.doc); ok {
			c.batch.Remove = append(c.batch.Remove, old)
		}
		c.batch.Put = append(c.batch.Put, r.doc)
		c.size += r.doc.Size
	}
	if c.age.IsZero() {
		c.age = c.cfg.Clock.Now()
	}
	most := c.batchLimit()
	if c.size >= most.bytes || len(c.batch.Put)+len(c.batch.Touch)+len(c.batch.Remove) >= most.files {
		c.flush(ctx)
	}
}

// flush writes the batch, but for what something newer is known of by now.
func (c *coordinator) flush(ctx context.Context) error {
	b := c.batch
	b.Put = slices.DeleteFunc(b.Put, func(d *store.Document) bool { return c.isNewer(d.Path) })
	b.Touch = slices.DeleteFunc(b.Touch, func(t store.Touch) bool { return c.isNewer(t.Path) })
	b.Remove = slices.DeleteFunc(b.Remove, c.isNewer)
	c.batch, c.size, c.age = changes{}, 0, time.Time{}
	err := c.apply(b)
	c.settleErr(ctx, err)
	if c.scan != nil && err == nil {
		c.stopShort(addresses.Check(0))
	}
	return err
}

// stopShort ends the scan at work if there is too little memory left for it. What was read is
// kept, and the next scan goes on from there.
func (c *coordinator) stopShort(short error) {
	if short == nil {
		return
	}
	c.scan.cancel()
	c.StopShort(short)
}

// isNewer answers whether the index has, or is about to get, something newer of a path
// than what the scan at work says of it.
func (c *coordinator) isNewer(rel string) bool {
	if _, looked := c.fresh[rel]; looked || c.isOpen(rel) {
		return true
	}
	for up := path.Dir(rel); up != "."; up = path.Dir(up) {
		if c.fresh[up] == gone {
			return true
		}
	}
	return false
}

// changes are a batch. private: something in it may go because nobody may read it any more. That
// leaves what is kept of the index at once; of what goes for another reason nobody knows whether
// it is there still, under a name that is left out, and it leaves that a little later.
type changes struct {
	store.Batch
	private bool
}

func (c *coordinator) apply(b changes) error {
	if b.Private = b.private && len(b.Remove) > 0; b.Private {
		c.excludedLeaves(context.Background()) // noted before: the process may end in between
		defer c.Kept().forgetExcluded()        // behind the commit, which keeps others from being put there
	}
	if len(b.Put)+len(b.Touch)+len(b.Remove) == 0 {
		return nil
	}
	c.written = true
	c.cutLater()
	err := c.Store().Apply(b.Batch)
	if errors.Is(err, store.ErrRefused) {
		err = c.applyEach(b.Batch)
	}
	if err != nil {
		return err
	}
	if c.wipeAt.IsZero() {
		if _, left, err := c.Store().NeedsWipe(context.Background()); err == nil && left {
			c.wipeLater()
		}
	}
	if len(b.Put) > 0 {
		c.fill.later(c.cfg.Clock.Now())
	}
	for _, d := range b.Put {
		delete(c.outdated, d.Path)
	}
	for _, name := range b.Remove {
		delete(c.outdated, name)
	}
	return nil
}

// applyEach writes a batch file by file, so that one that is refused keeps no other out
// of the index.
func (c *coordinator) applyEach(b store.Batch) error {
	batches := []store.Batch{{Touch: b.Touch, Remove: b.Remove, Private: b.Private}}
	for _, d := range b.Put {
		batches = append(batches, store.Batch{Put: []*store.Document{d}})
	}
	for _, one := range batches {
		switch err := c.Store().Apply(one); {
		case errors.Is(err, store.ErrRefused):
			c.fail(err)
		case err != nil:
			return err
		}
	}
	return nil
}

// endScan closes the books of a scan whose results are all taken. abandon: throw
// away what it has not handed over.
func (c *coordinator) endScan(ctx context.Context, abandon bool) {
	s := c.scan
	if s == nil {
		return
	}
	s.cancel()
	for range s.results {
	}
	c.scan = nil
	c.read.Files -= s.unread
	c.bulk.stop()
	c.mu.Lock()
	c.running = nil
	c.mu.Unlock()
	if abandon {
		c.batch, c.size, c.age = changes{}, 0, time.Time{}
		return
	}
	if s.err != nil {
		if c.flush(ctx) == nil {
			_ = c.bulk.end(ctx, c) // it told
		}
		if !errors.Is(s.err, context.Canceled) {
			c.settleErr(ctx, s.err)
		}
		if s.dir == "" && errors.Is(s.err, fs.ErrNotExist) {
			c.away = c.cfg.Clock.Now().Add(ownerPoll)
		} else {
			c.noteCut()
		}
		c.show(true)
		return
	}
	left := s.left()
	c.batch.Remove = append(c.batch.Remove, left...)
	c.batch.private = c.batch.private || slices.ContainsFunc(left, func(name string) bool { return c.root.Check(name).IsPrivate() })
	flushed := c.flush(ctx)
	c.settleErr(ctx, c.recheckOpen(ctx, s.dir))
	if flushed == nil && c.bulk.end(ctx, c) == nil && s.dir == "" {
		c.foundRoot()
		err := c.endWhole(ctx, s)
		c.settleErr(ctx, err)
		if err == nil {
			c.noteLooked(s)
		}
	}
	c.lastScan = c.cfg.Clock.Now().Sub(s.started)
	if c.read.Done > mergeAbove {
		c.merge = mergeBegin
	}
	c.read.Took = c.lastScan
	c.show(true)
}

// endWhole notes that the whole root was scanned. Outdated records of documents that are
// open, or were a moment ago, are made again before: no later scan would.
func (c *coordinator) endWhole(ctx context.Context, s *scan) error {
	old := c.outdated != nil
	if old {
		c.excludedLeaves(ctx) // the quarry that made them may have masked less
	}
	if err := c.refresh(ctx, slices.Collect(maps.Keys(c.outdated))); err != nil {
		return err
	}
	c.outdated = nil
	if old {
		err := c.Store().ForgetBefore()
		if c.Kept().forgetExcluded(); err != nil {
			return err
		}
	}
	if s.same && c.cfg.Brief {
		return nil // nothing is to be written, and nobody stays who would read when it was
	}
	c.unlisted = s
	return c.Store().EndScan(c.scanMeta(s), s.skipped)
}

// show reports progress.
func (c *coordinator) show(finished bool) {
	now := c.cfg.Clock.Now()
	if !finished && (now.Sub(c.shown) < progressEvery || now.Sub(c.began) < progressAfter) {
		return
	}
	c.shown = now
	p := c.read
	p.Finished = finished
	if finished {
		c.read = Progress{}
	}
	c.cfg.Progress(p)
}

// scanMeta is what a whole scan leaves in the index beside files.
func (c *coordinator) scanMeta(s *scan) map[string]string {
	now := c.cfg.Clock.Now()
	meta := map[string]string{
		scanEnded:      madeBy,
		"root":         c.root.Dir(),
		"scanned":      now.UTC().Format(time.RFC3339),
		"scan_seconds": strconv.FormatFloat(now.Sub(s.started).Seconds(), 'f', 3, 64),
		"skipped":      encodeCounts(s.counts),
		answeredTo:     strconv.FormatInt(s.asked, 10),
	}
	return meta
}
