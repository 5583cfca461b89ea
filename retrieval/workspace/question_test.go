package workspace_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"quarry/retrieval"
	"quarry/retrieval/workspace"
)

// What is asked for one answer waits once: after one look has waited until its patience was
// over, no other one of the question waits.
func TestOneQuestionWaitsOnce(t *testing.T) {
	root, stateDir := t.TempDir(), t.TempDir()
	write(t, root, tiny)
	dir := indexed(t, root, stateDir, states[2].make)
	other := flock.New(filepath.Join(dir, "lock")) // of a process that does nothing
	if ok, err := other.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	defer other.Unlock()
	var asked bool // by answerProject, which asks inside of a search
	w := workspace.New(workspace.Options{StateDir: stateDir, WaitLimit: 50 * time.Millisecond,
		Project: func(ctx context.Context, w *workspace.Workspace, _ []retrieval.Topic) ([]workspace.Result, error) {
			asked = true
			_, _, err := w.Files(ctx, func(workspace.File) bool { return false })
			return nil, err
		}})
	defer w.Close()
	w.SetRoots([]string{root})
	opened(t, w)

	over := false // the patience of the question
	ctx := workspace.WithProgress(t.Context(), func(m workspace.Missing) {
		if over {
			t.Errorf("waits again for %s", &m)
		}
	})
	var unready *workspace.NotReady
	question := workspace.Question(ctx)
	if _, err := w.Symbols(question, "Walrus", nil, 10); !errors.As(err, &unready) {
		t.Fatal(err)
	}
	over = true
	for _, place := range places {
		if place.name == "references" {
			continue // of a symbol in a file that is not indexed
		}
		if _, _, err := place.ask(workspace.Question(question), w, false); !errors.As(err, &unready) {
			t.Errorf("%s: %v", place.name, err)
		}
	}
	if _, err := w.Changes(question); !errors.As(err, &unready) {
		t.Errorf("changes: %v", err)
	}
	s, _, err := w.SymbolByID(question, "db/store.go#open")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Rename(question, s, "unlock"); !errors.As(err, &unready) {
		t.Errorf("renaming: %v", err)
	}
	if _, err := w.Search(question, retrieval.Request{Query: retrieval.Parse("what does this project do", time.Now())}); !errors.As(err, &unready) || !asked {
		t.Errorf("about the project, asked %t: %v", asked, err)
	}

	// The next question waits anew.
	waited := 0
	_, err = w.Symbols(workspace.WithProgress(t.Context(), func(workspace.Missing) { waited++ }), "Walrus", nil, 10)
	if !errors.As(err, &unready) || waited == 0 {
		t.Errorf("the next question waited %d times: %v", waited, err)
	}
}
