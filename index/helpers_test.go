package index

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"quarry/index/store"
)

// write makes files from "path": "text"; "" removes one.
func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if text == "" {
			if err := os.RemoveAll(p); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// manual is a clock that stands until it is moved.
type manual struct {
	mu      sync.Mutex // guards the fields below
	now     time.Time
	waiters []waiter
}

type waiter struct {
	at time.Time
	c  chan time.Time
}

func newManual() *manual { return &manual{now: time.Now()} }

func (m *manual) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

func (m *manual) At(t time.Time) <-chan time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	w := waiter{t, make(chan time.Time, 1)}
	m.waiters = append(m.waiters, w)
	m.fire()
	return w.c
}

// isAwaited answers whether somebody waits for just this time.
func (m *manual) isAwaited(at time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc(m.waiters, func(w waiter) bool { return w.at.Equal(at) })
}

func (m *manual) move(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = m.now.Add(d)
	m.fire()
}

func (m *manual) fire() {
	m.waiters = slices.DeleteFunc(m.waiters, func(w waiter) bool {
		if w.at.After(m.now) {
			return false
		}
		w.c <- m.now
		return true
	})
}

// open opens an index, which the caller shuts.
func open(t testing.TB, cfg Config) *Index {
	t.Helper()
	x, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func shut(t testing.TB, x *Index) {
	t.Helper()
	if err := x.Close(); err != nil {
		t.Error(err)
	}
}

// start opens an index of dir until the test ends, and waits until it is up to
// date.
func start(t testing.TB, cfg Config) *Index {
	t.Helper()
	if cfg.StateDir == "" {
		cfg.StateDir = t.TempDir()
	}
	x := open(t, cfg)
	t.Cleanup(func() { shut(t, x) })
	settle(t, x)
	return x
}

func settle(t testing.TB, x *Index) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	if err := x.Settle(ctx); err != nil {
		t.Fatal(err)
	}
}

func paths(t testing.TB, x *Index) []string {
	t.Helper()
	stats, err := x.Store().Stats(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	list := []string{}
	for name := range stats {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// symbols answers the names declared in a file of the index, nil if it is not
// there.
func symbols(t testing.TB, x *Index, name string) []string {
	t.Helper()
	var list []string
	_, err := x.Store().Load(t.Context(), nil, func(f *store.File) error {
		if f.Path == name {
			list = []string{}
			for _, s := range f.Syntax.Symbols {
				list = append(list, s.Name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// until polls a condition that other goroutines bring about.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s", what)
		}
		runtime.Gosched()
	}
}

var project = map[string]string{
	"go.mod":            "module example.com/m\n",
	"main.go":           "package main\n\nimport \"example.com/m/lib\"\n\nfunc main() { lib.Open() }\n",
	"lib/lib.go":        "// Package lib opens things.\npackage lib\n\n// Open opens.\nfunc Open() { helper() }\n",
	"lib/helper.go":     "package lib\n\nfunc helper() {}\n",
	"README.md":         "# Title\n\nWhat it is about.\n\n## Use\n\nLike so.\n",
	"node_modules/x.js": "function x() {}\n",
	".env":              "SECRET=1\n",
}

// alter runs a statement in the database of an index, as no quarry would.
func alter(t testing.TB, x *Index, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite3", x.state.database())
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(statement)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}
