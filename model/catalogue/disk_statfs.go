//go:build linux || darwin

package catalogue

import (
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// FreeSpace is how many bytes the disk of a folder has left for this user; of a folder
// that is not there yet, that of the nearest one above it. ok is false if it is not
// known.
func FreeSpace(dir string) (bytes int64, ok bool) {
	for {
		var stat unix.Statfs_t
		err := unix.Statfs(dir, &stat)
		if err == nil {
			return int64(stat.Bavail) * int64(stat.Bsize), true
		}
		above := filepath.Dir(dir)
		if !os.IsNotExist(&fs.PathError{Err: err}) || above == dir {
			return 0, false
		}
		dir = above
	}
}
