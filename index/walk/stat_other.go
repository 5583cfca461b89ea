//go:build !(linux || darwin || freebsd || netbsd || openbsd)

package walk

import (
	"io/fs"
	"os"
)

// sizeAndTime asks for a file of an open folder, links not followed.
func sizeAndTime(_ *os.File, e fs.DirEntry) (size, modTime int64, err error) {
	info, err := e.Info()
	if err != nil {
		return 0, 0, err
	}
	return info.Size(), info.ModTime().UnixNano(), nil
}
