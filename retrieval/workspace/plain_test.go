package workspace

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"
	"time"

	"quarry/retrieval"
)

// What the parser gave up on is named as files are, each once, and not where it may not be read.
func TestPlain(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	for _, name := range []string{"b.go", "a.go", "fine.go"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("package p\n\nfunc F() {}\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w := New(Options{StateDir: state})
	w.SetRoots([]string{dir})
	defer w.Close()
	if err := w.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(state, "index", "*", "index.db"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	db, err := sql.Open("sqlite3", files[0])
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("UPDATE files SET problem = 'could not be parsed as go; indexed by lines' WHERE path <> 'fine.go'"); err != nil {
		t.Fatal(err)
	}
	list, err := w.Plain(t.Context())
	if err != nil || len(list) != 2 || list[0].Name != "a.go" || list[1].Path != filepath.Join(dir, "b.go") || list[0].Problem == "" {
		t.Errorf("%+v, %v", list, err)
	}
	for query, want := range map[string]int{"symbol:Zyzzyva": 2, "kind:function Zyzzyva": 2, "mode:symbols Zyzzyva": 2, "Zyzzyva": 0} {
		answer, err := w.Search(t.Context(), retrieval.Request{Query: retrieval.Parse(query, time.Now())})
		if err != nil || answer.Total != 0 || answer.NotSearched[Unparsed] != want {
			t.Errorf("%s: %d found, not searched %v, %v", query, answer.Total, answer.NotSearched, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, ".quarryignore"), []byte("a.go\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, f := range w.snapshot() {
		f.index.Root().Refresh()
	}
	if list, err := w.Plain(t.Context()); err != nil || len(list) != 1 || list[0].Name != "b.go" {
		t.Errorf("%+v, %v", list, err)
	}
}
