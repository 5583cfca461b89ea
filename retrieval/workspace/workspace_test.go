package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"quarry/index"
	"quarry/retrieval"
	"quarry/retrieval/workspace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// world is a workspace whose changes a test can wait for.
type world struct {
	*workspace.Workspace
	t *testing.T

	mu      sync.Mutex
	texts   map[string]string // by absolute path
	changed chan struct{}
}

func open(t *testing.T, watch bool, roots ...string) *world {
	w := &world{t: t, texts: map[string]string{}, changed: make(chan struct{})}
	w.Workspace = workspace.New(workspace.Options{
		StateDir: t.TempDir(),
		Watch:    watch,
		Notify:   func(message string) { t.Logf("told: %s", message) },
		Follow: func(dir string, u index.Update) {
			w.mu.Lock()
			defer w.mu.Unlock()
			path := filepath.Join(dir, filepath.FromSlash(u.Path))
			if delete(w.texts, path); u.File != nil {
				w.texts[path] = u.Text
			}
			close(w.changed)
			w.changed = make(chan struct{})
		},
	})
	w.SetRoots(roots)
	t.Cleanup(w.Close)
	return w
}

// wait returns when cond holds of the indexed texts.
func (w *world) wait(what string, cond func(texts map[string]string) bool) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	for {
		w.mu.Lock()
		ok, changed := cond(w.texts), w.changed
		w.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			w.t.Fatalf("%s: did not come true", what)
		}
	}
}

// find is the places that a query finds, "root/path" each.
func (w *world) find(query string) []string {
	w.t.Helper()
	answer, err := w.Search(w.t.Context(), retrieval.Request{Query: retrieval.Parse(query, time.Now())})
	if err != nil {
		w.t.Fatal(err)
	}
	var list []string
	for _, r := range answer.Results {
		list = append(list, filepath.Base(r.Root)+"/"+r.Path)
	}
	return list
}

func TestSearchFollowsEveryFolder(t *testing.T) {
	top := t.TempDir()
	one, two := filepath.Join(top, "one"), filepath.Join(top, "two")
	write(t, one, map[string]string{"a.go": "package a\n\n// Harvest collects ripe apples.\nfunc Harvest() {}\n"})
	write(t, two, map[string]string{"b.py": "def harvest_pears():\n    return 1\n"})
	w := open(t, false, one, two)
	w.wait("both folders", func(texts map[string]string) bool { return len(texts) == 2 })

	if got := w.find("harvest"); len(got) != 2 {
		t.Errorf("harvest: %v, want a place in each folder", got)
	}
	if got := w.find("lang:python harvest"); len(got) != 1 || got[0] != "two/b.py" {
		t.Errorf("with a filter: %v", got)
	}

	// What is typed is found before it is saved, and forgotten when it is not.
	a := filepath.Join(one, "a.go")
	w.DidOpen(a, "package a\n\nfunc Winnow() {}\n")
	w.wait("the opened text", func(texts map[string]string) bool { return strings.Contains(texts[a], "Winnow") })
	if got := w.find("Winnow"); len(got) != 1 {
		t.Errorf("open buffer: %v", got)
	}
	w.DidClose(a)
	w.wait("the text on disk", func(texts map[string]string) bool { return strings.Contains(texts[a], "Harvest") })
	if got := w.find("symbol:Winnow"); len(got) != 0 {
		t.Errorf("after closing without saving: %v", got)
	}

	// A file that goes is found no more.
	if err := os.Remove(filepath.Join(two, "b.py")); err != nil {
		t.Fatal(err)
	}
	w.FilesChanged([]string{filepath.Join(two, "b.py")})
	w.wait("the removal", func(texts map[string]string) bool { return len(texts) == 1 })
	if got := w.find("harvest pears"); len(got) != 1 || got[0] != "one/a.go" {
		t.Errorf("after the removal: %v", got)
	}

	// A folder that leaves the workspace takes its results along.
	w.SetRoots([]string{two})
	if got := w.find("harvest"); len(got) != 0 {
		t.Errorf("after its folder left: %v", got)
	}
}

