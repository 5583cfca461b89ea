//go:build !plainvectors && (linux || darwin || freebsd || netbsd || openbsd) && (386 || amd64 || arm || arm64 || loong64 || ppc64le || riscv64)

package vectors

import (
	"hash/crc32"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// newMemory maps a file that has room for this many rows. What is written to the
// file shows in it at once.
func newMemory(f *os.File, _ *memory, room, _, stride int) (*memory, error) {
	b, err := unix.Mmap(int(f.Fd()), 0, headerSize+4*room*stride, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, os.NewSyscallError("mmap", err)
	}
	m := &memory{free: func() error { return unix.Munmap(b) }}
	if room > 0 {
		m.rows = unsafe.Slice((*float32)(unsafe.Pointer(&b[headerSize])), room*stride)
	}
	m.acquire()
	return m, nil
}

func (m *memory) load(*os.File, int, int, int) error { return nil }

// checksum is that of the bytes in the file.
func checksum(part []float32) uint32 {
	return crc32.Checksum(unsafe.Slice((*byte)(unsafe.Pointer(&part[0])), 4*len(part)), castagnoli)
}
