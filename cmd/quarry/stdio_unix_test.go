//go:build unix

package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A pipe is waited for by Go, so that a deadline ends a read of it; a file is left
// as it is.
func TestPolled(t *testing.T) {
	var ends [2]int
	if err := syscall.Pipe(ends[:]); err != nil { // which blocks, as an inherited one does
		t.Fatal(err)
	}
	w := os.NewFile(uintptr(ends[1]), "writer")
	defer w.Close()
	inherited := os.NewFile(uintptr(ends[0]), "stdin")
	defer inherited.Close()
	if err := inherited.SetReadDeadline(time.Now()); err == nil {
		t.Fatal("the pipe is polled already, so that this test shows nothing")
	}
	p := polled(inherited)
	defer p.Close()
	if err := p.SetReadDeadline(time.Now().Add(-time.Second)); err != nil {
		t.Fatalf("the pipe is not polled: %v", err)
	}
	if _, err := p.Read(make([]byte, 1)); !os.IsTimeout(err) {
		t.Errorf("a read of an empty pipe ends with %v", err)
	}
	if err := p.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if n, err := p.Read(make([]byte, 4)); n != 1 || err != nil {
		t.Errorf("read %d bytes of 1: %v", n, err)
	}

	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if polled(file) != file {
		t.Error("a file is not what it was")
	}
}
