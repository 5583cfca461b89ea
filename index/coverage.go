package index

import "context"

// Coverage is how much of a root an index knows: what decides whether an answer that
// found nothing is true.
type Coverage struct {
	// Whole: every file was read at least once, so only what changed since may be
	// missing.
	Whole bool
	// Current: what is known to have changed is indexed, too.
	Current bool
	// Unserved, of a process that only reads, says that the writer does not answer while
	// files are not indexed; nil while all is well.
	Unserved *Unserved
	// Short says that this process may take too little memory for all of it; nil if not.
	Short error
}

// Coverage answers how much of the root is known now. current: the answer's Current is asked
// for, which a process that only reads finds out by a look at all files; it takes it for
// granted where not, and where that takes longer than comparePatience.
func (x *Index) Coverage(ctx context.Context, current bool) (Coverage, error) {
	s := x.Store()
	x.mu.Lock()
	c := Coverage{Whole: x.whole == s, Current: x.upToDate}
	c.Short = x.short
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
	if owner {
		return c, nil
	}
	c.Current = c.Whole
	var err error
	if c.Unserved, err = x.unserved(ctx, c.Whole); err != nil || c.Unserved != nil || !c.Whole || !current {
		return c, err
	}
	stale, err := x.compare(ctx, true)
	c.Current = stale == nil || *stale == (Difference{})
	return c, err
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
func (c *coordinator) noteCurrent() {
	c.mu.Lock()
	now := len(c.due)+len(c.scans) == 0 && !c.rebuild && c.damaged == nil
	changed := now && !c.upToDate
	c.upToDate = now
	if now {
		c.counted = count{}
	}
	c.mu.Unlock()
	if changed {
		c.saved.fire()
	}
}
