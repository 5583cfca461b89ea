package live

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"quarry/index"
	"quarry/retrieval"
)

// session is one process's life with an index.
func session(t *testing.T, dir, state string, do func(x *index.Index, w *Workspace)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	x, err := index.Open(index.Config{Dir: dir, StateDir: state})
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
	if err := errors.Join(x.Settle(ctx), w.CatchUp(ctx)); err != nil {
		t.Fatal(err)
	}
	do(x, w)
}

// ask answers some questions, without their timings.
func ask(t *testing.T, w *Workspace) (list []retrieval.Answer) {
	t.Helper()
	for _, q := range []string{"handlers", "Router", "zebras", `"warm zebras"`, "path:server", "dial a router"} {
		a, err := w.Search.Search(t.Context(), retrieval.Request{Query: retrieval.Parse(q, time.Now())})
		if err != nil {
			t.Fatal(err)
		}
		a.Timings = retrieval.Timings{}
		list = append(list, a)
	}
	return list
}

var keptFiles = map[string]string{
	"server/router.go": "package server\n\n// Router finds handlers.\ntype Router struct{}\n",
	"server/pool.go":   "package server\n\n// Pool keeps warm zebras.\ntype Pool struct{}\n",
	"client/client.go": "package client\n\nimport \"sample/server\"\n\nfunc Dial(r *server.Router) {}\n",
}

// kept makes an index with its snapshot, and answers the snapshot's path and what it is
// asked.
func kept(t *testing.T, dir, state string) (path string, want []retrieval.Answer) {
	t.Helper()
	for name, text := range keptFiles {
		write(t, dir, name, text)
	}
	session(t, dir, state, func(x *index.Index, w *Workspace) {
		w.Keep(t.Context())
		path, want = x.Kept().Path(), ask(t, w)
	})
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	return path, want
}

// remade makes the graph anew.
func remade(ctx context.Context, w *Workspace) error {
	w.relinking.Lock()
	defer w.relinking.Unlock()
	return w.relink(ctx)
}

// The graph is made of the names in the database, since documents come without theirs.
func TestGraphOfNames(t *testing.T) {
	dir := t.TempDir()
	for name, text := range keptFiles {
		write(t, dir, name, text)
	}
	session(t, dir, t.TempDir(), func(_ *index.Index, w *Workspace) {
		if err := remade(t.Context(), w); err != nil { // as it does at rest
			t.Fatal(err)
		}
		got := map[string][]string{}
		at := &retrieval.Position{Path: "client/client.go"}
		a, err := w.Search.Search(t.Context(), retrieval.Request{Query: retrieval.Parse("Router Pool", time.Now()), At: at})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range a.Results {
			got[r.Path] = r.Reasons
		}
		const linked = "linked with the current file"
		if !slices.Contains(got["server/router.go"], linked) || got["server/pool.go"] == nil || slices.Contains(got["server/pool.go"], linked) {
			t.Errorf("client.go names Router and not Pool; the reasons are %v", got)
		}
	})
}

// A process that ends before it can begin with what is kept, or is refused what that takes, leaves
// it to the next one.
func TestWhatCannotBeBegunWithStays(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	path, _ := kept(t, dir, state)
	ended, end := context.WithCancel(t.Context())
	end()
	session(t, dir, state, func(_ *index.Index, w *Workspace) {
		if _, ok := w.restore(ended); ok {
			t.Error("a process that had ended began with what is kept")
		}
		if _, err := os.Stat(path); err != nil {
			t.Errorf("it took it away: %v", err)
		}
	})
}

// The next process begins with what was kept, and what changed in between stands on top.
func TestBeginsWithWhatWasKept(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	path, want := kept(t, dir, state)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	session(t, dir, state, func(_ *index.Index, w *Workspace) {
		if !w.usable.Load() {
			t.Error("did not begin with the snapshot")
		}
		if got := ask(t, w); !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v\nwant %+v", got, want)
		}
		w.Keep(t.Context())
	})
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("written again though nothing changed: %v", err)
	}

	write(t, dir, "server/pool.go", "package server\n\n// Pool keeps cold giraffes.\ntype Pool struct{}\n")
	write(t, dir, "new.go", "package sample\n\nfunc Lemur() {}\n")
	if err := os.Remove(filepath.Join(dir, "client", "client.go")); err != nil {
		t.Fatal(err)
	}
	session(t, dir, state, func(_ *index.Index, w *Workspace) {
		eventually(t, w, "zebras")
		eventually(t, w, "giraffes", "server/pool.go")
		eventually(t, w, "Lemur", "new.go")
		eventually(t, w, "Dial")
		if found := w.Search.Current().Declared("Dial", nil, 5); len(found) != 0 {
			t.Errorf("of a file that is gone: %+v", found)
		}
	})
}