func TestTextStaysInTheFolders(t *testing.T) {
	top := t.TempDir()
	root := filepath.Join(top, "root")
	write(t, top, map[string]string{"outside.txt": "secret", "root/in.txt": "open", "root/.env": "KEY=secret"})
	if err := os.Symlink(filepath.Join(top, "outside.txt"), filepath.Join(root, "link.txt")); err != nil {
		t.Fatal(err)
	}
	w := open(t, false, root)
	w.wait("the folder", func(texts map[string]string) bool { return len(texts) == 1 })
	if text, err := w.Text(filepath.Join(root, "in.txt")); err != nil || text != "open" {
		t.Errorf("in.txt: %q, %v", text, err)
	}
	for _, name := range []string{"../outside.txt", "link.txt", ".env", "gone.txt", "../root/../outside.txt"} {
		if text, err := w.Text(filepath.Join(root, name)); err == nil {
			t.Errorf("%s may be read: %q", name, text)
		}
	}
}

// A document is a secret by its name or its text, in a folder, outside or in no
// file at all.
func TestExcludedByText(t *testing.T) {
	const key, code = "PuTTY-User-Key-File-3: ssh-ed25519\n", "package a\n"
	root := t.TempDir()
	w := open(t, false, root)
	want := func(want bool, path, text string) {
		t.Helper()
		if got, err := w.Excluded(t.Context(), path, text); got != want || err != nil {
			t.Errorf("%q with %q: excluded %t, %v", path, text, got, err)
		}
	}
	for _, path := range []string{"", filepath.Join(root, "a.go"), filepath.Join(t.TempDir(), "a.go")} {
		want(false, path, code)
		want(true, path, key)
	}
	for _, path := range []string{filepath.Join(root, ".envs", "local", "db"), filepath.Join(t.TempDir(), "prod.env")} {
		want(true, path, code)
	}
}

// A request that is overtaken never makes a secret of its document: while a folder is
// being opened nobody knows, and afterwards its rules do.
func TestOvertakenWhileAFolderIsOpened(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	root := t.TempDir()
	write(t, root, map[string]string{".quarryignore": "left.go\n"})
	w := open(t, false, root)
	here, left := filepath.Join(root, "here.go"), filepath.Join(root, "left.go")
	if excluded, err := w.Excluded(over, here, ""); excluded || err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("while it is opened: excluded %t, %v", excluded, err)
	}
	if _, err := w.Excluded(t.Context(), here, ""); err != nil { // it is open now
		t.Fatal(err)
	}
	for range 200 { // Go chooses by chance between two channels that are both ready
		for path, want := range map[string]bool{here: false, left: true} {
			if got, err := w.Excluded(over, path, ""); got != want || err != nil {
				t.Fatalf("%s in an open folder: excluded %t, %v", filepath.Base(path), got, err)
			}
		}
	}
}

// Similar code comes from every folder, and never from a file that may not be
// shown.
func TestSimilarOverFolders(t *testing.T) {
	const code = "func deliver(parcel Parcel) error {\n\treturn courier.Dispatch(parcel.Address, parcel.Weight)\n}\n"
	top := t.TempDir()
	one, two := filepath.Join(top, "one"), filepath.Join(top, "two")
	write(t, one, map[string]string{"a.go": "package a\n\n" + code, "here.go": "package a\n\n" + code, ".ssh/d.go": "package a\n\n" + code})
	write(t, two, map[string]string{"here.go": "package a\n\n" + code, "b.go": "package b\n\n" + code, "left/c.go": "package c\n\n" + code, ".quarryignore": "left/\n"})
	w := open(t, false, one, two)
	w.wait("both folders", func(texts map[string]string) bool { return len(texts) == 5 })
	var got []string
	for _, p := range w.Similar("courier.Dispatch(parcel.Address", one, "here.go", 9) {
		got = append(got, filepath.Base(p.Root)+"/"+p.Path)
		if _, err := w.Text(filepath.Join(p.Root, p.Path)); err != nil {
			t.Error(err)
		}
	}
	slices.Sort(got)
	if want := []string{"one/a.go", "two/b.go", "two/here.go"}; !slices.Equal(got, want) {
		t.Errorf("similar: %q, want %q", got, want)
	}
	for _, secret := range []string{filepath.Join(one, ".ssh", "d.go"), filepath.Join(two, "left", "c.go")} {
		if text, err := w.Text(secret); err == nil {
			t.Errorf("%s is shown: %q", secret, text)
		}
	}
}

