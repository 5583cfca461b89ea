//go:build unix

package process

import (
	"errors"
	"syscall"
)

// isAlive reports whether a process with that id exists, also one of
// another user.
func isAlive(pid int) bool {
	return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}
