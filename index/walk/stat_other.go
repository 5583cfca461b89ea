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

// sizeAndTime asks for a file of an open folder, links not followed.
func sizeAndTime(_ *os.File, e fs.DirEntry) (size, modTime int64, err error) {
	info, err := e.Info()
	if err != nil {
		return 0, 0, err
	}
	return info.Size(), info.ModTime().UnixNano(), nil
}
