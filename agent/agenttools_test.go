package agent_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"quarry/agent"
	"quarry/diagnostics/patch"
	"quarry/index/systest"
	"quarry/retrieval/workspace"
)

// agentOn is the toolbox of an agent over a folder that is indexed.
func agentOn(t *testing.T, dir string) (*agent.Toolbox, *workspace.Workspace) {
	t.Helper()
	w := workspace.New(workspace.Options{StateDir: t.TempDir()})
	t.Cleanup(w.Close)
	w.SetRoots([]string{dir})
	if err := w.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	staging := agent.NewStaging(func() string { return dir }, time.Now)
	return agent.NewToolbox(agent.Parts{Workspace: w, Patcher: patch.New(w), Staging: staging}).ForAgent(), w
}

// folderWith is a new folder with files.
func folderWith(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		save(t, dir, name, text)
	}
	return dir
}

func save(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "core.autocrlf=false"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// library is a small repository in Go and Python with references of all kinds.
var library = map[string]string{
	"go.mod":           "module example.com/m\n",
	"lib/lib.go":       "package lib\n\n// Open opens a door. Open it first.\nfunc Open(n int) error { return check(n) }\n\nfunc check(n int) error { return nil }\n\ntype Door struct{}\n\n// Shut shuts.\nfunc (d *Door) Shut() {}\n",
	"lib/use.go":       "package lib\n\nvar opener = Open\n\nfunc twice(Open int) int { return Open + Open }\n",
	"lib/lib_test.go":  "package lib\n\nimport \"testing\"\n\nfunc TestOpen(t *testing.T) { Open(1) }\n",
	"main.go":          "package main\n\nimport \"example.com/m/lib\"\n\nfunc main() { serve() }\n\nfunc serve() {\n\tlib.Open(2) // Open\n\ts := \"Open\"\n\tprintln(s)\n\tvar d lib.Door\n\td.Shut()\n}\n",
	"py/doors.py":      "def hinge(x):\n    return x\n\n\nclass Door:\n    def swing(self):\n        return hinge(1)\n",
	"py/house.py":      "from py.doors import hinge, Door\n\n\ndef enter(hinges):\n    hinge(2)\n    Door().swing()\n    return map(hinge, hinges)\n",
	"lib/seal.go":      "package lib\n\ntype Sealer interface{ Seal() }\n\ntype Letter struct{ size int }\n\nfunc (Letter) Seal() {}\n\nvar _ Sealer = Letter{size: 1}\n\n// weigh weighs a letter: to weigh is to know, see `weigh`.\nfunc weigh(l Letter) int { return l.size }\n",
	"py/seal.py":       "class Wax:\n    def press(self):\n        return self\n\n\nclass Iron:\n    def press(self):\n        return self\n\n\ndef use(tool):\n    tool.press()\n",
	"java/Tape.java":   "class Tape {\n    void cut(int n) {}\n\n    void cut(String s) {}\n}\n",
	"ts/parse.ts":      "/**\n * Parse it; to parse is to read, see `parse`.\n */\nexport function parse(s: string): number {\n  return Number(s);\n}\n",
	"other/other.go":   "package other\n\nfunc Open() {}\n\nfunc use() { Open() }\n",
	"data/names.txt":   "Open\n",
	"assets/check.css": ".Open { color: red }\n",
}

// T9, T11: a renaming changes what means the declaration and nothing else, its diff is taken by
// git and patch, and nothing is written by quarry.
func TestRenameSymbol(t *testing.T) {
	systest.NeedProgram(t, "git")
	for _, c := range []struct {
		id, to  string
		files   string // of the answer
		changed []string
		check   string // in the warnings
	}{
		{"lib/lib.go#Open", "Unlock", "lib/lib.go lib/lib_test.go lib/use.go main.go", []string{
			"lib/lib.go:3 // Unlock opens a door. Unlock it first.", "lib/lib.go:4 func Unlock(n int) error { return check(n) }", "lib/use.go:3 var opener = Unlock",
			"lib/lib_test.go:5 func TestOpen(t *testing.T) { Unlock(1) }", "main.go:8 \tlib.Unlock(2) // Open",
		}, ""},
		{"lib/lib.go#Door.Shut", "Close", "lib/lib.go main.go", []string{"lib/lib.go:10 // Close shuts.", "lib/lib.go:11 func (d *Door) Close() {}", "main.go:12 \td.Close()"}, ""},
		{"lib/seal.go#Letter.size", "grams", "lib/seal.go", []string{
			"lib/seal.go:5 type Letter struct{ grams int }", "lib/seal.go:9 var _ Sealer = Letter{grams: 1}", "lib/seal.go:12 func weigh(l Letter) int { return l.grams }",
		}, ""},
		{"lib/seal.go#weigh", "heft", "lib/seal.go", []string{"lib/seal.go:11 // heft weighs a letter: to weigh is to know, see `heft`.", "lib/seal.go:12 func heft(l Letter) int { return l.size }"}, ""},
		{"ts/parse.ts#parse", "read", "ts/parse.ts", []string{"ts/parse.ts:2  * Parse it; to parse is to read, see `read`.", "ts/parse.ts:4 export function read(s: string): number {"}, ""},
		{"py/doors.py#hinge", "pivot", "py/doors.py py/house.py", []string{
			"py/doors.py:1 def pivot(x):", "py/doors.py:7         return pivot(1)", "py/house.py:1 from py.doors import pivot, Door", "py/house.py:5     pivot(2)", "py/house.py:7     return map(pivot, hinges)",
		}, ""},
	} {
		dir := folderWith(t, library)
		box, _ := agentOn(t, dir)
		e := box.Call(t.Context(), "rename_symbol", arguments(t, map[string]any{"symbol_id": c.id, "new_name": c.to}))
		var data struct {
			Files []string
			Diff  string
		}
		if e.OK || e.Error == nil || e.Error.Code != agent.RequiresConfirmation || json.Unmarshal(e.Data, &data) != nil {
			t.Errorf("%s: %s", c.id, e)
			continue
		}
		if got := strings.Join(data.Files, " "); got != c.files {
			t.Errorf("%s changes %s, want %s\n%s", c.id, got, c.files, data.Diff)
		}
		if said := strings.Join(e.Meta.Warnings, "\n"); !strings.Contains(said, c.check) || c.check == "" && strings.Contains(said, "check them") {
			t.Errorf("%s warns %q", c.id, said)
		}
		if now, err := os.ReadFile(filepath.Join(dir, "main.go")); err != nil || string(now) != library["main.go"] {
			t.Errorf("%s was written: %v", c.id, err)
		}
		git(t, dir, "init", "-q")
		save(t, dir, "../change.diff", data.Diff)
		git(t, dir, "apply", "--check", "../change.diff")
		if tool, err := exec.LookPath("patch"); err != nil {
			t.Logf("patch is not installed: only git takes the diff")
		} else if out, err := exec.Command(tool, "-d", dir, "-p1", "--dry-run", "-i", filepath.Join(filepath.Dir(dir), "change.diff")).CombinedOutput(); err != nil {
			t.Errorf("patch: %v\n%s", err, out)
		}
		git(t, dir, "apply", "../change.diff")
		differ := 0
		for name, before := range library {
			now, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
			if err != nil {
				t.Fatal(err)
			}
			old := strings.Split(before, "\n")
			for i, line := range strings.Split(string(now), "\n") {
				if line == old[i] {
					continue
				}
				differ++
				if got := fmt.Sprintf("%s:%d %s", name, i+1, line); !strings.Contains(strings.Join(c.changed, "\n")+"\n", got+"\n") {
					t.Errorf("%s makes %s", c.id, got)
				}
			}
		}
		if differ != len(c.changed) {
			t.Errorf("%s changes %d lines, want %d", c.id, differ, len(c.changed))
		}
	}
}

// A name that cannot be given is refused in words.
func TestRenameRefusals(t *testing.T) {
	box, _ := agentOn(t, folderWith(t, library))
	for _, c := range []struct{ id, to, want string }{
		{"lib/lib.go#Open", "check", "check is declared there already, at lib/lib.go:6"},
		{"lib/seal.go#Sealer.Seal", "Lock", "would not compile: cannot use Letter{"},
		{"py/seal.py#Wax.press", "stamp", "2 of the places may mean it or another press, such as py/seal.py:7"},
		{"java/Tape.java#Tape.cut", "snip", "cut is declared again at java/Tape.java:4"},
		{"lib/lib.go#Open", "twice", "twice is declared there already, at lib/use.go:5"},
		{"lib/lib.go#Open", "a b", "is no name"}, {"lib/lib.go#Open", "", "is no name"}, {"lib/lib.go#Open", "Open", "it is called Open already"},
		{"lib/lib.go#Open", "func", "syntax"}, {"lib/lib.go#lib", "door", "renamed by its file or folder"}, {"lib/lib.go#Nobody", "x", "there is no symbol"},
	} {
		e := box.Call(t.Context(), "rename_symbol", arguments(t, map[string]any{"symbol_id": c.id, "new_name": c.to}))
		if e.OK || e.Error.Code == agent.RequiresConfirmation || !strings.Contains(e.Error.Message, c.want) {
			t.Errorf("%s to %q: %s", c.id, c.to, e)
		}
	}
}

// Go that the type checker is not done with is refused in words: names alone would not tell what
// a place means. The constants have 8 GB.
func TestRenameInCodeWithoutBounds(t *testing.T) {
	systest.NotEmulated(t, "the check has used its 120 s before its memory")
	doubled := "package lib\n\nconst s0 = \"" + strings.Repeat("x", 1000) + "\"\n"
	for i := range 23 {
		doubled += fmt.Sprintf("const s%d = s%d + s%d\n", i+1, i, i)
	}
	files := maps.Clone(library)
	files["lib/long.go"] = doubled + "const n = len(s23)\n"
	box, _ := agentOn(t, folderWith(t, files))
	e := box.Call(t.Context(), "rename_symbol", arguments(t, map[string]any{"symbol_id": "lib/lib.go#Open", "new_name": "Unlock"}))
	if e.OK || e.Error.Code != agent.InvalidArguments || !strings.Contains(e.Error.Message, "more than 2048 MB of memory; change the places by hand") {
		t.Error(e)
	}
}

// What the files of a folder see of each other, and which declarations are public, is the language's: its row says so.
func TestFoldersAndPublicNamesByLanguage(t *testing.T) {
	box, _ := agentOn(t, folderWith(t, map[string]string{
		"a/Door.java":   "package a;\n\npublic class Door {\n    void shut() {}\n}\n",
		"a/Window.java": "package a;\n\nclass Window {}\n",
		"a/open.kt":     "package a\n\nfun open() {}\n",
		"a/close.kt":    "package a\n\nfun close() {}\n",
		"b/button.tsx":  "export function Button() {\n  return icon()\n}\n\nfunction icon() {\n  return null\n}\n",
	}))
	for id, c := range map[string]struct{ to, want string }{
		"a/Door.java#Door": {"Window", "Window is declared there already, at a/Window.java:3"},
		"a/open.kt#open":   {"close", "close is declared there already, at a/close.kt:3"},
	} {
		e := box.Call(t.Context(), "rename_symbol", arguments(t, map[string]any{"symbol_id": id, "new_name": c.to}))
		if e.OK || e.Error.Code == agent.RequiresConfirmation || !strings.Contains(e.Error.Message, c.want) {
			t.Errorf("%s to %s: %s", id, c.to, e)
		}
	}
	if _, items := impactLines(t, box, map[string]any{"symbol_id": "b/button.tsx#icon"}); !strings.Contains(items, "b/button.tsx#Button public") {
		t.Error(items)
	}
}

// A path may have spaces and colons: the lines that name what is gone stand in such a file too.
func TestImpactInFilesWithSpacesInTheirNames(t *testing.T) {
	systest.NeedProgram(t, "git")
	odd := "tools/a b: c.go"
	dir := folderWith(t, map[string]string{"lib/lib.go": "package lib\n\nfunc Shut() {}\n", odd: "package tools\n\nfunc close() { lib.Shut() }\n"})
	git(t, dir, "init", "-q")
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "first")
	save(t, dir, "lib/lib.go", "package lib\n")
	box, _ := agentOn(t, dir)
	changed, items := impactLines(t, box, nil)
	if !strings.Contains(changed, "Shut (removed), public") || !strings.HasPrefix(items, "1 names "+odd+":3-3  unsure\ntotal 1 in 1 files") {
		t.Errorf("%s\n%s", changed, items)
	}
	e := box.Call(t.Context(), "search_regex", arguments(t, map[string]any{"pattern": `Shut\(\)`}))
	if !strings.Contains(string(e.Data), odd+":3-3 func close() { lib.Shut() }") {
		t.Error(e)
	}
}

