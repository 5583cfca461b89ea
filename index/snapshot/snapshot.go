// Package snapshot keeps what a search needs ready-made in one file beside the
// database, so that a new process maps it instead of reading the database. It knows
// sections of bytes and not what they mean: package retrieval writes and reads those.
//
// # The file
//
// All numbers are little-endian. A header of 64 bytes:
//
//	 0  8 bytes   "QUARRYSN"
//	 8  uint32    version of the format, 1
//	12  uint32    version of what the sections mean, the caller's
//	16  uint64    length of the file
//	24  uint32    number of sections
//	28  uint32    CRC-32C of the table
//	32  28 bytes  zeros
//	60  uint32    CRC-32C of all before
//
// Then the table, 24 bytes a section: uint64 offset, uint64 length, uint32 CRC-32C of
// the section, uint32 zeros. Then the sections, each at a multiple of 64 bytes.
//
// A file is written whole under another name, made durable, and then renamed over the
// one before; so whatever the moment a process dies at, there is the old file, the new
// one, or none. It is never changed. Open believes nothing that it has not checked: a
// file of another version, or of which a byte is not what it was, is ErrUnusable, and
// the caller makes it anew from the database.
package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"quarry/index/fault"
)

// ErrUnusable says that there is a file and it cannot be used.
var ErrUnusable = errors.New("the snapshot cannot be used")

var errCount = errors.New("there are more or fewer sections than were announced")

