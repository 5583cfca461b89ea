//go:build unix

package store

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What a wipe wrote before there was no more room is given back at once: a disk that is full of it is
// full for everybody.
func TestAWipeWithoutRoomKeepsNone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	s := open(t, path)
	var b Batch
	for i := range 200 {
		b.Put = append(b.Put, document(fmt.Sprintf("f%d.toy", i), fmt.Sprintf("def f%d%s\n", i, strings.Repeat("x", 4000))))
	}
	apply(t, s, b)
	apply(t, s, Batch{Remove: []string{"f0.toy"}})
	if done, err := s.Wipe(t.Context()); !done || err != nil {
		t.Fatal(done, err)
	}
	apply(t, s, Batch{Remove: []string{"f1.toy"}})
	if done, err := s.CutLog(t.Context()); !done || err != nil {
		t.Fatal(done, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ) // the write shall fail, not the process
	defer signal.Reset(syscall.SIGXFSZ)
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	full := limit
	full.Cur = uint64(info.Size()) // the log has the same pages, each with a head
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &full); err != nil {
		t.Fatal(err)
	}
	done, err := s.Wipe(t.Context())
	left := s.HasLog()
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	if done || !errors.Is(err, ErrFull) || left {
		t.Errorf("done %t, %v, a log is left: %t", done, err, left)
	}
	if done, err := s.Wipe(t.Context()); !done || err != nil {
		t.Errorf("with room: %t, %v", done, err)
	}
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
}
