package workspace_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"quarry/retrieval"
	"quarry/retrieval/workspace"
)

var tiny = map[string]string{
	"db/store.go": "package db\n\n// Store keeps zebras.\ntype Store struct{}\n\nfunc open(name string) error { return check(name) }\n",
	"db/check.go": "package db\n\nfunc check(name string) error { return nil }\n",
}

// places are the first questions that can be asked; each answers how much it found.
var places = []struct {
	name string
	ask  func(ctx context.Context, w *workspace.Workspace, there bool) (found int, missing *workspace.Missing, err error)
}{
	{"search", func(ctx context.Context, w *workspace.Workspace, there bool) (int, *workspace.Missing, error) {
		a, err := w.Search(ctx, retrieval.Request{Query: retrieval.Parse(pick(there, "zebras", "walruses"), time.Now())})
		return len(a.Results), a.Missing, err
	}},
	{"exact text", func(ctx context.Context, w *workspace.Workspace, there bool) (int, *workspace.Missing, error) {
		a, err := w.Search(ctx, retrieval.Request{Query: retrieval.Parse(pick(there, `"keeps zebras"`, `"keeps walruses"`), time.Now())})
		return len(a.Results), a.Missing, err
	}},
	{"lines", func(ctx context.Context, w *workspace.Workspace, there bool) (int, *workspace.Missing, error) {
		a, err := w.Search(ctx, retrieval.Request{Query: retrieval.Parse(pick(there, `re:keeps zeb\w+`, `re:keeps wal\w+`), time.Now())})
		return len(a.Results), a.Missing, err
	}},
	{"similar", func(ctx context.Context, w *workspace.Workspace, there bool) (int, *workspace.Missing, error) {
		a, err := w.FindSimilar(ctx, workspace.SimilarRequest{Code: pick(there, "func check(name string) error", "walrus")})
		return len(a.Results), a.Missing, err
	}},
	{"symbols", func(ctx context.Context, w *workspace.Workspace, there bool) (int, *workspace.Missing, error) {
		found, err := w.Symbols(ctx, pick(there, "Store", "Walrus"), nil, 10)
		return len(found.List), found.Missing, err
	}},
	{"definition", func(ctx context.Context, w *workspace.Workspace, there bool) (int, *workspace.Missing, error) {
		s, missing, err := w.SymbolByID(ctx, pick(there, "db/store.go#open", "db/store.go#walrus"))
		var unknown *workspace.UnknownSymbol
		if errors.As(err, &unknown) {
			return 0, missing, nil
		}
		return len(s.ID), missing, err
	}},
	{"files", func(ctx context.Context, w *workspace.Workspace, there bool) (int, *workspace.Missing, error) {
		list, missing, err := w.Files(ctx, func(f workspace.File) bool { return strings.HasSuffix(f.Name, pick(there, ".go", ".walrus")) })
		return len(list), missing, err
	}},
	{"references", func(ctx context.Context, w *workspace.Workspace, there bool) (int, *workspace.Missing, error) {
		s, _, err := w.SymbolByID(ctx, pick(there, "check", "Store"))
		if err != nil {
			return 0, nil, err
		}
		refs, err := w.References(ctx, s, 10)
		return len(refs.List), refs.Missing, err
	}},
}

