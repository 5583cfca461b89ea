package eval

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"quarry/agent"
	"quarry/agent/mcp"
	"quarry/diagnostics/patch"
	"quarry/retrieval/workspace"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The tasks that are published are whole, eight of a kind, four repositories a half, and the
// halves are those of the ghost text's suite, whose trees they are.
func TestTasks(t *testing.T) {
	set, err := Read("../../testdata/agents/tasks.json")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile("../../testdata/holes/repositories.json")
	if err != nil {
		t.Fatal(err)
	}
	var trees []Repository
	if err := json.Unmarshal(raw, &trees); err != nil {
		t.Fatal(err)
	}
	halves := map[string]int{}
	for _, r := range set.Repositories {
		halves[r.Half]++
		if !slices.ContainsFunc(trees, func(o Repository) bool { return o.Name == r.Name && o.Half == r.Half && o.Language == r.Language }) {
			t.Errorf("%s is not in testdata/holes, or of another half or language there", r.Name)
		}
	}
	kinds, each := map[Kind]int{}, map[string]int{}
	for _, task := range set.Tasks {
		kinds[task.Kind]++
		each[task.Repository+" "+string(task.Kind)]++
	}
	if len(set.Tasks) != 40 || halves["fit"] != 4 || halves["held"] != 4 || len(each) != 40 {
		t.Errorf("%d tasks, %v repositories, of %d repositories and kinds", len(set.Tasks), halves, len(each))
	}
	for _, k := range Kinds {
		if kinds[k] != 8 {
			t.Errorf("%d tasks of %s", kinds[k], k)
		}
	}
}

const router = `package tiny

// Router matches paths.
type Router struct{}

// Find answers the handler of a path.
func (r *Router) Find(p string) error {
	return Retry(func() error { return nil })
}

// Other has a method of the same name.
type Other struct{}

func (o *Other) Find() {}

func both(r *Router, o *Other) {
	r.Find("")
	o.Find()
}
`

const retry = `package tiny

// Retry does it again after a growing pause.
func Retry(f func() error) error {
	return f()
}
`

const tinyTasks = `{
  "repositories": [{"name": "tiny", "language": "go", "half": "fit", "without": ["built"]}],
  "tasks": [
    {"id": "again", "repository": "tiny", "kind": "find", "question": "What is done again after a pause?", "places": [{"at": "retry.go:3-6", "has": "return f()"}]},
    {"id": "calls", "repository": "tiny", "kind": "change-impact", "question": "Who calls Retry?", "symbol": "Retry", "places": [{"at": "router.go:8"}]},
    {"id": "rename", "repository": "tiny", "kind": "rename", "question": "Rename Router.Find to Match.", "symbol": "Router.Find", "to": "Match", "places": [{"at": "router.go:7"}, {"at": "router.go:17"}]}
  ]
}`

// serve makes a server over a folder, as quarry-eval does.
func serve(ctx context.Context, dir, state string) (mcp.Options, error) {
	w := workspace.New(workspace.Options{StateDir: state, WaitLimit: time.Minute})
	w.SetRoots([]string{dir})
	staging := agent.NewStaging(func() string { return dir }, time.Now)
	tools := agent.NewToolbox(agent.Parts{Workspace: w, Patcher: patch.New(w), Staging: staging})
	return mcp.Options{
		Version: "test", Definitions: tools.AllDefinitions(), Folders: []string{dir}, Pinned: true,
		Open: func([]string) (mcp.Project, error) { return closing{tools.ForAgent(), w}, nil },
	}, w.CatchUp(ctx)
}

type closing struct {
	*agent.Toolbox
	w *workspace.Workspace
}

func (c closing) Close() error {
	c.w.Close()
	return nil
}

func tiny(t *testing.T) (set Set, corpus string) {
	t.Helper()
	corpus = t.TempDir()
	write(t, filepath.Join(corpus, "tiny", "router.go"), router)
	write(t, filepath.Join(corpus, "tiny", "retry.go"), retry)
	write(t, filepath.Join(corpus, "tiny", "built", "retry.go"), retry)
	write(t, filepath.Join(corpus, "tasks.json"), tinyTasks)
	set, err := Read(filepath.Join(corpus, "tasks.json"))
	if err != nil {
		t.Fatal(err)
	}
	return set, corpus
}

