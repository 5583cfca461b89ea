package lsp_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.lsp.dev/uri"

	"quarry/lsp/document"
	"quarry/lsp/headless"
)

// indexedEditor is an editor on a small workspace whose index is complete.
func indexedEditor(t *testing.T, profile string) (*headless.Editor, string) {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		"barn/harvest.go": "package barn\n\n// Harvest collects ripe apples.\nfunc Harvest(n int) int {\n\treturn n\n}\n",
		"barn/store.go":   "package barn\n\nfunc Store() { Harvest(1) }\n",
		"notes.md":        "# Harvest\n\nWhen apples are ripe.\n",
		".env":            "TOKEN=secret harvest\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	e := edit(t, profile, &core{indexed: true}, func(o *headless.Options) { o.Root = root })
	ctx := soon(t)
	for len(search(t, ctx, e, map[string]any{"query": "harvest"}).Results) < 3 {
		if ctx.Err() != nil {
			t.Fatal("the workspace was not indexed in time")
		}
	}
	return e, root
}

type searched struct {
	Results []struct {
		URI, Root, Path, Symbol, Text string
		TextStart                     int `json:"text_start_line"`
		StartLine                     int `json:"start_line"`
		Score                         float64
		Reasons                       []string
	}
	Backend     []string
	Total       int
	Notes       []string
	NotSearched map[string]int     `json:"not_searched"`
	Timings     map[string]float64 `json:"timings_ms"`
}

func search(t *testing.T, ctx context.Context, e *headless.Editor, params map[string]any) searched {
	t.Helper()
	var got searched
	if err := e.Call(ctx, "quarry/search.hybrid", params, &got); err != nil {
		t.Fatal(err)
	}
	return got
}

// What was edited or viewed lately is near, closed or not.
func TestWhatWasUsedLatelyIsNear(t *testing.T) {
	e, root := indexedEditor(t, "vscode")
	ctx := soon(t)
	at := map[string]any{"uri": headless.FileURI(filepath.Join(root, "elsewhere/plan.md"))} // links with nothing
	why := func() string {
		for _, r := range search(t, ctx, e, map[string]any{"query": "harvest", "textDocument": at}).Results {
			if r.Path == "barn/store.go" {
				return strings.Join(r.Reasons, ", ")
			}
		}
		t.Fatal("barn/store.go is not found")
		return ""
	}
	const lately, open = "recently edited or viewed", "open in the editor"
	if got := why(); strings.Contains(got, lately) || strings.Contains(got, open) {
		t.Errorf("before it was opened: %s", got)
	}
	if _, err := e.Open("barn/store.go", "go", "package barn\n\nfunc Store() { Harvest(1) }\n"); err != nil {
		t.Fatal(err)
	}
	if got := why(); !strings.Contains(got, open) {
		t.Errorf("open: %s", got)
	}
	if err := e.CloseDocument("barn/store.go"); err != nil {
		t.Fatal(err)
	}
	if got := why(); !strings.Contains(got, lately) {
		t.Errorf("closed: %s", got)
	}
}

func TestSearchOfLines(t *testing.T) {
	e, _ := indexedEditor(t, "vscode")
	ctx := soon(t)
	got := search(t, ctx, e, map[string]any{"query": "lines:all re:Harvest lang:go", "k": 2})
	next := search(t, ctx, e, map[string]any{"query": "lines:all re:Harvest lang:go", "k": 2, "offset": 2})
	if got.Total != 3 || len(got.Results) != 2 || len(next.Results) != 1 || next.Total != 3 {
		t.Fatalf("pages of %d and %d, totals %d and %d", len(got.Results), len(next.Results), got.Total, next.Total)
	}
	if first := got.Results[0]; first.Path != "barn/harvest.go" || first.StartLine != 3 || first.Text != "// Harvest collects ripe apples." {
		t.Errorf("%+v", first)
	}
	if got.NotSearched["secret"] != 1 {
		t.Errorf("not searched: %v", got.NotSearched)
	}
	if got := search(t, ctx, e, map[string]any{"query": "re:( harvest"}); len(got.Notes) != 1 || len(got.Results) == 0 {
		t.Errorf("an expression that is none: notes %q, %d results", got.Notes, len(got.Results))
	}
	var ignored any
	if err := e.Call(ctx, "quarry/search.hybrid", map[string]any{"query": "x", "offset": -1}, &ignored); err == nil || !strings.Contains(err.Error(), "offset") {
		t.Errorf("offset -1: %v", err)
	}
}

