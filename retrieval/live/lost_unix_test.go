//go:build linux || darwin || freebsd || netbsd || openbsd

package live

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"quarry/index"
	"quarry/index/syntax"
	"quarry/index/systest"
	"quarry/retrieval"
	"quarry/retrieval/dense"
)

// readers are what reads the mapped file; each may be the first to find it spoilt.
var readers = map[string]func(t *testing.T, w *Workspace){
	"search": func(t *testing.T, w *Workspace) {
		a, err := w.Find(t.Context(), dense.NewMemory(time.Minute), retrieval.Request{Query: retrieval.Parse("Router", time.Now())})
		if err != nil || len(a.Results) == 0 || a.Results[0].Path != "server/router.go" {
			t.Errorf("search: %+v, %v", a.Results, err)
		}
	},
	"symbols": func(t *testing.T, w *Workspace) {
		list, err := w.Declared(t.Context(), "Router", nil, 3)
		if err != nil || len(list) == 0 || list[0].Path != "server/router.go" {
			t.Errorf("symbols: %+v, %v", list, err)
		}
	},
	"code like it": func(t *testing.T, w *Workspace) {
		if _, err := w.FindSimilar(t.Context(), dense.NewMemory(time.Minute), retrieval.SimilarRequest{Code: "func Dial(r *server.Router) {}"}); err != nil {
			t.Error(err)
		}
	},
	"chunks to show a model": func(_ *testing.T, w *Workspace) { w.Search.Current().Similar("Dial(router)", "", 3) },
	"declarations": func(_ *testing.T, w *Workspace) {
		s := w.Search.Current()
		for _, id := range append(s.DeclarationsOf("Router"), s.MembersOf("")...) {
			s.Signature(id)
			s.SignatureText(id)
			s.Around(id, 3, func(retrieval.DeclarationID, int) {})
		}
	},
	"uses of files": func(_ *testing.T, w *Workspace) {
		s := w.Search.Current()
		s.UsedBy("Router")
		for _, path := range s.Paths() {
			id, _ := s.FileAt(path)
			s.Imports(id)
			for range s.Uses(id) {
			}
			for range s.DeclaredIn(id) {
			}
		}
	},
	"the graph": func(t *testing.T, w *Workspace) { _ = remade(t.Context(), w) },
	"an edit": func(_ *testing.T, w *Workspace) {
		for _, name := range []string{"x.go", "y.go", "z.go"} { // the last merges
			w.Search.Apply([]retrieval.Change{{Path: name, Document: &retrieval.Document{Path: name, Text: "package x\n", Syntax: &syntax.File{}}}})
		}
		w.Search.Apply([]retrieval.Change{{Path: "x.go"}, {Path: "y.go"}, {Path: "z.go"}})
	},
	"the next snapshot": func(t *testing.T, w *Workspace) { _ = w.write(t.Context()) },
}

// Another program may shorten the file that searches read, or write into it: no reader ends
// the process, none says there is nothing, and what is lost is read anew.
func TestSpoiltWhileItIsRead(t *testing.T) {
	for how, spoil := range map[string]func(path string, whole []byte) error{
		"emptied":              func(path string, _ []byte) error { return os.Truncate(path, 0) },
		"cut in a page":        func(path string, _ []byte) error { return os.Truncate(path, 5000) },
		"cut in the last page": func(path string, whole []byte) error { return os.Truncate(path, int64(len(whole)-100)) },
		"written over with ones": func(path string, whole []byte) error {
			return os.WriteFile(path, bytes.Repeat([]byte{255}, len(whole)), 0o600)
		},
		"written over with zeros":      func(path string, whole []byte) error { return zeros(path, 0, len(whole)) },
		"half written over with zeros": func(path string, whole []byte) error { return zeros(path, len(whole)/2, len(whole)) },
	} {
		for what, read := range readers {
			t.Run(how+"/"+what, func(t *testing.T) {
				dir, state := t.TempDir(), t.TempDir()
				path, want := kept(t, dir, state)
				whole, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				session(t, dir, state, func(_ *index.Index, w *Workspace) {
					if !w.usable.Load() {
						t.Fatal("did not begin with the snapshot")
					}
					if err := spoil(path, whole); err != nil {
						t.Fatal(err)
					}
					read(t, w)
					for _, read := range readers { // whether the first has noticed or not
						read(t, w)
					}
					if err := w.CatchUp(t.Context()); err != nil {
						t.Fatal(err)
					}
					if got := ask(t, w); !reflect.DeepEqual(got, want) {
						t.Errorf("got %+v\nwant %+v", got, want)
					}
				})
				session(t, dir, state, func(_ *index.Index, w *Workspace) {
					if got := ask(t, w); !reflect.DeepEqual(got, want) {
						t.Errorf("the next process: %+v", got)
					}
				})
			})
		}
	}
}

