package report_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"quarry/agent"
	"quarry/agent/markdown/markdowntest"
	"quarry/agent/report"
	"quarry/retrieval/workspace"
)

var update = flag.Bool("update", false, "write what the tests see into their golden files")

func golden(t *testing.T, path, got string) {
	t.Helper()
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
		t.Errorf("%s differs; go test ./agent/report -update writes it anew:\n%s", path, got)
	}
}

// repository is one of testdata with more files, indexed, and the prompt it holds.
func repository(t *testing.T, name string, more map[string]string) (w *workspace.Workspace, dir, prompt string) {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("..", "..", "testdata", "report", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	for name, text := range more {
		a.Files = append(a.Files, txtar.File{Name: name, Data: []byte(text)})
	}
	for _, f := range a.Files {
		if f.Name == "prompt.md" {
			prompt = string(f.Data)
			continue
		}
		file := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w = workspace.New(workspace.Options{StateDir: t.TempDir()})
	t.Cleanup(w.Close)
	w.SetRoots([]string{dir})
	if err := w.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.Link(t.Context()) // as the command does: what ranks evidence is there, however loaded the machine
	return w, dir, prompt
}

var place = regexp.MustCompile(`([^\s` + "`" + `(),]+):(\d+)-(\d+)`)

// places are those that a report names; each must be in the folder.
func places(t *testing.T, dir, text string) (list []string) {
	t.Helper()
	for _, m := range place.FindAllStringSubmatch(text, -1) {
		raw, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(m[1])))
		if err != nil {
			t.Errorf("%s: %v", m[0], err)
			continue
		}
		from, _ := strconv.Atoi(m[2])
		to, _ := strconv.Atoi(m[3])
		if n := strings.Count(string(raw), "\n"); from < 1 || to < from || to > n+1 {
			t.Errorf("%s: the file has %d lines", m[0], n)
		}
		list = append(list, m[0])
	}
	return list
}

// A5: without a model a report is what the index says, useful by itself, every place standing.
func TestOutlines(t *testing.T) {
	for _, name := range []string{"shop", "library", "hostile"} {
		w, dir, prompt := repository(t, name, nil)
		r, err := report.Write(t.Context(), w, report.Request{Name: name, Prompt: prompt})
		if err != nil {
			t.Fatal(err)
		}
		golden(t, filepath.Join("testdata", name+".golden.md"), r.Text)
		if list := places(t, dir, r.Text); len(list) < 5 {
			t.Errorf("%s: only %q", name, list)
		}
		if r.Engine != report.ByOutline || r.Calls != 0 || r.Coverage.Files == 0 || r.Coverage.Named == 0 {
			t.Errorf("%s: %+v", name, r.Coverage)
		}
		if !slices.Contains(r.Backend, workspace.BackendProject) || len(r.Backend) > 1 != (len(report.Questions(prompt)) > 0) || r.Incomplete != nil {
			t.Errorf("%s: backend %q, incomplete %v", name, r.Backend, r.Incomplete)
		}
		again, err := report.Write(t.Context(), w, report.Request{Name: name, Prompt: prompt})
		if err != nil || again.Text != r.Text {
			t.Errorf("%s: another report the second time, %v", name, err)
		}
	}
}

// hostileNames are names that files may have, each with a line of Go in it.
var hostileNames = []string{
	"![x](https:\\\\evil.example\\p.png).go", "<img src=\"https:&#47;&#47;evil.example&#47;p.png\">.go", "[a](https:&#47;&#47;evil.example).md", "![b](https:/evil.example/p.png).go",
	"www.evil.example/x.go", "a@evil.example/y.go", "<script>alert(1)<!--/z.go", "back`tick/[w](u).go", "# head\n\n![n](https:\\\\evil.example)/v.go", "_a_*b*/u.go", "\u202e/t.go", "docs/![d](https:\\\\evil.example).md",
	"<img src=x>/README.md", "![c](https:\\\\evil.example)/package.json", "![c](https:\\\\evil.example)/Makefile",
}

