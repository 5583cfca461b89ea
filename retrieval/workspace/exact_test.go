package workspace_test

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"quarry/retrieval/workspace"
)

// In the process that writes the index, too, names that are only near the one asked for do not
// hide that a file with the very name has changed and is not indexed yet.
func TestExactNameBeatsNearOnesInTheWriter(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{"db/near.go": "package db\n\nfunc WalrusFeeder() {}\n\nfunc feedWalruses() {}\n"})
	w := workspace.New(workspace.Options{StateDir: t.TempDir(), WaitLimit: time.Minute})
	defer w.Close()
	w.SetRoots([]string{root})
	if err := w.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ file, text, name, id string }{
		{"db/exact.go", "func Walrus() {}\n", "Walrus", "db/exact.go#Walrus"},
		{"db/method.go", "type Store struct{}\n\nfunc (s Store) feedWalrus() {}\n", "Store.feedWalrus", "db/method.go#Store.feedWalrus"},
	} {
		write(t, root, map[string]string{c.file: "package db\n\n" + c.text})
		w.FilesChanged([]string{filepath.Join(root, filepath.FromSlash(c.file))})
		found, err := w.Symbols(t.Context(), c.name, nil, 10)
		if err != nil || found.Missing != nil || !slices.ContainsFunc(found.List, func(s workspace.Symbol) bool { return s.ID == c.id }) {
			var ids []string
			for _, s := range found.List {
				ids = append(ids, s.ID)
			}
			t.Errorf("%s: %q, missing %v, %v", c.name, ids, found.Missing, err)
		}
	}
}
