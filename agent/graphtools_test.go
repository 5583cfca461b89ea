package agent_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/agent"
	"quarry/retrieval/workspace"
)

// T1: references of a name that many declarations have are counted, and an answer says what that
// is worth; T9: an overload's signature calls what its implementation does, which is said.
func TestAnswersOnNamesakes(t *testing.T) {
	files := map[string]string{
		"use.py":  "import other\n\n\ndef run(all):\n    for one in all:\n        one.close()\n        one.close(), one.close()\n",
		"load.py": "from typing import overload\n\n\ndef helper(a):\n    return a\n\n\n@overload\ndef load(a: str) -> str: ...\ndef load(a):\n    return helper(a)\n",
	}
	for i := range 12 {
		files[fmt.Sprintf("p%02d/door.py", i)] = "class Door:\n    def close(self):\n        pass\n"
	}
	b, _ := agentOn(t, folderWith(t, files))
	e := b.Call(t.Context(), "get_references", json.RawMessage(`{"symbol_id":"p03/door.py#Door.close","limit":1}`))
	if got, want := string(e.Data), `{"symbol_id":"p03/door.py#Door.close","total":3,"references":[{"at":"use.py:6-6","in":"run","kind":"call","score":0.02,"unsure":true,"text":"one.close()"}]}`; got != want || !e.Meta.Truncated || e.Meta.NextOffset != 1 {
		t.Errorf("%s, want %s; %+v", got, want, e.Meta)
	}
	if want := "3 of the 3 uses may mean another one: too many declarations are called close to tell by names which is meant"; len(e.Meta.Warnings) != 1 || e.Meta.Warnings[0] != want {
		t.Errorf("warnings %q, want %q", e.Meta.Warnings, want)
	}
	e = b.Call(t.Context(), "get_references", json.RawMessage(`{"symbol_id":"p03/door.py#Door.close","offset":1}`))
	if !strings.Contains(string(e.Data), `"references":[{"at":"use.py:7-7","uses":2,`) || e.Meta.Truncated {
		t.Errorf("%s, %+v", e.Data, e.Meta)
	}
	e = b.Call(t.Context(), "get_callees", json.RawMessage(`{"symbol_id":"load.py#load"}`))
	if !strings.Contains(string(e.Data), "load.py#helper") || len(e.Meta.Warnings) != 1 || !strings.Contains(e.Meta.Warnings[0], "its implementation load.py#load~2 uses") {
		t.Errorf("%s, %q", e.Data, e.Meta.Warnings)
	}
}

// graphed is a toolbox over a small workspace that is indexed and resolved.
func graphed(t *testing.T, files map[string]string) *agent.Toolbox {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w := workspace.New(workspace.Options{StateDir: t.TempDir()})
	t.Cleanup(w.Close)
	w.SetRoots([]string{dir})
	if err := w.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	return agent.NewToolbox(agent.Parts{Workspace: w})
}

// lines are a tool's items, one a line, and behind them the next page.
func lines(t *testing.T, box *agent.Toolbox, tool string, args map[string]any) string {
	t.Helper()
	e := box.Call(t.Context(), tool, arguments(t, args))
	if !e.OK {
		return string(e.Error.Code)
	}
	var data struct {
		Items []json.RawMessage
		Total int
	}
	if err := json.Unmarshal(e.Data, &data); err != nil {
		t.Fatal(err)
	}
	if len(e.Meta.Backend) == 0 {
		t.Errorf("%s does not say what was asked: %s", tool, e)
	}
	if e.Meta.Truncated != (e.Meta.NextOffset > 0) {
		t.Errorf("%s: truncated %t, next offset %d", tool, e.Meta.Truncated, e.Meta.NextOffset)
	}
	var out []string
	for _, item := range data.Items {
		var text string
		var n struct {
			ID     string `json:"symbol_id"`
			At     string
			Depth  int
			Via    string
			Unsure bool
		}
		if json.Unmarshal(item, &text) == nil {
			out = append(out, text)
		} else if err := json.Unmarshal(item, &n); err != nil {
			t.Fatal(err)
		} else {
			text = n.At + " " + n.ID
			if n.Via != "" {
				text += " via " + n.Via
			}
			out = append(out, text)
		}
	}
	if e.Meta.NextOffset > 0 {
		out = append(out, "more")
	}
	return strings.Join(out, "\n")
}

