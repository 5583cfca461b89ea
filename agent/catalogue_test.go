package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what the tests see into their golden files")

// golden compares with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; go test ./agent -update writes it anew:\n%s", path, got)
	}
}

// The names, types, bounds and defaults of arguments are a contract with whoever
// calls the tools; the words are not.
func TestCatalogueKeepsItsContract(t *testing.T) {
	var got any
	if err := json.Unmarshal(catalogueText, &got); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join("testdata", "contract.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want any
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	bare := withoutWords(got)
	for _, entry := range bare.([]any) {
		delete(entry.(map[string]any), "state")
	}
	if !reflect.DeepEqual(bare, want) {
		t.Error("the arguments are not those of testdata/contract.json")
	}
}

// withoutWords drops descriptions, which are strings; a property of that name is
// an object.
func withoutWords(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, part := range v {
			if _, words := part.(string); words && key == "description" {
				delete(v, key)
			} else {
				v[key] = withoutWords(part)
			}
		}
	case []any:
		for i := range v {
			v[i] = withoutWords(v[i])
		}
	}
	return v
}

// Every name of the catalogue runs something, and nothing runs that is not in it.
func TestEveryToolIsThere(t *testing.T) {
	for name := range tools {
		if shipped().find(name) == nil {
			t.Errorf("%s is in no catalogue", name)
		}
	}
	for _, e := range shipped() {
		if e.State != removed && tools[e.Name] == nil && tools[e.Use] == nil {
			t.Errorf("nothing runs for %s", e.Name)
		}
		if e.Description == "" || len(e.Description) > 120 {
			t.Errorf("%s: a description of %d bytes", e.Name, len(e.Description))
		}
	}
}

// Names that were offered in a release stay: testdata/offered.txt only grows.
func TestOfferedNamesAreKept(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("testdata", "offered.txt"))
	if err != nil {
		t.Fatal(err)
	}
	offered := strings.Fields(string(raw))
	for _, name := range offered {
		if shipped().find(name) == nil {
			t.Errorf("%s was offered once and is unknown now; keep it as hidden-compatible, deprecated or removed", name)
		}
	}
	if len(offered) < len(tools) {
		t.Errorf("testdata/offered.txt names %d of %d tools; add the new ones", len(offered), len(tools))
	}
}

// The tool block stands at the head of prompts, which the model server keeps: any
// change of a byte costs everybody a cold prompt, and must be meant.
func TestToolBlockIsStable(t *testing.T) {
	b := NewToolbox(Parts{})
	block := b.Definitions()
	golden(t, "toolblock.json", string(block)+"\n")
	golden(t, "toolblock_all.json", string(b.AllDefinitions())+"\n")
	for range 20 {
		if !bytes.Equal(NewToolbox(Parts{}).Definitions(), block) {
			t.Fatal("the block differs from run to run")
		}
	}
	if x, y := b.Definitions("search_text", "read_file", "read_file"), b.Definitions("read_file", "search_text"); !bytes.Equal(x, y) {
		t.Errorf("the order of naming shows: %s %s", x, y)
	}
	if bytes.Contains(block, []byte("apply_")) {
		t.Error("tools that write are offered without being named")
	}
}

const fiveStates = `[
 {"name":"look","state":"active","access":"read","description":"d","parameters":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}},
 {"name":"later","state":"deferred","access":"read","description":"d","use":"look","parameters":{"type":"object"}},
 {"name":"old","state":"hidden-compatible","access":"read","description":"d","use":"look","parameters":{"type":"object"}},
 {"name":"older","state":"deprecated","access":"read","description":"d","use":"look","parameters":{"type":"object"}},
 {"name":"oldest","state":"removed","access":"read","description":"d","use":"look","parameters":{"type":"object"}}
]`