// Y3: what a repository says is text in a report, the names of its files too.
func TestReportsShowText(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no file has such a name on Windows")
	}
	more := map[string]string{}
	for i, name := range hostileNames {
		text := fmt.Sprintf("// Package p springs a snare. ![p](https://evil.example)\npackage p\n\n// Spring%d springs the snare.\nfunc Spring%[1]d() { Spring%[2]d() }\n", i, (i+1)%len(hostileNames))
		switch path.Base(name) {
		case "README.md":
			text = "# Snare\n\nA snare ![p](https://evil.example) and <img src=x>.\n"
		case "package.json":
			text = `{"name": "p", "scripts": {"test": "x <img src=x> ![s](https://evil.example)", "](https://evil.example)": "y"}, "dependencies": {"a\u0060](https://evil.example)": "1", "<img src=x>": "1"}}`
		case "Makefile":
			text = "![m](https://evil.example): ## <img src=x>\n\techo\ntest: ## [l](https://evil.example)\n\techo\n"
		}
		more[name] = text
	}
	w, _, prompt := repository(t, "hostile", more)
	chat := &scripted{answers: []string{"## 1\n- It springs <img src=x> ![a](http://evil.example) [b](http://evil.example) `code` \u202e www.evil.example [1]\n- And `](http://evil.example)` [2][3][4][5][6][7]\n## 2\n- It is a <script>snare</script> [2]"}}
	for _, c := range []agent.Chat{nil, chat} {
		r, err := report.Write(t.Context(), w, report.Request{Name: "<img src=x>", Prompt: prompt + "\n## How are the snares in all files sprung, Spring1, Spring2, Spring3?\n", Chat: c, ContextTokens: 4096, MaxTokens: 300})
		if err != nil {
			t.Fatal(err)
		}
		markdowntest.Harmless(t, r.Text)
		if n := strings.Count(r.Text, "evil.example"); n < 10 || !strings.Contains(r.Text, "src/snare.rs:1-4") {
			t.Errorf("the report shows only %d of what is hostile:\n%s", n, r.Text)
		}
	}
}

// scripted answers in order, the last again and again; what it was told is noted.
type scripted struct {
	answers []string
	told    []agent.Conversation
	err     error  // after the answers
	broken  string // what comes before that
	cut     bool   // by the length limit
	each    func() // is called while it answers, unless nil
}

func (s *scripted) Chat(_ context.Context, c agent.Conversation, emit func(string) bool) (agent.Reply, error) {
	s.told = append(s.told, c)
	n := len(s.told)
	if s.each != nil {
		s.each()
	}
	if s.err != nil && n > len(s.answers) {
		return agent.Reply{Text: s.broken}, s.err
	}
	text := s.answers[min(n, len(s.answers))-1]
	emit(text)
	return agent.Reply{Text: text, Cut: s.cut, PromptTokens: 100, Tokens: 10}, nil
}

const good = "## 1\n- A charge that fails is tried three times [1].\n- The error says that the account holds too little. [2, 3]\n## 2 Where does the program start\nIt listens on port 8080 [1].\n"

