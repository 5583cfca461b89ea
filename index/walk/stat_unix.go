//go:build linux || darwin || freebsd || netbsd || openbsd

package walk

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// sizeAndTime asks for a file of an open folder, links not followed. Asking by the
// folder and not by the whole path halves what a walk costs.
func sizeAndTime(folder *os.File, e fs.DirEntry) (size, modTime int64, err error) {
	var st unix.Stat_t
	if err := unix.Fstatat(int(folder.Fd()), e.Name(), &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return 0, 0, &fs.PathError{Op: "fstatat", Path: e.Name(), Err: err}
	}
	return st.Size, st.Mtim.Nano(), nil
}
