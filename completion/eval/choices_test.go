package eval

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry/completion"
)

// choosing is a run of one choice over a tree, with its answers in file.
func choosing(t *testing.T, file string, asking Asking, upstream completion.Generator, tree Repository, holes []TypedHole) TypedReport {
	t.Helper()
	a, err := OpenAnswers(file, "qwen2.5-coder", 16, upstream)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	report, err := FillTyped(t.Context(), a, asking, completion.Options{}, map[Source]Repository{holes[0].Source: tree}, []Source{holes[0].Source}, holes, nil)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// layered is a tree whose prompts have each part: imports before a cut window, code of
// other files, members of a type, and the document's own lines behind the suffix.
func layered() (Repository, []TypedHole) {
	var b strings.Builder
	b.WriteString("import express\nimport helpers\n\n")
	for i := range 300 {
		fmt.Fprintf(&b, "def handle_%d(request, count_of_things):\n    return process(request, count_of_things + %d)\n\n", i, i)
	}
	docs := []completion.Document{
		{Root: "/layered", Path: "app.py", Language: "python", Text: b.String()},
		{Root: "/layered", Path: "helpers.py", Language: "python", Text: "class Helper:\n    def process(self, request, count):\n        return request\n\n    def prepare(self, request):\n        return self\n\n\ndef process(request, count_of_things):\n    return request\n"},
	}
	s := Source{Name: "layered", Language: "python", Half: Held}
	typed := "    return pro"
	at := strings.Index(b.String(), "def handle_200") + strings.Index(b.String()[strings.Index(b.String(), "def handle_200"):], "\n") + 1 + len(typed)
	want := "cess(request, count_of_things + 200)"
	h := TypedHole{ID: "h", Source: s, Kind: InWord, Document: docs[0], Offset: at, Typed: typed, Want: want}
	h.Document.Text = b.String()[:at] + b.String()[at+len(want):]
	return Repository{"layered", docs}, []TypedHole{h}
}

// Each choice asks the prompt it says, and the usual one is asked where nothing is chosen.
func TestChoices(t *testing.T) {
	repo, holes := layered()
	prompt := func(c Choice) string {
		m := &scriptedModel{answer: "cess(request)\n"}
		choosing(t, filepath.Join(t.TempDir(), "answers"), Asking{Choice: c}, m, repo, holes)
		if want := map[bool]int{false: 2, true: 3}[c.Healing]; len(m.prompts) != want || !slices.ContainsFunc(m.prompts, func(p string) bool { return !strings.Contains(p, "indent") }) {
			t.Fatalf("%s: asked %d prompts", c, len(m.prompts))
		}
		return m.prompts[0] // plain FIM's comes behind it
	}
	usual := prompt(Choice{Form: FormComments})
	const other, own, lead, style = "# helpers.py\n", "def handle_205", "import express\n", "# app.py, python, indent 4 spaces\n"
	for _, part := range []string{other, own, lead, style} {
		if !strings.Contains(usual, part) {
			t.Fatalf("the usual prompt lacks %q:\n%s", part, usual)
		}
	}
	for _, tt := range []struct {
		choice Choice
		lacks  []string
		has    []string
	}{
		{Choice{Form: FormNone}, []string{other}, []string{own, lead, style}},
		{Choice{NoHead: true}, []string{other, style}, []string{lead}},
		{Choice{NoHeader: true}, []string{style}, []string{other, lead}},
		{Choice{NoImports: true}, []string{lead}, []string{other, style}},
		{Choice{Form: FormFamily}, []string{other, style}, []string{"<|repo_name|>layered\n<|file_sep|>", "<|file_sep|>helpers.py\nclass Helper:\n    def process(", "<|file_sep|>app.py\n<|fim_prefix|>" + lead}},
		{Choice{Healing: true}, []string{"return pro<|fim_suffix|>"}, []string{other, "    return<|fim_suffix|>"}},
	} {
		got := prompt(tt.choice)
		for _, part := range tt.lacks {
			if strings.Contains(got, part) {
				t.Errorf("%s: has %q:\n%s", tt.choice, part, got)
			}
		}
		for _, part := range tt.has {
			if !strings.Contains(got, part) {
				t.Errorf("%s: lacks %q:\n%s", tt.choice, part, got)
			}
		}
		if tt.choice.usual() || tt.choice.String() == "" {
			t.Errorf("%+v is the usual prompt", tt.choice)
		}
	}
	outline := prompt(Choice{NoOutline: true})
	if n, all := strings.Count(outline, "def handle_"), strings.Count(usual, "def handle_"); n >= all || !strings.Contains(outline, other) {
		t.Errorf("without the outline %d lines of %d are there:\n%s", n, all, outline)
	}
	if !(Choice{NoEdits: true}).usual() || (Choice{NoEdits: true, Form: FormFamily}).usual() {
		t.Error("without the last edits alone the prompt is made as a server's, in another form it is not")
	}
}

// What a choice leaves of a head is written as completion writes it.
func TestAsComments(t *testing.T) {
	repo, holes := layered()
	h := holes[0]
	a, err := OpenAnswers(filepath.Join(t.TempDir(), "answers"), "qwen2.5-coder", 16, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	v, err := read(repo, 0)
	if err != nil {
		t.Fatal(err)
	}
	e := completion.New(a, completion.Options{Debounce: -1, Context: unhurried{v.source}})
	defer e.Close()
	res, err := h.complete(t.Context(), a, e, Choice{}, true)
	if err != nil {
		t.Fatal(err)
	}
	p := promptParts(a.lastPrompt(), &h)
	style := p.head[strings.LastIndexByte(strings.TrimSuffix(p.head, "\n"), '\n')+1:]
	sign, unit := styleOf(style)
	if got := asComments(res.Prompt.Snippets, sign, unit) + style; len(res.Prompt.Snippets) < 3 || got != p.head {
		t.Errorf("of %d snippets\n%s\nwant\n%s", len(res.Prompt.Snippets), got, p.head)
	}
}

// byPrompt answers with what the prompt ends in.
type byPrompt struct {
	silent
	answers map[string]string // by what the prefix ends with
	asked   int
}

func (m *byPrompt) Generate(_ context.Context, prompt string, _ int, _ []string, _ int, emit func(string, float64) bool) (int, error) {
	m.asked++
	before, _, _ := strings.Cut(prompt, suffix)
	for end, answer := range m.answers {
		if strings.HasSuffix(before, end) {
			for _, r := range answer {
				if !emit(string(r), math.NaN()) {
					break
				}
			}
		}
	}
	return 100, nil
}

// Healing takes an answer that begins with what was cut, and asks the usual prompt where it
// does not; both are kept, with the choice.
func TestHealing(t *testing.T) {
	repo, holes := layered()
	for _, tt := range []struct {
		name, healed, usual string
		got                 string
		is                  bool
		asked               int
	}{
		{"agrees", " process(request, count_of_things + 200)\n", "x\n", "cess(request, count_of_things + 200)", true, 2},
		{"disagrees", " print(request)\n", "cess(request)\n", "cess(request)", false, 3},
		{"ends too early", " pr", "cess(request)\n", "cess(request)", false, 3},
	} {
		file := filepath.Join(t.TempDir(), "answers")
		m := &byPrompt{answers: map[string]string{"return": tt.healed, "return pro": tt.usual}}
		asking := Asking{Choice: Choice{Healing: true}}
		report := choosing(t, file, asking, m, repo, holes)
		if f := report.Fillings[0]; f.Got != tt.got || f.Healed != tt.is || m.asked != tt.asked {
			t.Errorf("%s: got %q, healed %v, asked %d", tt.name, f.Got, f.Healed, m.asked)
		}
		if again := choosing(t, file, asking, nil, repo, holes); fmt.Sprint(again) != fmt.Sprint(report) {
			t.Errorf("%s: from the file\n%+v\nwant\n%+v", tt.name, again, report)
		}
		if kept, err := os.ReadFile(file); err != nil || !strings.Contains(string(kept), `"choice":"healing"`) {
			t.Errorf("%s: kept %s, %v", tt.name, kept, err)
		}
	}
	for _, tt := range []struct{ window, tail string }{
		{"x = resu", " resu"}, {"\tfoo(", "("}, {"\t", "\t"}, {"a := ", " "}, {"a +=", " +="}, {"x\n", ""}, {"return ", " "},
	} {
		if got := unsafeTail.FindString(tt.window); got != tt.tail {
			t.Errorf("of %q %q is cut, want %q", tt.window, got, tt.tail)
		}
	}
}

// Beside a choice stands quarry's usual prompt, whose answers an earlier run has kept.
func TestBeside(t *testing.T) {
	repo, holes := layered()
	file := filepath.Join(t.TempDir(), "answers")
	m := &byPrompt{answers: map[string]string{"return pro": "cess(request, count_of_things + 200)\n"}}
	choosing(t, file, Asking{}, m, repo, holes)
	before := m.asked
	report := choosing(t, file, Asking{Choice: Choice{NoHead: true}, Beside: true}, m, repo, holes)
	if m.asked != before+1 || report.Beside != Usual || report.Choice != "no head" || len(report.Fillings) != 1 || !report.Fillings[0].Plain.Line {
		t.Errorf("asked %d prompts more: %+v", m.asked-before, report)
	}
	if text := report.String(); !strings.Contains(text, "the figure of quarry (no head) before that of quarry's usual prompt.") {
		t.Error(text)
	}
}

// In the last change of a file the prompt has what the earlier ones left, unless that is
// chosen otherwise.
func TestLastHunks(t *testing.T) {
	before, after := repetitive(), repetitive()
	d := &after.Documents[0]
	lines := strings.SplitAfter(d.Text, "\n")
	const early, late = "var retries = countRetries(settings, limits)\n", "\tretries = countRetries(other, limits, settings)\n"
	const last = "\tretries = countRetries(nothing, limits, settings)\n"
	lines = slices.Insert(lines, len(lines)-2, last)
	lines = slices.Insert(lines, len(lines)-7, late)
	lines = slices.Insert(lines, 4, early)
	d.Text = strings.Join(lines, "")
	holes := LastHunks(before, after)
	if len(holes) != 2 {
		t.Fatalf("%d holes", len(holes))
	}
	if h := holes[0]; len(h.Before) != 2 || strings.Contains(h.Document.Text, last) || strings.Contains(h.Before[1], late) {
		t.Errorf("the second change of three: %d states before, %q", len(h.Before), h.Document.Text)
	}
	holes = holes[1:]
	h := holes[0]
	if whole := h.Document.Text[:h.Offset] + h.Want + h.Document.Text[h.Offset:]; whole != d.Text {
		t.Errorf("with %q in it the file is not as it came out:\n%s", h.Want, whole)
	}
	if len(h.Before) != 3 || h.Before[0] != before.Documents[0].Text || !strings.Contains(h.Before[1], early) || strings.Contains(h.Before[1], late) || !strings.Contains(h.Before[2], late) || strings.Contains(h.Before[2], last) {
		t.Errorf("%d states before: %q", len(h.Before), h.Before)
	}
	for _, c := range []Choice{{}, {NoEdits: true}} {
		m := &scriptedModel{answer: h.Want + "\n"}
		report := choosing(t, filepath.Join(t.TempDir(), "answers"), Asking{Choice: c}, m, before, holes)
		shown := slices.ContainsFunc(m.prompts, func(p string) bool {
			head, _, _ := strings.Cut(p, "indent")
			return strings.Contains(head, "// "+early)
		})
		if len(report.Fillings) != 1 || shown == c.NoEdits {
			t.Errorf("%q: the earlier change stands in the head: %v, %+v\n%q", c, shown, report.Fillings, m.prompts)
		}
	}
	if list := LastHunks(before, before); len(list) != 0 {
		t.Errorf("nothing changed, and there are %d holes", len(list))
	}
}