// What cannot be used is noticed and made anew, and answers are right meanwhile.
func TestSpoiltSnapshotIsMadeAnew(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, path string){
		"gone": func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		},
		"damaged": func(t *testing.T, path string) {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			b[len(b)/2] ^= 1
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"cut": func(t *testing.T, path string) {
			if err := os.Truncate(path, 100); err != nil {
				t.Fatal(err)
			}
		},
		"of another database": func(t *testing.T, path string) {
			other, _ := kept(t, t.TempDir(), t.TempDir())
			if err := os.Rename(other, path); err != nil {
				t.Fatal(err)
			}
		},
		"a folder": func(t *testing.T, path string) {
			if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, state := t.TempDir(), t.TempDir()
			path, want := kept(t, dir, state)
			spoil(t, path)
			session(t, dir, state, func(_ *index.Index, w *Workspace) {
				if got := ask(t, w); !reflect.DeepEqual(got, want) {
					t.Errorf("got %+v\nwant %+v", got, want)
				}
				w.Keep(t.Context())
			})
			session(t, dir, state, func(_ *index.Index, w *Workspace) {
				if got := ask(t, w); !w.usable.Load() || !reflect.DeepEqual(got, want) {
					t.Errorf("not made anew: %+v", got)
				}
			})
		})
	}
}

// An index that was made anew is kept like any other, whoever asked for it, so that the next
// process begins with it.
func TestSnapshotAfterTheIndexWasMadeAnew(t *testing.T) {
	for _, damaged := range []bool{false, true} {
		t.Run(fmt.Sprintf("damaged %t", damaged), func(t *testing.T) {
			dir, state := t.TempDir(), t.TempDir()
			path, want := kept(t, dir, state)
			db, err := sql.Open("sqlite3", filepath.Join(filepath.Dir(path), "index.db"))
			if err != nil {
				t.Fatal(err)
			}
			var before string
			err = db.QueryRow("SELECT value FROM meta WHERE key = 'identity'").Scan(&before)
			if damaged {
				_, e := db.Exec("DELETE FROM chunks WHERE id = (SELECT max(id) FROM chunks)")
				err = errors.Join(err, e)
			}
			if err := errors.Join(err, db.Close()); err != nil {
				t.Fatal(err)
			}
			session(t, dir, state, func(x *index.Index, w *Workspace) {
				if !damaged { // else the look after the start finds it
					x.Rebuild()
				}
				for {
					changed := x.Changed()
					if now, _, err := x.Kept().Identity(t.Context()); err == nil && now != before { // it may be closed just now
						break
					}
					select {
					case <-changed:
					case <-t.Context().Done():
						t.Fatal("it is not made anew")
					}
				}
				settleBoth(t, x, w)
				for w.Keep(t.Context()); !w.usable.Load(); w.Keep(t.Context()) { // it writes nothing beside what the index still does
					settleBoth(t, x, w)
				}
			})
			session(t, dir, state, func(_ *index.Index, w *Workspace) {
				if got := ask(t, w); !w.usable.Load() || !reflect.DeepEqual(got, want) {
					t.Errorf("the next process does not begin with a snapshot: %+v\nwant %+v", got, want)
				}
			})
		})
	}
}

