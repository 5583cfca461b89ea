//go:build !windows

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// columns is how many characters a line of a terminal has, 0 where f is none.
func columns(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}

// escapes reports whether f is a terminal: all of them follow escape sequences.
func escapes(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
