package eval

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry/completion"
)

// tree is a repository of Go files with every place in them.
func tree() Repository {
	var docs []completion.Document
	for i := range 4 {
		var b strings.Builder
		fmt.Fprintf(&b, "package p%d\n\n", i)
		for j := range 8 {
			fmt.Fprintf(&b, "// step%d adds.\nfunc step%d(total int, names []string) (int, error) {\n\tif len(names) < %d {\n"+
				"\t\tlog.Println(\"too few names\", names[0])\n\t\treturn 0, errTooFew\n\t}\n\treturn total + %d, nil\n}\n\n", j, j, j, j)
		}
		docs = append(docs, completion.Document{Path: fmt.Sprintf("p%d/p.go", i), Language: "go", Text: b.String()})
	}
	return Repository{"tree", docs}
}

// Every hole leaves the text around it, stands at the place it names, and is filled
// rightly by what was taken out; a second cut gives the same.
func TestCutSuite(t *testing.T) {
	s := Source{Name: "tree", Language: "go", Half: Held}
	trees := map[Source]Repository{s: tree()}
	holes := CutSuite(trees, []Source{s})
	if again := CutSuite(trees, []Source{s}); fmt.Sprint(again) != fmt.Sprint(holes) {
		t.Error("the same trees gave other holes")
	}
	count := map[CursorKind]int{}
	for _, h := range holes {
		count[h.Kind]++
		text := h.Document.Text
		if !strings.HasSuffix(text[:h.Offset], h.Typed) || !strings.HasPrefix(text[h.Offset:], h.Closers) {
			t.Fatalf("%s: %q does not stand before the cursor, or %q behind it", h.ID, h.Typed, h.Closers)
		}
		whole := text[:h.Offset] + h.Want + text[h.Offset+len(h.Closers):]
		var original bool
		for _, d := range tree().Documents {
			original = original || d.Path == h.Document.Path && d.Text == whole
		}
		if !original {
			t.Errorf("%s: with %q in it the file is not what it was", h.ID, h.Want)
		}
		if v := h.Judge(h.Want); !v.Line || !v.Word || v.Similar != 1 || v.Repeats {
			t.Errorf("%s: what was taken out is judged %+v", h.ID, v)
		}
		if v := h.Judge(""); v != (Verdict{}) {
			t.Errorf("%s: nothing is judged %+v", h.ID, v)
		}
		before, after := h.Offset > 0 && inWord(text[h.Offset-1]), inWord(h.Want[0])
		if h.Kind == InWord && !(before && after) || h.Kind == AfterBlank && text[h.Offset-1] != ' ' || h.Kind == InBrackets && h.Closers == "" ||
			h.Kind == AtLineStart && strings.TrimSpace(h.Typed) != "" || h.Kind == AtBody && strings.Count(h.Want, "\n") == 0 {
			t.Errorf("%s: %q | %q is not %s", h.ID, h.Typed, h.Want, h.Kind)
		}
	}
	for kind, n := range quota {
		if count[kind] != n {
			t.Errorf("%d holes %s, want %d", count[kind], kind, n)
		}
	}
}

