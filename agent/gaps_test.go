package agent

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/index/walk"
	"quarry/retrieval/workspace"
)

// gappy is a toolbox over a folder with a file that the parser is said to have given up on, one
// that is too large and dependencies that are left out.
func gappy(t *testing.T) *Toolbox {
	t.Helper()
	dir, state := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		"bundle.c":              "int Given(void) { return used(); }\n",
		"barn.c":                "int used(void) { return 1; }\nint user(void) { return used(); }\n",
		"other.go":              "package p\n\nfunc Other() {}\n",
		"huge.go":               "package p\n\nfunc Huge() {}\n" + strings.Repeat("// padding\n", 100_000),
		"node_modules/dep/d.js": "function left() {}\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w := workspace.New(workspace.Options{StateDir: state})
	w.SetRoots([]string{dir})
	t.Cleanup(w.Close)
	if err := w.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	bundle := workspace.File{Name: "bundle.c", Path: filepath.Join(dir, "bundle.c")}
	return NewToolbox(Parts{Workspace: givenUp{w, []workspace.Plain{{File: bundle, Problem: "could not be parsed as c; indexed by lines"}}}})
}

// givenUp is a workspace in which the parser gave up on some files.
type givenUp struct {
	Workspace
	files []workspace.Plain
}

func (g givenUp) Plain(context.Context) ([]workspace.Plain, error) { return g.files, nil }

// warned are the warnings of a call in one line.
func warned(t *testing.T, b *Toolbox, tool, args string) string {
	t.Helper()
	e := b.Call(t.Context(), tool, json.RawMessage(args))
	if !e.OK && (e.Error == nil || e.Error.Code != NotFound) {
		t.Errorf("%s %s: %s", tool, args, e)
	}
	return strings.Join(e.Meta.Warnings, " | ")
}

// An answer that may lack what a file declares or uses which the parser gave up on says so; one
// that cannot lack anything of it says nothing.
func TestAnswersNameFilesThatCouldNotBeParsed(t *testing.T) {
	b := gappy(t)
	const gap = "incomplete: 1 file could not be parsed, so that what it declares and uses is missing here: bundle.c"
	for _, c := range []struct {
		tool, args string
		want       bool
	}{
		{"search_symbols", `{"name":"Given"}`, true},
		{"search_symbols", `{"name":"nowhere"}`, true},
		{"search_symbols", `{"name":"used"}`, true},
		{"search_symbols", `{"name":"Other"}`, false},
		{"get_symbol_definition", `{"symbol_id":"bundle.c#return"}`, true},
		{"get_references", `{"symbol_id":"barn.c#used"}`, true},
		{"get_references", `{"symbol_id":"other.go#Other"}`, false},
		{"get_callers", `{"symbol_id":"barn.c#used"}`, true},
		{"get_callers", `{"symbol_id":"barn.c#user"}`, false},
		{"get_callers", `{"symbol_id":"barn.c#user","depth":2}`, true},
		{"get_callees", `{"symbol_id":"barn.c#user"}`, true},
		{"get_implementations", `{"symbol_id":"barn.c#user"}`, true},
		{"get_impact", `{"symbol_id":"barn.c#used"}`, true},
		{"get_impact", `{"symbol_id":"other.go#Other"}`, false},
		{"get_outline", `{"path":"."}`, true},
		{"get_outline", `{"path":"other.go"}`, false},
	} {
		if got := warned(t, b, c.tool, c.args); strings.Contains(got, gap) != c.want {
			t.Errorf("%s %s warns %q, which is to name the file: %t", c.tool, c.args, got, c.want)
		}
	}
	if got := warned(t, b, "get_outline", `{"path":"bundle.c"}`); !strings.Contains(got, "incomplete: bundle.c could not be parsed as c; indexed by lines") {
		t.Errorf("the outline of the file itself warns %q", got)
	}
}