// impactLines are the changed declarations, and what they may break.
func impactLines(t *testing.T, box *agent.Toolbox, args map[string]any) (changed, items string) {
	t.Helper()
	e := box.Call(t.Context(), "get_impact", arguments(t, args))
	var data struct {
		Changed []string
		Items   []struct {
			At, How, Via         string
			ID                   string `json:"symbol_id"`
			Depth                int
			Test, Public, Unsure bool
		}
		Total, Files, Tests, Public, Unsure int
	}
	if !e.OK || json.Unmarshal(e.Data, &data) != nil {
		t.Fatalf("%v: %s", args, e)
	}
	var out []string
	for _, i := range data.Items {
		line := fmt.Sprintf("%d %s %s %s", i.Depth, i.How, i.At, i.ID)
		for _, w := range []struct {
			is   bool
			name string
		}{{i.Test, " test"}, {i.Public, " public"}, {i.Unsure, " unsure"}} {
			if w.is {
				line += w.name
			}
		}
		out = append(out, line)
	}
	out = append(out, fmt.Sprintf("total %d in %d files: %d tests, %d public, %d unsure", data.Total, data.Files, data.Tests, data.Public, data.Unsure))
	return strings.Join(data.Changed, "\n"), strings.Join(out, "\n")
}

func TestImpactOfASymbol(t *testing.T) {
	box, _ := agentOn(t, folderWith(t, library))
	changed, items := impactLines(t, box, map[string]any{"symbol_id": "lib/lib.go#check", "depth": 3})
	if changed != "lib/lib.go:6-6 function lib/lib.go#check (asked about)" {
		t.Error(changed)
	}
	if want := "1 call lib/lib.go:4-4 lib/lib.go#Open public\n2 call lib/lib_test.go:5-5 lib/lib_test.go#TestOpen test\n2 call main.go:8-8 main.go#serve\n3 call main.go:5-5 main.go#main~2\n" +
		"total 4 in 3 files: 1 tests, 1 public, 0 unsure"; items != want {
		t.Errorf("%s\nwant %s", items, want)
	}
}

