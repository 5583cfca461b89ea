package store

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
)

// checkLength fails with ErrCorrupt if the database at path is shorter than its own
// header says, which SQLite notices only when it reads what is missing. The header
// (https://www.sqlite.org/fileformat.html, 1.3) counts only once the write-ahead log
// is gone, as it is after the last process has closed the database.
func checkLength(path string) error {
	if log, err := os.Stat(path + "-wal"); err == nil && log.Size() > 0 {
		return nil
	}
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		return nil
	} else if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	var header [100]byte
	if _, err := io.ReadFull(f, header[:]); err != nil || string(header[:16]) != "SQLite format 3\x00" {
		return nil // SQLite says what it is
	}
	size := int64(binary.BigEndian.Uint16(header[16:]))
	if size == 1 { // for the one that does not fit
		size = 1 << 16
	}
	counted := binary.BigEndian.Uint32(header[24:]) == binary.BigEndian.Uint32(header[92:])
	if pages := int64(binary.BigEndian.Uint32(header[28:])); counted && info.Size() < pages*size {
		return fmt.Errorf("%w: %s has %d bytes of %d", ErrCorrupt, path, info.Size(), pages*size)
	}
	return nil
}