func TestDocumentsOpenedBeforeTheIndexAre(t *testing.T) {
	root := t.TempDir()
	w := open(t, false)
	path := filepath.Join(root, "new.go")
	w.DidOpen(path, "package a\n\nfunc Unsaved() {}\n")
	w.SetRoots([]string{root})
	w.wait("the buffer", func(texts map[string]string) bool { return texts[path] != "" })
	if got := w.find("Unsaved"); len(got) != 1 {
		t.Errorf("found %v", got)
	}
	leave := w.Busy()
	leave()
	list, err := w.IndexStatus(t.Context())
	if err != nil || len(list) != 1 || list[0].Root != root {
		t.Errorf("status %+v, %v", list, err)
	}
}

// Folders that are open already and those that come later are watched.
func TestWatchFiles(t *testing.T) {
	early, late := t.TempDir(), t.TempDir()
	for _, dir := range []string{early, late} {
		write(t, dir, map[string]string{"a.go": "package a\n"})
	}
	w := open(t, false, early)
	w.wait("the first folder", func(texts map[string]string) bool { return len(texts) == 1 })
	w.WatchFiles()
	w.SetRoots([]string{early, late})
	w.wait("the second folder", func(texts map[string]string) bool { return len(texts) == 2 })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := w.CatchUp(ctx); err != nil { // by now all folders are watched
		t.Fatal(err)
	}
	for _, dir := range []string{early, late} {
		write(t, dir, map[string]string{"b.go": "package a\n\nfunc b() {}\n"})
	}
	w.wait("a new file in each", func(texts map[string]string) bool { return len(texts) == 4 })
}

