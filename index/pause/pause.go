// Package pause stops work that nobody waits for in the middle of what it is at,
// while somebody needs the machine.
//
// A priority alone does not do that: a kernel gives a thread its turn for
// milliseconds at a time, whoever wakes up meanwhile, and Go lets a goroutine
// compute for ten. So the work itself asks a Flag, every few microseconds.
package pause

import "sync/atomic"

// Flag is raised while work shall stand still. A nil Flag never is.
type Flag struct {
	raised atomic.Int32
	stand  func()
}

// New returns a lowered Flag. stand is called, by several goroutines at once, where
// work comes to a raised one: it returns when the work may go on, and lowers the
// flag when all may.
func New(stand func()) *Flag { return &Flag{stand: stand} }

// Raise stops work at its next Pass.
func (f *Flag) Raise() { f.raised.Store(1) }

// Lower lets work go on that has not come to a Pass yet.
func (f *Flag) Lower() { f.raised.Store(0) }

// Pass is a place in some work where it can stand still: it holds nothing there that
// somebody else may need before long. It costs a nanosecond while the flag is down.
func (f *Flag) Pass() {
	if f != nil && f.raised.Load() != 0 {
		f.stand()
	}
}

// Raised is where C code can look: the flag is raised while it is not 0.
func (f *Flag) Raised() *atomic.Int32 { return &f.raised }
