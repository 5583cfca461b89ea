package workspace_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"quarry/index"
	"quarry/retrieval"
	"quarry/retrieval/workspace"
)

// A file of nested folders answers once, whoever asks for it and whichever folder was
// added first; a folder that the outer one leaves out answers for itself.
func TestNestedFoldersAnswerOnce(t *testing.T) {
	top := t.TempDir()
	nest := filepath.Join(top, "nest")
	inner, deep, built := filepath.Join(nest, "inner"), filepath.Join(nest, "inner", "deep"), filepath.Join(nest, "built")
	write(t, nest, map[string]string{
		".gitignore":         "built/\n",
		"a.go":               "package a\n\nfunc Sow() {}\n",
		"inner/deep/only.go": "package deep\n\n// Harvest collects ripe apples.\nfunc Harvest() {}\n",
		"inner/use.go":       "package inner\n\nfunc Store() { Harvest() }\n",
		"built/made.go":      "package built\n\n// Harvest was made.\nfunc HarvestMade() {}\n",
	})
	orders := [][]string{{nest, inner, deep, built}, {built, deep, inner, nest}}
	for i, roots := range orders {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			w := open(t, false, roots[0])
			for n := 2; n <= len(roots); n++ { // as an editor adds one after the other
				w.SetRoots(roots[:n])
			}
			if err := w.CatchUp(t.Context()); err != nil {
				t.Fatal(err)
			}
			found := w.find("harvest")
			slices.Sort(found)
			if want := []string{"built/made.go", "nest/inner/deep/only.go", "nest/inner/use.go"}; !slices.Equal(found, want) {
				t.Errorf("search: %v, want %v", found, want)
			}
			symbols, err := w.Symbols(t.Context(), "Harvest", nil, 10)
			if err != nil || len(symbols.List) != 2 {
				t.Fatalf("symbols: %+v, %v", symbols.List, err)
			}
			at := slices.IndexFunc(symbols.List, func(s workspace.Symbol) bool { return s.Name == "Harvest" })
			uses, err := w.References(t.Context(), symbols.List[at], 10)
			if err != nil || len(uses.List) != 1 || uses.List[0].Path != filepath.Join(inner, "use.go") {
				t.Errorf("references: %+v, %v", uses.List, err)
			}
			files, _, err := w.Files(t.Context(), nil)
			if err != nil || len(files) != 5 {
				t.Errorf("files: %+v, %v", files, err)
			}
			similar, err := w.FindSimilar(t.Context(), workspace.SimilarRequest{Code: "// Harvest collects ripe apples.\nfunc Harvest() {}\n"})
			if err != nil {
				t.Fatal(err)
			}
			seen := map[string]bool{}
			for _, r := range similar.Results {
				path := filepath.Join(r.Root, filepath.FromSlash(r.Path))
				if seen[path] {
					t.Errorf("similar: %s twice", path)
				}
				seen[path] = true
			}

			// Alone again it answers for itself.
			w.SetRoots([]string{inner})
			if err := w.CatchUp(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := w.find("harvest"); len(got) != 2 || !strings.HasPrefix(got[0], "inner/") {
				t.Errorf("without the folders around it: %v", got)
			}
		})
	}
}

// The home folder, the root and what is above the home folder are not indexed unasked: a
// question is told so and what to do about it, and the folders beside them go on.
func TestWideFoldersAreNotIndexedUnasked(t *testing.T) {
	top := t.TempDir()
	home := filepath.Join(top, "users", "u")
	project := filepath.Join(top, "project")
	write(t, home, map[string]string{"letter.md": "# Apples\n", "src/a.go": "package a\n\nfunc Sow() {}\n"})
	write(t, project, map[string]string{"b.go": "package b\n\nfunc Harvest() {}\n"})
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	told := make(chan string, 16)
	opened := func(allowed index.Allowed, roots ...string) *workspace.Workspace {
		w := workspace.New(workspace.Options{StateDir: t.TempDir(), Scope: workspace.Scope{Allowed: allowed}, Notify: func(message string) { told <- message }})
		w.SetRoots(roots)
		t.Cleanup(w.Close)
		return w
	}
	search := func(w *workspace.Workspace, query string) (workspace.Answer, error) {
		return w.Search(t.Context(), retrieval.Request{Query: retrieval.Parse(query, time.Now())})
	}
	for _, wide := range []string{home, filepath.Dir(home), top, filepath.VolumeName(home) + string(filepath.Separator)} {
		w := opened(nil, wide)
		_, err := search(w, "apples")
		var unready *workspace.NotReady
		if !errors.As(err, &unready) || unready.Doing != "refused" || !strings.HasPrefix(err.Error(), wide+" is not indexed unasked") || !strings.Contains(err.Error(), "--allow") {
			t.Errorf("%s: %v", wide, err)
		}
		if st, e := w.IndexStatus(t.Context()); e != nil || st[0].Files != 0 || st[0].LastError != err.Error() {
			t.Errorf("%s: status %+v, %v", wide, st, e)
		}
		if message := <-told; message != err.Error() { // it comes behind the first answer
			t.Errorf("%s: the user was told %q, and %v", wide, message, err)
		}
	}

	if runtime.GOOS == "linux" { // nor is the kernel's, whatever is allowed
		_, err := search(opened(index.Allowed{"/proc"}, "/proc"), "apples")
		var unready *workspace.NotReady
		if !errors.As(err, &unready) || unready.Doing != "refused" || !strings.HasPrefix(err.Error(), "/proc is the kernel's: open a project's folder") {
			t.Errorf("/proc: %v", err)
		}
		<-told
	}

	w := opened(nil, home, project, filepath.Join(home, "src"))
	if err := w.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{"harvest": "b.go", "sow": "a.go"} { // beside the home folder, and in it
		answer, err := search(w, query)
		if err != nil || len(answer.Results) != 1 || answer.Results[0].Path != want || answer.Missing == nil || answer.Missing.Folder != home {
			t.Errorf("%s: %+v, %v", query, answer, err)
		}
	}
	if _, err := search(w, "apples"); err == nil || !strings.Contains(err.Error(), "not indexed unasked") {
		t.Errorf("of the home folder: %v", err)
	}
	w.SetScope(workspace.Scope{Allowed: index.Allowed{"~"}})
	if err := w.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if answer, err := search(w, "apples"); err != nil || len(answer.Results) != 1 || answer.Missing != nil {
		t.Errorf("once allowed: %+v, %v", answer, err)
	}
	if answer, err := search(w, "sow"); err != nil || len(answer.Results) != 1 {
		t.Errorf("once allowed, what was open before: %+v, %v", answer, err)
	}
	w.SetScope(workspace.Scope{})
	if _, err := search(w, "apples"); err == nil {
		t.Error("the home folder is still searched")
	}
	if _, err := search(opened(index.Allowed{home}, home), "apples"); err != nil {
		t.Errorf("allowed by its path: %v", err)
	}
}