// sameFile answers whether two URIs name one file, however they spell a drive of Windows.
func sameFile(a, b string) bool {
	return a == b || runtime.GOOS == "windows" && document.Path(uri.URI(a)) == document.Path(uri.URI(b))
}

func TestSearchMethods(t *testing.T) {
	e, root := indexedEditor(t, "vscode")
	ctx := soon(t)
	got := search(t, ctx, e, map[string]any{
		"query": "Harvest", "k": 2, "includeText": true, "contextLines": 1,
		"filters": map[string]any{"languages": []string{"go"}},
	})
	if len(got.Results) != 2 {
		t.Fatalf("%d results, want the two Go files: %+v", len(got.Results), got.Results)
	}
	first := got.Results[0]
	if first.Path != "barn/harvest.go" || first.Symbol != "Harvest" || first.Root != root || !sameFile(first.URI, headless.FileURI(filepath.Join(root, "barn/harvest.go"))) {
		t.Errorf("first result %+v", first)
	}
	if !strings.Contains(first.Text, "func Harvest(n int)") || first.TextStart < 1 || len(first.Reasons) == 0 {
		t.Errorf("text %q from line %d, reasons %q", first.Text, first.TextStart, first.Reasons)
	}
	if len(got.Backend) == 0 || got.Timings["total"] < 0 {
		t.Errorf("backend %q, timings %v", got.Backend, got.Timings)
	}
	for _, r := range search(t, ctx, e, map[string]any{"query": "TOKEN secret"}).Results {
		if r.Path == ".env" {
			t.Error("a secret is in the index")
		}
	}

	for name, params := range map[string]map[string]any{
		"empty":            {"query": " "},
		"k":                {"query": "x", "k": 1000},
		"negative context": {"query": "x", "contextLines": -1},
		"fusion":           {"query": "x", "fusion": "nuclear"},
		"token":            {"query": "harvest", "partialResultToken": map[string]any{}},
	} {
		wantCode(t, name, e.Call(ctx, "quarry/search.hybrid", params, nil), -32602)
	}
}

func TestSimilar(t *testing.T) {
	e, root := indexedEditor(t, "vscode")
	ctx := soon(t)
	var got searched
	// Words are found in the database before the rest is in memory.
	for len(got.Results) == 0 && ctx.Err() == nil {
		if err := e.Call(ctx, "quarry/similar", map[string]any{"path": "barn/store.go", "startLine": 3, "endLine": 3, "k": 5, "includeText": true}, &got); err != nil {
			t.Fatal(err)
		}
	}
	if len(got.Results) != 1 || got.Results[0].Path != "barn/harvest.go" || got.Results[0].Root != root || !strings.Contains(got.Results[0].Text, "func Harvest") || len(got.Results[0].Reasons) == 0 {
		t.Errorf("similar to barn/store.go:3: %+v", got.Results)
	}
	if err := e.Call(ctx, "quarry/similar", map[string]any{"code": "Harvest(n)", "filters": map[string]any{"paths": []string{"store"}}}, &got); err != nil || len(got.Results) != 1 || got.Results[0].Path != "barn/store.go" {
		t.Errorf("similar to code: %+v, %v", got.Results, err)
	}
	for name, params := range map[string]map[string]any{
		"nothing":          {},
		"no lines":         {"path": "barn/store.go"},
		"a secret":         {"path": ".env", "startLine": 1, "endLine": 1},
		"k":                {"code": "x", "k": 1000},
		"negative context": {"code": "x", "contextLines": -1},
	} {
		wantCode(t, name, e.Call(ctx, "quarry/similar", params, nil), -32602)
	}
}

func TestSearchSendsPartialResults(t *testing.T) {
	e, _ := indexedEditor(t, "vscode")
	seen := len(e.Progressed())
	got := search(t, soon(t), e, map[string]any{"query": "harvest", "partialResultToken": "mine"})
	n := 0
	for _, p := range e.Progressed()[seen:] {
		var value struct{ Results []json.RawMessage }
		if string(p.Token) == `"mine"` && json.Unmarshal(p.Value, &value) == nil {
			n += len(value.Results)
		}
	}
	if n != len(got.Results) || n == 0 {
		t.Errorf("%d partial results for %d", n, len(got.Results))
	}
}