const (
	magic      = "QUARRYSN"
	format     = 1
	headerSize = 64
	entrySize  = 24
	alignment  = 64
	unfinished = ".new-"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Write makes the file at path of n sections, over the one there is. It asks for each when
// the one before is written, so that they need not be in memory at once. version is that of
// what the sections mean.
func Write(path string, version uint32, n int, sections iter.Seq[[]byte]) error {
	return WriteIf(path, version, n, sections, func(rename func() error) error { return rename() })
}

// WriteIf is Write for who decides at the last moment: put is called when the file is whole and
// durable under its other name, and calls rename, or answers why it does not.
func WriteIf(path string, version uint32, n int, sections iter.Seq[[]byte], put func(rename func() error) error) (err error) {
	RemoveUnfinished(path)                                                          // there is one writer at a time
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+unfinished+"*") // for this user alone
	if err != nil {
		return fmt.Errorf("write the snapshot: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("write the snapshot: %w", err), os.Remove(f.Name()))
		}
	}()
	// Sections may lie in the file that was there before.
	if failed := fault.Guard(func() { err = write(f, version, n, sections) }); failed != nil {
		err = failed
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return put(func() error {
		if err := os.Rename(f.Name(), path); err != nil {
			return err
		}
		syncFolder(filepath.Dir(path))
		return nil
	})
}

// RemoveUnfinished removes what a writer of the file at path has left that was killed.
func RemoveUnfinished(path string) {
	if left, err := filepath.Glob(path + unfinished + "*"); err == nil {
		for _, name := range left {
			_ = os.Remove(name) // it takes room, and is in nobody's way
		}
	}
}

// syncFolder makes a rename durable. Where that fails the next start finds the old file,
// or none: both are sound.
func syncFolder(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

func write(f *os.File, version uint32, n int, sections iter.Seq[[]byte]) error {
	head := make([]byte, aligned(headerSize+entrySize*n))
	table := head[headerSize : headerSize+entrySize*n]
	at, entry := len(head), table
	if _, err := f.Seek(int64(at), io.SeekStart); err != nil {
		return err
	}
	var zeros [alignment]byte
	for s := range sections {
		if len(entry) == 0 {
			return errCount
		}
		binary.LittleEndian.PutUint64(entry, uint64(at))
		binary.LittleEndian.PutUint64(entry[8:], uint64(len(s)))
		binary.LittleEndian.PutUint32(entry[16:], crc32.Checksum(s, castagnoli))
		entry = entry[entrySize:]
		at = aligned(at + len(s))
		for _, part := range [][]byte{s, zeros[:aligned(len(s))-len(s)]} {
			if _, err := f.Write(part); err != nil {
				return err
			}
		}
	}
	if len(entry) > 0 {
		return errCount
	}
	copy(head, magic)
	binary.LittleEndian.PutUint32(head[8:], format)
	binary.LittleEndian.PutUint32(head[12:], version)
	binary.LittleEndian.PutUint64(head[16:], uint64(at))
	binary.LittleEndian.PutUint32(head[24:], uint32(n))
	binary.LittleEndian.PutUint32(head[28:], crc32.Checksum(table, castagnoli))
	binary.LittleEndian.PutUint32(head[60:], crc32.Checksum(head[:60], castagnoli))
	_, err := f.WriteAt(head, 0)
	return err
}

func aligned(n int) int { return (n + alignment - 1) / alignment * alignment }

// File is an open snapshot.
type File struct {
	path string
	info os.FileInfo
	data []byte
	// verified: the sections were not checked, but by whoever marked the file as verified.
	verified bool
	// mapped is the file itself where its bytes are read as they are now, which its path may
	// not lead to any more; nil where they are in memory. It is closed with the last use.
	mapped *os.File
	// Sections are as they were written. They lie in the mapped file: who keeps any of
	// them keeps the File, too, and nothing writes to them.
	Sections [][]byte
}

// Open maps the file at path and checks all of it. The error is fs.ErrNotExist if there
// is none, and ErrUnusable if it is not one of this version, or damaged.
func Open(path string, version uint32) (*File, error) { return open(path, version, false) }

// OpenVerified is Open for a process that asks once and ends. It does not check again what
// one before it has checked lately and marked so (File.MarkVerified), as long as the system says
// that the file is the same.
func OpenVerified(path string, version uint32) (*File, error) { return open(path, version, true) }

func open(path string, version uint32, trust bool) (*File, error) {
	// A pipe would be opened for as long as nobody writes to it.
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: it is no regular file", ErrUnusable)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	keep := false
	defer func() {
		if !keep {
			_ = f.Close()
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() < headerSize || info.Size() != int64(int(info.Size())) {
		return nil, fmt.Errorf("%w: it is no file of at least %d bytes", ErrUnusable, headerSize)
	}
	data, release, err := load(f, int(info.Size()))
	if err != nil {
		return nil, fmt.Errorf("open the snapshot: %w", err)
	}
	s := &File{path: path, info: info, data: data}
	if failed := fault.Guard(func() { s.Sections, err = sectionsOf(data, version) }); failed != nil {
		err = fmt.Errorf("%w: %w", ErrUnusable, failed)
	}
	if s.verified = trust && isVerified(f, path); err == nil && !s.verified {
		err = check(data, s.Sections)
	}
	if err != nil {
		return nil, errors.Join(err, release())
	}
	if stays {
		s.mapped, keep = f, true
	}
	runtime.AddCleanup(s, func(release func() error) { _ = release() }, release)
	return s, nil
}

// Forget gives back the memory that reading took. What is read again comes from the file
// again, mostly out of the system's cache.
func (f *File) Forget() {
	forget(f.data, 0, len(f.data))
	runtime.KeepAlive(f)
}

// Written answers, without reading any of it, whether the file was written into or made
// shorter since Open began. One that took its place, or none, changes nothing.
func (f *File) Written() bool {
	if f.mapped == nil {
		return false
	}
	now, err := f.mapped.Stat()
	return err != nil || now.Size() != f.info.Size() || !now.ModTime().Equal(f.info.ModTime())
}

// Damaged is Written, and reads all of it: whether the bytes are those that were written
// first, whatever the file's times say.
func (f *File) Damaged() bool {
	defer runtime.KeepAlive(f)
	return f.Written() || f.recheck() != nil
}

// recheck compares all with its checksums, header and table first: a table of zeros fits
// anything.
func (f *File) recheck() (err error) {
	failed := fault.Guard(func() { _, err = sectionsOf(f.data, binary.LittleEndian.Uint32(f.data[12:])) })
	if failed != nil || err != nil {
		return errors.Join(failed, err)
	}
	return check(f.data, f.Sections)
}

// Changed answers whether the bytes may not be those that Open checked: the file was written
// into, made shorter, or is gone. One that took its place changes nothing. Bytes that
// somebody marked as verified may never have been right.
func (f *File) Changed() bool {
	if f.Written() {
		return true
	}
	now, err := os.Stat(f.path)
	if err != nil {
		return true
	}
	if f.verified && f.recheck() != nil {
		_ = os.Remove(f.path + verifiedSuffix)
		return true
	}
	return os.SameFile(now, f.info) && (now.Size() != f.info.Size() || !now.ModTime().Equal(f.info.ModTime()))
}

// sectionsOf reads header and table.
func sectionsOf(data []byte, version uint32) ([][]byte, error) {
	header := data[:headerSize]
	switch {
	case string(header[:8]) != magic, binary.LittleEndian.Uint32(header[60:]) != crc32.Checksum(header[:60], castagnoli):
		return nil, fmt.Errorf("%w: its header is damaged", ErrUnusable)
	case binary.LittleEndian.Uint32(header[8:]) != format, binary.LittleEndian.Uint32(header[12:]) != version:
		return nil, fmt.Errorf("%w: another quarry wrote it", ErrUnusable)
	case binary.LittleEndian.Uint64(header[16:]) != uint64(len(data)):
		return nil, fmt.Errorf("%w: it has %d bytes", ErrUnusable, len(data))
	}
	n := int(binary.LittleEndian.Uint32(header[24:]))
	if n > (len(data)-headerSize)/entrySize {
		return nil, fmt.Errorf("%w: its table is damaged", ErrUnusable)
	}
	table := data[headerSize : headerSize+entrySize*n]
	if crc32.Checksum(table, castagnoli) != binary.LittleEndian.Uint32(header[28:]) {
		return nil, fmt.Errorf("%w: its table is damaged", ErrUnusable)
	}
	sections := make([][]byte, n)
	for i := range sections {
		entry := table[entrySize*i:]
		at, length := binary.LittleEndian.Uint64(entry), binary.LittleEndian.Uint64(entry[8:])
		if at%alignment != 0 || at > uint64(len(data)) || length > uint64(len(data))-at {
			return nil, fmt.Errorf("%w: section %d is out of place", ErrUnusable, i)
		}
		sections[i] = data[at : at+length : at+length]
	}
	return sections, nil
}

// checkPiece is how much of a file is checked at once, and then forgotten: what no search
// touches is not to count as the process's memory.
const checkPiece = 1 << 20

// check compares the sections with their checksums.
func check(data []byte, sections [][]byte) error {
	var (
		wait    sync.WaitGroup
		mu      sync.Mutex // guards next and failure
		next    int
		failure error
	)
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		next++
		return next - 1, next <= len(sections) && failure == nil
	}
	for range min(2, len(sections)) {
		wait.Go(func() {
			for i, ok := take(); ok; i, ok = take() {
				if err := checkSection(data, i); err != nil {
					mu.Lock()
					failure = err
					mu.Unlock()
				}
			}
		})
	}
	wait.Wait()
	return failure
}

func checkSection(data []byte, i int) (err error) {
	if failed := fault.Guard(func() { err = compareSection(data, i) }); failed != nil {
		err = fmt.Errorf("%w: section %d cannot be read: %w", ErrUnusable, i, failed)
	}
	return err
}

func compareSection(data []byte, i int) error {
	entry := data[headerSize+entrySize*i:]
	at := int(binary.LittleEndian.Uint64(entry))
	end := at + int(binary.LittleEndian.Uint64(entry[8:]))
	sum := uint32(0)
	for at < end {
		next := min(at+checkPiece, end)
		sum = crc32.Update(sum, castagnoli, data[at:next])
		forget(data, at, next)
		at = next
	}
	if sum != binary.LittleEndian.Uint32(entry[16:]) {
		return fmt.Errorf("%w: section %d is damaged", ErrUnusable, i)
	}
	return nil
}
