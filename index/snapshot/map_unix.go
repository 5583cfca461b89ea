//go:build linux || darwin || freebsd || netbsd || openbsd

package snapshot

import (
	"os"

	"golang.org/x/sys/unix"
)

// load maps a file.
func load(f *os.File, size int) (data []byte, release func() error, err error) {
	data, err = unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, os.NewSyscallError("mmap", err)
	}
	return data, func() error { return unix.Munmap(data) }, nil
}

// forget gives back the memory that reading a part of a mapped file took; the file is read
// again where it is needed.
func forget(data []byte, from, to int) {
	page := os.Getpagesize()
	from, to = from/page*page, to/page*page // a mapping begins with a page
	if from < to {
		_ = unix.Madvise(data[from:to], unix.MADV_DONTNEED) // only memory is at stake
	}
}