func TestSpans(t *testing.T) {
	e, root := indexedEditor(t, "vscode")
	ctx := soon(t)
	var sp struct {
		Path, Text string
		StartLine  int `json:"start_line"`
		EndLine    int `json:"end_line"`
		Truncated  bool
	}
	if err := e.Call(ctx, "quarry/content.getSpan", map[string]any{"path": "barn/harvest.go", "startLine": 4, "endLine": 4, "contextLines": 1}, &sp); err != nil {
		t.Fatal(err)
	}
	if sp.Text != "// Harvest collects ripe apples.\nfunc Harvest(n int) int {\n\treturn n\n" || sp.StartLine != 3 || sp.EndLine != 5 || sp.Truncated {
		t.Errorf("span %+v", sp)
	}
	if err := e.Call(ctx, "quarry/content.getSpan", map[string]any{"path": "notes.md", "startLine": 3, "endLine": 9}, &sp); err != nil || !sp.Truncated || sp.EndLine != 3 {
		t.Errorf("span past the end: %+v, %v", sp, err)
	}
	// The editor's text is the truth.
	b := open(t, e, "notes.md", "markdown", "typed\n")
	if err := e.Call(ctx, "quarry/content.getSpan", map[string]any{"uri": b.URI, "startLine": 1, "endLine": 1}, &sp); err != nil || sp.Text != "typed\n" {
		t.Errorf("span of an open document: %+v, %v", sp, err)
	}
	open(t, e, ".env", "plaintext", "TOKEN=typed\n") // no less secret for being open
	for _, params := range []map[string]any{
		{"path": ".env", "startLine": 1, "endLine": 1},
		{"path": "../outside", "startLine": 1, "endLine": 1},
		{"path": filepath.Dir(root), "startLine": 1, "endLine": 1},
		{"uri": "untitled:x", "startLine": 1, "endLine": 1},
		{"path": "notes.md", "startLine": 0, "endLine": 1},
		{"path": "notes.md", "startLine": 2, "endLine": 1},
		{"startLine": 1, "endLine": 1},
	} {
		wantCode(t, "getSpan", e.Call(ctx, "quarry/content.getSpan", params, nil), -32602)
		wantCode(t, "atSpan", e.Call(ctx, "quarry/open.atSpan", params, nil), -32602)
	}
	var shown struct{ Shown bool }
	if err := e.Call(ctx, "quarry/open.atSpan", map[string]any{"path": "notes.md", "startLine": 1, "endLine": 1}, &shown); err != nil || !shown.Shown {
		t.Errorf("open.atSpan: %+v, %v", shown, err)
	}
}

func TestIndexMethods(t *testing.T) {
	e, root := indexedEditor(t, "neovim")
	var status []struct {
		Root    string
		Files   int
		Skipped map[string]int
	}
	// What was left out is known when the scan is over.
	for ctx := soon(t); len(status) != 1 || len(status[0].Skipped) == 0; {
		status = nil
		if err := e.Call(ctx, "quarry/index.status", nil, &status); err != nil {
			t.Fatal(err)
		}
		if ctx.Err() != nil {
			t.Fatalf("status %+v", status)
		}
	}
	if len(status) != 1 || status[0].Root != root || status[0].Files != 3 || len(status[0].Skipped) == 0 {
		t.Errorf("status %+v", status)
	}
	if err := e.Call(soon(t), "quarry/index.rebuild", nil, nil); err != nil {
		t.Fatal(err)
	}
	var kinds []string
	if err := e.Await(soon(t), func() bool {
		kinds = nil
		for _, p := range e.Progressed() {
			var value struct{ Kind string }
			if json.Unmarshal(p.Value, &value) == nil && value.Kind != "" {
				kinds = append(kinds, value.Kind)
			}
		}
		return len(kinds) > 0 && kinds[len(kinds)-1] == "end"
	}); err != nil {
		t.Fatalf("progress %q: %v", kinds, err)
	}
	if kinds[0] != "begin" {
		t.Errorf("progress %q, want a begin first", kinds)
	}
}