func TestImpactOfTheWorkingTree(t *testing.T) {
	systest.NeedProgram(t, "git")
	dir := folderWith(t, library)
	git(t, dir, "init", "-q")
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "first")
	save(t, dir, "lib/lib.go", strings.Replace(strings.Replace(library["lib/lib.go"], "n int) error { return check(n) }", "n, m int) error { return check(n) }", 1), "// Shut shuts.\nfunc (d *Door) Shut() {}\n", "", 1))
	save(t, dir, "py/doors.py", strings.Replace(library["py/doors.py"], "return hinge(1)", "return hinge(3)", 1))
	save(t, dir, "lib/new.go", "package lib\n\nfunc fresh() {}\n")
	save(t, dir, "data/names.txt", "Shut\n")
	box, _ := agentOn(t, dir)
	changed, items := impactLines(t, box, map[string]any{"depth": 1})
	if want := "data/names.txt outside of declarations\nlib/lib.go:3-4 function lib/lib.go#Open (signature), public\nlib/lib.go:10-11 method Door.Shut (removed), public\nlib/new.go:3-3 function lib/new.go#fresh (new)\n" +
		"py/doors.py:6-7 method py/doors.py#Door.swing (body), public"; changed != want {
		t.Errorf("changed:\n%s\nwant\n%s", changed, want)
	}
	if want := "1 call lib/lib_test.go:5-5 lib/lib_test.go#TestOpen test\n1 call main.go:8-8 main.go#serve\n"; !strings.HasPrefix(items, want) ||
		!strings.Contains(items, "1 names main.go:12-12  unsure") || !strings.Contains(items, "py/house.py:6-6 py/house.py#enter") {
		t.Errorf("items:\n%s", items)
	}
	// With nothing changed there is nothing to say.
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "second")
	if changed, items = impactLines(t, box, nil); changed != "" || items != "total 0 in 0 files: 0 tests, 0 public, 0 unsure" {
		t.Errorf("after a commit: %s, %s", changed, items)
	}
	// Without a repository the agent is told what else it can do.
	none, _ := agentOn(t, folderWith(t, library))
	if e := none.Call(t.Context(), "get_impact", nil); e.OK || e.Error.Code != agent.InvalidArguments || !strings.Contains(e.Error.Message, "give a symbol_id") {
		t.Errorf("no repository: %s", e)
	}
}