// The outline of many files names the folders, and opens what stands beside them: all declarations
// of a repository are a list that nobody reads. A folder's absolute path means it, too.
func TestOutlineOfManyFiles(t *testing.T) {
	files := map[string]string{"src/go.mod": "module example.com/m\n", "src/one/one.go": "package one\n"}
	for i := range 100 {
		files[fmt.Sprintf("src/many/deep/f%03d.go", i)] = fmt.Sprintf("package deep\n\nfunc F%03d() {}\n", i)
	}
	dir := folderWith(t, files)
	box, _ := agentOn(t, dir)
	const folders = "src/many/: 100 files\nsrc/one/: 1 file\nsrc/go.mod:1-1 module module example.com/m"
	for _, name := range []string{"", ".", "src", dir, filepath.Join(dir, "src"), filepath.Join(dir, "src") + string(filepath.Separator)} {
		got := lines(t, box, "get_outline", map[string]any{"path": name})
		if got != folders {
			t.Errorf("%q is outlined as %s", name, got)
		}
	}
	if e := box.Call(t.Context(), "get_outline", nil); !strings.Contains(strings.Join(e.Meta.Warnings, ""), "folders are counted; ask for one") {
		t.Errorf("it warns %q", e.Meta.Warnings)
	}
	for _, name := range []string{"src/many", filepath.Join(dir, "src", "many", "deep")} {
		if got := lines(t, box, "get_outline", map[string]any{"path": name, "limit": 2}); got != "src/many/deep/f000.go:1-1 module package deep\nsrc/many/deep/f000.go:3-3 function func F000()\nmore" {
			t.Errorf("%q is outlined as %s", name, got)
		}
	}
	if got := lines(t, box, "get_outline", map[string]any{"path": filepath.Join(dir, "src", "one", "one.go")}); got != "src/one/one.go:1-1 module package one" {
		t.Errorf("a file is outlined as %s", got)
	}
	if got := lines(t, box, "get_outline", map[string]any{"path": filepath.Dir(dir)}); got != "permission_denied" {
		t.Errorf("the folder above is outlined as %s", got)
	}
	if e := box.Call(t.Context(), "repo_overview", arguments(t, map[string]any{"path": filepath.Join(dir, "src", "one")})); !e.OK || !strings.Contains(string(e.Data), `"files":1`) {
		t.Errorf("the overview of a folder by its absolute path: %s", e)
	}
}

