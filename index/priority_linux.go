package index

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// nice is the priority of threads that work in the background: of two that want a
// core, the editor's gets nearly ten times as much.
const nice = 10

// Background lowers the priority of the calling goroutine for the rest of its
// life. On Linux a priority is a thread's; the thread ends with the goroutine that
// is locked to it.
func Background() {
	runtime.LockOSThread()
	// Without the right to do so all stays as it was.
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), nice)
}