func TestReportsByAModel(t *testing.T) {
	w, dir, prompt := repository(t, "shop", nil)
	write := func(chat agent.Chat) report.Report {
		t.Helper()
		r, err := report.Write(t.Context(), w, report.Request{Name: "shop", Prompt: prompt, Chat: chat, ContextTokens: 4096, MaxTokens: 300})
		if err != nil {
			t.Fatal(err)
		}
		places(t, dir, r.Text)
		return r
	}
	answers := func(r report.Report) string {
		_, body, _ := strings.Cut(r.Text, "## What happens")
		body, _, _ = strings.Cut(body, "\n## Purpose")
		return body
	}

	// The simple case: one call.
	one := &scripted{answers: []string{good}}
	r := write(one)
	if r.Calls != 1 || r.PromptTokens != 100 || r.Tokens != 10 || len(r.Warnings) != 0 || r.Engine != report.ByModel {
		t.Errorf("%+v", r)
	}
	if body := answers(r); !regexp.MustCompile(`tried three times\. \S+:\d+-\d+\n- The error says that the account holds too little\. \S+:\d+-\d+, \S+:\d+-\d+\n\n## Where does`).MatchString(body) {
		t.Errorf("answers:\n%s", body)
	}
	golden(t, filepath.Join("testdata", "prompt.golden"), one.told[0].Messages[0].Text+"\n---\n"+one.told[0].Messages[1].Text+"\n")

	// What is wrong is named, and the next draft taken; a third is not needed.
	again := &scripted{answers: []string{"## 1\n- It fails. ledger/ledger.go:1-9\n- It is bad [77].\n- And worse.\n", good}}
	r = write(again)
	if r.Calls != 2 || len(r.Warnings) != 0 {
		t.Errorf("%+v", r)
	}
	told := again.told[1].Messages[len(again.told[1].Messages)-1].Text
	for _, want := range []string{"section 2 is missing; begin it with ## 2", "no point of section 1 names its evidence", "there is no evidence [77]"} {
		if !strings.Contains(told, want) {
			t.Errorf("the model is not told %q:\n%s", want, told)
		}
	}

	// A model that was told and does the same is not asked a third time; what it proved stands,
	// with warnings, and where it proved nothing the places do.
	never := &scripted{answers: []string{"## 1\n- It is tried again [1].\n- I made this up.\n## 2\n- Somewhere, see cmd/shop/main.go:11-11.\n"}}
	r = write(never)
	if r.Calls != 2 || r.Dropped != 2 || len(r.Warnings) != 2 || strings.Contains(r.Text, "made this up") || strings.Contains(r.Text, "Somewhere") {
		t.Errorf("%+v", r)
	}
	if body := answers(r); !strings.Contains(body, "tried again.") || !strings.Contains(body, "The places nearest to this") {
		t.Errorf("answers:\n%s", body)
	}
	if !strings.Contains(r.Text, "## Warnings\n\n- 2 points without proof left out\n") {
		t.Errorf("the report does not say what it lacks:\n%s", r.Text)
	}
	for _, c := range never.told {
		if n := len(c.Messages); n != 2 && n != 4 {
			t.Errorf("a conversation of %d messages", n)
		}
	}

	// The better draft stays, whichever came last.
	worse := &scripted{answers: []string{"## 1\n- It is tried again [1].\n", "nothing", "nothing"}}
	if r = write(worse); !strings.Contains(r.Text, "tried again.") || r.Calls != 3 {
		t.Errorf("the first draft is lost:\n%s", answers(r))
	}

	// A model that goes away in between leaves what there is.
	gone := &scripted{answers: []string{"## 1\n- It is tried again [1].\n"}, err: errors.New("the server has gone")}
	if r = write(gone); r.Calls != 2 || r.Engine != report.ByModel || !slices.Contains(r.Warnings, "call 2 of the model failed: the server has gone") || !strings.Contains(r.Text, "tried again.") {
		t.Errorf("%+v", r)
	}
	// One that never answers leaves the places, and the report says so.
	r = write(&scripted{err: errors.New("500 Internal Server Error")})
	if r.Calls != 1 || r.Engine != report.ByOutline || !slices.Contains(r.Warnings, "call 1 of the model failed: 500 Internal Server Error") ||
		!strings.Contains(r.Text, "A model was asked and gave no answer.") || !strings.Contains(answers(r), "The places nearest to this") {
		t.Errorf("%+v", r)
	}
	// Of an answer that breaks off stands what it had proved.
	r = write(&scripted{broken: "## 1\n- It is tried again [1].\n- It is also sa", err: errors.New("unexpected EOF")})
	if r.Calls != 1 || r.Engine != report.ByModel || !slices.Contains(r.Warnings, "call 1 of the model failed: unexpected EOF") ||
		!strings.Contains(answers(r), "- It is tried again. README.md:5-6\n\n## Where") || strings.Contains(r.Text, "also sa") {
		t.Errorf("%+v", r)
	}
	// A user who has enough gets none.
	ctx, cancel := context.WithCancel(t.Context())
	stopped := &scripted{answers: []string{good}, each: cancel}
	if r, err := report.Write(ctx, w, report.Request{Prompt: prompt, Chat: stopped, ContextTokens: 4096, MaxTokens: 300}); !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", r, err)
	}
}

