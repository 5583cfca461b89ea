// Package vectors keeps the embedding vectors of a workspace's chunks: on disk in
// files that only grow, in memory as immutable Sets that searches read without a
// lock. It knows no database and no model; package index says which vectors there
// are to be, and notes in the database which slot has which.
//
// # The file
//
// All numbers are little-endian. A header of 4,096 bytes:
//
//	 0  8 bytes  "QUARRYVE"
//	 8  uint32   version of the format, 1
//	12  uint32   dimension
//	16  uint32   size of a row in bytes, 4*dimension + 32
//	20  uint32   length of the model's name
//	24  bytes    the model's name, at most 1,024 bytes; zeros follow
//	4092 uint32  CRC-32C of all before
//
// Then rows, whose place is their slot:
//
//	float32[dimension]  the vector, of length 1
//	16 bytes            the key: what the vector was made from
//	uint32              CRC-32C of vector and key
//	12 bytes            zeros
//
// A row is written once and never changed. Since it carries its key under the
// checksum, a row is either a vector of the text the key stands for or recognisably
// not one, whatever was lost in a crash and in whatever order: a torn row, a hole,
// a row that the database never heard of and one that it expects in vain are all
// told apart by the row alone. Zeros after the last row are room to grow.
//
// # Who may do what
//
// A File has one writer process, which index's file lock sees to; any number of
// processes read. What a writer has appended is durable before it tells the database; readers look no further than the database says. A file is
// replaced by a smaller one under another name, never shortened while it is read.
// Should another program do that, Guard makes an error of it.
package vectors

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"sync"
	"sync/atomic"
)

// Key stands for the text of a chunk: syntax.Chunk.Hash.
type Key [16]byte

// Set is a view of the vectors of one model, as many as there were when it was
// made. It never changes and is safe for concurrent use from Acquire to Release;
// after that Data must not be touched, since it may be unmapped. A long-lived process
// reads Data, and calls Row, Key and Live, within Guard.
type Set struct {
	// Model identifies the model, weights included: vectors of different Models
	// must not be compared.
	Model string
	// Dim is the dimension, Stride how many float32 a row takes.
	Dim, Stride int
	// Data holds the rows, Len()*Stride float32; the vector of slot s is
	// Data[s*Stride : s*Stride+Dim] and has length 1, so that the dot product of two
	// is their cosine. What follows it in the row is no number. A row that Slot does
	// not answer is not to be trusted: take slots from Slot, or check what a scan of
	// all rows finds with Live.
	Data []float32
	// Epoch is that of the file. Of two Sets with the same one the longer has the
	// rows of the shorter unchanged, so what was derived from those still holds.
	Epoch uint64

	slots   slotTable
	mem     *memory
	unsound int // the File's Unsound
}

// Len is how many slots there are.
func (s *Set) Len() int { return len(s.Data) / s.Stride }

// Slot answers where the vector of a text stands; ok is false if it has none.
func (s *Set) Slot(k Key) (slot int, ok bool) { return s.slots.find(k) }

// Row is the vector at a slot, Dim long. It must not be changed.
func (s *Set) Row(slot int) []float32 {
	at := slot * s.Stride
	return s.Data[at : at+s.Dim : at+s.Dim]
}

// Key answers what the vector at a slot was made from.
func (s *Set) Key(slot int) (k Key) {
	readKey(s.Data[slot*s.Stride+s.Dim:], &k)
	return k
}

// Live answers whether the row at a slot is the vector of its key.
func (s *Set) Live(slot int) bool {
	at, ok := s.Slot(s.Key(slot))
	return ok && at == slot
}

// Damaged answers whether a row that was sound when the Set took it in is so no more:
// another program wrote over it. It costs a tenth of a microsecond.
func (s *Set) Damaged(slot int) bool {
	if _, sound := checkRow(s.Data[slot*s.Stride : (slot+1)*s.Stride]); sound {
		return false
	}
	return s.unsound == 0 || s.Live(slot)
}

// Vectors is how many texts have a vector.
func (s *Set) Vectors() int { return s.slots.len() }

// Release ends the use of a Set that Acquire answered.
func (s *Set) Release() { s.mem.release() }

// Current is the Set that searches use, replaced as a whole. Its zero value holds
// none. It is safe for concurrent use.
type Current struct {
	mu      sync.Mutex // guards the fields below
	set     *Set       // nil if there is none
	changed chan struct{}
}

