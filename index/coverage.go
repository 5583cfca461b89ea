package index

import (
	"context"
	"errors"
	"io/fs"
	"strconv"
	"time"

	"quarry/index/store"
)

// Coverage is how much of a root an index knows: what decides whether an answer that
// found nothing is true.
type Coverage struct {
	// Whole: every file was read at least once, so only what changed since may be
	// missing.
	Whole bool
	// Current: what is known to have changed is indexed, too.
	Current bool
	// Stopped: a scan was stopped or failed, so that files which are known to be there may be
	// missing, and nothing goes on that would read them.
	Stopped bool
	// Unserved, of a process that only reads, says that the writer does not answer while
	// files are not indexed; nil while all is well.
	Unserved *Unserved
	// Short says that this process may take too little memory for all of it; nil if not.
	Short error
}

// Coverage answers how much of the root is known now. With a since that is not zero, Current
// means that all is indexed that was there at since, whoever told of it or not: that takes a
// look at all files, since an editor need not report each, and not every folder can be watched.
func (x *Index) Coverage(ctx context.Context, since time.Time) (Coverage, error) {
	s := x.Store()
	x.mu.Lock()
	c := Coverage{Whole: x.whole == s, Current: x.upToDate}
	c.Short, c.Stopped = x.short, x.upToDate && x.cut
	owner := x.owner
	x.mu.Unlock()
	if !c.Whole {
		var err error
		if c.Whole, err = wasScanned(ctx, s); err != nil {
			return c, err
		}
	}
	x.mu.Lock()
	if c.Whole {
		x.whole = s
	}
	x.mu.Unlock()
	var err error
	if owner {
		if c.Stopped {
			c.Current = false
		} else if c.Whole && c.Current && !since.IsZero() {
			c.Current, err = confirmed(ctx, x, since)
		}
		return c, err
	}
	c.Current = c.Whole
	if c.Unserved, err = x.reading.unserved(ctx, c.Whole); err != nil || c.Unserved != nil || !c.Whole || since.IsZero() {
		return c, err
	}
	stale, err := x.reading.compare(ctx, true)
	// Where comparing takes too long nobody knows, and the writer is asked.
	if c.Current = stale != nil && *stale == (Difference{}); !c.Current && err == nil {
		c.Current, err = x.reading.answered(ctx, since)
	}
	return c, err
}