func TestStatesOfTools(t *testing.T) {
	c, err := parseCatalogue([]byte(fiveStates))
	if err != nil {
		t.Fatal(err)
	}
	tools["look"] = func(*Toolbox, context.Context, json.RawMessage) (reply, error) { return whole("seen"), nil }
	defer delete(tools, "look")
	b := &Toolbox{catalogue: c}
	names := func(block json.RawMessage) string {
		var list []struct{ Function struct{ Name string } }
		if err := json.Unmarshal(block, &list); err != nil {
			t.Fatal(err)
		}
		s := ""
		for _, d := range list {
			s += d.Function.Name + " "
		}
		return s
	}
	if got := names(b.Definitions()); got != "look " {
		t.Errorf("offered to every conversation: %s", got)
	}
	if got := names(b.Definitions("look", "later", "old", "older", "oldest")); got != "look later " {
		t.Errorf("offered by name: %s", got)
	}
	for name, want := range map[string]string{
		"look":    `{"ok":true,"data":"seen","error":null,"meta":{"truncated":false,"bytes":6,"warnings":[],"backend":["files"]}}`,
		"later":   `{"ok":true,"data":"seen","error":null,"meta":{"truncated":false,"bytes":6,"warnings":[],"backend":["files"]}}`,
		"old":     `{"ok":true,"data":"seen","error":null,"meta":{"truncated":false,"bytes":6,"warnings":[],"backend":["files"]}}`,
		"older":   `{"ok":true,"data":"seen","error":null,"meta":{"truncated":false,"bytes":6,"warnings":["older will be removed; use look"],"backend":["files"]}}`,
		"oldest":  `{"ok":false,"data":null,"error":{"code":"not_found","message":"the tool oldest was removed; use look"},"meta":{"truncated":false,"bytes":0,"warnings":[]}}`,
		"unknown": `{"ok":false,"data":null,"error":{"code":"not_found","message":"there is no tool \"unknown\"; the tools are: look, later"},"meta":{"truncated":false,"bytes":0,"warnings":[]}}`,
	} {
		args := json.RawMessage(nil)
		if name == "look" {
			args = json.RawMessage(`{"path":"x"}`)
		}
		e := b.Call(t.Context(), name, args)
		if got := e.String(); got != want {
			t.Errorf("%s: %s", name, got)
		}
		// quarry/tools.call sends the envelope itself.
		if raw, err := json.Marshal(e); err != nil || string(raw) != want {
			t.Errorf("%s, encoded by others: %s, %v", name, raw, err)
		}
	}
}

func TestBrokenCatalogues(t *testing.T) {
	for what, text := range map[string]string{
		"twice":   `[{"name":"a","state":"active","parameters":{}},{"name":"a","state":"active","parameters":{}}]`,
		"use":     `[{"name":"a","state":"active","use":"b","parameters":{}}]`,
		"state":   `[{"name":"a","state":"new","parameters":{}}]`,
		"schema":  `[{"name":"a","state":"active","parameters":{"minLength":"thing"}}]`,
		"default": `[{"name":"a","state":"active","parameters":{"properties":{"n":{"type":"integer","maximum":3,"default":9}}}}]`,
		"field":   `[{"name":"a","state":"active","parametres":{}}]`,
	} {
		if _, err := parseCatalogue([]byte(text)); err == nil {
			t.Errorf("%s: taken", what)
		}
	}
}