func TestFilesOnDiskAreFollowedByTheClientsWord(t *testing.T) {
	e, root := indexedEditor(t, "vscode")
	path := filepath.Join(root, "fresh.go")
	if err := os.WriteFile(path, []byte("package fresh\n\nfunc Germinate() {}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := e.Notify("workspace/didChangeWatchedFiles", map[string]any{"changes": []any{map[string]any{"uri": headless.FileURI(path), "type": 1}}}); err != nil {
		t.Fatal(err)
	}
	ctx := soon(t)
	for len(search(t, ctx, e, map[string]any{"query": "symbol:Germinate Germinate"}).Results) == 0 {
		if ctx.Err() != nil {
			t.Fatal("the new file is not found")
		}
	}
	moved := filepath.Join(root, "moved.go")
	if err := os.Rename(path, moved); err != nil {
		t.Fatal(err)
	}
	if err := e.Notify("workspace/didRenameFiles", map[string]any{"files": []any{map[string]any{"oldUri": headless.FileURI(path), "newUri": headless.FileURI(moved)}}}); err != nil {
		t.Fatal(err)
	}
	for {
		r := search(t, ctx, e, map[string]any{"query": "symbol:Germinate Germinate"}).Results
		if len(r) == 1 && r[0].Path == "moved.go" {
			break
		}
		if ctx.Err() != nil {
			t.Fatalf("the renamed file is not followed: %+v", r)
		}
	}
}

// What changed between the first look at the folders and the registration is looked
// for, and a client that refuses is not relied on.
func TestRegistrationOfFiles(t *testing.T) {
	for _, refuses := range []bool{false, true} {
		c, root := &core{indexed: true}, t.TempDir()
		edit(t, "vscode", c, func(o *headless.Options) { o.Root, o.Refuses = root, refuses })
		for ctx := soon(t); ; {
			c.mu.Lock()
			changed, watching := slices.Clone(c.changed), c.watching
			c.mu.Unlock()
			if watching || len(changed) > 0 {
				if watching != refuses || !refuses && !slices.Equal(changed, []string{root}) {
					t.Errorf("refused %v: looks itself %v, looks at %q", refuses, watching, changed)
				}
				break
			}
			if ctx.Err() != nil {
				t.Fatalf("refused %v: nothing came of it", refuses)
			}
			runtime.Gosched()
		}
	}
}

// What a command says by its flags and the folder it is run in, a request says by its params.
func TestSearchAsACommandDoes(t *testing.T) {
	e, root := indexedEditor(t, "vscode")
	ctx := soon(t)
	for _, r := range search(t, ctx, e, map[string]any{"query": "harvest mode:code", "mode": "docs"}).Results {
		if r.Path != "notes.md" {
			t.Errorf("mode docs finds %s", r.Path)
		}
	}
	near := search(t, ctx, e, map[string]any{"query": "harvest", "folder": filepath.Join(root, "barn")})
	if !slices.Contains(near.Backend, "locality") {
		t.Errorf("in a folder, the backend is %q", near.Backend)
	}
	if err := os.WriteFile(filepath.Join(root, "barn/mill.go"), []byte("package barn\n\n// Millstone grinds.\nfunc Millstone() {}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := search(t, ctx, e, map[string]any{"query": "millstone", "current": true}).Results; len(got) != 1 || got[0].Path != "barn/mill.go" {
		t.Errorf("what nobody told of is answered %+v", got)
	}
	var alike searched
	if err := e.Call(ctx, "quarry/similar", map[string]any{"code": "func Store() { Harvest(1) }", "query": "-path:store.go", "current": true}, &alike); err != nil || len(alike.Results) == 0 {
		t.Fatal(alike, err)
	}
	for _, r := range alike.Results {
		if r.Path == "barn/store.go" {
			t.Error("the filter of quarry/similar leaves barn/store.go")
		}
	}
	for method, params := range map[string]map[string]any{
		"quarry/search.hybrid":  {"query": "x", "mode": "anything"},
		"quarry/search.lexical": {"query": "x", "folder": "barn"},
		"quarry/similar":        {"code": "x := y", "query": "words"},
	} {
		if err := e.Call(ctx, method, params, nil); err == nil {
			t.Errorf("%s takes %v", method, params)
		}
	}
}