// CatchUp has told of every file when it returns, and returns for folders
// without any.
func TestCatchUp(t *testing.T) {
	full, empty := t.TempDir(), t.TempDir()
	for i := range 30 {
		if err := os.WriteFile(filepath.Join(full, fmt.Sprintf("f%d.go", i)), []byte("package f\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w := open(t, false, empty, full)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := w.CatchUp(ctx); err != nil {
		t.Fatal(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.texts) != 30 {
		t.Errorf("told of %d files, want 30", len(w.texts))
	}
	answer, err := w.Search(ctx, retrieval.Request{Query: retrieval.Parse("lang:go package", time.Now()), Limit: 50})
	if err != nil || len(answer.Results) != 30 {
		t.Errorf("%d files can be searched, want 30: %v", len(answer.Results), err)
	}
}

func TestFindSimilar(t *testing.T) {
	const code = "func deliver(parcel Parcel) error {\n\treturn courier.Dispatch(parcel.Address, parcel.Weight)\n}\n"
	top := t.TempDir()
	one, two := filepath.Join(top, "one"), filepath.Join(top, "two")
	write(t, one, map[string]string{"a.go": "package a\n\n" + code, "b.go": "package a\n\n" + strings.ReplaceAll(code, "deliver", "bring"), ".env": code})
	write(t, two, map[string]string{"a.go": "package b\n\n" + code})
	w := open(t, false, one, two)
	w.wait("both folders", func(texts map[string]string) bool {
		return texts[filepath.Join(one, "a.go")] != "" && texts[filepath.Join(one, "b.go")] != "" && texts[filepath.Join(two, "a.go")] != ""
	})
	for name, c := range map[string]struct {
		req  workspace.SimilarRequest
		want []string
	}{
		"lines of a file": {workspace.SimilarRequest{Path: filepath.Join(one, "a.go"), StartLine: 3, EndLine: 5}, []string{"one/b.go", "two/a.go"}},
		"code":            {workspace.SimilarRequest{Code: code}, []string{"one/a.go", "one/b.go", "two/a.go"}},
		"the best":        {workspace.SimilarRequest{Code: code, Limit: 1}, []string{"one/a.go"}},
	} {
		a, err := w.FindSimilar(t.Context(), c.req)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var got []string
		for _, r := range a.Results {
			got = append(got, filepath.Base(r.Root)+"/"+r.Path)
		}
		slices.Sort(got)
		if !slices.Equal(got, c.want) || !slices.Equal(a.Backend, []string{"lexical"}) {
			t.Errorf("%s: %q by %q, want %q", name, got, a.Backend, c.want)
		}
	}
	for name, req := range map[string]workspace.SimilarRequest{
		"nothing":         {},
		"blank":           {Code: " \n"},
		"past the end":    {Path: filepath.Join(one, "a.go"), StartLine: 90, EndLine: 99},
		"a secret":        {Path: filepath.Join(one, ".env"), StartLine: 1, EndLine: 3},
		"outside of them": {Path: filepath.Join(top, "c.go"), StartLine: 1, EndLine: 3},
	} {
		if a, err := w.FindSimilar(t.Context(), req); err == nil {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// Code to compare counts up to 64 KB: what is longer is no piece but files. A letter
// that the limit cuts through is none.
func TestCodeToCompareIsClipped(t *testing.T) {
	const limit = 64 << 10
	const before, behind = "courier.Dispatch(parcel)\n", "orchard.Harvest(basket)\n"
	dir := t.TempDir()
	write(t, dir, map[string]string{"near.go": "package a\n\nfunc f() {\n" + before + "}\n", "beyond.go": "package a\n\nfunc f() {\n" + behind + "}\n"})
	w := open(t, false, dir)
	w.wait("both files", func(texts map[string]string) bool { return len(texts) == 2 })
	for name, c := range map[string]struct {
		padding int // blanks between the two pieces
		want    []string
	}{
		"within":                {limit - len(before) - len(behind), []string{"beyond.go", "near.go"}},
		"beyond":                {limit - len(before), []string{"near.go"}},
		"far beyond":            {8 * limit, []string{"near.go"}},
		"a letter of two bytes": {limit - len(before) - 1, []string{"near.go"}},
	} {
		code := before + strings.Repeat(" ", c.padding) + "é" + behind
		if name == "within" {
			code = before + strings.Repeat(" ", c.padding) + behind
		}
		a, err := w.FindSimilar(t.Context(), workspace.SimilarRequest{Code: code})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var got []string
		for _, r := range a.Results {
			got = append(got, r.Path)
		}
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// The status says that it is working as long as those who follow the index have not
// been told all that it holds: nothing is idle that completes without the repository.
func TestStatusWaitsForThoseWhoLearn(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.go"), []byte("package a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	notified, release := make(chan struct{}), make(chan struct{})
	var once sync.Once // a file is told of again when its references resolve
	w := workspace.New(workspace.Options{StateDir: t.TempDir(), Follow: func(string, index.Update) {
		once.Do(func() { close(notified) })
		<-release
	}})
	defer w.Close()
	w.SetRoots([]string{dir})
	<-notified
	status := func() index.Status {
		t.Helper()
		list, err := w.IndexStatus(t.Context())
		if err != nil || len(list) != 1 {
			t.Fatalf("%+v, %v", list, err)
		}
		return list[0]
	}
	if st := status(); !st.Learning || !st.Working {
		t.Errorf("while a file is being learned: learning %v, working %v", st.Learning, st.Working)
	}
	close(release)
	if err := w.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if st := status(); st.Learning {
		t.Error("still learning when all is told")
	}
}

// Folders without end, as a workspace's own file may name them, are told apart in one look
// at each: with one at each pair 8,000 took half a minute, before an editor was answered.
func TestThousandsOfFolders(t *testing.T) {
	base := t.TempDir()
	taken := func(n int) uint64 {
		w := workspace.New(workspace.Options{StateDir: t.TempDir()})
		defer w.Close()
		var dirs []string
		for i := range n {
			dirs = append(dirs, filepath.Join(base, fmt.Sprint(i), "a", "b"))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		w.SetRoots(dirs)
		runtime.ReadMemStats(&after)
		return after.Mallocs - before.Mallocs
	}
	few, many := taken(200), taken(1600)
	if many > 3*8*few {
		t.Errorf("%d pieces of memory for 200 folders, %d for 1600", few, many)
	}
}