func TestRun(t *testing.T) {
	set, corpus := tiny(t)
	report, err := set.Run(t.Context(), Options{Corpus: corpus, Serve: serve})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range report.Pairs {
		for by, o := range map[string]Outcome{"ripgrep": p.Ripgrep, "quarry": p.Quarry} {
			if !o.Found || o.Tokens == 0 || o.Tokens > Aim || o.Calls == 0 || o.Calls != len(o.Steps) {
				t.Errorf("%s of %s: %+v", o.Task, by, o)
			}
		}
	}
	// ripgrep lists the other class's method and its call too.
	if p := report.Pairs[2]; p.Quarry.Shown != 2 || p.Ripgrep.Shown != 4 || p.Ripgrep.Calls != 1 || p.Quarry.Calls != 1 {
		t.Errorf("rename: %+v", p)
	}
	var text strings.Builder
	if err := report.Write(&text); err != nil || !strings.Contains(text.String(), "| rename | 1 | 1.00 | 1.00 | 1.00 | 1.00 |") {
		t.Errorf("%v, report:\n%s", err, text.String())
	}
	var steps strings.Builder
	if err := report.WriteSteps(&steps); err != nil || !strings.Contains(steps.String(), "rg -n -w Find") || !strings.Contains(steps.String(), "rename_symbol") {
		t.Errorf("%v, steps:\n%s", err, steps.String())
	}
	if _, err := os.Stat(filepath.Join(corpus, "tiny", ".quarry")); err == nil {
		t.Error("the tree was written to")
	}

	if _, err := set.Run(t.Context(), Options{Corpus: corpus, Half: "held", Serve: serve}); err == nil {
		t.Error("a half with no repository was measured")
	}
	write(t, filepath.Join(corpus, "tiny", "retry.go"), "package tiny\n")
	if _, err := set.Run(t.Context(), Options{Corpus: corpus, Serve: serve}); err == nil || !strings.Contains(err.Error(), "another one than the tasks are of") {
		t.Errorf("another tree: %v", err)
	}
	if _, err := set.Run(t.Context(), Options{Corpus: t.TempDir(), Serve: serve}); err == nil || !strings.Contains(err.Error(), "testdata/holes/fetch.sh") {
		t.Errorf("no tree: %v", err)
	}
}

// saying is a model that writes the same calls for every task, and then no call.
type saying struct {
	calls []string
	asked *int
}

func (s saying) Chat(_ context.Context, c agent.Conversation, emit func(string) bool) (agent.Reply, error) {
	*s.asked++
	text := "that is all"
	if turn := (len(c.Messages) - 2) / 2; turn < len(s.calls) {
		text = s.calls[turn]
	}
	if len(c.Format) == 0 || !strings.Contains(c.Messages[0].Text, "read_file(") {
		return agent.Reply{}, errors.New("the tools are not offered")
	}
	emit(text)
	return agent.Reply{Text: text, PromptTokens: 10, Tokens: 2}, nil
}

// A model's calls are answered by the tools it was offered and counted until the place stands there.
func TestModel(t *testing.T) {
	set, corpus := tiny(t)
	run := func(calls ...string) (Pair, Report, int) {
		t.Helper()
		asked := 0
		report, err := set.Run(t.Context(), Options{Corpus: corpus, Serve: serve, Chat: saying{calls, &asked}})
		if err != nil {
			t.Fatal(err)
		}
		if report.Pairs[1].ModelQuarry != nil || report.Pairs[2].ModelRipgrep != nil {
			t.Error("a model worked on a task that wants all places")
		}
		return report.Pairs[0], report, asked
	}
	read := `{"name": "read_file", "arguments": {"path": "retry.go", "start_line": 1}}`
	p, report, asked := run(`{"name": "read_file", "arguments": {"path": "nowhere.go"}}`, read)
	for by, o := range map[string]*Outcome{"ripgrep": p.ModelRipgrep, "quarry": p.ModelQuarry} {
		if !o.Found || o.Calls != 2 || o.Read != 20 || o.Written != 4 || o.Tokens == 0 {
			t.Errorf("with the tools of %s: %+v", by, o)
		}
	}
	if asked != 4 {
		t.Errorf("asked %d times, want until the place was seen", asked)
	}
	var text strings.Builder
	if err := errors.Join(report.Write(&text), report.WriteSteps(&text)); err != nil || !strings.Contains(text.String(), "The model, with the tools of either") || !strings.Contains(text.String(), "model, quarry") {
		t.Errorf("%v:\n%s", err, text.String())
	}
	if p, _, _ := run(`{"name": "grep", "arguments": {"pattern": "RETURN f"}}`); !p.ModelRipgrep.Found || p.ModelQuarry.Found {
		t.Errorf("grep: %+v, %+v", p.ModelRipgrep, p.ModelQuarry)
	}
	for _, wrong := range [][]string{nil, {"no JSON"}, {`{"name": "grep", "arguments": {"pattern": "("}}`, `{"name": "grep", "arguments": 1}`, `{"name": "read_file", "arguments": {"path": "retry.go", "start_line": 900}}`}} {
		if p, _, asked := run(wrong...); p.ModelRipgrep.Found || p.ModelQuarry.Found || asked > 2*modelTurns {
			t.Errorf("%q: %+v, %+v, asked %d times", wrong, p.ModelRipgrep, p.ModelQuarry, asked)
		}
	}
	if p, _, asked := run(slices.Repeat([]string{`{"name": "read_file", "arguments": {"path": "router.go"}}`}, 50)...); p.ModelQuarry.Calls != 1 || asked != 2*modelTurns {
		t.Errorf("repeated: %+v, asked %d times", p.ModelQuarry, asked)
	}
}

