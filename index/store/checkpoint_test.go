package store

import (
	"fmt"
	"path/filepath"
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
