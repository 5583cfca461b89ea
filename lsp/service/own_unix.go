//go:build unix

package service

import (
	"io/fs"
	"os"
	"syscall"
)

// isOwn answers whether a file is this user's.
func isOwn(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// isOpen answers whether others have any right to a file.
func isOpen(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }
