package eval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"quarry/agent"
	"quarry/completion/eval"
)

func load(t *testing.T, dir string) Suite {
	t.Helper()
	s, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var realSuite = filepath.Join("..", "..", "testdata", "fixes")

// The suite has 40 breakages in at least six languages, of trees that are fetched, and no
// two of a kind in one language.
func TestSuite(t *testing.T) {
	s := load(t, realSuite)
	fetched := map[string]bool{}
	for _, list := range []string{"holes", "fixes"} {
		raw, err := os.ReadFile(filepath.Join("..", "..", "testdata", list, "repositories.json"))
		if err != nil {
			t.Fatal(err)
		}
		var repositories []Repository
		if err := json.Unmarshal(raw, &repositories); err != nil {
			t.Fatal(err)
		}
		for _, r := range repositories {
			fetched[r.Name] = true
		}
	}
	languages, kinds, halves := map[string]bool{}, map[string]string{}, map[string]int{}
	for _, b := range s.Breakages {
		r := s.Repository(b.Repository)
		if !fetched[r.Name] {
			t.Errorf("%s: %s is fetched by nothing", b.ID, r.Name)
		}
		if other := kinds[r.Language+b.Kind]; other != "" {
			t.Errorf("%s and %s are alike", b.ID, other)
		}
		if len(b.Cause) < 2 {
			t.Errorf("%s: the rubric has %d groups", b.ID, len(b.Cause))
		}
		kinds[r.Language+b.Kind] = b.ID
		languages[r.Language] = true
		halves[r.Half]++
	}
	if len(s.Breakages) != 40 || len(languages) < 6 || halves["fit"] < 15 || halves["held"] < 15 || len(halves) != 2 {
		t.Errorf("%d breakages, %d languages, halves %v", len(s.Breakages), len(languages), halves)
	}
	if got := len(s.Choose("held", 1, nil)) + len(s.Choose("fit", 1, nil)); got != len(s.Breakages) {
		t.Errorf("the halves have %d", got)
	}
	if got := s.Choose("", 4, nil); len(got) < 10 || len(got) > 16 {
		t.Errorf("every fourth are %d", len(got))
	}
	if got := s.Choose("", 1, []string{"java", "cpp-lost-const", "rich"}); len(got) != 9 {
		t.Errorf("chosen are %d", len(got))
	}
}

// answering is an assistant that takes a script's change as it is.
type answering struct {
	edit    *agent.TextEdit
	problem agent.Problem
	words   string
}

func (a answering) Fix(context.Context, agent.Problem) (agent.Proposal, error) {
	if a.edit == nil {
		return agent.Proposal{Reason: "none is known"}, nil
	}
	d := a.problem.Document
	return agent.Proposal{Files: []agent.FileChange{{Path: d.Path, Base: agent.HashText(d.Text), Edits: []agent.TextEdit{*a.edit}}}, Rules: []string{"fuzz"}}, nil
}

func (a answering) Explain(_ context.Context, _ agent.Problem, emit func(string) bool) (agent.Explanation, error) {
	emit(a.words)
	return agent.Explanation{Text: a.words}, nil
}

// run runs the suite of this package's own trees as far as their compilers are there.
func run(t *testing.T, task Task) Report {
	t.Helper()
	task.Suite, task.Corpus = load(t, "testdata"), filepath.Join("testdata", "trees")
	task.Runner.Scratch = t.TempDir()
	var outcomes []Outcome
	for _, b := range task.Suite.Breakages {
		if missing := task.Runner.Missing(b.Checker); missing != "" {
			t.Logf("left out: %s, there is no %s", b.ID, missing)
			continue
		}
		out, err := task.Run(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		t.Log(out, out.Problem)
		outcomes = append(outcomes, out)
	}
	if _, err := exec.LookPath("go"); err != nil && len(outcomes) == 0 {
		t.Skipf("none of the compilers is here, Go's neither: %v", err)
	}
	if len(outcomes) == 0 {
		t.Fatal("not even Go's checker is there")
	}
	return Sum(outcomes, task.Explain)
}

// Taking every breakage back is right everywhere; deleting the line of the problem keeps
// the code nowhere; saying nothing is no fix.
func TestScriptsAreJudged(t *testing.T) {
	script := Known
	task := Task{Open: func(c Case) (Assistant, func() error, error) {
		s := scripted{script, c}
		a := answering{problem: c.Problem}
		if e, ok := s.edit(); ok {
			a.edit = &e
		}
		return a, func() error { return nil }, nil
	}}
	r := run(t, task).Scores["all"]
	if r.Fixed != r.Breakages || r.Right != r.Breakages || r.Kept != r.Breakages || r.Parses != r.Breakages || r.Applies != r.Breakages {
		t.Errorf("taken back: %+v", r)
	}
	script = Deleting
	if r := run(t, task).Scores["all"]; r.Kept != 0 || r.Fixed != 0 || r.Proposed != r.Breakages {
		t.Errorf("deleted: %+v", r)
	}
	script = Silent
	if r := run(t, task).Scores["all"]; r.Proposed != 0 || r.Fixed != 0 || r.Failed != 0 {
		t.Errorf("silent: %+v", r)
	}
}

func TestExplanationsAreJudged(t *testing.T) {
	words := "Nothing is wrong."
	task := Task{Explain: true, Open: func(Case) (Assistant, func() error, error) {
		return answering{words: words}, func() error { return nil }, nil
	}}
	if r := run(t, task).Scores["all"]; r.Named != 0 || r.Explained != r.Breakages {
		t.Errorf("%+v", r)
	}
	words = "`TrimSpace`, an argument, a semicolon, the size, the unused `worst`."
	if r := run(t, task); r.Scores["all"].Named != r.Scores["all"].Breakages || !strings.Contains(r.String(), "named") {
		t.Errorf("%s", r)
	}
}

func TestKept(t *testing.T) {
	const original = "a := f(x, y)\nuse(a)\n"
	for name, c := range map[string]struct {
		broken, fixed string
		want          bool
	}{
		"taken back":          {"a := f(x)\nuse(a)\n", original, true},
		"another argument":    {"a := f(x)\nuse(a)\n", "a := f(x, 0)\nuse(a)\n", true},
		"laid out anew":       {"a := f(x)\nuse(a)\n", "a := f(\n\tx,\n\ty,\n)\nuse( a )\n", true},
		"line deleted":        {"a := f(x)\nuse(a)\n", "use(a)\n", false},
		"line below deleted":  {"a := f(x)\nuse(a)\n", "a := f(x, y)\n", false},
		"all deleted":         {"a := f(x)\nuse(a)\n", "", false},
		"added, taken away":   {"a := f(x, y, z)\nuse(a)\n", original, true},
		"what the place had":  {"a := f(x, y)\nuse(b)\n", "a := f(x, y)\nuse(1)\n", true},
		"lost but for a word": {"a := f(x, y)\nuse(b)\n", "a := f(x, y)\n", false},
	} {
		if got := kept(original, c.broken, c.fixed); got != c.want {
			t.Errorf("%s: kept is %v", name, got)
		}
	}
}

func TestSilencing(t *testing.T) {
	if !silences("import os\n", "import os  # noqa: F401\n") || silences("import os  # noqa\n", "import os  # noqa\n") || silences("a", "b") {
		t.Error("what tells a checker to say nothing is not seen")
	}
}

func TestNames(t *testing.T) {
	groups := [][]string{{"unused", "not used"}, {"ToLower"}}
	for text, want := range map[string]bool{
		"The variable is NOT USED, call `strings.ToLower`.": true,
		"It is unused: ToLowerCase":                         false,
		"reused, ToLower":                                   false,
		"ToLower":                                           false,
	} {
		if got := names(text, groups); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if !names("a `)` is missing", [][]string{{")"}}) || names("x", nil) {
		t.Error("signs are words of their own, and no rubric is no proof")
	}
}

// told is a model that answers with pieces and counts how often it is asked.
type told struct {
	pieces []string
	asked  *int
}

func (m told) Chat(_ context.Context, _ agent.Conversation, emit func(string) bool) (agent.Reply, error) {
	*m.asked++
	var r agent.Reply
	for _, p := range m.pieces {
		r.Text += p
		if !emit(p) {
			break
		}
	}
	r.PromptTokens, r.Tokens = 100, 3
	return r, nil
}

// What was answered once is not asked again, in this run or another, but by another model
// or where more of the answer is wanted.
func TestAnswersAreKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "answers.jsonl")
	asked := 0
	open := func(model string) *Answers {
		a, err := OpenAnswers(file, model)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { a.Close() })
		return a
	}
	model := told{[]string{"one ", "two ", "three"}, &asked}
	say := func(a *Answers, upstream agent.Chat, wanted int) (string, error) {
		var text string
		_, err := a.Of(upstream).Chat(t.Context(), agent.Conversation{Messages: []agent.Message{{Role: "user", Text: "?"}}}, func(p string) bool {
			text += p
			wanted--
			return wanted > 0
		})
		return text, err
	}
	a := open("m")
	if text, err := say(a, nil, 3); !errors.Is(err, eval.ErrNoAnswer) || a.Missing() != 1 || text != "" {
		t.Errorf("%q, %v, %d missing", text, err, a.Missing())
	}
	if text, err := say(a, model, 2); err != nil || text != "one two " || asked != 1 {
		t.Errorf("%q, %v, asked %d times", text, err, asked)
	}
	again := open("m")
	if text, err := say(again, nil, 1); err != nil || text != "one " {
		t.Errorf("%q, %v", text, err)
	}
	if u := again.Used(); u.PromptTokens != 100 || u.Tokens != 3 || u.Turns != 1 || again.Used() != (Usage{}) {
		t.Errorf("%+v", u)
	}
	if _, err := say(open("other"), nil, 1); !errors.Is(err, eval.ErrNoAnswer) {
		t.Errorf("another model's answer is taken: %v", err)
	}
	asked = 0
	if _, err := say(again, model, 9); err != nil || asked != 1 {
		t.Errorf("more is wanted than was kept: %v, asked %d times", err, asked)
	}
	if text, err := say(open("m"), nil, 9); err != nil || text != "one two three" {
		t.Errorf("%q, %v", text, err)
	}
}

// That a server refuses tools decides what is asked next, and is kept with the answers: with
// no server the conversation goes the same way.
func TestRefusedToolsAreKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "answers.jsonl")
	for _, upstream := range []agent.Chat{refusing{}, nil} {
		a, err := OpenAnswers(file, "m")
		if err != nil {
			t.Fatal(err)
		}
		_, err = a.Of(upstream).Chat(t.Context(), agent.Conversation{Tools: json.RawMessage("[]")}, func(string) bool { return true })
		if !errors.Is(err, agent.ErrNoTools) || a.Missing() != 0 {
			t.Errorf("upstream %v: %v, %d missing", upstream, err, a.Missing())
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}

// refusing is a server whose model knows no tools.
type refusing struct{}

func (refusing) Chat(context.Context, agent.Conversation, func(string) bool) (agent.Reply, error) {
	return agent.Reply{}, fmt.Errorf("llama.cpp: %w", agent.ErrNoTools)
}