func TestGraphTools(t *testing.T) {
	box := graphed(t, map[string]string{
		"go.mod":       "module example.com/m\n",
		"main.go":      "package main\n\nimport \"example.com/m/lib\"\n\nfunc run() { serve() }\n\nfunc serve() { lib.Open() }\n",
		"lib/lib.go":   "package lib\n\n// Open opens.\nfunc Open() { helper(); other() }\n\nfunc helper() {}\n\nfunc other() { helper() }\n",
		"py/shapes.py": "class Shape:\n    def area(self):\n        return 0\n\n\nclass Square(Shape):\n    def area(self):\n        return 1\n\n\nclass Round(Shape):\n    pass\n",
		".env":         "KEY=tomato\n",
	})
	for _, c := range []struct {
		tool string
		args map[string]any
		want string
	}{
		{"get_callers", map[string]any{"symbol_id": "lib/lib.go#Open"}, "main.go:7-7 main.go#serve"},
		{"get_callers", map[string]any{"symbol_id": "Open", "depth": 2}, "main.go:7-7 main.go#serve\nmain.go:5-5 main.go#run via main.go#serve"},
		{"get_callers", map[string]any{"symbol_id": "lib/lib.go#helper"}, "lib/lib.go:4-4 lib/lib.go#Open\nlib/lib.go:8-8 lib/lib.go#other"},
		{"get_callers", map[string]any{"symbol_id": "lib/lib.go#helper", "limit": 1}, "lib/lib.go:4-4 lib/lib.go#Open\nmore"},
		{"get_callers", map[string]any{"symbol_id": "lib/lib.go#helper", "limit": 1, "offset": 1}, "lib/lib.go:8-8 lib/lib.go#other"},
		{"get_callers", map[string]any{"symbol_id": "main.go#run"}, ""},
		{"get_callers", map[string]any{"symbol_id": "nobody"}, "not_found"},
		{"get_callees", map[string]any{"symbol_id": "main.go#run", "depth": 3},
			"main.go:7-7 main.go#serve\nlib/lib.go:3-4 lib/lib.go#Open via main.go#serve\nlib/lib.go:6-6 lib/lib.go#helper via lib/lib.go#Open\nlib/lib.go:8-8 lib/lib.go#other via lib/lib.go#Open"},
		{"get_implementations", map[string]any{"symbol_id": "py/shapes.py#Shape"}, "py/shapes.py:6-8 py/shapes.py#Square\npy/shapes.py:11-12 py/shapes.py#Round"},
		{"get_outline", map[string]any{"path": "py/shapes.py"},
			"py/shapes.py:1-3 class class Shape\npy/shapes.py:2-3 method def area(self)\npy/shapes.py:6-8 class class Square(Shape)\npy/shapes.py:7-8 method def area(self)\npy/shapes.py:11-12 class class Round(Shape)"},
		{"get_outline", map[string]any{"path": "py"}, "py/shapes.py:1-3 class class Shape\npy/shapes.py:6-8 class class Square(Shape)\npy/shapes.py:11-12 class class Round(Shape)"},
		{"get_outline", map[string]any{"path": "./lib/", "limit": 2}, "lib/lib.go:1-1 module package lib\nlib/lib.go:3-4 function func Open()\nmore"},
		{"get_outline", map[string]any{"path": "nowhere.go"}, "not_found"},
		{"get_outline", map[string]any{"path": ".env"}, "permission_denied"},
		{"get_outline", map[string]any{"path": "../"}, "permission_denied"},
		{"get_outline", map[string]any{"path": "lib/../.."}, "permission_denied"},
		{"get_outline", map[string]any{"path": t.TempDir()}, "permission_denied"},
		{"get_outline", map[string]any{"path": ".", "limit": 1}, "go.mod:1-1 module module example.com/m\nmore"},
		{"search_regex", map[string]any{"pattern": `^func \w+\(\) \{ \w+\(`}, "lib/lib.go:4-4 func Open() { helper(); other() }\nlib/lib.go:8-8 func other() { helper() }\nmain.go:5-5 func run() { serve() }"},
		{"search_regex", map[string]any{"pattern": `class \w+\(`, "path_glob": "*.py", "limit": 1}, "py/shapes.py:6-6 class Square(Shape):\nmore"},
		{"search_regex", map[string]any{"pattern": `class \w+\(`, "path_glob": "*.py", "limit": 1, "offset": 1}, "py/shapes.py:11-11 class Round(Shape):"},
		{"search_regex", map[string]any{"pattern": "tomato"}, ""},
		{"search_regex", map[string]any{"pattern": "("}, "invalid_arguments"},
		{"search_regex", map[string]any{"pattern": strings.Repeat("x", 1001)}, "invalid_arguments"},
		{"search_regex", map[string]any{"pattern": "(?=x)"}, "invalid_arguments"},
	} {
		raw, _ := json.Marshal(c.args)
		if diff := cmp.Diff(c.want, lines(t, box, c.tool, c.args)); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", c.tool, raw, diff)
		}
	}
}

// Nobody calls a type: an agent that asks for its callers is told so, rather than that it has none.
func TestCallersOfWhatIsNoFunction(t *testing.T) {
	box, _ := agentOn(t, folderWith(t, map[string]string{"a/a.go": "package a\n\ntype Door struct{}\n\nfunc Shut(d Door) {}\n"}))
	for tool, want := range map[string]string{
		"get_callers": "a/a.go#Door is a struct: get_references lists its uses that are no calls",
		"get_callees": "a/a.go#Door is a struct: functions and methods call, ask for one of them",
	} {
		e := box.Call(t.Context(), tool, arguments(t, map[string]any{"symbol_id": "Door"}))
		if !e.OK || !slices.Contains(e.Meta.Warnings, want) {
			t.Errorf("%s: %s", tool, e)
		}
		e = box.Call(t.Context(), tool, arguments(t, map[string]any{"symbol_id": "Shut"}))
		if !e.OK || strings.Contains(strings.Join(e.Meta.Warnings, ""), "is a function") {
			t.Errorf("%s of a function: %s", tool, e)
		}
	}
}

