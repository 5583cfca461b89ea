package agent_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"quarry/agent"
	"quarry/diagnostics/patch"
	"quarry/index/store"
	"quarry/index/syntax"
	"quarry/retrieval"
	"quarry/retrieval/pattern"
	"quarry/retrieval/workspace"
)

// impatient is a workspace that notes that an answer of it had to say that it is not ready,
// when all that the question may wait is over.
type impatient struct {
	*workspace.Workspace
	over atomic.Bool
}

func (w *impatient) note(err error) {
	var unready *workspace.NotReady
	if errors.As(err, &unready) {
		w.over.Store(true)
	}
}

func (w *impatient) Files(ctx context.Context, keep func(workspace.File) bool) ([]workspace.File, *workspace.Missing, error) {
	list, missing, err := w.Workspace.Files(ctx, keep)
	w.note(err)
	return list, missing, err
}

func (w *impatient) Matching(ctx context.Context, p *pattern.Pattern, keep func(workspace.File) bool, look func(*workspace.Look) (bool, error)) (*workspace.Missing, error) {
	missing, err := w.Workspace.Matching(ctx, p, keep, look)
	w.note(err)
	return missing, err
}

func (w *impatient) Search(ctx context.Context, req retrieval.Request) (workspace.Answer, error) {
	a, err := w.Workspace.Search(ctx, req)
	w.note(err)
	return a, err
}

func (w *impatient) Symbols(ctx context.Context, name string, kinds []syntax.Kind, limit int) (workspace.Symbols, error) {
	found, err := w.Workspace.Symbols(ctx, name, kinds, limit)
	w.note(err)
	return found, err
}

func (w *impatient) SymbolByID(ctx context.Context, id string) (workspace.Symbol, *workspace.Missing, error) {
	s, missing, err := w.Workspace.SymbolByID(ctx, id)
	w.note(err)
	return s, missing, err
}

func (w *impatient) References(ctx context.Context, s workspace.Symbol, limit int) (workspace.References, error) {
	found, err := w.Workspace.References(ctx, s, limit)
	w.note(err)
	return found, err
}

func (w *impatient) Users(ctx context.Context, s workspace.Symbol, kind store.EdgeKind) (workspace.Neighbours, error) {
	found, err := w.Workspace.Users(ctx, s, kind)
	w.note(err)
	return found, err
}

func (w *impatient) Declared(ctx context.Context, path string) (workspace.Symbols, error) {
	found, err := w.Workspace.Declared(ctx, path)
	w.note(err)
	return found, err
}

// A call of a tool waits once, however often it asks the index; what it can answer without
// waiting it answers at once.
func TestToolsWaitOnce(t *testing.T) {
	dir := folderWith(t, map[string]string{
		"barn/a.go": "package barn\n\nfunc Harvest() { Store() }\n",
		"barn/b.go": "package barn\n\nfunc Store() {}\n\nfunc Keep() { Harvest() }\n",
	})
	state := t.TempDir()
	first := workspace.New(workspace.Options{StateDir: state})
	first.SetRoots([]string{dir})
	err := first.CatchUp(t.Context())
	first.Close()
	if err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(state, "index", "*", "lock"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	other := flock.New(found[0]) // of a process that does nothing
	if held, err := other.TryLock(); !held || err != nil {
		t.Fatal(held, err)
	}
	defer other.Unlock()
	// Nobody indexes what is new.
	save(t, dir, "yard/c.go", "package yard\n\nfunc Sweep() {}\n")
	w := &impatient{Workspace: workspace.New(workspace.Options{StateDir: state, WaitLimit: 100 * time.Millisecond})}
	defer w.Close()
	w.SetRoots([]string{dir})
	staging := agent.NewStaging(func() string { return dir }, time.Now)
	box := agent.NewToolbox(agent.Parts{Workspace: w, Patcher: patch.New(w), Staging: staging})
	if _, err := w.Locate(t.Context(), "barn/a.go"); err != nil { // the index is open now
		t.Fatal(err)
	}
	for _, c := range []struct {
		tool string
		args map[string]any
		// unready says what the tool fails with: it found nothing.
		unready bool
	}{
		{"get_outline", map[string]any{"path": "barn/a.go"}, false},
		{"get_outline", map[string]any{"path": filepath.Join(dir, "barn", "a.go")}, false},
		{"get_outline", map[string]any{"path": "barn"}, false},
		{"get_outline", map[string]any{"path": "yard"}, true},
		{"get_outline", map[string]any{"path": "yard/c.go"}, true},
		{"get_outline", map[string]any{"path": filepath.Base(dir) + "/yard/c.go"}, true},
		{"search_symbols", map[string]any{"name": "Sweep", "kind": "function"}, true},
		{"get_symbol_definition", map[string]any{"symbol_id": "yard/c.go#Sweep"}, true},
		{"get_references", map[string]any{"symbol_id": "barn/b.go#Keep"}, true},
		{"get_callers", map[string]any{"symbol_id": "barn/a.go#Harvest", "depth": 3}, false},
		{"get_callees", map[string]any{"symbol_id": "barn/b.go#Keep", "depth": 3}, false},
		{"get_implementations", map[string]any{"symbol_id": "barn/b.go#Keep"}, true},
		{"get_impact", map[string]any{"symbol_id": "barn/b.go#Store", "depth": 3}, false},
		{"search_text", map[string]any{"query": "Sweep"}, true},
		{"search_text", map[string]any{"query": "harvest them all"}, false},
		{"search_regex", map[string]any{"pattern": "Swe+p"}, true},
		{"list_files", map[string]any{"glob": "yard/*"}, true},
		{"read_file", map[string]any{"path": "somewhere/c.go"}, false},
		{"rename_symbol", map[string]any{"symbol_id": "barn/a.go#Harvest", "new_name": "Reap"}, true},
		{"repo_overview", map[string]any{"path": "yard"}, true},
	} {
		w.over.Store(false)
		e := box.Call(workspace.WithProgress(t.Context(), func(m workspace.Missing) {
			if w.over.Load() {
				t.Errorf("%s %v waits again for %s", c.tool, c.args, &m)
			}
		}), c.tool, arguments(t, c.args))
		if unready := !e.OK && e.Error.Code == agent.NotReady; unready != c.unready {
			t.Errorf("%s %v: %s", c.tool, c.args, e)
		}
	}
	// A file that is indexed is outlined without a look at the others.
	if got := lines(t, box, "get_outline", map[string]any{"path": "barn/a.go"}); got != "barn/a.go:1-1 module package barn\nbarn/a.go:3-3 function func Harvest()" {
		t.Errorf("the outline of a known file: %s", got)
	}
}
