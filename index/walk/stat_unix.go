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

// askIn completes the entry of a file of an open folder, links not followed. Asking by the
// folder and not by the whole path halves what a walk costs.
func (e *Entry) askIn(folder *os.File, file fs.DirEntry) error {
	var st unix.Stat_t
	if err := unix.Fstatat(int(folder.Fd()), file.Name(), &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return &fs.PathError{Op: "fstatat", Path: file.Name(), Err: err}
	}
	e.take(&st)
	return nil
}

// take completes an entry from what the system says.
func (e *Entry) take(st *unix.Stat_t) {
	e.Size, e.ModTime, e.Changed = st.Size, st.Mtim.Nano(), st.Ctim.Nano()
}

// Ask describes a file by its whole path, links not followed.
func Ask(path string) (e Entry, err error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return e, &fs.PathError{Op: "lstat", Path: path, Err: err}
	}
	e.Path = path
	e.take(&st)
	return e, nil
}

// changedAt is Entry.Changed of an open file.
func changedAt(f *os.File) int64 {
	var st unix.Stat_t
	if unix.Fstat(int(f.Fd()), &st) != nil {
		return 0
	}
	return st.Ctim.Nano()
}
