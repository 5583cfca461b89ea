package crossfile

import (
	"slices"
	"strings"
	"testing"

	"quarry/completion"
	"quarry/index/lang"
	"quarry/index/syntax"
	"quarry/retrieval"
)

// reading is a Source of files, by path, that answers declarations alone.
func reading(t *testing.T, files map[string]string) *Source {
	t.Helper()
	_, f := over(t, files)
	return New(f, Repository)
}

// put indexes a file; one without a text is removed.
func put(t *testing.T, ix *retrieval.Index, name, text string) {
	t.Helper()
	c := retrieval.Change{Path: name}
	if text != "" {
		read, err := syntax.Analyze(lang.Detect(name, []byte(text)), []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		c.Document = &retrieval.Document{Path: name, Language: read.Language, Text: text, Syntax: read}
	}
	ix.Apply([]retrieval.Change{c})
}

// found are the signatures for the cursor ‸ in a document, best first.
func found(t *testing.T, s *Source, name, marked, draft string) []string {
	t.Helper()
	at := strings.Index(marked, "‸")
	text := strings.Replace(marked, "‸", "", 1)
	q := completion.ContextQuery{
		Document: completion.Document{Root: "/w", Path: name, Language: lang.Detect(name, nil), Text: text},
		Offset:   at, Shown: [2]int{0, len(text)}, Draft: draft, Tokens: 1000,
	}
	var out []string
	for _, sn := range s.Context(t.Context(), q) {
		if sn.StartLine < 1 || sn.EndLine < sn.StartLine || sn.Why == "" {
			t.Errorf("snippet %+v", sn)
		}
		out = append(out, sn.Path+": "+sn.Text)
	}
	return out
}

func has(list []string, part string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.Contains(s, part) })
}

var goFiles = map[string]string{
	"store/store.go": "package store\n\n// Store keeps.\ntype Store struct{ n int }\n\nfunc Open(path string) (*Store, error) { return nil, nil }\n\n" +
		"func (s *Store) Close() error { return nil }\n",
	"store/other.go": "package store\n\nfunc helper(a, b int) int { return a + b }\n",
	"far/store.go":   "package far\n\nfunc Open(name string, flags int) int { return 0 }\n",
	"main.go":        "package main\n\nimport \"example.com/x/store\"\n\nfunc main() { s, err := store.Open(\"a\"); _ = s; _ = err }\n",
}

func TestNamesAtTheCursorComeFirst(t *testing.T) {
	s := reading(t, goFiles)
	list := found(t, s, "main.go", "package main\n\nimport \"example.com/x/store\"\n\nfunc main() {\n\ts, err := store.Open(‸\n}\n", "")
	if len(list) == 0 || !strings.HasPrefix(list[0], "store/store.go: func Open(path string)") {
		t.Errorf("first: %q", list)
	}
	// Both are named Open, and only one is imported.
	far := slices.IndexFunc(list, func(s string) bool { return strings.HasPrefix(s, "far/store.go") })
	if far == 0 {
		t.Errorf("the Open that is not imported comes first: %q", list)
	}
	if has(list, "main.go") {
		t.Errorf("the file itself is shown: %q", list)
	}
}

func TestMembersAndNeighbours(t *testing.T) {
	s := reading(t, goFiles)
	if list := found(t, s, "main.go", "package main\n\nfunc f(s *Store) {\n\t‸\n}\n", ""); !has(list, "Close() error") {
		t.Errorf("the methods of a type in use are missing: %q", list)
	}
	if list := found(t, s, "store/new.go", "package store\n\nfunc f() {\n\t‸\n}\n", ""); !has(list, "func helper(a, b int)") {
		t.Errorf("what the folder declares is missing: %q", list)
	}
}

