package index

import (
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// nice is the priority of threads that work in the background: of two that want a
// core, the editor's gets nearly ten times as much.
const nice = 10

// shortSlice is how long a thread that serves the editor computes before another's
// turn, in nanoseconds: the least that Linux takes. Since Linux 6.12 one that wakes
// up goes before all whose slices are longer; else it may wait for the next tick of
// the kernel's clock, 4 ms. Older kernels take no such setting.
const shortSlice = 100_000

// longSlice is that of a thread in the background: longer than any program's that
// leaves it to the kernel, so that the editor itself goes before it as well.
const longSlice = 4_000_000

// Background lowers the priority of the calling goroutine for the rest of its
// life. On Linux a priority is a thread's; the thread ends with the goroutine that
// is locked to it.
func Background() {
	runtime.LockOSThread()
	setSlice(0, longSlice)
	// Without the right to do so all stays as it was.
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), nice)
}

// patient is for a goroutine of a responsive process whose work can wait for others
// that wake up, though it is no less important; for the rest of its life.
func patient() {
	if responsive.Load() { // a thread of its own makes handing over work dearer
		runtime.LockOSThread()
		setSlice(0, longSlice)
	}
}

// shortSlices is for the whole process: threads that are made later are like those
// that make them.
func shortSlices() {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return
	}
	for _, t := range threads {
		if id, err := strconv.Atoi(t.Name()); err == nil {
			setSlice(id, shortSlice)
		}
	}
}

// setSlice sets the slice of a thread, 0 for the caller's.
func setSlice(thread int, ns uint64) {
	attr, err := unix.SchedGetAttr(thread, 0)
	if err != nil || attr.Policy != unix.SCHED_NORMAL {
		return
	}
	attr.Runtime = ns
	_ = unix.SchedSetAttr(thread, attr, 0) // a kernel that does not know it leaves all as it is
}
