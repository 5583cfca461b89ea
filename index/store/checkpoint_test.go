package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
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

// SQLite leaves copies of rows where it moved them from, between the rows of a page. Text that has
// gone leaves these, too.
func TestWipeLeavesNoCopies(t *testing.T) {
	const most = 50 // databases; one in four has some
	for seed := range uint64(most) {
		path := filepath.Join(t.TempDir(), "index.db")
		s := open(t, path)
		random := rand.New(rand.NewPCG(seed, 0))
		var words [300]string
		var gone []string
		text := func(i int) *Document {
			if words[i] != "" {
				gone = append(gone, words[i])
			}
			words[i] = fmt.Sprintf("%09dquokka", random.IntN(1_000_000_000))
			return document(fmt.Sprintf("f%d.toy", i), "def "+words[i]+"\ndef other"+words[i]+"\n")
		}
		if err := s.BeginBulk(); err != nil {
			t.Fatal(err)
		}
		for round := range 6 {
			var b Batch
			for i := range words {
				if round == 0 || random.IntN(5) == 0 {
					b.Put = append(b.Put, text(i))
				}
			}
			apply(t, s, b)
			if round == 0 { // a first index
				if err := s.EndBulk(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if now, later, err := s.NeedsWipe(t.Context()); now || !later || err != nil {
			t.Errorf("after edits: %t, %t, %v", now, later, err)
		}
		var b Batch
		for i := range words {
			if i%9 != 3 {
				b.Remove, gone = append(b.Remove, fmt.Sprintf("f%d.toy", i)), append(gone, words[i])
			}
		}
		apply(t, s, b)
		if done, err := s.CutLog(t.Context()); !done || err != nil {
			t.Fatal(done, err)
		}
		copies := func() (n int) {
			data, err := os.ReadFile(path)
			if err != nil || s.HasLog() {
				t.Fatal("a log, or", err)
			}
			for _, word := range gone {
				if strings.Contains(string(data), word) {
					n++
				}
			}
			return n
		}
		if copies() == 0 {
			continue
		}
		if done, err := s.Wipe(t.Context()); !done || err != nil {
			t.Fatal(done, err)
		}
		if done, err := s.CutLog(t.Context()); !done || err != nil || copies() > 0 { // that it is done was noted
			t.Errorf("%t, %v, and %d copies are left", done, err, copies())
		}
		if now, later, err := s.NeedsWipe(t.Context()); now || later || err != nil {
			t.Errorf("afterwards: %t, %t, %v", now, later, err)
		}
		if err := s.Check(t.Context()); err != nil {
			t.Error(err)
		}
		return
	}
	t.Errorf("none of %d databases has a copy: is there still something to wipe?", most)
}

// Who writes stops a wipe, which is done another time.
func TestWritesStopAWipe(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "index.db"))
	apply(t, s, Batch{Put: []*Document{document("a.toy", "def a\n"), document("b.toy", "def b\n")}})
	apply(t, s, Batch{Remove: []string{"a.toy"}})
	s.mu.Lock() // as who writes
	wiped := make(chan error, 1)
	go func() {
		done, err := s.Wipe(t.Context())
		wiped <- errors.Join(err, map[bool]error{true: errors.New("it was done")}[done])
	}()
	for s.rewriting.Load() == nil {
		runtime.Gosched()
	}
	stop, stopped := s.rewriting.Load(), make(chan struct{})
	seen := context.CancelFunc(func() {
		(*stop)()
		close(stopped)
	})
	s.rewriting.Store(&seen)
	written := make(chan error, 1)
	go func() { written <- s.Apply(Batch{Put: []*Document{document("c.toy", "def c\n")}}) }()
	<-stopped
	s.mu.Unlock()
	if err := errors.Join(<-wiped, <-written); err != nil {
		t.Error(err)
	}
	if done, err := s.Wipe(t.Context()); !done || err != nil {
		t.Errorf("another time: %t, %v", done, err)
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
	if needs, _, err := s.NeedsWipe(t.Context()); !needs || err != nil {
		t.Errorf("still to be wiped: %t, %v", needs, err)
	}
	if done, err := s.Wipe(t.Context()); !done || err != nil {
		t.Errorf("afterwards: %t, %v", done, err)
	}
	if needs, _, err := s.NeedsWipe(t.Context()); needs || err != nil {
		t.Errorf("afterwards still to be wiped: %t, %v", needs, err)
	}
	if b, err := os.ReadFile(path); err != nil || strings.Contains(string(b), "zebrazyx") {
		t.Errorf("%v, or the database has the word", err)
	}
}

// What goes because nobody may read it any more is to leave the files at once, also if these were written
// anew after that was noted and before it went.
func TestPrivateRowsLeaveAtOnce(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "index.db"))
	apply(t, s, Batch{Put: []*Document{document("a.toy", "def a\n"), document("b.toy", "def b\n")}})
	if err := s.WipeLater(); err != nil {
		t.Fatal(err)
	}
	if done, err := s.Wipe(t.Context()); !done || err != nil {
		t.Fatal(done, err)
	}
	for range 2 { // what goes for another reason afterwards changes nothing
		apply(t, s, Batch{Remove: []string{"a.toy"}, Private: true})
		if now, later, err := s.NeedsWipe(t.Context()); !now || later || err != nil {
			t.Errorf("now %t, later %t, %v", now, later, err)
		}
		apply(t, s, Batch{Remove: []string{"b.toy"}})
	}
}

