package index

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// nice is the priority of threads that work in the background: of two that want a
// core, the editor's gets nearly ten times as much.
const nice = 10

// background is Background. On Linux a priority is a thread's; the thread ends with the
// goroutine that is locked to it.
func background() {
	runtime.LockOSThread()
	// Without the right to do so all stays as it was.
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), nice)
}