// T9: an answer to an agent has at most the tokens that were asked for, 1,500 unless it says, and
// offset leads through the whole list without a gap.
func TestAnswersKeepToTheirTokens(t *testing.T) {
	files := map[string]string{}
	for i := range 60 {
		files[fmt.Sprintf("p%02d/harvest.go", i)] = fmt.Sprintf("package p%02d\n\n// Harvest%02d reaps the wheat of field %d and puts it into barns.\nfunc Harvest%02d(n int) int {\n%s\treturn reap(n)\n}\n\nfunc reap(n int) int { return n }\n",
			i, i, i, i, strings.Repeat("\tn += n * 2 // the wheat is cut and bound\n", 30))
	}
	dir := folderWith(t, files)
	box, _ := agentOn(t, dir)
	for _, c := range []struct {
		tool string
		args map[string]any
	}{
		{"list_files", map[string]any{"limit": 25}}, {"search_text", map[string]any{"query": "wheat", "limit": 60}}, {"search_symbols", map[string]any{"name": "harvest", "limit": 60}}, {"get_outline", map[string]any{"limit": 400}},
		{"search_regex", map[string]any{"pattern": "wheat is cut", "limit": 200}}, {"codebase_search", map[string]any{"query": "where is wheat reaped", "max_results": 50}},
	} {
		seen, calls, offset := map[string]bool{}, 0, 0
		for {
			args := map[string]any{"offset": offset}
			for k, v := range c.args {
				args[k] = v
			}
			e := box.Call(t.Context(), c.tool, arguments(t, args))
			if !e.OK || len(e.String()) > 4500 {
				t.Fatalf("%s: %d bytes: %.300s", c.tool, len(e.String()), e)
			}
			var data map[string]json.RawMessage
			if err := json.Unmarshal(e.Data, &data); err != nil {
				t.Fatal(err)
			}
			for _, value := range data {
				var items []json.RawMessage
				if json.Unmarshal(value, &items) != nil {
					continue
				}
				for _, item := range items {
					if seen[string(item)] {
						t.Errorf("%s answers twice: %s", c.tool, item)
					}
					seen[string(item)] = true
				}
			}
			calls++
			if e.Meta.NextOffset == 0 {
				break
			}
			if offset = e.Meta.NextOffset; calls > 100 {
				t.Fatalf("%s does not end", c.tool)
			}
		}
		if len(seen) < 50 || calls < 2 {
			t.Errorf("%s: %d items in %d calls", c.tool, len(seen), calls)
		}
	}
	for tool, args := range map[string]map[string]any{
		"retrieve_context": {"query": "where is the wheat reaped"}, "repo_overview": {}, "get_impact": {"symbol_id": "p00/harvest.go#reap"}, "search_code": {"query": "reap wheat"},
		"get_symbol_definition": {"symbol_id": "p00/harvest.go#Harvest00"}, "read_file": {"path": "p00/harvest.go"},
	} {
		for _, tokens := range []int{0, 300, 100} {
			bytes := 4500
			if tokens > 0 {
				args["max_tokens"], bytes = tokens, 3*tokens
			}
			e := box.Call(t.Context(), tool, arguments(t, args))
			// One item is answered, whatever its size.
			if !e.OK || len(e.String()) > max(bytes, 1500) {
				t.Errorf("%s in %d tokens: %d bytes: %.200s", tool, tokens, len(e.String()), e)
			}
		}
		delete(args, "max_tokens")
	}
	// Who says which lines has them all.
	if e := box.Call(t.Context(), "read_file", arguments(t, map[string]any{"path": "p00/harvest.go", "start_line": 1, "end_line": 39})); e.Meta.Truncated || !strings.Contains(string(e.Data), "func reap") {
		t.Errorf("a file whose lines are named: %s", e)
	}
}

