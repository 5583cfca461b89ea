package live

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"quarry/index"
	"quarry/retrieval"
)

func open(t *testing.T, files map[string]string) (*index.Index, *Workspace, string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		write(t, dir, name, text)
	}
	source, err := index.Open(index.Config{Dir: dir, StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	w := Follow(source, "sample", nil)
	t.Cleanup(func() {
		w.Close()
		if err := source.Close(); err != nil {
			t.Error(err)
		}
	})
	return source, w, dir
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func paths(t *testing.T, w *Workspace, query string) []string {
	t.Helper()
	a, err := w.Search.Search(context.Background(), retrieval.Request{Query: retrieval.Parse(query, time.Now())})
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, r := range a.Results {
		out = append(out, r.Path)
	}
	return out
}

// eventually polls until the query's answer is want.
func eventually(t *testing.T, w *Workspace, query string, want ...string) {
	t.Helper()
	if want == nil {
		want = []string{}
	}
	deadline := time.Now().Add(time.Minute)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for got := paths(t, w, query); !slices.Equal(got, want); got = paths(t, w, query) {
		if time.Now().After(deadline) {
			t.Fatalf("%q finds %q, want %q", query, got, want)
		}
		<-tick.C
	}
}

func TestFollowsTheIndex(t *testing.T) {
	source, w, dir := open(t, map[string]string{
		"server/router.go": "package server\n\n// Router finds handlers.\ntype Router struct{}\n",
		"client/client.go": "package client\n\nimport \"sample/server\"\n\nfunc Dial(r *server.Router) {}\n",
	})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := source.Settle(ctx); err != nil {
		t.Fatal(err)
	}
	if err := w.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	eventually(t, w, "handlers", "server/router.go")
	eventually(t, w, `"*server.Router"`, "client/client.go")

	pool := filepath.Join(dir, "server", "pool.go")
	write(t, dir, "server/pool.go", "package server\n\n// Pool keeps warm zebras.\ntype Pool struct{}\n")
	source.FilesChanged([]string{pool})
	eventually(t, w, "zebras", "server/pool.go")

	source.DidOpen(pool, "package server\n\n// Pool keeps cold giraffes.\ntype Pool struct{}\n")
	eventually(t, w, "giraffes", "server/pool.go")
	eventually(t, w, "zebras")
	eventually(t, w, `"cold giraffes"`, "server/pool.go")

	source.DidClose(pool)
	if err := os.Remove(pool); err != nil {
		t.Fatal(err)
	}
	source.FilesChanged([]string{pool})
	eventually(t, w, "zebras")
	eventually(t, w, "giraffes")
}

func TestEmptyIndexIsReady(t *testing.T) {
	source, first, dir := open(t, nil)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := source.Settle(ctx); err != nil {
		t.Fatal(err)
	}
	w := Follow(source, "empty", nil)
	defer w.Close()
	if err := w.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "a.go")
	write(t, dir, "a.go", "package a // lemurs\n")
	source.FilesChanged([]string{path})
	eventually(t, first, "lemurs", "a.go")
	eventually(t, w, "lemurs", "a.go")
}

func TestCloseWhileReading(t *testing.T) {
	_, w, _ := open(t, map[string]string{"a.go": "package a\n"})
	w.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := w.Ready(ctx); err != nil && ctx.Err() == nil {
		t.Error(err)
	}
}