func pick(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

// states are those an index may be in when the first question comes.
var states = []struct {
	name string
	make func(t *testing.T, database string) // of a whole index
}{
	{"absent", func(t *testing.T, database string) {
		for _, suffix := range []string{"", "-wal", "-shm"} {
			if err := os.Remove(database + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
		}
	}},
	{"present", func(*testing.T, string) {}},
	{"half-built", func(t *testing.T, database string) {
		const id = "(SELECT id FROM files WHERE path = 'db/check.go')"
		execute(t, database, "DELETE FROM chunks WHERE id >> 20 = "+id, "DELETE FROM symbols WHERE id >> 20 = "+id,
			"DELETE FROM file_text WHERE rowid = "+id, "DELETE FROM files WHERE id = "+id, "DELETE FROM meta WHERE key = 'analyzer'")
	}},
	{"damaged", func(t *testing.T, database string) {
		f, err := os.OpenFile(database, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt([]byte(strings.Repeat("noise ", 20)), 0); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}},
}

// execute changes a database behind quarry's back.
func execute(t *testing.T, database string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+database+"?_foreign_keys=on")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// indexed makes the index of root whole and then puts it into a state. It answers the
// folder it is in.
func indexed(t *testing.T, root, stateDir string, make func(t *testing.T, database string)) (dir string) {
	t.Helper()
	w := workspace.New(workspace.Options{StateDir: stateDir})
	w.SetRoots([]string{root})
	err := w.CatchUp(t.Context())
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(stateDir, "index", "*", "index.db"))
	if err != nil || len(found) != 1 {
		t.Fatalf("databases %q, %v", found, err)
	}
	make(t, found[0])
	return filepath.Dir(found[0])
}

// The first question gets the whole answer, whatever was there of the index before.
func TestFirstQuestion(t *testing.T) {
	for _, state := range states {
		t.Run(state.name, func(t *testing.T) {
			root, stateDir := t.TempDir(), t.TempDir()
			write(t, root, tiny)
			indexed(t, root, stateDir, state.make)
			for _, place := range places {
				w := workspace.New(workspace.Options{StateDir: stateDir, WaitLimit: time.Minute})
				w.SetRoots([]string{root})
				for _, there := range []bool{true, false} {
					found, missing, err := place.ask(t.Context(), w, there)
					if (found > 0) != there || missing != nil || err != nil {
						t.Errorf("%s, there %v: %d found, missing %v, %v", place.name, there, found, missing, err)
					}
				}
				w.Close()
				if state.name != "present" { // each question is the first one
					indexed(t, root, stateDir, state.make)
				}
			}
		})
	}
}

// While nobody can know, no answer says that there is nothing; what is there already is
// found, and said to be a part.
func TestNothingIsNotSaidTooEarly(t *testing.T) {
	for _, state := range states {
		t.Run(state.name, func(t *testing.T) {
			root, stateDir := t.TempDir(), t.TempDir()
			write(t, root, tiny)
			dir := indexed(t, root, stateDir, state.make)
			// Another process has the index and does nothing.
			other := flock.New(filepath.Join(dir, "lock"))
			if ok, err := other.TryLock(); !ok || err != nil {
				t.Fatal(ok, err)
			}
			whole := state.name == "present"
			patience := time.Millisecond
			if whole {
				patience = time.Minute
			}
			w := workspace.New(workspace.Options{StateDir: stateDir, WaitLimit: patience})
			defer w.Close()
			w.SetRoots([]string{root})
			opened(t, w)
			for _, place := range places {
				for _, there := range []bool{true, false} {
					if place.name == "references" && state.name == "half-built" {
						continue // of a symbol in a file that is not indexed
					}
					found, missing, err := place.ask(t.Context(), w, there)
					var unready *workspace.NotReady
					switch {
					case whole && (found > 0) == there && missing == nil && err == nil:
					case !whole && found == 0 && errors.As(err, &unready) && unready.Doing == "indexing" && unready.Folder == root:
					case state.name == "half-built" && there && found > 0 && err == nil && missing != nil:
					default:
						t.Errorf("%s, there %v: %d found, missing %v, %v", place.name, there, found, missing, err)
					}
				}
			}
			// The process that comes after makes the answers whole.
			if err := other.Unlock(); err != nil {
				t.Fatal(err)
			}
			patient := workspace.New(workspace.Options{StateDir: stateDir, WaitLimit: time.Minute})
			defer patient.Close()
			w.Close()
			patient.SetRoots([]string{root})
			for _, place := range places {
				if found, missing, err := place.ask(t.Context(), patient, true); found == 0 || missing != nil || err != nil {
					t.Errorf("%s afterwards: %d found, missing %v, %v", place.name, found, missing, err)
				}
			}
		})
	}
}

// opened waits until the folders are open.
func opened(t *testing.T, w *workspace.Workspace) {
	t.Helper()
	if _, err := w.Locate(t.Context(), "no/such/file"); err == nil {
		t.Fatal("found what is not there")
	}
}

// Whoever waits is told how far the index is.
func TestWaitingShowsProgress(t *testing.T) {
	root, stateDir := t.TempDir(), t.TempDir()
	write(t, root, tiny)
	dir := indexed(t, root, stateDir, states[2].make)
	other := flock.New(filepath.Join(dir, "lock"))
	if ok, err := other.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	defer other.Unlock()
	w := workspace.New(workspace.Options{StateDir: stateDir, WaitLimit: time.Hour})
	defer w.Close()
	w.SetRoots([]string{root})
	ctx, cancel := context.WithCancel(t.Context())
	var notified []workspace.Missing
	_, err := w.Symbols(workspace.WithProgress(ctx, func(m workspace.Missing) {
		if notified = append(notified, m); m.FilesDone > 0 {
			cancel()
		}
	}), "Walrus", nil, 10)
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if last := notified[len(notified)-1]; last.Doing != "indexing" || last.FilesDone != 1 || len(last.Searchable) == 0 {
		t.Errorf("told %+v", last)
	}
}

// A folder that is gone is said, not waited for: nothing more comes.
func TestAFolderThatIsGoneIsSaid(t *testing.T) {
	root := filepath.Join(t.TempDir(), "gone")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	w := workspace.New(workspace.Options{StateDir: t.TempDir(), WaitLimit: time.Hour})
	defer w.Close()
	if err := os.Remove(root); err != nil {
		t.Fatal(err)
	}
	w.SetRoots([]string{root})
	_, err := w.Symbols(t.Context(), "Store", nil, 10)
	if err == nil || !strings.Contains(err.Error(), "cannot be indexed") {
		t.Errorf("a folder that is not there: %v", err)
	}
}

// What a whole index answers while it is behind is said to be a part, until searches know all of
// it; what one file declares is not.
func TestBehindIsSaid(t *testing.T) {
	root, stateDir := t.TempDir(), t.TempDir()
	write(t, root, tiny)
	database := ""
	dir := indexed(t, root, stateDir, func(_ *testing.T, name string) { database = name })
	other := flock.New(filepath.Join(dir, "lock")) // another process has the index
	if ok, err := other.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	defer other.Unlock()
	w := workspace.New(workspace.Options{StateDir: stateDir, WaitLimit: time.Minute})
	defer w.Close()
	w.SetRoots([]string{root})
	searched := map[string]bool{"search": true, "exact text": true, "similar": true, "symbols": true, "definition": true}
	for _, state := range []struct {
		behind string
		doing  func(place string) string
	}{
		{"0", func(string) string { return "" }},
		{"now", func(string) string { return "indexing" }},
		{"1000000", func(place string) string { return pick(searched[place], "loading", "") }}, // of what is indexed since
	} {
		execute(t, database, "INSERT INTO meta VALUES ('behind', '"+state.behind+"') ON CONFLICT DO UPDATE SET value = excluded.value")
		for _, place := range places {
			found, missing, err := place.ask(t.Context(), w, true)
			doing := ""
			if missing != nil {
				doing = missing.Doing
			}
			if want := state.doing(place.name); found == 0 || err != nil || doing != want {
				t.Errorf("%s, behind %s: %d found, missing %v, %v; want %q", place.name, state.behind, found, missing, err, want)
			}
			if doing == "loading" && (missing.FilesTotal == 0 || missing.FilesTotal != missing.FilesDone) {
				t.Errorf("%s: %d of %d files indexed, and all are", place.name, missing.FilesDone, missing.FilesTotal)
			}
		}
		missing, err := w.Learned(t.Context())
		if want := state.doing("search"); err != nil || (missing == nil) != (want == "") || missing != nil && missing.Doing != want {
			t.Errorf("in memory, behind %s: missing %v, %v", state.behind, missing, err)
		}
		if found, err := w.Declared(t.Context(), filepath.Join(root, "db/store.go")); len(found.List) == 0 || found.Missing != nil || err != nil {
			t.Errorf("of one file, behind %s: %d found, missing %v, %v", state.behind, len(found.List), found.Missing, err)
		}
	}
}

// What is asked of memory waits until all of the index is there, and says so where it is not.
func TestLearnedWaitsForMemory(t *testing.T) {
	root, stateDir := t.TempDir(), t.TempDir()
	write(t, root, tiny)
	w := workspace.New(workspace.Options{StateDir: stateDir, WaitLimit: time.Minute})
	defer w.Close()
	w.SetRoots([]string{root})
	missing, err := w.Learned(t.Context())
	if missing != nil || err != nil {
		t.Fatal(missing, err)
	}
	if list := w.Searchable(); len(list) != 1 || !list[0].Ready || list[0].Snapshot.Files() != len(tiny) {
		t.Errorf("learned, and it has %+v", list)
	}
	hasty := workspace.New(workspace.Options{StateDir: t.TempDir(), WaitLimit: 1})
	defer hasty.Close()
	hasty.SetRoots([]string{root})
	if missing, err := hasty.Learned(t.Context()); missing == nil || err != nil {
		t.Errorf("before anything is indexed: missing %v, %v", missing, err)
	}
}
