//go:build linux || darwin || freebsd || netbsd || openbsd

package snapshot

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// stays: what load answers is the file as it is now, not as it was.
const stays = true

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

// sameness is what stays as long as a file is the same one and has the same bytes.
func sameness(f *os.File) (text string, ok bool) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return "", false
	}
	return fmt.Sprintln(st.Dev, st.Ino, st.Size, st.Mtim.Nano(), st.Ctim.Nano()), true
}
