package workspace_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"quarry/retrieval"
	"quarry/retrieval/workspace"
)

// An index that was whole when the last quarry ended may be far behind: another commit was
// checked out since. What the first questions find in it is all there is, or said to be a part, also
// in a process that only reads beside one that has just begun.
func TestFirstQuestionOfAnOutdatedIndex(t *testing.T) {
	const more = 1500
	root, stateDir := t.TempDir(), t.TempDir()
	write(t, root, tiny)
	indexed(t, root, stateDir, func(*testing.T, string) {})
	files := map[string]string{}
	for i := range more {
		files[fmt.Sprintf("db/use%d/use.go", i)] = fmt.Sprintf("package db\n\n// use%d keeps zebras.\nfunc use%d() error { return check(%q) }\n", i, i, "x")
	}
	write(t, root, files)
	asks := map[string]func(w *workspace.Workspace) (found int, missing *workspace.Missing, err error){
		"files": func(w *workspace.Workspace) (int, *workspace.Missing, error) {
			list, missing, err := w.Files(t.Context(), func(f workspace.File) bool { return strings.HasPrefix(f.Name, "db/use") })
			return len(list), missing, err
		},
		"lines": func(w *workspace.Workspace) (int, *workspace.Missing, error) {
			a, err := w.Search(t.Context(), retrieval.Request{Query: retrieval.Parse(`lines:all re:keeps zeb\w+`, time.Now()), Limit: 2 * more})
			return len(a.Results) - 1, a.Missing, err // one is in db/store.go
		},
	}
	test := func(name string, beside bool, ask func(w *workspace.Workspace) (int, *workspace.Missing, error)) {
		t.Run(name, func(t *testing.T) {
			state := t.TempDir()
			if err := os.CopyFS(state, os.DirFS(stateDir)); err != nil {
				t.Fatal(err)
			}
			begin := func() *workspace.Workspace {
				w := workspace.New(workspace.Options{StateDir: state})
				t.Cleanup(w.Close)
				w.SetRoots([]string{root})
				return w
			}
			w := begin()
			if beside {
				for {
					if list, err := w.IndexStatus(t.Context()); err != nil {
						t.Fatal(err)
					} else if list[0].Files > 0 { // it holds the lock
						break
					}
				}
				w = begin()
			}
			for marked := 0; ; marked++ {
				found, missing, err := ask(w)
				var unready *workspace.NotReady
				switch {
				case errors.As(err, &unready), missing != nil:
					continue
				case err != nil:
					t.Fatal(err)
				case found != more:
					t.Fatalf("%d found of %d, and nothing is said to be missing, after %d answers that were marked", found, more, marked)
				}
				break
			}
		})
	}
	for name, ask := range asks {
		test(name, false, ask)
		test(name+" beside a writer", true, ask)
	}
}
