package retrieval

import (
	"errors"
	"runtime"
	"slices"

	"quarry/index/fault"
)

// What was restored lies in a mapped file, and another program can make that shorter, or
// write into it. Every method that reads it is guarded: it ends early then, with what it has,
// and Options.Lost is called before it returns. The index has nothing to say until Reset;
// whoever hears of the loss has to know that its answers are none.

// changeable is what an index can be restored from.
type changeable interface {
	// Changed answers whether the bytes may not be those that were restored.
	Changed() bool
}

// release ends a guard: defer s.release(fault.Expect()).
func (s *Snapshot) release(before bool) {
	fault.Restore(before)
	if cause := recover(); cause != nil {
		s.lose(cause)
	}
}

// release ends a guard of the index.
func (ix *Index) release(before bool) {
	fault.Restore(before)
	if cause := recover(); cause != nil {
		ix.current.Load().lose(cause)
	}
}

// lose tells that the bytes below a snapshot are not what they were, if that explains a
// panic. Where it does not, the panic goes on.
func (s *Snapshot) lose(cause any) {
	err, ok := cause.(runtime.Error)
	if !ok || s.lost == nil {
		panic(cause)
	}
	if e := fault.Of(cause); e != nil {
		s.lost(e)
		return
	}
	// The page that the file ends in reads as zeros, and what is made of those is no fault.
	for _, seg := range s.segments {
		if of, ok := seg.keep.(changeable); ok && of.Changed() {
			s.lost(errors.New("another program wrote into it, or made it shorter: " + err.Error()))
			return
		}
	}
	panic(cause)
}

// Reset forgets everything, for Restore or Apply to begin anew.
func (ix *Index) Reset() {
	ix.applying.Lock()
	defer ix.applying.Unlock()
	ix.links, ix.linked, ix.fixed, ix.unlinked = nil, false, false, 0
	ix.publish(newSnapshot(nil, nil, &graph{}, ix.current.Load().Generation+1))
}

// publish makes a snapshot the one that searches see.
func (ix *Index) publish(s *Snapshot) {
	if lost := ix.options.Lost; lost != nil {
		s.lost = func(cause error) {
			if ix.current.Load().shares(s) { // else that was told before
				lost(cause)
			}
		}
	}
	ix.current.Store(s)
}

// shares answers whether two snapshots were restored from the same bytes.
func (s *Snapshot) shares(other *Snapshot) bool {
	return slices.ContainsFunc(s.segments, func(seg *segment) bool { return seg.keep != nil && slices.Contains(other.segments, seg) })
}
