//go:build unix

package main

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// polled is a standard stream that Go waits for as it waits for a socket. In a read
// that blocks, a thread keeps its place in Go's scheduler, and with it the goroutine
// that the last message made ready, until Go looks for such threads: 10 ms later in
// a process that is otherwise at rest. Streams that another program may share, such
// as a terminal, stay as they are: the setting is the file's, not the process's.
func polled(f *os.File) *os.File {
	info, err := f.Stat()
	if err != nil || info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) == 0 {
		return f
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return f
	}
	again := f
	err = raw.Control(func(fd uintptr) {
		// A descriptor of its own, since f closes the other.
		own, err := unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			return
		}
		if unix.SetNonblock(own, true) != nil {
			_ = unix.Close(own)
			return
		}
		again = os.NewFile(uintptr(own), f.Name())
	})
	if err != nil {
		return f
	}
	return again
}