func TestWrongTasks(t *testing.T) {
	for wrong, change := range map[string][2]string{
		"two of this name":       {`"id": "calls"`, `"id": "again"`},
		"is none of":             {`"kind": "find"`, `"kind": "seek"`},
		"no repository":          {`"repository": "tiny", "kind": "find"`, `"repository": "huge", "kind": "find"`},
		"is no place":            {`"router.go:8"`, `"router.go"`},
		"does not fit its kind":  {`"to": "Match", `, ``},
		"each place of a rename": {`"router.go:7"`, `"router.go:7-9"`},
		"the half, fit or held":  {`"half": "fit"`, `"half": "both"`},
	} {
		file := filepath.Join(t.TempDir(), "tasks.json")
		write(t, file, strings.Replace(tinyTasks, change[0], change[1], 1))
		if _, err := Read(file); err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

func TestJudge(t *testing.T) {
	set, corpus := tiny(t)
	tree, err := plant(filepath.Join(corpus, "tiny"), t.TempDir(), []string{"built"})
	if err != nil || len(tree.names) != 2 {
		t.Fatalf("%v, %v", tree.names, err)
	}
	find, rename := &set.Tasks[0], &set.Tasks[2]

	a := begin(find, tree, "fit")
	if a.took("a", "", `{"also": ["retry.go:4-6 Retry"]}`) || a.Found || a.Named == 0 {
		t.Errorf("a place that is named alone: %+v", a.Outcome)
	}
	if a.took("b", "other.go", "return f()") || a.Found {
		t.Errorf("the text in another file: %+v", a.Outcome)
	}
	if !a.took("c", "retry.go", "5\t\treturn f()\n") || !a.Found || a.Calls != 3 {
		t.Errorf("the text: %+v", a.Outcome)
	}
	late := begin(find, tree, "fit")
	if !late.took("long", "retry.go", "return f()"+strings.Repeat(" ", 3*Limit)) || late.Found {
		t.Errorf("beyond the limit: %+v", late.Outcome)
	}

	b := begin(rename, tree, "fit")
	diff := "--- a/router.go\n+++ b/router.go\n@@ -7,1 +7,1 @@\n-old\n+new\n@@ -16,3 +16,3 @@\n same\n-old\n+new\n same\n"
	raw, err := json.Marshal(map[string]any{"diff": diff, "reason": "see router.go:14"})
	if err != nil {
		t.Fatal(err)
	}
	if !b.took("rename", "", string(raw)) || !b.Found || b.Shown != 2 {
		t.Errorf("a diff: %+v", b.Outcome)
	}
	c := begin(rename, tree, "fit")
	if c.took("list", "", "router.go:7:x\nrouter.go:14-14 y\nrouter.go:16-19\nrouter.go:2:\nnone.go:17:\n") || c.Right != 1 || c.Shown != 2 {
		t.Errorf("a list: %+v", c.Outcome)
	}
}

// What is not found costs the limit, else a script that gives up at once would win.
func TestFigures(t *testing.T) {
	f := figures([]Outcome{{Found: true, Tokens: Aim, Calls: 1, Shown: 4, Right: 1}, {Found: true, Tokens: Aim + 1, Calls: 2}, {Tokens: 10, Calls: 1}})
	if f != (Figures{Found: 2, Aimed: 1, Tokens: Aim + 1, Calls: 1, Precision: .25}) {
		t.Errorf("%+v", f)
	}
	if (Pair{Ripgrep: Outcome{Found: true, Tokens: 9}, Quarry: Outcome{Found: true, Tokens: 9}}).better() != 0 ||
		(Pair{Ripgrep: Outcome{Tokens: 1}, Quarry: Outcome{Found: true, Tokens: 9}}).better() != 1 ||
		(Pair{Ripgrep: Outcome{Found: true, Tokens: 8}, Quarry: Outcome{Found: true, Tokens: 9}}).better() != -1 {
		t.Error("who needed less")
	}
	if Aim != 1500 || Limit != 6000 || tokensOf("1234") != 2 {
		t.Error("the limits are those that bench/agents.md states")
	}
}
