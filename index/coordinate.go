package index

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"time"

	"quarry/index/store"
	"quarry/index/syntax"
)

// ownerPoll is how often a reader looks whether the writer has gone, where nobody tells it.
const ownerPoll = time.Second

// coordinator is the state of the goroutine that alone writes the index.
type coordinator struct {
	*Index
	scan *scan // at work, nil if none
	// fresh are the paths looked at since the scan began, for newer events; what it
	// read of them may be older.
	fresh map[string]found
	// near are what the open documents import.
	near map[string][]syntax.Import
	// outdated are the paths whose records another quarry made (made.go): that their
	// text is still the same does not count.
	outdated map[string]bool
	// written: something was committed since the last checkpoint.
	written bool
	batch   changes
	size    int64 // of the batch, in bytes
	age     time.Time
	read    Progress
	shown   time.Time
	began   time.Time // the scan
	bulk    bulk
	// brief relaxes the collector in a process that is Brief, until there is something to
	// read.
	brief bulk
	// unlisted is a whole scan whose listing is not written yet: that is done when there is
	// nothing left to do.
	unlisted *scan
	merge    mergeState
	fill     fill
	// wipe: what was left out for being private is still in the database's files.
	wipe bool
	// cutAt is when to empty the log, which has something since uncut, wipeAt when to write the
	// database anew; zero if nothing is to leave them.
	cutAt, uncut, wipeAt time.Time
	// scanned is the root's folder as the last scan found it; nil if it was not
	// there. away is when to look for it then.
	scanned  fs.FileInfo
	away     time.Time
	seen     sight
	peer     peerState // of the process that writes, in one that reads
	exit     exitWatch // for that process
	retry    diskRetry
	notified *store.Store // which says that it is behind; nil if none does
	// moved tells that a task has ended; nil while none is at work.
	moved chan ended
}

// coordinate runs until ctx is done.
func (x *Index) coordinate(ctx context.Context) {
	c := &coordinator{Index: x, fresh: map[string]found{}}
	defer c.bulk.stop()
	if x.cfg.Brief {
		c.brief.release = garbage.ask(briefGCPercent)
		defer c.brief.stop()
	}
	defer func() {
		if c.read != (Progress{}) { // whoever shows it waits for the end
			c.show(true)
		}
	}()
	owner := false
	for ctx.Err() == nil {
		if !x.isOwner() {
			owner = false
			if !c.takeOver(ctx) {
				continue
			}
		}
		if !owner {
			owner = true
			c.listen()
			c.resumeWipe(ctx)
			c.fill.later(c.cfg.Clock.Now())
		}
		until := c.step(ctx)
		if ctx.Err() != nil {
			break
		}
		c.await(ctx, until)
	}
	c.stopReading()
	if c.scan != nil { // its goroutines end by ctx; take what they still hold
		for range c.scan.results {
		}
	}
}

func (x *Index) isOwner() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.owner
}

// takeOver waits a moment for the lock; it answers whether this process is the
// writer now.
func (c *coordinator) takeOver(ctx context.Context) bool {
	pause := c.watchExit(ctx)
	over := c.exit.over
	if c.exit.ended() {
		over = nil // that was looked into
	}
	select {
	case <-ctx.Done():
		return false
	case <-c.cfg.Clock.At(c.cfg.Clock.Now().Add(pause)):
	case <-over:
		pause = 0
	case <-c.reading.wrote:
		pause, c.seen = 0, sight{} // whatever the files' times say
	}
	won, err := c.state.becomeOwner()
	switch {
	case err != nil: // as at a start; else nobody would keep the index current
		if errors.Is(err, fs.ErrNotExist) {
			err = errRemoved // the folder of the lock
		}
		if err := c.state.startInMemory(err); err != nil {
			c.fail(err)
			return false
		}
		return true
	case won:
		c.stopReading()
		c.cfg.Log.Info("this process indexes now", "root", c.root.Dir())
		c.startOver()
		c.stopped.Go(func() { c.check(ctx) }) // the writer may have been killed
	default:
		c.checkWriter(pause)
		c.mu.Lock()
		c.refused++
		c.mu.Unlock()
		c.lookForChanges(ctx)
	}
	return won
}

// lookForChanges wakes the feeds of a process that only reads when the writer has
// written something. It asks the disk and not the database, which costs several times as
// much each second.
func (c *coordinator) lookForChanges(ctx context.Context) {
	var now sight
	for i, suffix := range []string{"", "-wal"} {
		if info, err := os.Stat(c.state.database() + suffix); err == nil {
			now.written[i] = info.ModTime()
		}
	}
	if now == c.seen && runtime.GOOS == "windows" { // it notes times late
		now.cursor, _ = c.Cursor(ctx)
	}
	if now != c.seen {
		c.seen = now
		c.saved.fire()
	}
}