// What a small model reads when its arguments are wrong says which, what is
// expected and what it wrote.
func TestWrongArguments(t *testing.T) {
	for _, c := range []struct{ tool, args, want string }{
		{"read_file", `{"path":"a.go","start_line":"ten"}`, `start_line must be a whole number, at least 1, not "ten". Arguments of read_file: path (a string); optional end_line (a whole number, at least 1), max_bytes (a whole number from 1024 to 200000), max_tokens (a whole number from 100 to 50000), start_line (a whole number, at least 1)`},
		{"read_file", `{"path":"a.go","start_line":0,"end_line":1.5}`, `end_line must be a whole number, at least 1, not 1.5; start_line must be a whole number, at least 1, not 0.`},
		{"read_file", `{"path":["a.go"],"start_line":1,"end_line":2}`, `path must be a string, not ["a.go"].`},
		{"list_files", `{"limit":501}`, `limit must be a whole number from 1 to 500, not 501. Arguments of list_files: optional glob (a string), include_hidden (true or false), limit (a whole number from 1 to 500), max_tokens (a whole number from 100 to 50000), offset (a whole number from 0 to 1000000)`},
		{"search_symbols", `{"name":"x","kind":"klass"}`, `kind must be one of function, method, class, struct, interface, enum, var, const, type, module, any, not "klass".`},
		{"search_text", `{"query":"x","paths":"src"}`, `paths must be a list of strings, not "src".`},
		{"search_text", `{"query":"x","paths":["src",3]}`, `paths[1] must be a string, not 3.`},
		{"apply_text_edits", `{"path":"a","edits":[{"start_line":1,"start_col":0,"end_line":1,"replacement":"x"}]}`, `edits[0].end_col is missing.`},
		{"apply_text_edits", `{"path":"a","edits":[null]}`, `edits[0] must be an object with start_line (a whole number, at least 1), start_col (a whole number, at least 0), end_line (a whole number, at least 1), end_col (a whole number, at least 0), replacement (a string), not null.`},
		{"search_text", ``, `query is missing.`},
		{"search_text", `null`, `query is missing.`},
		{"search_text", `{"query":null}`, `query is missing.`},
		{"search_text", `["query"]`, `the arguments are not one JSON object`},
		{"search_text", `{"query":"x"} and more`, `the arguments are not one JSON object`},
		{"search_text", `{"query":"x"`, `the arguments are not one JSON object`},
		{"get_diagnostics", `{"path":{}}`, `path must be a string, not {}.`},
	} {
		_, _, err := shipped().find(c.tool).arguments(json.RawMessage(c.args))
		var f *Failure
		if !errors.As(err, &f) || f.Code != InvalidArguments || !strings.HasPrefix(f.Message, c.want) {
			t.Errorf("%s %s: %v", c.tool, c.args, err)
		}
	}
	if _, _, err := shipped().find("search_text").arguments(make(json.RawMessage, maxArgumentBytes+1)); err.(*Failure).Code != TooLarge {
		t.Errorf("too much: %v", err)
	}
}

func TestRightArguments(t *testing.T) {
	for _, c := range []struct{ tool, args, want, warning string }{
		{"list_files", ``, `{"include_hidden":false,"limit":200}`, ""},
		{"list_files", `{"limit":null,"glob":null}`, `{"include_hidden":false,"limit":200}`, ""},
		{"read_file", `{"path":"a","start_line":1.0,"end_line":2e0}`, `{"end_line":2,"max_bytes":50000,"path":"a","start_line":1}`, ""},
		{"search_text", `{"query":"x","verbose":true}`, `{"limit":30,"query":"x"}`, `there is no argument "verbose"; it was ignored`},
		{"get_impact", `{"symbol":"x"}`, `{"depth":2,"limit":40,"symbol_id":"x"}`, `there is no argument "symbol"; it was read as "symbol_id"`},
		{"get_callers", `{"symbol":"x","symbol_id":"y"}`, `{"depth":1,"limit":40,"symbol_id":"y"}`, `there is no argument "symbol"; it was ignored`},
		{"read_file", `{"path":"a","max":1}`, `{"max_bytes":50000,"path":"a","start_line":1}`, `there is no argument "max"; it was ignored`}, // of two
		{"get_impact", `{"symbol":null,"symbol_id":null}`, `{"depth":2,"limit":40,"symbol_id":""}`, `there is no argument "symbol"; it was ignored`},
		{"list_files", `{"include":"*.go","glob":"*.go"}`, `{"glob":"*.go","include_hidden":false,"limit":200}`, `there is no argument "include"; it was ignored`}, // that of others' tools
		{"search_text", `{"query":"a","query":"b"}`, `{"limit":30,"query":"b"}`, ""},
		{"apply_text_edits", `{"path":"a","edits":[]}`, `{"edits":[],"path":"a"}`, ""},
	} {
		got, warnings, err := shipped().find(c.tool).arguments(json.RawMessage(c.args))
		if err != nil || string(got) != c.want || strings.Join(warnings, "") != c.warning {
			t.Errorf("%s %s: %s %q, %v", c.tool, c.args, got, warnings, err)
		}
	}
}
