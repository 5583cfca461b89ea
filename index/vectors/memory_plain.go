//go:build plainvectors || !((linux || darwin || freebsd || netbsd || openbsd) && (386 || amd64 || arm || arm64 || loong64 || ppc64le || riscv64))

package vectors

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"os"
)

// newMemory makes room for rows in the program's own memory: where files cannot be
// mapped, cannot be replaced while they are, or hold numbers the other way round.
func newMemory(_ *os.File, old *memory, room, used, stride int) (*memory, error) {
	m := &memory{rows: make([]float32, room*stride), free: func() error { return nil }}
	if old != nil {
		copy(m.rows, old.rows[:used*stride])
	}
	m.acquire()
	return m, nil
}

// load reads the rows in [from, to).
func (m *memory) load(f *os.File, from, to, stride int) error {
	const most = 1024 // rows at a time
	b := make([]byte, 4*stride*min(most, to-from))
	for from < to {
		part := b[:4*stride*min(most, to-from)]
		if _, err := f.ReadAt(part, headerSize+4*int64(from)*int64(stride)); err != nil {
			return err
		}
		for i := range len(part) / 4 {
			m.rows[from*stride+i] = math.Float32frombits(binary.LittleEndian.Uint32(part[4*i:]))
		}
		from += len(part) / (4 * stride)
	}
	return nil
}

// checksum is that of the bytes in the file.
func checksum(part []float32) uint32 {
	b := make([]byte, 4*len(part))
	for i, x := range part {
		binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(x))
	}
	return crc32.Checksum(b, castagnoli)
}
