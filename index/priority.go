package index

import "runtime"

// cores is how many threads can compute at once, and so how many files are analysed
// at once. Responsive changes the setting, not this.
var cores = runtime.GOMAXPROCS(0)

// Responsive is for a process that answers a person while it indexes: call it once,
// at the start. Go lets a goroutine compute for 10 ms before another gets its place,
// whoever that is, and a place whose thread the kernel puts last (background) is
// gone for longer. With two places a core a keystroke finds a free one, and which
// thread has the core is decided by the kernel, which knows their priorities.
func Responsive() { runtime.GOMAXPROCS(2 * cores) }
