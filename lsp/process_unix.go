//go:build unix

package lsp

import (
	"errors"
	"syscall"
)

// processAlive reports whether a process with that id exists, also one of
// another user.
func processAlive(pid int) bool {
	return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}
