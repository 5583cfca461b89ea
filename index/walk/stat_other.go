//go:build !(linux || darwin || freebsd || netbsd || openbsd)

package walk

import (
	"io/fs"
	"os"
)

// stampOf asks for the state of what has a name; of a folder only that it is one counts.
func stampOf(name string, follow bool) stamp {
	ask := os.Lstat
	if follow {
		ask = os.Stat
	}
	info, err := ask(name)
	if err != nil {
		return stamp{}
	}
	s := stamp{device: 1, mode: uint32(info.Mode())}
	if !info.IsDir() {
		s.size, s.changed = info.Size(), info.ModTime().UnixNano()
	}
	return s
}

// askIn completes the entry of a file of an open folder, links not followed.
func (e *Entry) askIn(_ *os.File, file fs.DirEntry) error {
	info, err := file.Info()
	if err == nil {
		e.Size, e.ModTime = info.Size(), info.ModTime().UnixNano()
	}
	return err
}

// Ask describes a file by its whole path, links not followed.
func Ask(path string) (Entry, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return Entry{}, err
	}
	return Entry{Path: path, Size: info.Size(), ModTime: info.ModTime().UnixNano()}, nil
}

// changedAt is Entry.Changed of an open file: asking for it takes another call for each file,
// by a handle of its own, of which a walk of many files would feel the cost.
func changedAt(*os.File) int64 { return 0 }
