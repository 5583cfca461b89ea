//go:build linux || darwin || freebsd || netbsd || openbsd

package walk

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// stampOf asks for the state of what has a name; of a folder only which it is counts. A
// file's content cannot change without the time of its last change, which nobody can set.
func stampOf(name string, follow bool) stamp {
	var st unix.Stat_t
	ask := unix.Lstat
	if follow {
		ask = unix.Stat
	}
	if ask(name, &st) != nil {
		return stamp{}
	}
	s := stamp{device: uint64(st.Dev), inode: uint64(st.Ino), mode: uint32(st.Mode)}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		s.size, s.changed = int64(st.Size), st.Ctim.Nano()
	}
	return s
}

// sizeAndTime asks for a file of an open folder, links not followed. Asking by the
// folder and not by the whole path halves what a walk costs.
func sizeAndTime(folder *os.File, e fs.DirEntry) (size, modTime int64, err error) {
	var st unix.Stat_t
	if err := unix.Fstatat(int(folder.Fd()), e.Name(), &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return 0, 0, &fs.PathError{Op: "fstatat", Path: e.Name(), Err: err}
	}
	return st.Size, st.Mtim.Nano(), nil
}