// Go's type checker tells apart what shares a name, however much does.
func TestRenameAmongManyNamesakesInGo(t *testing.T) {
	files := map[string]string{"go.mod": "module farm\n", "barn/barn.go": "package barn\n\nfunc open() {}\n\nfunc Enter() { open() }\n"}
	for i := range 45 {
		files[fmt.Sprintf("p%02d/p.go", i)] = "package p\n\nfunc open() {}\n\nvar _ = open\n"
	}
	box, _ := agentOn(t, folderWith(t, files))
	e := box.Call(t.Context(), "rename_symbol", arguments(t, map[string]any{"symbol_id": "barn/barn.go#open", "new_name": "unlock"}))
	if e.Error == nil || e.Error.Code != agent.RequiresConfirmation || !strings.Contains(e.String(), `"files":["barn/barn.go"]`) || !strings.Contains(e.String(), "func Enter() { unlock() }") {
		t.Error(e)
	}
}

// A place may be given as answers write it: its lines are read unless the call names others.
func TestPlacesAreTakenForPaths(t *testing.T) {
	box := graphed(t, map[string]string{
		"farm/a.go": "package farm\n\n// Harvest reaps.\nfunc Harvest() {}\n" + strings.Repeat("// line\n", 300),
		".env":      "KEY=1\n",
	})
	for _, c := range []struct {
		tool string
		args map[string]any
		want string
	}{
		{"read_file", map[string]any{"path": "farm/a.go:3-4"}, `"path":"farm/a.go","start_line":3,"end_line":4,"total_lines":304,"text":"// Harvest reaps.\nfunc Harvest() {}\n"`},
		{"read_file", map[string]any{"path": "farm/a.go:4"}, `"start_line":4,"end_line":4`},
		{"read_file", map[string]any{"path": "farm/a.go:3-4", "start_line": 2, "end_line": 3}, `"start_line":2,"end_line":3`},
		{"read_file", map[string]any{"path": "farm/a.go:3-4", "start_line": 2}, `"start_line":2,"end_line":201`},
		{"read_file", map[string]any{"path": "farm/a.go:303-999"}, `"start_line":303,"end_line":304`},
		{"read_file", map[string]any{"path": "farm/a.go:4-3"}, "end_line 3 is before start_line 4"},
		{"read_file", map[string]any{"path": "farm/a.go:0-3"}, "there is no file farm/a.go:0-3"},
		{"read_file", map[string]any{"path": "a.go:3-4"}, "there is no file a.go; perhaps farm/a.go"},
		{"read_file", map[string]any{"path": ".env:1-1"}, "may not be read"},
		{"read_file", map[string]any{"path": "../x.go:1-1"}, "is not in the workspace"},
		{"get_outline", map[string]any{"path": "farm/a.go:3-4"}, "farm/a.go:3-4 function func Harvest()"},
	} {
		if e := box.Call(t.Context(), c.tool, arguments(t, c.args)); !strings.Contains(e.String(), c.want) {
			t.Errorf("%s %v: %s", c.tool, c.args, e)
		}
	}
}

// A folder without files is nothing that failed.
func TestOverviewOfNothing(t *testing.T) {
	e := graphed(t, nil).Call(t.Context(), "repo_overview", nil)
	if e.Error == nil || e.Error.Code != agent.NotFound || !strings.Contains(e.Error.Message, "no file is indexed here") {
		t.Error(e)
	}
}

// A question alone is enough, and so is the name of a file.
func TestArgumentsThatModelsLeaveOut(t *testing.T) {
	box := graphed(t, map[string]string{"a.go": "package a\n\n// Harvest reaps.\nfunc Harvest() {}\n" + strings.Repeat("// line\n", 300)})
	for tool, c := range map[string]struct {
		args map[string]any
		want string
	}{
		"retrieve_context": {map[string]any{"query": "harvest"}, "func Harvest"},
		"read_file":        {map[string]any{"path": "a.go"}, `"end_line":200,"total_lines":304`},
	} {
		if e := box.Call(t.Context(), tool, arguments(t, c.args)); !e.OK || !strings.Contains(string(e.Data), c.want) {
			t.Errorf("%s: %s", tool, e)
		}
	}
}
