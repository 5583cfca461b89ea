package vectors

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"sync/atomic"
)

// File is one file of vectors. It is not safe for concurrent use, but its Sets are.
type File struct {
	// Model identifies the model, weights included, and Dim is its dimension.
	Model string
	Dim   int
	// Unsound is how many rows before the last sound one were not what Append wrote.
	Unsound int

	path  string
	f     *os.File
	write bool
	epoch uint64
	n     int // slots that are used or lost
	slots slotTable
	mem   *memory // holds one reference
}

var epochs atomic.Uint64

const (
	// firstRoom is how many rows a new file has room for, growBy how many more a
	// full one gets, as a divisor of what it has. Room takes no space on disk where
	// there are sparse files, and each mapping only addresses.
	firstRoom = 1024
	growBy    = 2
)

// Create makes an empty file; one of that name must not exist. It is durable when
// Create returns.
func Create(path, model string, dim int) (file *File, err error) {
	if dim < 1 || dim > maxDim || len(model) > maxModel {
		return nil, fmt.Errorf("make a file of vectors: %d dimensions of a model whose name has %d bytes", dim, len(model))
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("make a file of vectors: %w", err)
	}
	file = &File{Model: model, Dim: dim, path: path, f: f, write: true, epoch: epochs.Add(1)}
	_, err = f.WriteAt(header(model, dim), 0)
	if err == nil {
		err = file.grow(firstRoom)
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = syncDir(filepath.Dir(path))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make a file of vectors: %w", err), f.Close(), os.Remove(path))
	}
	return file, nil
}

// Open opens a file to write. All sound rows are taken, whether or not anything else
// knows of them. It fails with ErrDamaged if the header is not that of a File.
func Open(path string) (*File, error) {
	file, size, err := open(path, os.O_RDWR)
	if err != nil {
		return nil, err
	}
	file.write = true
	rows := file.rowsIn(size)
	if err := file.grow(max(rows, firstRoom)); err != nil {
		return nil, errors.Join(fmt.Errorf("open the file of vectors: %w", err), file.f.Close())
	}
	if err := file.admit(rows); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// OpenToRead opens a file that another process writes. It has no rows until Extend.
func OpenToRead(path string) (*File, error) {
	file, size, err := open(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	if file.mem, err = newMemory(file.f, nil, file.rowsIn(size), 0, file.stride()); err != nil {
		return nil, errors.Join(fmt.Errorf("open the file of vectors: %w", err), file.f.Close())
	}
	return file, nil
}

func open(path string, flag int) (*File, int64, error) {
	f, err := os.OpenFile(path, flag, 0)
	if err != nil {
		return nil, 0, fmt.Errorf("open the file of vectors: %w", err)
	}
	h := make([]byte, headerSize)
	_, err = io.ReadFull(f, h)
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		model, dim, ok := readHeader(h)
		if !ok {
			return nil, 0, errors.Join(fmt.Errorf("%w: %s has no valid header", ErrDamaged, path), f.Close())
		}
		var info os.FileInfo
		if info, err = f.Stat(); err == nil {
			return &File{Model: model, Dim: dim, path: path, f: f, epoch: epochs.Add(1)}, info.Size(), nil
		}
	}
	return nil, 0, errors.Join(fmt.Errorf("open the file of vectors: %w", err), f.Close())
}

func (f *File) stride() int           { return f.Dim + rowMetadata }
func (f *File) rowsIn(size int64) int { return int(max(size-headerSize, 0) / int64(rowSize(f.Dim))) }
func (f *File) offset(slot int) int64 { return Size(f.Dim, slot) }
func (f *File) room() int             { return len(f.mem.rows) / f.stride() }
func (f *File) rows(from, to int) []float32 {
	return f.mem.rows[from*f.stride() : to*f.stride() : to*f.stride()]
}

// grow makes room for this many rows.
func (f *File) grow(room int) error {
	if info, err := f.f.Stat(); err != nil {
		return err
	} else if want := f.offset(room); info.Size() < want {
		// Mapped memory behind the end of a file is a trap, so the end moves first.
		if err := f.f.Truncate(want); err != nil {
			return err
		}
	}
	return f.remap(room)
}

func (f *File) remap(room int) error {
	mem, err := newMemory(f.f, f.mem, room, f.n, f.stride())
	if err != nil {
		return err
	}
	if f.mem != nil {
		f.mem.release()
	}
	f.mem = mem
	return nil
}

// Append writes the vectors of texts that have none yet, each of length 1, and
// answers the slot of the first; the others follow. When it returns they are
// durable, and in the Sets to come. After an error none of them counts.
func (f *File) Append(keys []Key, list [][]float32) (first int, err error) {
	first = f.n
	if err := f.put(keys, list); err != nil {
		return 0, fmt.Errorf("write vectors: %w", err)
	}
	if err := f.f.Sync(); err != nil {
		return 0, fmt.Errorf("write vectors: %w", err)
	}
	return first, f.admit(first + len(keys))
}

func (f *File) put(keys []Key, list [][]float32) error {
	if f.n+len(keys) > f.room() {
		if err := f.grow(f.room() + max(len(keys), f.room()/growBy)); err != nil {
			return err
		}
	}
	size := rowSize(f.Dim)
	rows := make([]byte, len(keys)*size)
	for i, v := range list {
		if len(v) != f.Dim {
			return fmt.Errorf("one has %d dimensions in place of %d", len(v), f.Dim)
		}
		encodeRow(rows[i*size:][:size], keys[i], v)
	}
	_, err := f.f.WriteAt(rows, f.offset(f.n))
	return err
}

// Extend takes the rows before slot n into the Sets to come, as far as there are
// that many: a reader calls it with what the database says.
func (f *File) Extend(n int) error {
	if n > f.room() {
		info, err := f.f.Stat()
		if err != nil {
			return fmt.Errorf("read vectors: %w", err)
		}
		if err := f.remap(f.rowsIn(info.Size())); err != nil {
			return fmt.Errorf("read vectors: %w", err)
		}
	}
	return f.admit(min(n, f.room()))
}

// admit looks at the rows up to slot n.
func (f *File) admit(n int) error {
	if n <= f.n {
		return nil
	}
	if err := f.mem.load(f.f, f.n, n, f.stride()); err != nil {
		return fmt.Errorf("read vectors: %w", err)
	}
	more := map[Key]uint32{}
	end, sound := f.n, 0
	if err := Guard(func() {
		for slot := f.n; slot < n; slot++ {
			key, ok := checkRow(f.rows(slot, slot+1))
			if !ok {
				continue
			}
			if _, known := f.slots.find(key); !known {
				more[key] = uint32(slot)
			}
			end, sound = slot+1, sound+1
		}
	}); err != nil {
		return fmt.Errorf("read vectors: %w", err)
	}
	f.Unsound += end - f.n - sound
	f.n = end
	f.slots = f.slots.with(more)
	return nil
}

// Len is how many slots are used.
func (f *File) Len() int { return f.n }

// Slot answers where the vector of a text stands.
func (f *File) Slot(k Key) (slot int, ok bool) { return f.slots.find(k) }

// All calls yield with each text that has a vector and its slot.
func (f *File) All(yield func(Key, int) bool) {
	for _, m := range []map[Key]uint32{f.slots.base, f.slots.recent} {
		for k, slot := range m {
			if !yield(k, int(slot)) {
				return
			}
		}
	}
}

// Set is a view of all rows there are now, for Publish.
func (f *File) Set() *Set {
	f.mem.acquire()
	return &Set{
		Model: f.Model, Dim: f.Dim, Stride: f.stride(), Data: f.rows(0, f.n), Epoch: f.epoch,
		slots: f.slots, mem: f.mem, unsound: f.Unsound,
	}
}

// Compact writes the vectors that keep names into a new file, durably.
func (f *File) Compact(path string, keep func(Key) bool) (small *File, err error) {
	if small, err = Create(path, f.Model, f.Dim); err != nil {
		return nil, err
	}
	const batch = 256
	var keys []Key
	var list [][]float32
	flush := func() error {
		if err := small.put(keys, list); err != nil {
			return err
		}
		n := small.n + len(keys)
		keys, list = keys[:0], list[:0]
		return small.admit(n)
	}
	damaged := Guard(func() {
		for slot := 0; slot < f.n && err == nil; slot++ {
			row := f.rows(slot, slot+1)
			var key Key
			readKey(row[f.Dim:], &key)
			if at, ok := f.slots.find(key); !ok || at != slot || !keep(key) {
				continue
			}
			keys, list = append(keys, key), append(list, row[:f.Dim])
			if len(keys) == batch {
				err = flush()
			}
		}
		if err == nil {
			err = flush()
		}
	})
	if err = errors.Join(err, damaged); err == nil {
		err = small.f.Sync()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("compact the vectors: %w", err), small.Close(), os.Remove(path))
	}
	return small, nil
}