// A short context has several places, and names further ones.
func TestContextForAgents(t *testing.T) {
	files := map[string]string{}
	for i := range 12 {
		files[fmt.Sprintf("barn%02d.go", i)] = fmt.Sprintf("package barn\n\n// Store%02d stores wheat in a barn.\nfunc Store%02d(n int) int {\n%s\treturn n\n}\n", i, i, strings.Repeat("\tn++ // more wheat in the barn\n", 60))
	}
	box, _ := agentOn(t, folderWith(t, files))
	e := box.Call(t.Context(), "retrieve_context", arguments(t, map[string]any{"query": "store wheat in a barn"}))
	var data struct {
		Snippets []struct{ At string }
		Also     []string
	}
	if err := json.Unmarshal(e.Data, &data); err != nil || len(data.Snippets) < 3 || len(data.Also) < 3 {
		t.Fatalf("%d snippets, also %q, %v: %s", len(data.Snippets), data.Also, err, e)
	}
	place := regexp.MustCompile(`^barn\d\d\.go:\d+-\d+( Store\d\d)?$`)
	for _, also := range data.Also {
		if !place.MatchString(also) {
			t.Errorf("also %q", also)
		}
	}
}

// What an agent reads counts as viewed: it ranks higher in what it searches for next.
func TestWhatAnAgentReadsCountsAsViewed(t *testing.T) {
	files := map[string]string{}
	for i := range 8 {
		files[fmt.Sprintf("d%d/wheat.go", i)] = "package wheat\n\n// Grow grows the wheat.\nfunc Grow() {}\n"
	}
	box, _ := agentOn(t, folderWith(t, files))
	first := func() string {
		e := box.Call(t.Context(), "search_code", arguments(t, map[string]any{"query": "how wheat grows", "max_results": 8}))
		var data struct {
			Results []struct {
				At  string
				Why []string
			}
		}
		if err := json.Unmarshal(e.Data, &data); err != nil || len(data.Results) == 0 {
			t.Fatalf("%s, %v", e, err)
		}
		return data.Results[0].At + " " + strings.Join(data.Results[0].Why, ", ")
	}
	if got := first(); strings.Contains(got, "viewed") {
		t.Errorf("nothing was read: %s", got)
	}
	for _, read := range []string{"d6/wheat.go", "d3/wheat.go"} {
		if e := box.Call(t.Context(), "read_file", arguments(t, map[string]any{"path": read})); !e.OK {
			t.Fatal(e)
		}
		if got := first(); !strings.HasPrefix(got, read) || !strings.Contains(got, "recently edited or viewed") {
			t.Errorf("%s was read, and first is %s", read, got)
		}
	}
	// A conversation in an editor has its own: there it is the editor that knows.
	other, _ := agentOn(t, folderWith(t, files))
	if e := other.Call(t.Context(), "search_code", arguments(t, map[string]any{"query": "how wheat grows"})); strings.Contains(string(e.Data), "viewed") {
		t.Errorf("another agent: %s", e)
	}
}