// What the settings say of the index applies while it runs.
func TestScopeIsLive(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"private/a.go": "package a\n\nfunc Harvest() {}\n", "b.go": "package b\n\nfunc Sow() {}\n", "big.md": "# Barley\n" + strings.Repeat("and barley\n", 500)})
	w := workspace.New(workspace.Options{StateDir: t.TempDir()})
	t.Cleanup(w.Close)
	w.SetRoots([]string{dir})
	finds := func(want ...string) {
		t.Helper()
		if err := w.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, query := range []string{"harvest", "sow", "barley"} {
			answer, err := w.Search(t.Context(), retrieval.Request{Query: retrieval.Parse(query, time.Now())})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range answer.Results {
				found = append(found, r.Path)
			}
		}
		if !slices.Equal(found, want) {
			t.Errorf("found %v, want %v", found, want)
		}
	}
	finds("private/a.go", "b.go", "big.md")
	w.SetScope(workspace.Scope{Exclude: []string{"private"}, Share: 50})
	finds("b.go", "big.md")
	if out, err := w.Excluded(t.Context(), filepath.Join(dir, "private", "a.go"), ""); err != nil || !out {
		t.Errorf("a model may be shown what is left out: %t, %v", out, err)
	}
	w.SetScope(workspace.Scope{MaxFileBytes: 1024})
	finds("private/a.go", "b.go")
	w.SetScope(workspace.Scope{Off: true})
	if _, err := w.Search(t.Context(), retrieval.Request{Query: retrieval.Parse("sow", time.Now())}); err == nil || !strings.Contains(err.Error(), "index.enabled is false") {
		t.Errorf("%v", err)
	}
	if out, err := w.Excluded(t.Context(), filepath.Join(dir, ".env"), ""); err != nil || !out {
		t.Errorf("a secret without an index: %t, %v", out, err)
	}
	w.SetScope(workspace.Scope{})
	finds("private/a.go", "b.go", "big.md")
}

// Many folders, and a folder of many files, answer whole, the first question too.
func TestManyFoldersAndAWideOne(t *testing.T) {
	base := t.TempDir()
	var roots []string
	for i := range 20 {
		root := filepath.Join(base, fmt.Sprintf("p%d", i))
		files := map[string]string{}
		for k := range 3 {
			files[fmt.Sprintf("f%d.go", k)] = fmt.Sprintf("package p\n\n// Keeper%dx%d keeps zebras.\ntype Keeper%dx%d struct{}\n", i, k, i, k)
		}
		if i == 7 {
			for k := 3; k < 2000; k++ {
				files[fmt.Sprintf("f%d.txt", k)] = fmt.Sprintf("stall %d\n", k)
			}
		}
		write(t, root, files)
		roots = append(roots, root)
	}
	w := workspace.New(workspace.Options{StateDir: t.TempDir(), WaitLimit: time.Minute})
	defer w.Close()
	w.SetRoots(roots)
	for i, root := range roots {
		name := fmt.Sprintf("Keeper%dx1", i)
		a, err := w.Search(t.Context(), retrieval.Request{Query: retrieval.Parse(name, time.Now())})
		if err != nil || a.Missing != nil || len(a.Results) == 0 || a.Results[0].Root != root || a.Results[0].Path != "f1.go" {
			t.Fatalf("%s: %+v, missing %v, %v", name, a.Results, a.Missing, err)
		}
	}
	files, missing, err := w.Files(t.Context(), nil)
	if err != nil || missing != nil || len(files) != 20*3+1997 {
		t.Errorf("%d files, missing %v, %v", len(files), missing, err)
	}
}