func TestDraftIsLookedUp(t *testing.T) {
	s := reading(t, goFiles)
	const doc = "package other\n\nfunc f() {\n\t‸\n}\n"
	if list := found(t, s, "other/o.go", doc, ""); has(list, "helper") {
		t.Errorf("helper comes from nowhere: %q", list)
	}
	if list := found(t, s, "other/o.go", doc, "helper(1, 2)"); !has(list, "func helper(a, b int)") {
		t.Errorf("what the draft calls is missing: %q", list)
	}
}

func TestFilesChangeAndGo(t *testing.T) {
	_, f := over(t, goFiles)
	s := New(f, Repository)
	put(t, f.index, "store/other.go", "package store\n\nfunc helper(one string) {}\n")
	const doc = "package store\n\nfunc f() {\n\thelper(‸\n}\n"
	if list := found(t, s, "store/new.go", doc, ""); !has(list, "func helper(one string)") || has(list, "a, b int") {
		t.Errorf("after a change: %q", list)
	}
	for name := range goFiles {
		put(t, f.index, name, "")
	}
	if list := found(t, s, "store/new.go", doc, ""); len(list) != 0 {
		t.Errorf("of no files: %q", list)
	}
}

// Two workspace folders may hold files of the same path.
func TestFoldersAreToldApart(t *testing.T) {
	_, f := over(t, nil)
	s := New(f, Repository)
	f.more = map[string]*retrieval.Index{"/other": retrieval.New(retrieval.Options{})}
	for ix, name := range map[*retrieval.Index]string{f.index: "nearby", f.more["/other"]: "distant"} {
		text := "package p\n\nfunc " + name + "(a int) {}\n"
		put(t, ix, "p/lib.go", text)
		put(t, ix, "p/main.go", text)
	}
	const doc = "package p\n\nfunc f() {\n\tdistant(‸\n}\n"
	list := found(t, s, "p/main.go", doc, "")
	if !has(list, "p/lib.go: func nearby") {
		t.Errorf("a file of the same path in another folder was read over it: %q", list)
	}
	// That the document's namesake declares it does not mean that the document does.
	if n := strings.Count(strings.Join(list, "\n"), "func distant"); n != 2 {
		t.Errorf("%d declarations of distant in the other folder, want 2: %q", n, list)
	}
	put(t, f.more["/other"], "p/lib.go", "")
	if list := found(t, s, "p/main.go", doc, ""); !has(list, "p/lib.go: func nearby") {
		t.Errorf("a file of the same path in another folder went with it: %q", list)
	}
}

func TestImportedBy(t *testing.T) {
	for _, tt := range []struct {
		name   string
		im     syntax.Import
		path   string
		wanted bool
	}{
		{"cmd/a.go", syntax.Import{Path: "example.com/x/store"}, "store/open.go", true},
		{"cmd/a.go", syntax.Import{Path: "example.com/x/store"}, "restore/open.go", false},
		{"web/a.ts", syntax.Import{Path: "./util"}, "web/util.ts", true},
		{"web/a.ts", syntax.Import{Path: "../lib/util"}, "lib/util.ts", true},
		{"web/a.ts", syntax.Import{Path: "./util"}, "lib/util.ts", false},
		{"app/a.py", syntax.Import{Path: "app.models"}, "app/models.py", true},
		{"app/a.py", syntax.Import{Path: ".models"}, "app/models.py", true},
		{"app/sub/a.py", syntax.Import{Path: "..models"}, "app/models.py", true},
		{"app/a.py", syntax.Import{Path: "app", Names: []string{"models"}}, "app/models.py", true},
		{"src/a.rs", syntax.Import{Path: "crate::store::disk"}, "src/store.rs", false},
		{"src/A.java", syntax.Import{Path: "org.x.Store"}, "src/org/x/Store.java", true},
		{"src/a.c", syntax.Import{Path: "store.h"}, "src/store.h", true},
	} {
		if got := importedBy(tt.name, []syntax.Import{tt.im}).has(tt.path); got != tt.wanted {
			t.Errorf("%s importing %s: %s is imported: %v", tt.name, tt.im.Path, tt.path, got)
		}
	}
}