// search_regex finds what a plain scan of the indexed files finds, for any expression.
func TestRegexIsComplete(t *testing.T) {
	r := rand.New(rand.NewPCG(18, 5))
	words := []string{"open", "Close", "kelvin", "\u212aelvin", "straße", "STRASSE", "retry", "x", "0x1f", "->", "a_b", "é", "\t", "handler", "Handle", "\u017fet"}
	files := map[string]string{}
	for i := range 40 {
		var b strings.Builder
		for range 5 + r.IntN(20) {
			for range r.IntN(6) {
				b.WriteString(words[r.IntN(len(words))])
				b.WriteString([]string{"", " ", "(", ".", "\t"}[r.IntN(5)])
			}
			b.WriteString([]string{"\n", "\r\n"}[r.IntN(2)])
		}
		files[fmt.Sprintf("f%02d.go", i)] = "// x\n" + b.String()
	}
	dir := folderWith(t, files)
	box, w := agentOn(t, dir)
	// A document that was changed in the editor, and one that nobody told of.
	w.DidOpen(filepath.Join(dir, "f00.go"), "// zebra kelvin\n")
	files["f00.go"] = "// zebra kelvin\n"
	save(t, dir, "f01.go", "// zebra close and longer than it was, whatever it was before\n")
	files["f01.go"] = "// zebra close and longer than it was, whatever it was before\n"
	patterns := []string{"zebra", "(?i)kelvin", "(?i)SET", "^$", "^// x$", `\bopen\b|\bretry\b`, "(open|close)+", "[[:upper:]]lose", `\x{212a}`, "(?i)strasse", "h(?:a|b)ndle(?:r)?", ".", "longer than"}
	for range 150 {
		p := ""
		for range 1 + r.IntN(3) {
			word := regexp.QuoteMeta(words[r.IntN(len(words))])
			switch r.IntN(6) {
			case 0:
				word = "(?i:" + word + ")"
			case 1:
				word = "(?:" + word + "|" + regexp.QuoteMeta(words[r.IntN(len(words))]) + ")"
			case 2:
				word = "(?:" + word + ")" + []string{"*", "+", "?", "{1,2}"}[r.IntN(4)]
			case 3:
				word += `\W*`
			}
			p += word
		}
		patterns = append(patterns, p)
	}
	found := 0
	for _, p := range patterns {
		want := map[string]bool{}
		re := regexp.MustCompile(p)
		for name, text := range files {
			for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
				if re.MatchString(strings.TrimSuffix(line, "\r")) {
					want[fmt.Sprintf("%s:%d-%d", name, i+1, i+1)] = true
				}
			}
		}
		got := map[string]bool{}
		for offset := 0; ; {
			e := box.Call(t.Context(), "search_regex", arguments(t, map[string]any{"pattern": p, "limit": 200, "offset": offset, "max_tokens": 50000}))
			var data struct{ Items []string }
			if !e.OK || json.Unmarshal(e.Data, &data) != nil {
				t.Fatalf("%q: %s", p, e)
			}
			for _, item := range data.Items {
				place, _, _ := strings.Cut(item, " ")
				got[place] = true
			}
			if offset = e.Meta.NextOffset; offset == 0 {
				break
			}
		}
		for place := range want {
			found++
			if !got[place] {
				t.Errorf("%q does not find %s", p, place)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%q finds %d lines, a scan %d", p, len(got), len(want))
		}
	}
	if found < 1000 {
		t.Errorf("only %d lines were looked for: the test shows little", found)
	}
}

