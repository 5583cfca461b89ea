//go:build unix

// Package walktest makes what attacks put where rules are read. Each fails the test
// it is called from when it cannot.
package walktest

import (
	"os"
	"syscall"
	"testing"
)

// Sparse makes a file of 200 GB that takes nothing of the disk. It skips the test
// where the file system has none.
func Sparse(t *testing.T, name string) {
	t.Helper()
	if err := os.WriteFile(name, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(name, 200<<30); err != nil {
		t.Skip("the file system has no sparse files: ", err)
	}
}

// Pipe makes a pipe, which has no end to wait for.
func Pipe(t *testing.T, name string) {
	t.Helper()
	if err := syscall.Mkfifo(name, 0o644); err != nil {
		t.Fatal(err)
	}
}

// Endless makes a link to a device without an end.
func Endless(t *testing.T, name string) {
	t.Helper()
	if err := os.Symlink("/dev/zero", name); err != nil {
		t.Fatal(err)
	}
}
