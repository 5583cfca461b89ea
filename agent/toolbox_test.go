package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"quarry/retrieval/workspace"
)

// unpack writes the files of an archive of testdata below dir.
func unpack(t testing.TB, archive, dir string) {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", archive))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range a.Files {
		put(t, filepath.Join(dir, filepath.FromSlash(f.Name)), string(f.Data))
	}
}

func put(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// openWorkspace is an indexed workspace of some folders.
func openWorkspace(t testing.TB, dirs ...string) *workspace.Workspace {
	t.Helper()
	w := workspace.New(workspace.Options{StateDir: t.TempDir()})
	w.SetRoots(dirs)
	t.Cleanup(w.Close)
	if err := w.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w
}

// shop is a toolbox over the workspace of testdata.
func shop(t testing.TB) (*Toolbox, *workspace.Workspace, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "shop")
	unpack(t, "workspace.txtar", dir)
	w := openWorkspace(t, dir)
	return NewToolbox(Parts{Workspace: w}), w, dir
}

// What every tool answers, and refuses, word for word.
func TestToolsAnswer(t *testing.T) {
	b, _, dir := shop(t)
	// What the golden says is said by the system's own paths, and of git whether it is there or not.
	elsewhere := "/etc/passwd"
	if runtime.GOOS == "windows" {
		elsewhere = `C:\\etc\\passwd` // as JSON has it
	}
	asGolden := strings.NewReplacer(strings.ReplaceAll(dir, `\`, `\\`), "DIR", elsewhere, "/etc/passwd",
		"git is not installed", "DIR is in no git repository, or nothing is committed there")
	var transcript strings.Builder
	for _, c := range []struct{ name, args string }{
		{"read_file", `{"path":"ledger/ledger.go","start_line":14,"end_line":99}`},
		{"read_file", `{"path":"ledger.go","start_line":1,"end_line":2}`},
		{"read_file", `{"path":"ledger/ledger.go","start_line":100,"end_line":120}`},
		{"read_file", `{"path":"ledger/ledger.go","start_line":9,"end_line":3}`},
		{"read_file", `{"path":".env","start_line":1,"end_line":9}`},
		{"read_file", `{"path":"../other/x.go","start_line":1,"end_line":9}`},
		{"read_file", `{"path":"ledger","start_line":1,"end_line":9}`},
		{"list_files", ``},
		{"list_files", `{"glob":"*.go","limit":2}`},
		{"list_files", `{"glob":"shop"}`},
		{"list_files", `{"glob":"**/*.toml","include_hidden":true}`},
		{"list_files", `{"glob":"[x"}`},
		{"search_text", `{"query":"the account holds too little"}`},
		{"search_text", `{"query":"total += p","paths":["*.py"]}`},
		{"search_text", `{"query":"tomato-soup"}`},
		{"search_symbols", `{"name":"charge"}`},
		{"search_symbols", `{"name":"Basket","kind":"struct"}`},
		{"get_symbol_definition", `{"symbol_id":"ledger/ledger.go#Ledger.Charge"}`},
		{"get_symbol_definition", `{"symbol_id":"Chrage"}`},
		{"get_references", `{"symbol_id":"ledger/ledger.go#Ledger.Charge"}`},
		{"get_diagnostics", `{"path":"broken.go"}`},
		{"get_diagnostics", `{}`},
		{"retrieve_context", `{"query":"what happens when a charge fails","current_path":"shop/checkout.go","language":"go","max_chunks":3}`},
		{"retrieve_context", `{"query":"payment","current_path":"/etc/passwd","language":"","max_chunks":1}`},
		{"codebase_search", `{"query":"take money from an account","lang":"golang","max_results":1}`},
		{"codebase_search", `{"query":"money","kind":"gizmo"}`},
		{"search_code", `{"query":"sum of prices","language":"py","use_reranker":true}`},
		{"search_docs", `{"query":"payment retries"}`},
		{"find_similar", `{"code":"total := 0\nfor _, p := range prices {\n\ttotal += p\n}","exclude_path":"shop/checkout.go"}`},
		{"apply_unified_diff", `{"diff":"--- a/x\n+++ b/x\n"}`},
		{"search_regex", `{"pattern":"total \\+?= ","limit":2}`},
		{"search_regex", `{"pattern":"tomato.soup"}`},
		{"get_impact", `{"symbol_id":"ledger/ledger.go#Ledger.Charge"}`},
		{"get_impact", `{}`},
		{"repo_overview", `{}`},
		{"repo_overview", `{"path":"nowhere"}`},
		{"rename_symbol", `{"symbol_id":"ledger/ledger.go#Ledger.Charge","new_name":"Debit"}`},
	} {
		e := b.Call(t.Context(), c.name, json.RawMessage(strings.ReplaceAll(c.args, "/etc/passwd", elsewhere)))
		if !json.Valid([]byte(e.String())) || len(e.String()) > MaxResultBytes {
			t.Errorf("%s %s: %s", c.name, c.args, e)
		}
		// A score depends on whether the graph of references was read already.
		said := anyScore.ReplaceAllString(asGolden.Replace(e.String()), `"score":S`)
		fmt.Fprintf(&transcript, "%s %s\n%s\n\n", c.name, c.args, said)
	}
	golden(t, "answers.txt", transcript.String())
}

var anyScore = regexp.MustCompile(`"score":[0-9.]+`)

// Results over the cap end at the end of a line or an item, and say so.
func TestLongAnswersAreCut(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "long.txt"), strings.Repeat("<control>\x01 and a \"quote\"\n", 8000))
	put(t, filepath.Join(dir, "wide.txt"), "short\n"+strings.Repeat("é", 1000)+"\n")
	for i := range 600 {
		put(t, filepath.Join(dir, "many", strings.Repeat("n", 200), fmt.Sprintf("file%03d.go", i)), "package many\n")
	}
	b := NewToolbox(Parts{Workspace: openWorkspace(t, dir)})

	var file fileText
	e := b.Call(t.Context(), "read_file", json.RawMessage(`{"path":"long.txt","start_line":1,"end_line":8000,"max_bytes":200000}`))
	if err := json.Unmarshal(e.Data, &file); err != nil || !e.Meta.Truncated || len(e.String()) > MaxResultBytes {
		t.Fatalf("long: %d bytes, %+v, %v", len(e.String()), e.Meta, err)
	}
	if len(e.String()) < MaxResultBytes-200 || !strings.HasSuffix(file.Text, "\"quote\"\n") || strings.Count(file.Text, "\n") != file.EndLine {
		t.Errorf("long: %d bytes, to line %d, ends in %q", len(e.String()), file.EndLine, file.Text[len(file.Text)-20:])
	}
	if e.Meta.Bytes != len(e.Data) {
		t.Errorf("said %d bytes of %d", e.Meta.Bytes, len(e.Data))
	}
	next := b.Call(t.Context(), "read_file", json.RawMessage(fmt.Sprintf(`{"path":"long.txt","start_line":%d,"end_line":8000}`, file.EndLine+1)))
	if !next.OK {
		t.Errorf("going on at the next line: %s", next)
	}

	e = b.Call(t.Context(), "read_file", json.RawMessage(`{"path":"wide.txt","start_line":2,"end_line":2,"max_bytes":1025}`))
	if err := json.Unmarshal(e.Data, &file); err != nil || !e.Meta.Truncated || file.Text != strings.Repeat("é", 512) {
		t.Errorf("a line longer than the limit: %d bytes, %+v, %v", len(file.Text), e.Meta, err)
	}

	var list fileList
	e = b.Call(t.Context(), "list_files", json.RawMessage(`{"glob":"**/*.go","limit":500}`))
	if err := json.Unmarshal(e.Data, &list); err != nil || len(list.Files) != 500 || list.Total != 600 || !e.Meta.Truncated {
		t.Errorf("%d of %d files, %+v, %v", len(list.Files), list.Total, e.Meta, err)
	}
}

// What grep would find comes before what only has the words.
func TestSearchTextFindsTheVeryText(t *testing.T) {
	dir := t.TempDir()
	for i := range 12 {
		put(t, filepath.Join(dir, fmt.Sprintf("store%02d.go", i)), "package store\n\n"+strings.Repeat("// The store is closed when the last reader is closed; a closed store is closed.\n", 4)+"func store() {}\n")
	}
	put(t, filepath.Join(dir, "z.go"), "package z\n\nfunc z() {\n\tpanic(\"store: already closed (0x1f)\")\n}\n")
	b := NewToolbox(Parts{Workspace: openWorkspace(t, dir)})
	for _, query := range []string{"store: already closed (0x1f)", `"store: already closed"`, "already closed (0x1f)"} {
		e := b.Call(t.Context(), "search_text", json.RawMessage(fmt.Sprintf(`{"query":%q,"limit":3}`, query)))
		var data struct{ Matches []textMatch }
		if err := json.Unmarshal(e.Data, &data); err != nil || len(data.Matches) == 0 || data.Matches[0].At != "z.go:4-4" || len(data.Matches) > 3 {
			t.Errorf("%s: %s, %v", query, e, err)
		} else if got := data.Matches[0].Lines; len(got) != 1 || got[0] != `4: panic("store: already closed (0x1f)")` {
			t.Errorf("%s: %q", query, got)
		}
	}
}

func TestDiagnosticsTheEditorTold(t *testing.T) {
	_, w, dir := shop(t)
	path := filepath.Join(dir, "shop", "checkout.go")
	text, err := w.Text(path)
	if err != nil {
		t.Fatal(err)
	}
	b := NewToolbox(Parts{Workspace: w, Problems: func(of string) []Problem {
		if of != "" && of != path {
			return nil
		}
		return []Problem{{
			Location: Location{Document{path, "go", text}, strings.Index(text, "total := 0"), strings.Index(text, " := 0")},
			Severity: SeverityWarning, Source: "vet", Code: "x1", Message: "a remark",
		}}
	}})
	call := func(args string) string {
		return string(b.Call(t.Context(), "get_diagnostics", json.RawMessage(args)).Data)
	}
	if got := call(`{"path":"shop/checkout.go"}`); got != `{"diagnostics":[{"at":"shop/checkout.go:7-7","severity":"warning","source":"vet","code":"x1","message":"a remark"}],"total":1}` {
		t.Errorf("told: %s", got)
	}
	if got := call(`{"path":"ledger/ledger.go"}`); got != `{"diagnostics":[],"total":0}` {
		t.Errorf("of a file without any: %s", got)
	}
	if got := call(``); got != `{"files":[{"path":"broken.go","errors":1,"warnings":0},{"path":"shop/checkout.go","errors":0,"warnings":1}],"total":2}` {
		t.Errorf("summary: %s", got)
	}
}

func TestToolsOverSeveralFolders(t *testing.T) {
	top := t.TempDir()
	one, two := filepath.Join(top, "one", "app"), filepath.Join(top, "two", "app")
	put(t, filepath.Join(one, "main.go"), "package main\n\nfunc Harvest() {}\n")
	put(t, filepath.Join(two, "main.go"), "package main\n\nfunc use() { Harvest() }\n\nfunc Harvest() {}\n")
	b := NewToolbox(Parts{Workspace: openWorkspace(t, one, two)})
	for _, c := range []struct{ name, args, want string }{
		{"list_files", ``, `{"files":["app-2/main.go","app/main.go"],"total":2}`},
		{"read_file", `{"path":"app-2/main.go","start_line":3,"end_line":3}`, `{"path":"app-2/main.go","start_line":3,"end_line":3,"total_lines":5,"text":"func use() { Harvest() }\n"}`},
		{"get_references", `{"symbol_id":"app-2/main.go#Harvest"}`, `{"symbol_id":"app-2/main.go#Harvest","total":1,"references":[{"at":"app-2/main.go:3-3","in":"use","kind":"call","score":1,"text":"func use() { Harvest() }"}]}`},
		{"search_text", `{"query":"Harvest","paths":["app-2/*.go"]}`, `{"matches":[{"at":"app-2/main.go:3-5","lines":["3: func use() { Harvest() }","5: func Harvest() {}"]}],"total_files":1}`},
	} {
		if e := b.Call(t.Context(), c.name, json.RawMessage(c.args)); !e.OK || string(e.Data) != c.want {
			t.Errorf("%s %s: %s", c.name, c.args, e)
		}
	}
	e := b.Call(t.Context(), "read_file", json.RawMessage(`{"path":"main.go","start_line":1,"end_line":1}`))
	if e.OK || e.Error.Code != InvalidArguments || !strings.Contains(e.Error.Message, "app/main.go, app-2/main.go") {
		t.Errorf("a name of two files: %s", e)
	}
}

// Whatever a model writes as arguments, there is an answer of the right form and
// size.
func FuzzCall(f *testing.F) {
	b, _, _ := shop(f)
	for name := range tools {
		f.Add(name, `{"path":"shop/basket.py","start_line":1,"end_line":2,"query":"x","name":"x","symbol_id":"x#y","current_path":"","language":"","diff":"","edits":[],"code":"x"}`)
	}
	f.Add("list_files", `{"glob":"{a,b}[!c]**/?","limit":1e2}`)
	f.Add("read_file", `{"path":"a","start_line":1e300,"end_line":1e300}`)
	f.Add("search_text", `{"query":"\u0000\ud800","paths":["[","**","/"]}`)
	f.Fuzz(func(t *testing.T, name, args string) {
		e := b.Call(t.Context(), name, json.RawMessage(args))
		text := e.String()
		var back Envelope
		if err := json.Unmarshal([]byte(text), &back); err != nil || len(text) > MaxResultBytes || strings.Contains(text, "\n") {
			t.Fatalf("%s %q: %d bytes, %v", name, args, len(text), err)
		}
		if e.OK != (e.Error == nil) || e.OK && len(e.Data) == 0 || e.Meta.Bytes != len(e.Data) {
			t.Fatalf("%s %q: %s", name, args, text)
		}
		if e.Error != nil && (e.Error.Code == InternalError || e.Error.Message == "") {
			t.Fatalf("%s %q: %s", name, args, text)
		}
	})
}

// A call ends with its context.
func TestCancelledCall(t *testing.T) {
	b, _, _ := shop(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, name := range []string{"search_text", "list_files"} {
		done := make(chan Envelope, 1)
		go func() { done <- b.Call(ctx, name, json.RawMessage(`{"query":"charge"}`)) }()
		select {
		case e := <-done:
			if e.OK || e.Error.Code != InternalError {
				t.Errorf("%s: %s", name, e)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s does not end", name)
		}
	}
}

// Numbers that no int or float holds are refused in words, not in Go's.
func TestNumbersThatAreTooLarge(t *testing.T) {
	for args, want := range map[string]string{
		`{"path":"a","start_line":1e300,"end_line":1}`:                "start_line is too large a number",
		`{"path":"a","start_line":1,"end_line":99999999999999999999}`: "end_line is too large a number",
		`{"path":"a","start_line":1e999,"end_line":1}`:                "number 1e999 is too large. Arguments of read_file: ",
		`{"path":"a","start_line":1,"end_line":1,"max_bytes":1e300}`:  "max_bytes must be a whole number from 1024 to 200000",
		`{"path":"a","start_line":-1e300,"end_line":1}`:               "start_line must be a whole number, at least 1",
	} {
		e := NewToolbox(Parts{}).Call(t.Context(), "read_file", json.RawMessage(args))
		if e.Error == nil || e.Error.Code != InvalidArguments || !strings.Contains(e.Error.Message, want) || strings.Contains(e.Error.Message, "Go ") {
			t.Errorf("%s: %s", args, e)
		}
	}
}