// zeros writes them over a part of a file, in place.
func zeros(path string, from, to int) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(make([]byte, to-from), int64(from))
	return errors.Join(err, f.Close())
}

// What another program wrote into the file is not taken over into the next one, which would
// have the right checksums: that one is made of the database, and the next process finds
// everything in it.
func TestSpoiltIsNotWrittenBack(t *testing.T) {
	for how, part := range map[string]struct {
		from, to func(n int) int
		silent   bool // the file's times are set back
	}{
		"all":            {func(int) int { return 0 }, func(n int) int { return n }, false},
		"all, old time":  {func(int) int { return 0 }, func(n int) int { return n }, true},
		"first half":     {func(int) int { return 0 }, func(n int) int { return n / 2 }, false},
		"second half":    {func(n int) int { return n / 2 }, func(n int) int { return n }, false},
		"half, old time": {func(n int) int { return n / 2 }, func(n int) int { return n }, true},
	} {
		t.Run(how, func(t *testing.T) {
			dir, state := t.TempDir(), t.TempDir()
			path, want := kept(t, dir, state)
			before, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			session(t, dir, state, func(_ *index.Index, w *Workspace) {
				if !w.usable.Load() {
					t.Fatal("did not begin with the snapshot")
				}
				n := int(before.Size())
				if err := zeros(path, part.from(n), part.to(n)); err != nil {
					t.Fatal(err)
				}
				if part.silent {
					if err := os.Chtimes(path, before.ModTime(), before.ModTime()); err != nil {
						t.Fatal(err)
					}
				}
				// Who is at work in the background may notice first, and begin anew.
				if err := w.write(t.Context()); !errors.Is(err, errLost) && !errors.Is(err, errMoved) {
					t.Errorf("write: %v", err)
				}
				if err := w.CatchUp(t.Context()); err != nil {
					t.Fatal(err)
				}
				if got := ask(t, w); !reflect.DeepEqual(got, want) {
					t.Errorf("got %+v\nwant %+v", got, want)
				}
				w.Keep(t.Context())
				if got := ask(t, w); !reflect.DeepEqual(got, want) {
					t.Errorf("after it was kept: %+v\nwant %+v", got, want)
				}
			})
			session(t, dir, state, func(_ *index.Index, w *Workspace) {
				if !w.usable.Load() {
					t.Error("no snapshot was written in the place of the spoilt one")
				}
				if got := ask(t, w); !reflect.DeepEqual(got, want) {
					t.Errorf("the next process: %+v", got)
				}
			})
		})
	}
}

// lines are those of a log, from whatever goroutine.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// A search may be reading a state that the index has left behind when its file is spoilt.
// It asks again, the log says so, and nothing else is read anew.
func TestSpoiltAfterItWasLeftBehind(t *testing.T) {
	systest.NeedAddress(t)
	dir, state := t.TempDir(), t.TempDir()
	path, _ := kept(t, dir, state)
	log := &lines{}
	x, err := index.Open(index.Config{Dir: dir, StateDir: state, Log: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	w := Follow(x, "sample", nil)
	defer func() {
		w.Close()
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := errors.Join(x.Settle(t.Context()), w.CatchUp(t.Context())); err != nil {
		t.Fatal(err)
	}
	old := w.Search.Current()
	var gone []retrieval.Change
	for _, path := range old.Paths() {
		gone = append(gone, retrieval.Change{Path: path})
	}
	w.Search.Apply(gone)
	w.Search.SetLinks(nil) // its graph lay in the file, too
	asked := 0
	w.steady(func() {
		if asked++; asked == 1 {
			if err := os.Truncate(path, 0); err != nil {
				t.Fatal(err)
			}
			old.DeclarationsOf("Router")
		}
	})
	if asked != 2 || !w.usable.Load() {
		t.Errorf("asked %d times; the index is still usable: %t", asked, w.usable.Load())
	}
	if got := log.String(); !strings.Contains(got, "cannot be read any more") || !strings.Contains(got, "fault") {
		t.Errorf("the log has %q", got)
	}
}
