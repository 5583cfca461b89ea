//go:build unix

package settings

import (
	"os"
	"path/filepath"
	"syscall"
)

// ownerFor is the user and group that a file at path is to have if root writes it: those of
// the file there, else of its folder. Others can give a file to nobody: then it is false.
func ownerFor(path string) (uid, gid int, ok bool) {
	if os.Geteuid() != 0 {
		return 0, 0, false
	}
	info, err := os.Stat(path)
	if err != nil {
		info, err = os.Stat(filepath.Dir(path))
	}
	if err != nil {
		return 0, 0, false
	}
	of, ok := info.Sys().(*syscall.Stat_t)
	if !ok || of.Uid == 0 {
		return 0, 0, false
	}
	return int(of.Uid), int(of.Gid), true
}