// Acquire answers the Set in use, nil if there is none. The caller calls Release
// when it has done with it, soon: a Set keeps its file's space.
func (c *Current) Acquire() *Set {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.set != nil {
		c.set.mem.acquire()
	}
	return c.set
}

// Publish makes set, which may be nil, the one in use, and takes it over from the
// caller, who does not release it.
func (c *Current) Publish(set *Set) {
	c.mu.Lock()
	defer c.mu.Unlock()
	old := c.set
	c.set = set
	if c.changed != nil {
		close(c.changed)
		c.changed = nil
	}
	if old != nil {
		old.Release()
	}
}

// Changed is closed by the next Publish. Ask for it before Acquire, so that none is
// missed.
func (c *Current) Changed() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changed == nil {
		c.changed = make(chan struct{})
	}
	return c.changed
}

// memory is what the rows of a file are read from, shared by Sets and counted,
// since the garbage collector does not know of mapped memory.
type memory struct {
	rows []float32 // as much as there is room for
	refs atomic.Int64
	free func() error
}

func (m *memory) acquire() { m.refs.Add(1) }

func (m *memory) release() {
	switch n := m.refs.Add(-1); {
	case n == 0:
		// Unmapping fails only for what was never mapped.
		_ = m.free()
	case n < 0:
		panic("vectors: a Set was released twice")
	}
}

// slotTable says where each key's vector is. It is immutable: with answers a new
// one that shares most of the old, as in a log-structured merge tree of two levels.
type slotTable struct {
	base, recent map[Key]uint32
}

// mergeAbove is how large recent may be, as a divisor of base's size: a larger one
// costs more to copy for each batch, a smaller one has base copied more often.
const mergeAbove = 8

func (t slotTable) find(k Key) (int, bool) {
	if slot, ok := t.recent[k]; ok {
		return int(slot), true
	}
	slot, ok := t.base[k]
	return int(slot), ok
}

func (t slotTable) len() int { return len(t.base) + len(t.recent) }

// with adds keys that t does not have.
func (t slotTable) with(more map[Key]uint32) slotTable {
	size := len(t.recent) + len(more)
	if size > 1024 && size > len(t.base)/mergeAbove {
		all := make(map[Key]uint32, len(t.base)+size)
		for _, m := range []map[Key]uint32{t.base, t.recent, more} {
			for k, slot := range m {
				all[k] = slot
			}
		}
		return slotTable{base: all}
	}
	recent := make(map[Key]uint32, size)
	for _, m := range []map[Key]uint32{t.recent, more} {
		for k, slot := range m {
			recent[k] = slot
		}
	}
	return slotTable{t.base, recent}
}

// ErrDamaged says that a file is not what a File wrote.
var ErrDamaged = errors.New("the file of vectors is damaged")

const (
	magic       = "QUARRYVE"
	version     = 1
	headerSize  = 4096
	maxModel    = 1024
	maxDim      = 1 << 16
	rowMetadata = 8 // float32 after the vector
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func header(model string, dim int) []byte {
	h := make([]byte, headerSize)
	copy(h, magic)
	binary.LittleEndian.PutUint32(h[8:], version)
	binary.LittleEndian.PutUint32(h[12:], uint32(dim))
	binary.LittleEndian.PutUint32(h[16:], uint32(rowSize(dim)))
	binary.LittleEndian.PutUint32(h[20:], uint32(len(model)))
	copy(h[24:], model)
	binary.LittleEndian.PutUint32(h[headerSize-4:], crc32.Checksum(h[:headerSize-4], castagnoli))
	return h
}

func readHeader(h []byte) (model string, dim int, ok bool) {
	if len(h) != headerSize || string(h[:8]) != magic || binary.LittleEndian.Uint32(h[8:]) != version ||
		binary.LittleEndian.Uint32(h[headerSize-4:]) != crc32.Checksum(h[:headerSize-4], castagnoli) {
		return "", 0, false
	}
	dim, n := int(binary.LittleEndian.Uint32(h[12:])), int(binary.LittleEndian.Uint32(h[20:]))
	if dim < 1 || dim > maxDim || n > maxModel || int(binary.LittleEndian.Uint32(h[16:])) != rowSize(dim) {
		return "", 0, false
	}
	return string(h[24 : 24+n]), dim, true
}

// rowSize is in bytes.
func rowSize(dim int) int { return 4 * (dim + rowMetadata) }