func TestJudge(t *testing.T) {
	line := TypedHole{Kind: InWord, Typed: "\treturn to", Want: "tal + n, nil"}
	body := TypedHole{Kind: AtBody, Typed: "func f() {", Want: "\n\tn := 1\n\treturn n"}
	closed := TypedHole{Kind: InBrackets, Typed: "f(na", Want: "mes)", Closers: ")"}
	for _, tt := range []struct {
		name string
		hole TypedHole
		got  string
		want Verdict
	}{
		{"spaced otherwise", line, "tal+n,nil", Verdict{Line: true, Word: true, Similar: 1, Shown: true}},
		{"the word alone", line, "tal", Verdict{Word: true, Shown: true}},
		{"a longer word", line, "tals + n, nil", Verdict{Shown: true}},
		{"the line again", line, "return total", Verdict{Repeats: true, Shown: true}},
		{"further lines", line, "tal + n, nil\n}", Verdict{Line: true, Word: true, Similar: 1, Shown: true}},
		{"a body's first line", body, "\n\tn := 1\n\treturn 0", Verdict{Line: true, Word: true, Similar: 1, Shown: true}},
		{"closed", closed, "mes)", Verdict{Line: true, Word: true, Similar: 1, Shown: true}},
		{"closed twice", closed, "mes))", Verdict{Word: true, Shown: true}},
	} {
		got := tt.hole.Judge(tt.got)
		if !tt.want.Line {
			got.Similar = 0
		}
		if got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
	if got, v := closed.judgePlain("mes"); !v.Line || got != "mes)" {
		t.Errorf("a raw answer that leaves the bracket to the editor: %q %+v", got, v)
	}
}

// scriptedModel answers with what stands for a prompt, and counts.
type scriptedModel struct {
	silent
	answer string
	asked  int
}

func (m *scriptedModel) Generate(_ context.Context, _ string, _ int, _ []string, _ int, emit func(string, float64) bool) (int, error) {
	m.asked++
	for _, r := range m.answer {
		emit(string(r), math.NaN())
	}
	return 100, nil
}

// What was answered once is not asked again, by another run either; without a
// model the prompts left are written down.
func TestAnswersAreKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "answers.jsonl")
	s := Source{Name: "tree", Language: "go", Half: Held}
	trees := map[Source]Repository{s: tree()}
	holes := CutSuite(trees, []Source{s})[:6]
	run := func(upstream completion.Generator) (*Answers, TypedReport) {
		t.Helper()
		a, err := OpenAnswers(file, "granite4:micro", 16, upstream)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		report, err := FillTyped(t.Context(), a, completion.Options{}, trees, []Source{s}, holes, nil)
		if err != nil {
			t.Fatal(err)
		}
		return a, report
	}
	a, report := run(nil)
	if len(report.Fillings) != 0 || a.Missing() == 0 {
		t.Fatalf("with no model and no answers: %d holes filled, %d prompts missing", len(report.Fillings), a.Missing())
	}
	missing := a.Missing()
	m := &scriptedModel{answer: "n"}
	a, first := run(m)
	if m.asked != missing || a.Missing() != 0 || len(first.Fillings) != len(holes) {
		t.Errorf("%d prompts asked of %d, %d holes filled", m.asked, missing, len(first.Fillings))
	}
	_, second := run(nil)
	if fmt.Sprint(second) != fmt.Sprint(first) {
		t.Errorf("from the file:\n%+v\nwant\n%+v", second, first)
	}
	for _, f := range second.Fillings {
		if f.GotPlain != "n" && f.GotPlain != "n"+f.Want[len(f.Want)-1:] {
			t.Errorf("%s: plain FIM got %q", f.ID, f.GotPlain)
		}
	}
	if a, err := OpenAnswers(t.TempDir(), "m", 1, nil); err == nil {
		a.Close()
		t.Error("a folder was opened as a file of answers")
	}
	if _, err := a.Generate(t.Context(), "another prompt", 16, nil, 0, func(string, float64) bool { return true }); err == nil || errors.Is(err, ErrNoAnswer) {
		t.Errorf("asking after Close: %v", err)
	}
}