// Where the answer is nothing, it says what was not looked at.
func TestNothingSaysWhatIsLeftOut(t *testing.T) {
	b := gappy(t)
	const all = "only indexed files were looked at, not what is left out (folders count once): dependencies 1, too large 1"
	for _, c := range []struct{ tool, args, want string }{
		{"search_symbols", `{"name":"Huge"}`, all},
		{"search_symbols", `{"name":"Other"}`, ""},
		{"get_symbol_definition", `{"symbol_id":"huge.go#Huge"}`, all},
		{"list_files", `{"glob":"huge.go"}`, "huge.go is not indexed: too large"},
		{"list_files", `{"glob":"node_modules/dep/d.js"}`, "node_modules/dep/d.js is not indexed: dependencies"},
		{"list_files", `{"glob":"node_modules/**"}`, all},
		{"list_files", `{"glob":"*.go"}`, ""},
		{"codebase_search", `{"query":"symbol:Huge"}`, all},
		{"search_text", `{"query":"zyzzyva"}`, all},
		{"search_code", `{"query":"symbol:Huge"}`, all},
		{"get_callers", `{"symbol_id":"other.go#Other"}`, all},
		{"get_references", `{"symbol_id":"other.go#Other"}`, all},
	} {
		if got := warned(t, b, c.tool, c.args); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s %s warns %q, want %q", c.tool, c.args, got, c.want)
		}
	}
}

// unreadable is a workspace in which something could not be read, whoever runs the test.
type unreadable struct{ Workspace }

func (u unreadable) LeftOut(context.Context) (map[string]int, error) {
	return map[string]int{string(walk.Unreadable): 2}, nil
}

// What cannot be read may use what is asked about, so that also an answer that found something
// says so, but for one that is not of uses.
func TestAnswersSayWhatCannotBeRead(t *testing.T) {
	_, w, _ := shop(t)
	b := NewToolbox(Parts{Workspace: unreadable{w}})
	const part, all = "files or folders that quarry cannot read, and did not search: 2", "cannot read 2"
	for _, c := range []struct{ tool, args, want string }{
		{"get_callers", `{"symbol_id":"ledger/ledger.go#Ledger.Charge"}`, part},
		{"get_references", `{"symbol_id":"ledger/ledger.go#Ledger.Charge"}`, part},
		{"get_impact", `{"symbol_id":"ledger/ledger.go#Ledger.Charge"}`, part},
		{"search_symbols", `{"name":"nowhere"}`, all},
		{"list_files", `{"glob":"nowhere/**"}`, all},
		{"retrieve_context", `{"query":"zyzzyva","max_chunks":4,"max_total_bytes":4096}`, all},
		{"list_files", `{}`, ""},
		{"search_symbols", `{"name":"Charge"}`, ""},
	} {
		if got := warned(t, b, c.tool, c.args); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s %s warns %q, want %q", c.tool, c.args, got, c.want)
		}
	}
}

// checkedOut is a workspace whose files went away behind the index, as by a checkout.
type checkedOut struct {
	Workspace
	dir string
}

func (c checkedOut) Text(path string) (string, error) {
	name := filepath.Base(path)
	if err := os.Remove(path); err != nil {
		return "", err
	}
	_, err := os.Open(filepath.Join(c.dir, name))
	return "", err
}

// A declaration whose file is gone since it was indexed is no internal error.
func TestDefinitionOfAFileThatIsGone(t *testing.T) {
	_, w, dir := shop(t)
	b := NewToolbox(Parts{Workspace: checkedOut{w, filepath.Join(dir, "ledger")}})
	e := b.Call(t.Context(), "get_symbol_definition", json.RawMessage(`{"symbol_id":"ledger/ledger.go#Ledger.Charge"}`))
	if e.Error == nil || e.Error.Code != NotFound || !strings.Contains(e.Error.Message, "ledger.go is gone since it was indexed") {
		t.Errorf("%s", e)
	}
}
