package workspace_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"quarry/index/walk"
	"quarry/retrieval/workspace"
)

// References begin with the snapshot's table of files: what the database says of a file is
// read where that changed since, and only there.
func TestReferencesBeginWithTheSnapshot(t *testing.T) {
	root, stateDir := t.TempDir(), t.TempDir()
	write(t, root, tiny)
	old := time.Now().Add(-time.Hour) // a young file's time is not believed, and it is read again
	for name := range tiny {
		if err := os.Chtimes(filepath.Join(root, name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	<-time.After(walk.Racy) // nor is that of a change just made
	open := func() *workspace.Workspace {
		w := workspace.New(workspace.Options{StateDir: stateDir, WaitLimit: time.Minute})
		w.SetRoots([]string{root})
		return w
	}
	w := open()
	if err := w.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.Keep(t.Context())
	w.Close()
	// Were all files read again, this one would be of another language.
	indexed(t, root, stateDir, func(t *testing.T, database string) {
		execute(t, database, "UPDATE files SET language = 'python' WHERE path = 'db/check.go'")
	})
	weight := func(w *workspace.Workspace) float32 {
		t.Helper()
		s, _, err := w.SymbolByID(t.Context(), "db/check.go#check")
		if err != nil {
			t.Fatal(err)
		}
		refs, err := w.References(t.Context(), s, 10)
		if err != nil || len(refs.List) != 1 {
			t.Fatalf("%+v, %v", refs, err)
		}
		return refs.List[0].Weight
	}
	w = open()
	defer w.Close()
	if err := w.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := weight(w); got != .9 {
		t.Errorf("a reference within the package weighs %v: the files were read from the database", got)
	}
	// What changes later is read.
	write(t, root, map[string]string{"db/more.go": "package db\n\nfunc again(name string) error { return check(name) }\n"})
	w.FilesChanged([]string{filepath.Join(root, "db", "more.go")})
	for deadline := time.Now().Add(time.Minute); ; {
		if err := w.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		s, _, err := w.SymbolByID(t.Context(), "db/check.go#check")
		if err != nil {
			t.Fatal(err)
		}
		if refs, err := w.References(t.Context(), s, 10); err == nil && len(refs.List) == 2 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("a new file's reference is not found")
		}
	}
}
