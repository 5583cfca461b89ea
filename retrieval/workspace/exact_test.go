package workspace_test

import (
	"errors"
	"fmt"
	"os"
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

// While what searches know is read anew from the database, only exact names are found there: an
// answer without those that are near says that it is a part.
func TestNearNamesWhileTheSnapshotIsLost(t *testing.T) {
	const near = 1500
	root, stateDir := t.TempDir(), t.TempDir()
	files := map[string]string{"walrus.go": "package db\n\nfunc Walrus() {}\n"}
	for i := range near {
		files[fmt.Sprintf("db/feeder%d.go", i)] = fmt.Sprintf("package db\n\nfunc WalrusFeeder%d() {}\n", i)
	}
	write(t, root, files)
	dir := indexed(t, root, stateDir, func(*testing.T, string) {})
	if err := os.RemoveAll(filepath.Join(dir, "snapshot")); err != nil { // where it was written already
		t.Fatal(err)
	}
	w := workspace.New(workspace.Options{StateDir: stateDir, WaitLimit: 1})
	defer w.Close()
	w.SetRoots([]string{root})
	for marked := 0; ; marked++ { // the deadline of the test ends this
		found, err := w.Symbols(t.Context(), "Walrus", nil, 2*near)
		var unready *workspace.NotReady
		switch {
		case errors.As(err, &unready), found.Missing != nil:
			continue
		case err != nil:
			t.Fatal(err)
		case len(found.List) != near+1 || found.List[0].Name != "Walrus":
			t.Errorf("%d found of %d, and nothing is said to be missing, after %d answers that were marked", len(found.List), near+1, marked)
		}
		return
	}
}