// Two processes share one snapshot; the one that only reads writes none.
func TestTwoProcessesShareASnapshot(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	path, want := kept(t, dir, state)
	session(t, dir, state, func(writer *index.Index, first *Workspace) {
		func() {
			first.tidying.Lock() // else it is the one that writes meanwhile
			defer first.tidying.Unlock()
			session(t, dir, state, func(_ *index.Index, second *Workspace) {
				if got := ask(t, second); !second.usable.Load() || !reflect.DeepEqual(got, want) {
					t.Errorf("the second: %+v", got)
				}
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
				second.Keep(t.Context())
				if exists(path) {
					t.Error("a process that only reads wrote")
				}
				if got := ask(t, second); !reflect.DeepEqual(got, want) {
					t.Errorf("after the file went: %+v", got)
				}
			})
		}()
		// It writes nothing beside the look at the whole root that the second asked for.
		for first.Keep(t.Context()); !exists(path); first.Keep(t.Context()) {
			settleBoth(t, writer, first)
		}
	})
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// What the rules leave out from now on is not in the file either.
func TestSnapshotForgetsWhatIsExcluded(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	path, _ := kept(t, dir, state)
	if b, err := os.ReadFile(path); err != nil || !bytes.Contains(b, []byte("zebra")) {
		t.Fatal("the word is not there to begin with", err)
	}
	write(t, dir, ".quarryignore", "server/pool.go\n")
	session(t, dir, state, func(_ *index.Index, w *Workspace) {
		eventually(t, w, "zebras")
		w.Keep(t.Context())
	})
	if b, err := os.ReadFile(path); err != nil || bytes.Contains(b, []byte("zebra")) || bytes.Contains(b, []byte("pool.go")) {
		t.Error("what is excluded is kept", err)
	}
}

// What a file had that is gone, or was written over, stands in the snapshot for a moment only: it may
// be there still, under a name that is left out.
func TestSnapshotForgetsWhatLeft(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, dir string){
		"gone": func(t *testing.T, dir string) {
			if err := os.Rename(filepath.Join(dir, "server", "pool.go"), filepath.Join(dir, ".env")); err != nil {
				t.Fatal(err)
			}
		},
		"written over": func(t *testing.T, dir string) { write(t, dir, "server/pool.go", "package server\n") },
	} {
		t.Run(name, func(t *testing.T) {
			dir, state := t.TempDir(), t.TempDir()
			path, _ := kept(t, dir, state)
			if len(having(t, path, "zebra")) == 0 {
				t.Fatal("the word is not there to begin with")
			}
			session(t, dir, state, func(x *index.Index, w *Workspace) {
				change(t, dir)
				x.FilesChanged([]string{filepath.Join(dir, "server", "pool.go"), filepath.Join(dir, ".env")})
				for began := time.Now(); len(having(t, path, "zebra")) > 0 || len(having(t, path, "Router")) == 0; time.Sleep(10 * time.Millisecond) {
					if time.Since(began) > time.Minute {
						t.Fatalf("after a minute %q, and of the rest %q", having(t, path, "zebra"), having(t, path, "Router"))
					}
				}
			})
		})
	}
}

// Edits alone do not have a large snapshot written at each pause, unless a command's user waits.
func TestLargeSnapshotsAreWrittenRarely(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	path, _ := kept(t, dir, state)
	session(t, dir, state, func(x *index.Index, w *Workspace) {
		w.tidying.Lock() // it writes only here
		w.addChanged([]retrieval.Change{{Path: "server/pool.go", Document: &retrieval.Document{}}})
		wait, ever := w.due()
		if err := os.Truncate(path, 50*keepRate); err != nil { // it is read by nobody any more
			t.Fatal(err)
		}
		long, everLong := w.due()
		if err := os.Truncate(path, 10_000*keepRate); err != nil {
			t.Fatal(err)
		}
		for _, ago := range []time.Duration{3 * time.Hour, 24 * time.Hour, -24 * time.Hour} { // the last when the clock was wrong
			then := time.Now().Add(-ago)
			if err := os.Chtimes(path, then, then); err != nil {
				t.Fatal(err)
			}
			if wait, ever := w.due(); !ever || wait != 0 {
				t.Errorf("a very large one, written %v ago, is due after %v (%t)", ago, wait, ever)
			}
		}
		w.addChanged([]retrieval.Change{{Path: "server/pool.go"}})
		gone, everGone := w.due()
		w.tidying.Unlock()
		if !ever || wait > time.Second || !everLong || long < 40*time.Second || !everGone || gone != 0 {
			t.Errorf("a small one is due after %v (%t), a large one after %v (%t), with a file gone after %v (%t)", wait, ever, long, everLong, gone, everGone)
		}
		w.KeepAll(t.Context())
		if wait, ever := w.due(); ever {
			t.Errorf("after it was written it is due in %v", wait)
		}
	})
}

// Where nothing can be kept, since the database has no identity, nobody tries again and again.
func TestADatabaseWithoutIdentityIsLeftAlone(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	kept(t, dir, state)
	session(t, dir, state, func(x *index.Index, w *Workspace) {
		if err := x.Store().PutMeta("identity", ""); err != nil {
			t.Fatal(err)
		}
		w.addChanged([]retrieval.Change{{Path: "server/pool.go"}})
		if wait := w.tidy(t.Context()); wait != 0 {
			t.Errorf("it is tried again in %v", wait)
		}
	})
}