// A5: a model is asked again only for what it can mend.
func TestCallsOfAnHonestModel(t *testing.T) {
	w, dir, prompt := repository(t, "shop", nil)
	const first = "## 1\n- A charge that fails is tried three times [1].\n"
	for name, c := range map[string]struct {
		answers  []string
		cut      bool
		context  int
		calls    int
		warnings []string
	}{
		"a heading with nothing below, as it was told": {answers: []string{first + "## 2\n"}, calls: 1, warnings: []string{`the model found no answer to "Where does the program start listening?" in the evidence; the places nearest to it stand there`}},
		"both": {answers: []string{"## 1\n\n## 2\n\n"}, calls: 1, warnings: []string{
			`the model found no answer to "What happens when a charge fails?" in the evidence; the places nearest to it stand there`,
			`the model found no answer to "Where does the program start listening?" in the evidence; the places nearest to it stand there`}},
		"in words":                    {answers: []string{first + "## 2\n- The evidence does not say where it listens.\n"}, calls: 1, warnings: []string{`the model found no answer to "Where does the program start listening?" in the evidence; the places nearest to it stand there`}},
		"in other words":              {answers: []string{first + "## 2\nNo information is provided.\n"}, calls: 1, warnings: []string{`the model found no answer to "Where does the program start listening?" in the evidence; the places nearest to it stand there`}},
		"an answer and what it lacks": {answers: []string{first + "- The evidence doesn't mention the amount.\n## 2\n- On port 8080 [2].\n"}, calls: 1},
		"a number too many":           {answers: []string{"## 1\n- It is tried three times [1, 77].\n## 2\n- On port 8080 [2][99].\n"}, calls: 1},
		"a claim is no refusal":       {answers: []string{first + "## 2\n- It does not listen.\n", good}, calls: 2},
		"a section is missing":        {answers: []string{first, good}, calls: 2},
		"and missing again":           {answers: []string{first, first, good}, calls: 2, warnings: []string{`"Where does the program start listening?" has no answer that the evidence proves; the places nearest to it stand there`}},
		"another fault each time":     {answers: []string{first, "## 2\n- On port 8080 [2].\n", "nothing"}, calls: 3, warnings: []string{`"Where does the program start listening?" has no answer that the evidence proves; the places nearest to it stand there`}},
		"nothing at all": {answers: []string{""}, calls: 2, warnings: []string{
			`"What happens when a charge fails?" has no answer that the evidence proves; the places nearest to it stand there`,
			`"Where does the program start listening?" has no answer that the evidence proves; the places nearest to it stand there`}},
		"cut off": {answers: []string{first}, cut: true, calls: 2, warnings: []string{"the model's answer was longer than it may be, and its end is missing",
			`"Where does the program start listening?" has no answer that the evidence proves; the places nearest to it stand there`}},
		"what it was not shown": {answers: []string{"## 1\n- Shop sells pears [1].\n"}, context: 1050, calls: 1, warnings: []string{`"Where does the program start listening?" has no answer that the evidence proves; the places nearest to it stand there`}},
	} {
		chat := &scripted{answers: c.answers, cut: c.cut}
		if c.context == 0 {
			c.context = 4096
		}
		r, err := report.Write(t.Context(), w, report.Request{Name: "shop", Prompt: prompt, Chat: chat, ContextTokens: c.context, MaxTokens: 300})
		if err != nil {
			t.Fatal(err)
		}
		places(t, dir, r.Text)
		if r.Calls != c.calls || len(chat.told) != c.calls || !slices.Equal(r.Warnings, c.warnings) && len(r.Warnings)+len(c.warnings) > 0 || r.Dropped != 0 && c.calls == 1 {
			t.Errorf("%s: %d calls, want %d; %d points left out; warnings %q, want %q", name, r.Calls, c.calls, r.Dropped, r.Warnings, c.warnings)
		}
		if c.cut && !strings.Contains(chat.told[1].Messages[3].Text, "write at most two items in a section") {
			t.Errorf("%s: the model is told %q", name, chat.told[1].Messages[3].Text)
		}
	}
}

