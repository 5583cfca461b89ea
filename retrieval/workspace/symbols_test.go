package workspace_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry/retrieval/workspace"
)

var storeFiles = map[string]string{
	"db/store.go": "package db\n\n// Store keeps things.\ntype Store struct{}\n\n// Open opens it.\nfunc (s *Store) Open() error { return nil }\n",
	"db/use.go":   "package db\n\nfunc start(s *Store) error {\n\tif err := s.Open(); err != nil {\n\t\treturn err\n\t}\n\treturn s.Open()\n}\n",
	"web/a.ts":    "export function parse(a: string): string;\nexport function parse(a: number): string;\nexport function parse(a: any) { return String(a) }\n",
	".env":        "Open=1",
}

// ids are the ids that a name finds.
func (w *world) ids(name string) (list []string) {
	w.t.Helper()
	symbols, err := w.Symbols(w.t.Context(), name, nil, 10)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, s := range symbols.List {
		list = append(list, s.ID)
	}
	return list
}

func TestSymbolsAndReferences(t *testing.T) {
	root := t.TempDir()
	write(t, root, storeFiles)
	write(t, root, map[string]string{"db/close.go": "package db\n\nfunc Close() {}\n\ntype door struct{ Close func() }\n"})
	w := open(t, false, root)
	if err := w.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := w.ids("open"); !slices.Equal(got, []string{"db/store.go#Store.Open"}) {
		t.Fatalf("open: %q", got)
	}
	if got := w.ids("parse"); !slices.Equal(got, []string{"web/a.ts#parse", "web/a.ts#parse~2", "web/a.ts#parse~3"}) {
		t.Errorf("overloads: %q", got)
	}
	for _, id := range []string{"db/store.go#Store.Open", "db/store.go#Open", "Store.Open", "Open", "Open()", "Store.Open()", "old/place.go#Store.Open", "./db/store.go#Store.Open"} {
		s, _, err := w.SymbolByID(t.Context(), id)
		if err != nil || s.ID != "db/store.go#Store.Open" || s.Span.StartLine != 6 || s.Doc != "Open opens it." || s.Signature != "func (s *Store) Open() error" {
			t.Errorf("%s: %+v, %v", id, s, err)
		}
	}
	if s, _, err := w.SymbolByID(t.Context(), "web/a.ts#parse~2"); err != nil || s.Span.StartLine != 2 {
		t.Errorf("the second overload: %+v, %v", s, err)
	}
	var unknown *workspace.UnknownSymbol
	if s, _, err := w.SymbolByID(t.Context(), "web/b.ts#parse"); !errors.As(err, &unknown) || len(unknown.Near) != 3 {
		t.Errorf("several of a name: %+v, %v", s, err)
	}
	if unknown != nil && (!unknown.Several || !strings.Contains(unknown.Error(), "several symbols are called web/b.ts#parse")) {
		t.Errorf("several of a name: %v", unknown)
	}
	// A function of the name is meant before a member of it, and by its package's name.
	for _, id := range []string{"Close", "close.Close", "db.Close", "Close()"} {
		if s, _, err := w.SymbolByID(t.Context(), id); err != nil || s.ID != "db/close.go#Close" {
			t.Errorf("%s: %+v, %v", id, s, err)
		}
	}
	if s, _, err := w.SymbolByID(t.Context(), "net.Close"); !errors.As(err, &unknown) || unknown.Several {
		t.Errorf("another package's: %+v, %v", s, err)
	}
	if s, _, err := w.SymbolByID(t.Context(), "db/store.go#Nothing"); !errors.As(err, &unknown) || len(unknown.Near) != 0 {
		t.Errorf("none of a name: %+v, %v", s, err)
	}

	s, _, err := w.SymbolByID(t.Context(), "db/store.go#Store.Open")
	if err != nil {
		t.Fatal(err)
	}
	used, err := w.References(t.Context(), s, 10)
	refs, total := used.List, used.Total
	if err != nil || len(refs) != 2 || total != 2 || refs[1].Line != 7 || refs[0].Path != filepath.Join(root, "db", "use.go") || refs[0].Line != 4 || refs[0].In != "start" || refs[0].Weight <= 0 {
		t.Errorf("references: %+v, %v", refs, err)
	}

	files, missing, err := w.Files(t.Context(), nil)
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
	}
	if err != nil || missing != nil || !slices.Equal(names, []string{"db/close.go", "db/store.go", "db/use.go", "web/a.ts"}) {
		t.Errorf("files %q, missing %v, %v", names, missing, err)
	}
}

// An id is good for as long as its symbol is declared, whatever happens to the
// rest of the file, to the index or to the folder's place in the workspace.
func TestSymbolIdsSurvive(t *testing.T) {
	top := t.TempDir()
	root, other := filepath.Join(top, "app"), filepath.Join(top, "lib")
	write(t, root, storeFiles)
	write(t, other, map[string]string{"x.go": "package x\n"})
	w := open(t, false, root)
	const id = "db/store.go#Store.Open"
	path := filepath.Join(root, "db", "store.go")
	check := func(what string, line uint32) {
		t.Helper()
		if err := w.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s, _, err := w.SymbolByID(t.Context(), id); err != nil || s.Span.StartLine != line {
			t.Errorf("%s: %+v, %v", what, s.Span, err)
		}
	}
	check("at first", 6)

	edited := "package db\n\nfunc before() {}\n" + strings.Repeat("\n", 10) + strings.TrimPrefix(storeFiles["db/store.go"], "package db\n")
	w.DidOpen(path, edited)
	w.wait("the edit", func(texts map[string]string) bool { return texts[path] == edited })
	check("after an edit above it", 18)

	w.DidClose(path)
	w.wait("the text on disk", func(texts map[string]string) bool { return texts[path] == storeFiles["db/store.go"] })
	w.Rebuild()
	check("after the index was made anew", 6)

	if err := os.Rename(path, filepath.Join(root, "db", "moved.go")); err != nil {
		t.Fatal(err)
	}
	w.FilesChanged([]string{path, filepath.Join(root, "db", "moved.go")})
	w.wait("the new place", func(texts map[string]string) bool { return texts[filepath.Join(root, "db", "moved.go")] != "" })
	check("after the file moved", 6)

	w.SetRoots([]string{root, other})
	check("with another folder", 6)
	if got := w.ids("Open"); !slices.Equal(got, []string{"app/db/moved.go#Store.Open"}) {
		t.Errorf("with another folder: %q", got)
	}
}

// What a rule leaves out is not shown to whoever knows of it.
func TestSymbolsOfExcludedFiles(t *testing.T) {
	root := t.TempDir()
	write(t, root, storeFiles)
	w := open(t, false, root)
	if err := w.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, _, err := w.SymbolByID(t.Context(), "Store.Open")
	if err != nil {
		t.Fatal(err)
	}
	write(t, root, map[string]string{".quarryignore": "db/\n"})
	w.FilesChanged([]string{filepath.Join(root, ".quarryignore")})
	w.wait("the rule", func(texts map[string]string) bool { return texts[s.Path] == "" })
	if got := w.ids("Open"); len(got) != 0 {
		t.Errorf("excluded symbols: %q", got)
	}
	if refs, err := w.References(t.Context(), s, 10); err != nil || len(refs.List) != 0 {
		t.Errorf("excluded references: %+v, %v", refs, err)
	}
	if text := fmt.Sprint(w.SymbolByID(t.Context(), "db/store.go#Store.Open")); strings.Contains(text, "func (s") {
		t.Error(text)
	}
}
