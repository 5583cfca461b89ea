package index

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gofrs/flock"
)

// What a process has left that was killed when something had left the index and what was kept
// of it had not, or while it wrote that, is gone before anybody is answered; and so is what a
// quarry kept that noted nothing.
func TestKeptIsDoubtedAtTheStart(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	write(t, dir, map[string]string{"a.go": "package a\n"})
	x := open(t, Config{Dir: dir, StateDir: state})
	awaitWiped(t, x)
	path, database := x.Kept().Path(), x.state.database()
	shut(t, x)
	for name, test := range map[string]struct {
		file, change string
		stays        bool
	}{
		"nothing happened":           {file: KeptName, stays: true},
		"killed before it forgot":    {file: KeptName, change: "UPDATE meta SET value = 'due' WHERE key = 'wiped'"},
		"a quarry that notes none":   {file: KeptName, change: "DELETE FROM meta WHERE key = 'forgotten'"},
		"killed while it was kept":   {file: KeptName + ".new-1"},
		"a file of another's beside": {file: KeptName + "s", stays: true},
	} {
		t.Run(name, func(t *testing.T) {
			if test.change != "" {
				db, err := sql.Open("sqlite3", "file:"+database)
				if err != nil {
					t.Fatal(err)
				}
				_, err = db.Exec(test.change)
				if err := errors.Join(err, db.Close()); err != nil {
					t.Fatal(err)
				}
			}
			file := filepath.Join(filepath.Dir(path), test.file)
			if err := os.WriteFile(file, []byte("quokkazyx"), 0o600); err != nil {
				t.Fatal(err)
			}
			x := open(t, Config{Dir: dir, StateDir: state})
			_, err := os.Stat(file)
			if stays := err == nil; stays != test.stays {
				t.Errorf("it stays: %t", stays)
			}
			awaitWiped(t, x)
			shut(t, x)
		})
	}
}

// Nothing is kept of a state that was overtaken, by whoever does not write the database, or
// without the lock that keeps other processes from forgetting meanwhile.
func TestPutKept(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	write(t, dir, map[string]string{"a.go": "package a\n", "b.go": "package b\n"})
	x := open(t, Config{Dir: dir, StateDir: state})
	awaitWiped(t, x)
	cursor := func(x *Index) Cursor {
		at, err := x.Cursor(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	refused := func(what string, x *Index, at Cursor) {
		t.Helper()
		err := x.Kept().Put(t.Context(), at, func() error { t.Errorf("%s: put", what); return nil })
		if !errors.Is(err, ErrOvertaken) {
			t.Errorf("%s: %v", what, err)
		}
	}
	before := cursor(x)
	put := false
	if err := x.Kept().Put(t.Context(), before, func() error { put = true; return nil }); err != nil || !put {
		t.Fatalf("what is as it was is not put: %t, %v", put, err)
	}
	write(t, dir, map[string]string{".quarryignore": "b.go\n"})
	x.FilesChanged([]string{filepath.Join(dir, ".quarryignore")})
	awaitWiped(t, x)
	refused("a rule came", x, before)
	now := cursor(x)

	y := open(t, Config{Dir: dir, StateDir: state})
	until(t, "the second reads", func() bool { return !y.Store().InMemory() })
	refused("it only reads", y, cursor(y))

	gone := errors.New("gone")
	let := make(chan error, 1)
	err := x.Kept().Put(t.Context(), now, func() error {
		go func() { let <- x.state.unlock() }()
		other := flock.New(x.state.lockFile())
		if free, err := other.TryLock(); free || err != nil {
			t.Errorf("another process may write meanwhile: %t, %v", free, err)
		}
		if x.state.keeping.TryLock() {
			x.state.keeping.Unlock()
			t.Error("the lock may be let go meanwhile")
		}
		return gone
	})
	if !errors.Is(err, gone) {
		t.Errorf("what put says: %v", err)
	}
	if err := <-let; err != nil {
		t.Error(err)
	}
	shut(t, y)
	if err := x.state.replace(nil); err != nil {
		t.Fatal(err)
	}
	refused("the database is another", x, now)
	shut(t, x)
	if err := x.Kept().Put(context.Background(), cursorOf(x), func() error { t.Error("closed: put"); return nil }); err == nil {
		t.Error("closed: no error")
	}
}

// An index in memory has nothing beside it: when a rule leaves a file out, there is nothing to remove
// and nothing to say.
func TestNothingIsKeptOfAnIndexInMemory(t *testing.T) {
	dir, state := t.TempDir(), filepath.Join(t.TempDir(), "file")
	write(t, dir, map[string]string{"a.go": "package a\n", "b.go": "package b\n"})
	if err := os.WriteFile(state, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	x := open(t, Config{Dir: dir, StateDir: state, Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))})
	settle(t, x)
	write(t, dir, map[string]string{".quarryignore": "b.go\n"})
	x.FilesChanged([]string{filepath.Join(dir, ".quarryignore")})
	settle(t, x)
	if got := paths(t, x); !x.Store().InMemory() || slices.Contains(got, "b.go") {
		t.Errorf("in memory %v, indexed %q", x.Store().InMemory(), got)
	}
	shut(t, x)
	if log.Len() > 0 {
		t.Errorf("it warns: %s", &log)
	}
}

// cursorOf is a state of the present database, though it is closed.
func cursorOf(x *Index) Cursor { return Cursor{x.Store(), 1 << 40} }
