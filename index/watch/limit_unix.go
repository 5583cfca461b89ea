//go:build unix

package watch

import (
	"errors"
	"io/fs"
	"syscall"
)

func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// isLimit: inotify says ENOSPC when max_user_watches is used up; kqueue opens a
// file for each watch.
func isLimit(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}
