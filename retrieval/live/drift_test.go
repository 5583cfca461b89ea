package live

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"quarry/index"
	"quarry/index/walk"
	"quarry/retrieval"
)

// Rankings do not drift: whatever was added, changed, renamed and removed in a session, a
// search answers as one that has just read the same database, scores included.
func TestLiveEqualsReopened(t *testing.T) {
	words := strings.Fields("apple barn crate dew elm frost grain hay iris jar kiln loom mill nest oak plum quay rye seed twig")
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 14))
		word := func() string { return words[r.IntN(len(words))] }
		function := func() string {
			a, b := word(), word()
			return fmt.Sprintf("\n// %s%s keeps the %s of a %s.\nfunc %s%s(n int) int { return %s(n) }\n", title(a), title(b), word(), word(), title(a), title(b), title(word()))
		}
		file := func(folder string) string { return "package " + folder + "\n" + function() + function() }
		dir, state := t.TempDir(), t.TempDir()
		var names []string
		add := func() {
			folder := word()
			name := fmt.Sprintf("%s/%s%d.go", folder, word(), r.IntN(1000))
			write(t, dir, name, file(folder))
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		for range 30 {
			add()
		}
		path := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
		edit := func() {
			i := r.IntN(len(names))
			var err error
			switch r.IntN(7) {
			case 0:
				add()
			case 3:
				var text []byte
				if text, err = os.ReadFile(path(names[i])); err == nil {
					write(t, dir, names[i], string(text[:len(text)/2]))
				}
			case 1:
				err = os.Remove(path(names[i]))
				names = slices.Delete(names, i, i+1)
			case 2:
				to := fmt.Sprintf("%s/moved%d.go", filepath.Dir(names[i]), r.IntN(1_000_000))
				err = os.Rename(path(names[i]), path(to))
				names[i] = to
			default:
				var text []byte
				if text, err = os.ReadFile(path(names[i])); err == nil {
					write(t, dir, names[i], string(text)+function())
				}
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		questions := func(w *Workspace) (list []retrieval.Answer) {
			for _, a := range words {
				for _, q := range []string{a, title(a) + title(words[0]), "keeps the " + a, `"of a ` + a + `"`, "path:" + a + " seed", "where is the " + a + " of a plum"} {
					answer, err := w.Search.Search(t.Context(), retrieval.Request{Query: retrieval.Parse(q, time.Now()), Limit: 20})
					if err != nil {
						t.Fatal(err)
					}
					answer.Timings = retrieval.Timings{}
					list = append(list, answer)
				}
			}
			return list
		}
		session(t, dir, state, func(x *index.Index, live *Workspace) {
			for round := range 4 {
				for range 20 {
					edit()
					if r.IntN(3) == 0 { // of many edits each is a state of its own
						settleBoth(t, x, live)
					}
				}
				settleBoth(t, x, live)
				if round == 2 {
					live.Keep(t.Context()) // goes on from the file
				}
				rest(t, live)
				live.Keep(t.Context()) // the graph, which the next process begins with
				got := questions(live)
				equals := func(how string, other *Workspace) {
					for i, want := range questions(other) {
						if !reflect.DeepEqual(got[i], want) {
							t.Fatalf("seed %d, round %d: live %+v\n%s %+v", seed, round, got[i], how, want)
						}
					}
				}
				session(t, dir, state, func(_ *index.Index, reopened *Workspace) {
					equals("reopened, at once", reopened)
					rest(t, reopened)
					equals("reopened", reopened)
				})
				brief(t, dir, state, func(asked *Workspace) { equals("asked once", asked) })
				brief(t, dir, t.TempDir(), func(fresh *Workspace) { equals("indexed anew", fresh) })
			}
		})
	}
}

// Processes that ask once, one after the other, answer as one that indexes all anew: what
// each of them finds changed moves the ranks of all, few as it may be.
func TestProcessesThatAskOnceDoNotDrift(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	// What was written a moment ago is read again by the next process.
	write := func(t *testing.T, dir, name, text string) {
		t.Helper()
		write(t, dir, name, text)
		<-time.After(walk.Racy)
	}
	write(t, dir, "core/engine.go", "package core\n\n// Engine burns grain.\ntype Engine struct{}\n\nfunc Ignite() {}\n")
	write(t, dir, "core/other.go", "package core\n\n// Motor burns grain.\ntype Motor struct{}\n\nfunc Spark() {}\n")
	questions := func(w *Workspace) (list []retrieval.Answer) {
		for _, q := range []string{"burns grain", "Engine", "Motor", "use0"} {
			a, err := w.Search.Search(t.Context(), retrieval.Request{Query: retrieval.Parse(q, time.Now())})
			if err != nil {
				t.Fatal(err)
			}
			a.Timings = retrieval.Timings{}
			list = append(list, a)
		}
		return list
	}
	for i := range 6 {
		write(t, dir, fmt.Sprintf("use%d.go", i), fmt.Sprintf("package sample\n\nfunc use%d() { Ignite(); Spark%d() }\n", i, i))
		var got []retrieval.Answer
		for _, how := range []string{"after the change", "again"} {
			brief(t, dir, state, func(w *Workspace) { got = questions(w); w.Keep(t.Context()) })
			brief(t, dir, t.TempDir(), func(w *Workspace) {
				if want := questions(w); !reflect.DeepEqual(got, want) {
					t.Errorf("%d uses, %s: %+v\nanew %+v", i+1, how, got, want)
				}
			})
		}
		before := written(t, state)
		brief(t, dir, state, func(w *Workspace) {
			w.Keep(t.Context())
			if w.linksKept != w.Knows() {
				t.Errorf("%d uses: the graph was not kept", i+1)
			}
		})
		if after := written(t, state); !maps.Equal(before, after) {
			t.Errorf("%d uses: it was made again: %v, before %v", i+1, after, before)
		}
	}
}

// written is when the files of what searches know were written.
func written(t *testing.T, state string) map[string]time.Time {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(state, "index", "*", "snapshot*"))
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]time.Time{}
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		at[filepath.Base(name)] = info.ModTime()
	}
	return at
}

// brief is the life of a process that asks once.
func brief(t *testing.T, dir, state string, do func(w *Workspace)) {
	t.Helper()
	x, err := index.Open(index.Config{Dir: dir, StateDir: state, Brief: true})
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
	w.Link(t.Context())
	do(w)
}

// rest waits until w has made the graph, which it does at rest.
func rest(t *testing.T, w *Workspace) {
	t.Helper()
	for w.relinkDue.Load() {
		select {
		case <-time.After(max(w.tidy(t.Context()), time.Millisecond)):
		case <-t.Context().Done():
			t.Fatal("there was no rest")
		}
	}
	w.Link(t.Context()) // it may be at it
}

func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// settleBoth waits until what is on disk now can be searched.
func settleBoth(t *testing.T, x *index.Index, w *Workspace) {
	t.Helper()
	x.Rescan()
	if err := x.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := w.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
}