// What is not searched is said.
func TestRegexSaysWhatIsNotSearched(t *testing.T) {
	box, _ := agentOn(t, folderWith(t, map[string]string{"a.go": "package a\n", ".env": "KEY=tomato\n", "node_modules/m/i.js": "tomato\n", "b.log": "tomato\n", ".gitignore": "*.log\n"}))
	e := box.Call(t.Context(), "search_regex", arguments(t, map[string]any{"pattern": "tomato"}))
	var data struct {
		NotSearched map[string]int `json:"not_searched"`
	}
	if err := json.Unmarshal(e.Data, &data); err != nil || data.NotSearched["secret"] != 1 || data.NotSearched["dependencies"] != 1 || data.NotSearched["ignored"] != 1 || len(e.Meta.Warnings) != 1 {
		t.Errorf("%s, %v", e, err)
	}
	e = box.Call(t.Context(), "search_regex", arguments(t, map[string]any{"pattern": `a\nb`}))
	if !strings.Contains(strings.Join(e.Meta.Warnings, " "), "one by one") {
		t.Errorf("a line end: %s", e)
	}
}

// max_total_bytes bounds what is sent, not the code in it: JSON escapes tabs, quotes and brackets.
func TestContextCountsWhatIsSent(t *testing.T) {
	files := map[string]string{}
	for i := range 20 {
		files[fmt.Sprintf("ferry%02d.go", i)] = fmt.Sprintf("package ferry\n\n// Load%d loads a ferry.\nfunc Load%d() {\n%s}\n", i, i,
			strings.Repeat(fmt.Sprintf("\t\tlog(\"ferry\", \"<%d>\", &harbour, \"\\t\")\n", i), 60))
	}
	box, _ := agentOn(t, folderWith(t, files))
	last := 0
	for _, most := range []int{4096, 6000, 12000, 40000} {
		e := box.Call(t.Context(), "retrieve_context", arguments(t, map[string]any{"query": "how a ferry is loaded", "max_chunks": 20, "max_total_bytes": most, "max_tokens": 50000}))
		var got struct{ Snippets []struct{ At, Text string } }
		if err := json.Unmarshal(e.Data, &got); err != nil || len(got.Snippets) == 0 {
			t.Fatalf("%d bytes: %v: %s", most, err, e)
		}
		if n := len(e.String()); n > most || n < last {
			t.Errorf("at most %d bytes: %d were sent, %d snippets", most, n, len(got.Snippets))
		} else {
			last = n
		}
	}
	if last < 20000 {
		t.Errorf("of 40000 bytes only %d were used", last)
	}
}
