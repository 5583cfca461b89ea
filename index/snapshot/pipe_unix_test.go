//go:build unix

package snapshot

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Y1: a pipe, a link or a folder in its place is no snapshot, and is not waited for.
func TestWhatIsNoFileIsNotWaitedFor(t *testing.T) {
	real := written(t)
	for name, make := range map[string]func(path string) error{
		"a pipe":         func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a link":         func(path string) error { return os.Symlink(real, path) },
		"a link to zero": func(path string) error { return os.Symlink("/dev/zero", path) },
		"a folder":       func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		path := filepath.Join(t.TempDir(), "snapshot")
		if err := make(path); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path, 7); !errors.Is(err, ErrUnusable) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