// Who embeds notes vectors every two seconds, for hours where the index is large, and nobody waits for
// that: it lets a wipe end.
func TestEmbeddingLetsAWipeEnd(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "index.db"))
	model, err := s.AddEmbeddingModel(EmbeddingModel{Name: "m", Dim: 1, File: "f"})
	if err != nil {
		t.Fatal(err)
	}
	var b Batch
	for i := range 500 {
		b.Put = append(b.Put, document(fmt.Sprintf("f%d.toy", i), fmt.Sprintf("def f%d%s\n", i, strings.Repeat("x", 4000))))
	}
	apply(t, s, b)
	apply(t, s, Batch{Remove: []string{"f1.toy"}})
	wiped := make(chan error, 1)
	go func() { wiped <- s.rewrite(t.Context()) }()
	for n := 0; ; n++ {
		if err := s.PutEmbeddings(model, n, []Embedding{{hashOf(fmt.Sprint(n)), n}}); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-wiped:
			if err != nil {
				t.Errorf("the wipe: %v", err)
			}
			return
		default:
		}
	}
}

// An index in memory has no files that anything could leave: it is not written anew, for which who reads
// would have to end first.
func TestWipeInMemory(t *testing.T) {
	s := open(t, "")
	apply(t, s, Batch{Put: []*Document{document("a.toy", "def a\n")}})
	if err := s.WipeLater(); err != nil {
		t.Fatal(err)
	}
	_, err := s.Load(t.Context(), nil, func(*File) error { // who reads
		done, err := s.Wipe(t.Context())
		if !done {
			t.Error("it is not done")
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// A scan names whatever it leaves out, each time; what the index does not have leaves nothing behind.
func TestWhatWasNeverThereIsNotWiped(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "index.db"))
	apply(t, s, Batch{Put: []*Document{document("a.toy", "def a\n")}, Remove: []string{"a.bin"}})
	apply(t, s, Batch{Remove: []string{"b.bin", "c.bin"}})
	if now, later, err := s.NeedsWipe(t.Context()); now || later || err != nil {
		t.Errorf("now %t, later %t, %v", now, later, err)
	}
	apply(t, s, Batch{Remove: []string{"b.bin", "a.toy"}})
	if _, later, err := s.NeedsWipe(t.Context()); !later || err != nil {
		t.Errorf("what goes stays: %v", err)
	}
}