// A large index that is in memory lets the collector run often until it is in its file.
func TestMemoryIsSparedUntilTheSnapshot(t *testing.T) {
	dir := t.TempDir()
	for i := range manyFiles + 1 {
		write(t, dir, fmt.Sprintf("f%d.txt", i), "zebras\n")
	}
	session(t, dir, t.TempDir(), func(_ *index.Index, w *Workspace) {
		spares := func() bool {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.usual != nil
		}
		w.tidying.Lock() // it writes only here
		defer w.tidying.Unlock()
		w.usable.Store(false)
		w.spareMemory()
		if !spares() {
			t.Error("it does not while all is in memory")
		}
		if err := w.write(t.Context()); err != nil || spares() {
			t.Error("it still does with a snapshot", err)
		}
	})
}

// A rule that comes at any moment while the file is written leaves nothing of what it leaves out
// in it, nor beside it, and the next file is written at rest.
func TestSnapshotIsOvertakenByARule(t *testing.T) {
	for _, at := range []string{beforeCheck, beforeRename, afterRename} {
		t.Run(at, func(t *testing.T) {
			dir, state := t.TempDir(), t.TempDir()
			for name, text := range keptFiles {
				write(t, dir, name, text)
			}
			x, err := index.Open(index.Config{Dir: dir, StateDir: state})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			var once sync.Once
			interfere(t, func(moment string) {
				if moment != at {
					return
				}
				once.Do(func() {
					write(t, dir, ".quarryignore", "server/pool.go\n")
					x.FilesChanged([]string{filepath.Join(dir, ".quarryignore")})
					left(ctx, t, x, "server/pool.go")
					if at != beforeRename { // there who forgets has to wait, and did nothing behind the commit yet
						if err := x.Settle(ctx); err != nil {
							t.Error(err)
						}
					}
				})
			})
			w := Follow(x, "sample", nil)
			defer func() {
				w.Close()
				if err := x.Close(); err != nil {
					t.Error(err)
				}
			}()
			if err := errors.Join(x.Settle(ctx), w.CatchUp(ctx)); err != nil {
				t.Fatal(err)
			}
			w.Keep(ctx)
			if err := x.Settle(ctx); err != nil {
				t.Fatal(err)
			}
			if found := having(t, x.Kept().Path(), "zebra", "pool.go"); len(found) > 0 {
				t.Errorf("left: %q", found)
			}
			once.Do(func() { t.Error("nothing was written") })
			eventually(t, w, "zebras")
			for w.Keep(ctx); !exists(x.Kept().Path()); w.Keep(ctx) {
				settleBoth(t, x, w)
			}
			if found := having(t, x.Kept().Path(), "zebra", "pool.go"); len(found) > 0 {
				t.Errorf("written anew: %q", found)
			}
		})
	}
}

// interfere has do called at each moment of writing the file, and ends that with the test, behind
// what is deferred after this.
func interfere(t *testing.T, do func(moment string)) {
	before := atPut
	atPut = do
	t.Cleanup(func() { atPut = before })
}

// left returns when the index has committed that a file left it.
func left(ctx context.Context, t *testing.T, x *index.Index, name string) {
	for {
		changed := x.Changed()
		_, has, err := x.Store().Stat(ctx, name)
		if err == nil && !has {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Errorf("%s stays in the index: %v", name, err)
			return
		}
	}
}

// having answers which files at path and beside it, by the beginning of their names, have a text.
func having(t *testing.T, path string, texts ...string) (list []string) {
	t.Helper()
	names, err := filepath.Glob(path + "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range texts {
			if bytes.Contains(b, []byte(text)) {
				list = append(list, filepath.Base(name)+" has "+text)
			}
		}
	}
	return list
}

// A file of before a rule came, as a process that was killed or a copy of the folder may leave it,
// is not begun with, and does not stay once a process that writes has looked at it.
func TestSnapshotOfBeforeARule(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	path, _ := kept(t, dir, state)
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, ".quarryignore", "server/pool.go\n")
	session(t, dir, state, func(x *index.Index, w *Workspace) {
		eventually(t, w, "zebras")
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for due, err := true, error(nil); due; due, _, err = x.Store().NeedsWipe(t.Context()) { // else the next start removes whatever is there
			if err != nil {
				t.Fatal(err)
			}
			<-tick.C
		}
	})
	put := func() {
		if err := os.WriteFile(path, old, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put()
	session(t, dir, state, func(writer *index.Index, w *Workspace) {
		if found := having(t, path, "zebra", "pool.go"); len(found) > 0 {
			t.Errorf("the process that writes left: %q", found)
		}
		w.tidying.Lock() // it writes none meanwhile
		defer w.tidying.Unlock()
		put()
		session(t, dir, state, func(_ *index.Index, second *Workspace) {
			if second.usable.Load() {
				t.Error("a process that reads began with it")
			}
			if got := paths(t, second, "zebras"); len(got) > 0 {
				t.Errorf("it found %q", got)
			}
		})
	})
}