// confirmed answers, in the process that writes, whether what was there at since is indexed. If
// it is not, or that takes too long to say of a folder that is not watched, a scan is asked
// for, and what that finds counts.
func confirmed(ctx context.Context, x *Index, since time.Time) (bool, error) {
	x.mu.Lock()
	confirmed := !x.asOf.Before(since)
	polling := x.polling
	x.mu.Unlock()
	if confirmed {
		return true, nil
	}
	began := time.Now()
	stale, err := x.reading.compare(ctx, true)
	switch {
	case errors.Is(err, fs.ErrNotExist): // the root is away, and nothing is there
	case err != nil:
		return false, err
	case stale == nil && polling, stale != nil && *stale != (Difference{}):
		x.Rescan()
		return false, nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if stale != nil {
		x.asOf = began
	}
	return x.upToDate, nil
}

// Progress answers how many files are indexed, of how many: 0 while they are being
// counted, and where another process indexes.
func (x *Index) Progress(ctx context.Context) (done, total int, err error) {
	x.mu.Lock()
	n := x.counted
	x.mu.Unlock()
	if n.total > 0 {
		return n.done, n.total, nil
	}
	t, err := x.Store().Totals(ctx)
	return int(t.Files), 0, err
}

// Changed is closed when what Coverage answers may be another: after a commit, and when
// there is nothing left to index.
func (x *Index) Changed() <-chan struct{} { return x.saved.next() }

// count is how far a scan has come, in files.
type count struct{ done, total int }

// noteCount tells Progress how far the scan at work has come.
func (c *coordinator) noteCount(n count) {
	c.mu.Lock()
	c.counted = n
	c.mu.Unlock()
}

// noteCurrent tells Coverage that nothing is known that is not indexed. No scan is at
// work.
func (c *coordinator) noteCurrent(ctx context.Context) {
	isIdle := func() bool { return len(c.due)+len(c.scans) == 0 && !c.rebuild && !c.removed && c.damaged == nil }
	c.mu.Lock()
	now, behind := isIdle(), c.behind
	c.mu.Unlock()
	var caughtUp Cursor
	if now && behind {
		caughtUp = c.endBehind(ctx)
	}
	c.mu.Lock()
	now = isIdle()
	changed := now && !c.upToDate
	c.upToDate = now
	if now {
		c.counted = count{}
	}
	if now && behind {
		c.behind, c.caughtUp = false, caughtUp
	}
	c.mu.Unlock()
	if changed {
		c.saved.fire()
	}
}

// An index that is whole falls behind when more changes than an edit does: another commit is
// checked out, or a scan meets files that are not as they are indexed. What is found then is
// true and may be a part. Who only reads is told by the database.

// Lag is what answers from a whole index may miss.
type Lag struct {
	// Behind: files are still to be looked at, which may be many.
	Behind bool
	// Unlooked: nobody has looked at all files since this process began, so that it is not known
	// whether many have changed. Changed is closed when somebody has.
	Unlooked bool
	// CaughtUp is the state in which the last of such files were indexed, the zero Cursor if
	// that is not known: who knows only an older state of this database misses some.
	CaughtUp Cursor
}

// Lag answers what may be missing now.
func (x *Index) Lag(ctx context.Context) (Lag, error) {
	s := x.Store()
	x.mu.Lock()
	lag, owner := Lag{Behind: x.behind, Unlooked: !x.looked, CaughtUp: x.caughtUp}, x.owner
	x.mu.Unlock()
	if owner {
		return lag, nil
	}
	unlooked := lag.Unlooked
	lag = Lag{} // what else this process heard of says nothing of what that one has done since
	text, err := s.Meta(ctx, behindSince)
	if err == nil && unlooked { // of what is not whole, files are missing anyway
		lag.Unlooked, err = wasScanned(ctx, s)
	}
	switch {
	case err != nil && s != x.Store():
		return Lag{}, nil // another is there by now, of which nothing is known
	case text == behindNow:
		lag.Behind = true
		return lag, err
	}
	if generation, e := strconv.ParseInt(text, 10, 64); e == nil {
		lag.CaughtUp = Cursor{s, generation}
	}
	return lag, err
}

const (
	// behindSince is the key of behindNow while the index is behind, and of the generation
	// in which it caught up afterwards.
	behindSince = "behind"
	behindNow   = "now"
)

// noteLookedAt tells Lag that somebody has looked at all files.
func (x *Index) noteLookedAt() {
	x.mu.Lock()
	first := !x.looked
	x.looked = true
	x.mu.Unlock()
	if first {
		x.saved.fire() // who waits for Lag
	}
}

// lookBeside looks, once, in a process that only reads, at what the one that writes may not have
// looked at yet, as where both have just begun: it compares the folder with the index, and where
// that differs, or takes too long, waits until the writer has looked. The next look is when
// ten times what one took has passed.
func (r *reading) lookBeside(ctx context.Context) {
	x := r.x
	if x.cfg.Brief {
		return // it compares for each answer
	}
	since := time.Now()
	var due time.Time
	for !x.isOwner() { // else its scan looks
		saved := x.saved.next()
		if now := time.Now(); !now.Before(due) {
			stale, err := r.compare(ctx, true)
			if err == nil && stale != nil && *stale == (Difference{}) {
				x.noteLookedAt()
				return
			}
			due = time.Now().Add(max(ownerPoll, 10*time.Since(now)))
		}
		if done, err := r.answered(ctx, since); err == nil && done {
			x.noteLookedAt()
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-saved:
		case <-x.cfg.Clock.At(x.cfg.Clock.Now().Add(ownerPoll)):
		}
	}
}

// fallBehind notes that many files may not be as they are indexed; mu is held.
func (x *Index) fallBehind() { x.behind = true }

// meetsChange notes that a scan has met a file that is not as it is indexed: a whole index is
// behind from then on.
func (x *Index) meetsChange(ctx context.Context) error {
	whole, err := wasScanned(ctx, x.Store())
	if whole {
		x.mu.Lock()
		x.fallBehind()
		x.mu.Unlock()
	}
	return err
}

// wasBehind notes that whoever wrote a database before left it behind.
func wasBehind(ctx context.Context, x *Index, s *store.Store) error {
	text, err := s.Meta(ctx, behindSince)
	if err == nil && text == behindNow {
		x.mu.Lock()
		x.fallBehind()
		x.mu.Unlock()
	}
	return err
}

// tellBehind tells who only reads that the index is behind, if it is.
func (c *coordinator) tellBehind(ctx context.Context) {
	c.mu.Lock()
	behind := c.behind
	c.mu.Unlock()
	if s := c.Store(); behind && c.notified != s && !s.InMemory() {
		c.settleErr(ctx, s.PutMeta(behindSince, behindNow))
		c.notified = s
	}
}

// endBehind answers the state in which the index has caught up, and tells who only reads.
func (c *coordinator) endBehind(ctx context.Context) Cursor {
	now, err := c.Cursor(ctx)
	c.mu.Lock()
	cut := c.cut // what it did not read is missing still
	c.mu.Unlock()
	if err == nil && !cut && !now.store.InMemory() {
		err = now.store.PutMeta(behindSince, strconv.FormatInt(now.generation, 10))
	}
	c.notified = nil
	c.settleErr(ctx, err)
	return now
}

// noteLooked tells Coverage that a scan of the whole root has ended well.
func (c *coordinator) noteLooked(s *scan) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asOf, c.cut = s.began, false
	c.troubles.end(stoppedShort)
}

// noteCut tells Coverage that a scan did not end.
func (c *coordinator) noteCut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = true
	if c.short == nil { // else that is told
		c.troubles.note(stoppedShort, "Indexing of "+c.root.Dir()+" was stopped before its end, so answers miss files. Rebuild the index, or restart quarry.")
	}
}
