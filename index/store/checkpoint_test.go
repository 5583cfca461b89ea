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

// The log is emptied, short as it is, when nobody reads what is in it, and without waiting for who does.
func TestCutLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	s := open(t, path)
	apply(t, s, Batch{Put: []*Document{document("a.toy", "def zebrazyx\n")}})
	if !s.HasLog() || s.LogIsLong() {
		t.Fatal("there is no short log")
	}
	apply(t, s, Batch{Remove: []string{"a.toy"}})
	apply(t, s, Batch{Put: []*Document{document("b.toy", "def other\n")}})
	_, err := s.Load(t.Context(), nil, func(*File) error { // who reads
		apply(t, s, Batch{Put: []*Document{document("c.toy", "def third\n")}})
		if done, err := s.CutLog(t.Context()); done || err != nil || !s.HasLog() {
			t.Errorf("while somebody reads: %t, %v, %t", done, err, s.HasLog())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if done, err := s.CutLog(t.Context()); !done || err != nil || s.HasLog() {
		t.Errorf("afterwards: %t, %v, %t", done, err, s.HasLog())
	}
	for _, name := range []string{path, path + "-wal"} {
		if b, err := os.ReadFile(name); err != nil || strings.Contains(string(b), "zebrazyx") {
			t.Errorf("%s: %v, or it has the word", name, err)
		}
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

// A database that a quarry wrote which let removed rows lie is written anew once, however often it
// is tried while somebody reads: the log cannot be emptied before, and has all of it.
func TestWipeWhileSomebodyReads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	s := open(t, path)
	apply(t, s, Batch{Put: []*Document{document("a.toy", "def zebrazyx\n")}})
	if err := s.write("forget", func() error { return s.w.exec("DELETE FROM meta WHERE key = ?", wiped) }); err != nil {
		t.Fatal(err)
	}
	var sizes []int64
	_, err := s.Load(t.Context(), nil, func(*File) error { // who reads
		apply(t, s, Batch{Remove: []string{"a.toy"}})
		for range 3 {
			done, err := s.Wipe(t.Context())
			info, e := os.Stat(path + "-wal")
			if done || err != nil || e != nil {
				t.Fatal(done, err, e)
			}
			sizes = append(sizes, info.Size())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(sizes) != 3 || sizes[0] != sizes[2] {
		t.Errorf("the log has %d bytes", sizes)
	}
	if needs, err := s.NeedsWipe(t.Context()); !needs || err != nil {
		t.Errorf("still to be wiped: %t, %v", needs, err)
	}
	if done, err := s.Wipe(t.Context()); !done || err != nil {
		t.Errorf("afterwards: %t, %v", done, err)
	}
	if needs, err := s.NeedsWipe(t.Context()); needs || err != nil {
		t.Errorf("afterwards still to be wiped: %t, %v", needs, err)
	}
	if b, err := os.ReadFile(path); err != nil || strings.Contains(string(b), "zebrazyx") {
		t.Errorf("%v, or the database has the word", err)
	}
}