// Size is what a file with this many slots takes on disk in bytes, without the room
// to grow.
func Size(dim, slots int) int64 { return headerSize + int64(slots)*int64(rowSize(dim)) }

// Close ends the use of the file; Sets made of it stay good until they are
// released. A writer's file loses its room to grow.
func (f *File) Close() error {
	var err error
	f.mem.release()
	if f.write {
		err = f.f.Truncate(Size(f.Dim, f.n))
	}
	return errors.Join(err, f.f.Close())
}

func encodeRow(row []byte, key Key, v []float32) {
	for i, x := range v {
		binary.LittleEndian.PutUint32(row[4*i:], math.Float32bits(x))
	}
	copy(row[4*len(v):], key[:])
	sum := 4*len(v) + len(key)
	binary.LittleEndian.PutUint32(row[sum:], crc32.Checksum(row[:sum], castagnoli))
}

func readKey(metadata []float32, k *Key) {
	for i := range len(k) / 4 {
		binary.LittleEndian.PutUint32(k[4*i:], math.Float32bits(metadata[i]))
	}
}

// checkRow answers the key of a row, and whether the row is sound.
func checkRow(row []float32) (k Key, ok bool) {
	metadata := row[len(row)-rowMetadata:]
	readKey(metadata, &k)
	return k, checksum(row[:len(row)-rowMetadata+len(k)/4]) == math.Float32bits(metadata[len(k)/4])
}

// syncDir makes a new name in a folder durable. Some systems cannot, and do not
// need it.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	_ = d.Sync()
	return d.Close()
}