// sight is what a process that only reads saw of the database last.
type sight struct {
	cursor  Cursor // on Windows
	written [2]time.Time
}

// step does what is due, most urgent first, and answers until when the coordinator
// may wait for something new; the zero time means for ever.
func (c *coordinator) step(ctx context.Context) time.Time {
	c.mu.Lock()
	damaged, rebuild, removed := c.damaged, c.rebuild, c.removed
	c.damaged, c.rebuild, c.removed = nil, false, false
	c.mu.Unlock()
	if removed && !c.Store().InMemory() && c.state.isRemoved() { // and was not just made anew
		c.settleErr(ctx, errRemoved)
	}
	if damaged != nil || rebuild {
		c.endScan(ctx, true)
		if err := c.state.replace(damaged); err != nil {
			c.fail(err)
		}
	}
	now := c.cfg.Clock.Now()
	paths, next := c.take(now)
	if len(paths) > 0 {
		c.settleErr(ctx, c.refresh(ctx, paths))
	}
	if c.scan == nil {
		c.watchOnRequest()
		c.beginScan(ctx)
	}
	if c.scan == nil {
		c.noteCurrent(ctx)
	}
	if c.scan != nil && !c.age.IsZero() && now.Sub(c.age) >= c.batchLimit().delay {
		c.flush(ctx)
	}
	return c.patience(ctx, now, next)
}

// patience answers when the coordinator has to look again though nothing happens.
func (c *coordinator) patience(ctx context.Context, now, next time.Time) time.Time {
	until := next
	sooner := func(t time.Time) {
		if until.IsZero() || t.Before(until) {
			until = t
		}
	}
	if !c.age.IsZero() {
		sooner(c.age.Add(c.batchLimit().delay))
	}
	if again := c.lookForRoot(now); !again.IsZero() {
		sooner(again)
	}
	if c.scan == nil && c.isPolling() {
		if c.nextPoll.IsZero() {
			// Polling may take a tenth of the time at most.
			c.nextPoll = now.Add(max(minPoll, 10*c.lastScan))
		}
		if !now.Before(c.nextPoll) {
			c.nextPoll = time.Time{}
			c.Rescan()
			return now
		}
		sooner(c.nextPoll)
	}
	if c.scan == nil && next.IsZero() {
		if c.unlisted != nil {
			c.unlisted.keepListing(ctx)
			c.unlisted = nil
		}
		c.settle()
		if again := c.tidy(ctx, now); !again.IsZero() {
			sooner(again)
		}
		if again := c.returnToDisk(ctx, now); !again.IsZero() {
			sooner(again)
		}
	}
	return until
}

func (x *Index) isPolling() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.polling
}

// settle tells the waiters that there is nothing left to do.
func (c *coordinator) settle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.due)+len(c.scans) > 0 || c.rebuild || c.removed || c.damaged != nil {
		return
	}
	select {
	case <-c.settled:
	default:
		close(c.settled)
		c.saved.fire() // a feed may wait to hear that nothing more comes
	}
}

// await sleeps until there is something to do.
func (c *coordinator) await(ctx context.Context, until time.Time) {
	var timer <-chan time.Time
	if !until.IsZero() {
		timer = c.cfg.Clock.At(until)
	}
	var results chan result
	if c.scan != nil {
		results = c.scan.results
	}
	select {
	case <-ctx.Done():
	case <-c.wake:
	case <-timer:
	case end := <-c.moved:
		c.taskEnded(ctx, end)
	case r, ok := <-results:
		if !ok {
			c.endScan(ctx, false)
			return
		}
		if c.add(ctx, r); c.scan != nil { // else a failed write ended it
			c.addReady(ctx)
		}
	}
}

// addReady takes the results that are there already, not so many that an edit
// would notice.
func (c *coordinator) addReady(ctx context.Context) {
	for n := 0; n < cap(c.scan.results); n++ {
		select {
		case r, ok := <-c.scan.results:
			if !ok {
				c.endScan(ctx, false)
				return
			}
			c.add(ctx, r)
		default:
			return
		}
		if c.scan == nil {
			return // a failed write ended it
		}
	}
}

// settleErr acts upon what went wrong with the database.
func (c *coordinator) settleErr(ctx context.Context, err error) {
	switch {
	case err == nil || ctx.Err() != nil:
	case (errors.Is(err, store.ErrFull) || errors.Is(err, errRemoved)) && !c.Store().InMemory():
		c.endScan(ctx, true)
		if err := c.state.moveToMemory(err); err != nil {
			c.fail(err)
		}
	case errors.Is(err, store.ErrCorrupt):
		c.request(func() { c.damaged = err })
	default:
		c.fail(err)
	}
}