// The plain prompt is the window and the suffix and nothing of quarry's head.
func TestPlainPrompt(t *testing.T) {
	h := TypedHole{Document: completion.Document{Text: "package p\n\nfunc f() {\n\tret\n}\n"}, Offset: len("package p\n\nfunc f() {\n\tret")}
	got := plainPrompt("<|fim_prefix|>// other.go\n// func g()\n// p.go, go, indent tabs\nfunc f() {\n\tret<|fim_suffix|>\n}\n<|fim_middle|>", &h)
	if want := "<|fim_prefix|>func f() {\n\tret<|fim_suffix|>\n}\n<|fim_middle|>"; strings.Replace(got, "<|fim_prefix|>\n", "<|fim_prefix|>", 1) != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A name counts once, for the first part of the prompt that has it; one that is half
// typed is wanted whole.
func TestNames(t *testing.T) {
	h := TypedHole{
		Document: completion.Document{Text: "package p\n\nfunc f(n int) {\n\tread\n}\n"}, Offset: len("package p\n\nfunc f(n int) {\n\tread"),
		Typed: "\tread", Want: "All(path, flags, nothing, n)", Source: Source{Half: Fit},
	}
	var r TypedReport
	r.count("<|fim_prefix|>// other.go\n// func readAll(flags int)\n// func readAll(flags int)\n// p.go, go, indent tabs\nimport \"path\"\nfunc f(n int) {\n\tread<|fim_suffix|>\n}\n<|fim_middle|>", &h)
	if want := (Names{Holes: "fit", Wanted: 4, Lead: 1, Head: 2, HeadBytes: 91, Repeated: 27}); len(r.Names) != 1 || r.Names[0] != want {
		t.Errorf("%+v, want %+v", r.Names, want)
	}
}

func TestMcNemar(t *testing.T) {
	for _, tt := range []struct {
		a, b int
		want float64
	}{{0, 0, 1}, {3, 3, 1}, {6, 0, 0.03125}, {25, 1, 8.046e-7}, {10, 2, 0.03857}} {
		if got := mcNemar(tt.a, tt.b); math.Abs(got-tt.want) > 1e-3*tt.want {
			t.Errorf("%d : %d gives %g, want %g", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestWilson(t *testing.T) {
	for _, tt := range []struct {
		k, n     int
		from, to float64
	}{{46, 72, 0.523, 0.741}, {0, 10, 0, 0.278}, {10, 10, 0.722, 1}, {0, 0, 0, 1}} {
		if got := Wilson(tt.k, tt.n); math.Abs(got[0]-tt.from) > 1e-3 || math.Abs(got[1]-tt.to) > 1e-3 {
			t.Errorf("%d of %d: %v, want %v to %v", tt.k, tt.n, got, tt.from, tt.to)
		}
	}
}

// The gate speaks where a kind of place is worse on held-out holes, and of nothing
// else.
func TestWorse(t *testing.T) {
	report := func(f ...Filling) string {
		r := TypedReport{Fillings: f}
		r.sumUp()
		return r.Worse()
	}
	alike := slices.Repeat([]Filling{{Half: Held, Kind: AtLineStart}}, enoughHeld)
	worse := func(f ...Filling) string { return report(append(f, alike...)...) }
	if got := report(alike[1:]...); !strings.Contains(got, "only 31 of them are answered") {
		t.Errorf("too few answers, and the gate says %q", got)
	}
	right, wrong := Verdict{Line: true, Word: true, Shown: true}, Verdict{Shown: true}
	if got := worse(Filling{Half: Held, Kind: InWord, Ours: right, Plain: wrong}); got != "" {
		t.Errorf("better, and the gate says %q", got)
	}
	if got := worse(Filling{Half: Fit, Kind: InWord, Ours: wrong, Plain: right}); got != "" {
		t.Errorf("worse where constants are fitted, and the gate says %q", got)
	}
	if got := worse(Filling{Half: Held, Kind: InWord, Ours: wrong, Plain: right}, Filling{Half: Held, Kind: AtBody, Ours: right}); !strings.Contains(got, "inside a word: 0 lines, plain FIM has 1") {
		t.Errorf("worse inside words, and the gate says %q", got)
	}
	if got := worse(Filling{Half: Held, Kind: InWord, Ours: Verdict{Line: true, Word: true, Repeats: true}, Plain: wrong}); !strings.Contains(got, "written again") {
		t.Errorf("typed text is repeated, and the gate says %q", got)
	}
}

// A family whose prompts cannot be taken apart is refused before anything is asked.
func TestKnowsTags(t *testing.T) {
	for model, want := range map[string]bool{"granite4:micro": true, "qwen2.5-coder:1.5b": true, "starcoder2:3b": false, "codestral": false} {
		if got := KnowsTags(completion.Choice{}.Families(model)[0].Tags); got != want {
			t.Errorf("%s: %v, want %v", model, got, want)
		}
	}
}
