package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestNobodyWaitsForACheckpoint(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "index.db"))
	for i := 0; !s.LogIsLong(); i++ {
		if i == 1000 {
			t.Fatal("the log does not grow")
		}
		var b Batch
		for j := range 200 {
			b.Put = append(b.Put, document(fmt.Sprintf("f%d.toy", 200*i+j), fmt.Sprintf("def f%d\ncall g%d\n", i, j)))
		}
		apply(t, s, b)
	}
	s.mu.Lock() // somebody writes
	err := s.Checkpoint(t.Context())
	s.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	apply(t, s, Batch{Put: []*Document{document("next.toy", "def next\n")}})
	if s.LogIsLong() {
		t.Error("the log is still long after a checkpoint and a write")
	}
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// Closing does not move a long log: whoever ends a process waits for it.
func TestCloseLeavesALongLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	s, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("word ", 1000)
	for n := 0; !s.LogIsLong(); n++ {
		var b Batch
		for i := range 200 {
			b.Put = append(b.Put, document(fmt.Sprintf("f%d/%d.toy", n, i), fmt.Sprintf("def f%d\ncall g%d\n", i, n)+long))
		}
		if err := s.Apply(b); err != nil {
			t.Fatal(err)
		}
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := s.Totals(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if !s.LogIsLong() {
		t.Error("the log was moved when the index was closed")
	}
	if after, err := os.Stat(path); err != nil || after.Size() != before.Size() {
		t.Errorf("the database grew from %d to %d bytes: %v", before.Size(), after.Size(), err)
	}
	s, err = Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.Totals(t.Context()); err != nil || got != want {
		t.Errorf("after opening again %+v, want %+v: %v", got, want, err)
	}
	if err := s.Checkpoint(t.Context()); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
