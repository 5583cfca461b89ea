package cli

import (
	"os"

	"golang.org/x/sys/windows"
)

// columns is how many characters a line of a terminal has, 0 where f is none.
func columns(f *os.File) int {
	var info windows.ConsoleScreenBufferInfo
	if windows.GetConsoleScreenBufferInfo(windows.Handle(f.Fd()), &info) != nil {
		return 0
	}
	return int(info.Window.Right-info.Window.Left) + 1
}

// escapes reports whether f is a console that follows escape sequences.
func escapes(f *os.File) bool {
	console := windows.Handle(f.Fd())
	return follows(
		func() (mode uint32, err error) { err = windows.GetConsoleMode(console, &mode); return mode, err },
		func(mode uint32) error { return windows.SetConsoleMode(console, mode) },
	)
}
