package index

import (
	"runtime"
	"sync/atomic"
)

// cores is how many threads can compute at once, and so how many files are analysed
// at once. Responsive changes the setting, not this.
var cores = runtime.GOMAXPROCS(0)

// Responsive is for a process that answers a user while it indexes: call it once,
// at the start. Go lets a goroutine compute for 10 ms before another gets its place,
// whoever that is, and one that is in C or in a system call keeps its place for as
// long where nobody looks: a message that arrives when all places are taken waits.
// So there is a place for everything that may be at work at once, workers, writer,
// who follows the index and the garbage collector, and one more.
func Responsive() {
	runtime.GOMAXPROCS(2*cores + 2)
}

// awaited: Awaited was called.
var awaited atomic.Bool

// Awaited is for a command whose user waits until the index is made: nothing that it does
// is background work, and on a busy machine that would be done last.
func Awaited() { awaited.Store(true) }

// Background lowers the priority of the calling goroutine for the rest of its life, as far
// as the system can, unless somebody waits (Awaited).
func Background() {
	if !awaited.Load() {
		background()
	}
}