// A point without a number has the place of the piece that holds all names of code in it, if one does.
func TestPointsAreFoundByTheirNames(t *testing.T) {
	w, dir, prompt := repository(t, "shop", nil)
	for point, want := range map[string]int{
		"The `Charge` method in `ledger/ledger.go` looks into `l.accounts` and returns `ErrBroke`.": 1,
		"Charge() fails with ErrBroke where the account holds less.":                                1,
		"Charge() gives up with ErrBroke after maxAttempts.":                                        0, // which is not there
		"The `Charge` method in `cmd/shop/main.go` returns `ErrBroke`.":                             0,
		"It calls `Charge`.":           0, // one name says too little
		"The `shop` sells pears.":      0,
		"`Nothing` is `ever` so [77].": 0, // it has a number, which is wrong
	} {
		chat := &scripted{answers: []string{"## 1\n- " + point + "\n## 2\n- On port 8080 [1].\n"}}
		r, err := report.Write(t.Context(), w, report.Request{Name: "shop", Prompt: prompt, Chat: chat, ContextTokens: 4096, MaxTokens: 300})
		if err != nil {
			t.Fatal(err)
		}
		places(t, dir, r.Text)
		if r.Placed != want || strings.Contains(r.Text, "by the names of code") != (want > 0) {
			t.Errorf("%s: %d placed, want %d; %q\n%s", point, r.Placed, want, r.Warnings, r.Text)
		}
	}
}

// The evidence fits the model's context, however small that is.
func TestEvidenceFits(t *testing.T) {
	w, _, prompt := repository(t, "shop", nil)
	for _, tokens := range []int{1200, 2048, 8192} {
		chat := &scripted{answers: []string{good}}
		if _, err := report.Write(t.Context(), w, report.Request{Name: "shop", Prompt: prompt, Chat: chat, ContextTokens: tokens, MaxTokens: 200}); err != nil {
			t.Fatal(err)
		}
		size := 0
		for _, c := range chat.told {
			for _, m := range c.Messages {
				size = max(size, len(m.Text))
			}
		}
		if size/3 > tokens {
			t.Errorf("a message of %d bytes for %d tokens", size, tokens)
		}
	}
}

func TestQuestions(t *testing.T) {
	for _, c := range []struct{ prompt, want string }{
		{"# Title\n\nWords.\n\n- one\n- two\n  goes on\n* three\n1. four\n", "one|two goes on|three|four"},
		{"# Title\n\n## One\n\nwords\n\n### Two\n", "One|Two"},
		{"What is it?\nAnd why?\n\nHow?\n", "What is it? And why?|How?"},
		{"```\n- code\n```\n- one\n", "one"},
		{"---\n\nWhat is it?\n\n***\n", "What is it?"}, {" \n---\n", ""}, {"- ?\n- one\n", "one"}, {"\ufeff- one\n- two\n", "one|two"}, {"- [ ] one\n1. [x] two\n- [a] three\n", "one|two|[a] three"},
		{"", ""}, {"# Title alone\n", ""}, {"- a\u202eb\n", `a\u202eb`},
		{strings.Repeat("- x\n", 30), strings.TrimSuffix(strings.Repeat("x|", 10), "|")},
		{"- " + strings.Repeat("y", 1000), strings.Repeat("y", 297) + "…"},
	} {
		if got := strings.Join(report.Questions(c.prompt), "|"); got != c.want {
			t.Errorf("%q asks %q, want %q", c.prompt, got, c.want)
		}
	}
}

func TestVersions(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "reports", "shop")
	keep := func(text string) string {
		t.Helper()
		v, err := report.Keep(dir, text)
		if err != nil {
			t.Fatal(err)
		}
		before := ""
		if v.Before != "" {
			before = filepath.Base(v.Before)
		}
		return fmt.Sprintf("%d %s %s +%d -%d", v.Number, filepath.Base(v.Path), before, v.New, v.Gone)
	}
	for _, c := range []struct{ text, want string }{
		{"a\nb\n", "1 0001.md  +0 -0"}, {"a\nb\n", "1 0001.md  +0 -0"}, {"a\nc\nd\n", "2 0002.md 0001.md +2 -1"}, {"a\nc\nd\n", "2 0002.md 0001.md +2 -1"}, {"", "3 0003.md 0002.md +0 -3"},
	} {
		if got := keep(c.text); got != c.want {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
	for i := range 40 {
		keep(fmt.Sprint(i))
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 20 || entries[19].Name() != "0043.md" {
		t.Errorf("%d are kept, %v", len(entries), err)
	}
}
