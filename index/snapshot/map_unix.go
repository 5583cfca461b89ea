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
