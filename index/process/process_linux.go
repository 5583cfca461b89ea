package process

import (
	"context"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Telling: the system tells Await, which otherwise looks about once a second.
const Telling = true

// Await returns true when the process with that id is no more, and false when
// ctx ends. The system tells of the end, so that nothing wakes at rest.
func Await(ctx context.Context, pid int) bool {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err != nil { // before Linux 5.10, or it is gone
		return poll(ctx, pid)
	}
	process := os.NewFile(uintptr(fd), "pidfd")
	defer process.Close()
	conn, err := process.SyscallConn()
	if err != nil || process.SetReadDeadline(time.Time{}) != nil {
		return poll(ctx, pid) // it cannot be waited for
	}
	defer context.AfterFunc(ctx, func() { _ = process.SetReadDeadline(time.Unix(1, 0)) })()
	err = conn.Read(func(fd uintptr) bool { // called again when there may be news
		ready := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(ready, 0)
		return err == nil && n > 0
	})
	return err == nil && ctx.Err() == nil
}
