package walk

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// times asks for the times of files and folders by their paths below a root, where the
// file system is one that changes a folder's times whenever a name in it comes or goes.
type times struct {
	root   *os.File // nil if it is not
	device uint64
}

// dated are the file systems of which that is known. Those of networks and of other
// systems may keep a folder's time, or answer with an older one.
var dated = map[int64]bool{
	unix.EXT4_SUPER_MAGIC: true, unix.XFS_SUPER_MAGIC: true, unix.BTRFS_SUPER_MAGIC: true, unix.TMPFS_MAGIC: true,
	unix.OVERLAYFS_SUPER_MAGIC: true, unix.F2FS_SUPER_MAGIC: true, zfsMagic: true, bcachefsMagic: true,
}

const (
	zfsMagic      = 0x2fc12fc1
	bcachefsMagic = 0xca451a4e
)

func openTimes(dir string) times {
	f, err := os.Open(dir)
	if err != nil {
		return times{}
	}
	var system unix.Statfs_t
	var st unix.Stat_t
	if unix.Fstatfs(int(f.Fd()), &system) != nil || !dated[int64(system.Type)] || unix.Fstat(int(f.Fd()), &st) != nil {
		_ = f.Close() // it was only looked at
		return times{}
	}
	return times{f, st.Dev}
}

func (t times) close() {
	if t.root != nil {
		_ = t.root.Close() // it was only looked at
	}
}

// young is for how long after a change another one may leave a time as it is.
const young = 100 * time.Millisecond

// of is a time that no name in a folder came or went after, 0 if that is not known. It is that
// of any change, since programs that unpack or copy set the other one.
func (t times) of(folder string) int64 {
	if t.root == nil {
		return 0
	}
	if folder == "" {
		folder = "."
	}
	var st unix.Stat_t
	if err := unix.Fstatat(int(t.root.Fd()), folder, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil ||
		st.Mode&unix.S_IFMT != unix.S_IFDIR || st.Dev != t.device || now().UnixNano()-st.Ctim.Nano() < int64(young) {
		return 0
	}
	return st.Ctim.Nano()
}

// stat completes a file's entry; reason says why it is left out after all. there is false
// if there is no such file.
func (t times) stat(e *Entry) (reason Reason, there bool) {
	var st unix.Stat_t
	err := unix.Fstatat(int(t.root.Fd()), e.Path, &st, unix.AT_SYMLINK_NOFOLLOW)
	switch {
	case errors.Is(err, unix.ENOENT):
		return "", false
	case err != nil:
		return Unreadable, true
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return Special, true
	}
	e.take(&st)
	return "", true
}
