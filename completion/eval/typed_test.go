package eval

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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
		if v := h.Judge(""); v != (Verdict{}) && h.Kind != AtLineEnd || v.Line != (h.Kind == AtLineEnd) {
			t.Errorf("%s: nothing is judged %+v", h.ID, v)
		}
		before, after := h.Offset > 0 && inWord(text[h.Offset-1]), inWord(h.Want[0])
		blankBefore, blankBehind := text[h.Offset-1] == ' ', h.Want[0] == ' '
		if h.Kind == InWord && !(before && after) || h.Kind == WordEnd && !(before && !after && h.Want[0] != '\n') || h.Kind == AfterBlank && !blankBefore ||
			h.Kind == AfterPunctuation && (before || blankBefore || blankBehind) || h.Kind == BeforeBlank && (before || !blankBehind) || h.Kind == InBrackets && h.Closers == "" ||
			h.Kind == AtLineEnd && strings.Count(h.Want, "\n") != 1 || h.Kind == AtLineStart && strings.TrimSpace(h.Typed) != "" || h.Kind == AtBody && strings.Count(h.Want, "\n") == 0 {
			t.Errorf("%s: %q | %q is not %s", h.ID, h.Typed, h.Want, h.Kind)
		}
	}
	for kind, n := range quota {
		if count[kind] != n {
			t.Errorf("%d holes %s, want %d", count[kind], kind, n)
		}
	}
}

// Holes of trees with long names differ, as those of others do: no two are on one line.
func TestNoTwoEqualHoles(t *testing.T) {
	name := strings.Repeat("a-long-name-", 8)
	sources := []Source{{Name: name + "one", Language: "go", Half: Held}, {Name: name + "two", Language: "go", Half: Fit}}
	trees := map[Source]Repository{}
	for _, s := range sources {
		r := tree()
		for i := range r.Documents {
			r.Documents[i].Root = "/" + s.Name
		}
		trees[s] = r
	}
	at := map[string]string{}
	for _, h := range CutSuite(trees, sources) {
		line := fmt.Sprint(h.Document.Root, h.Document.Path, strings.Count(h.Document.Text[:h.Offset-len(h.Typed)], "\n"), h.Document.Text[:h.Offset-len(h.Typed)])
		if at[line] != "" {
			t.Errorf("%s and %s are in the same line", at[line], h.ID)
		}
		at[line] = h.ID
	}
	one := strings.Repeat("x", 40)
	if seedOf(one+"0") == seedOf(one+"1") {
		t.Error("ids that differ at their ends have the same seed")
	}
	taken := map[string]bool{}
	for range 20 {
		h, ok := cutTyped(trees[sources[0]], sources[0], InWord, "the same id", taken)
		line := fmt.Sprint(h.Document.Path, h.Offset-len(h.Typed))
		if !ok || at[line] != "" {
			t.Errorf("the same id gave %q again", line)
		}
		at[line] = h.ID
	}
}

// Each position of a line is of one kind; a suite's holes are at them as the quota says.
func TestPlaces(t *testing.T) {
	line := "\tx = f(ab, c)"
	var got []string
	for at := 2; at <= len(line); at++ {
		got = append(got, string(kindAt(line, at)))
	}
	want := []CursorKind{WordEnd, AfterBlank, BeforeBlank, AfterBlank, WordEnd, AfterPunctuation, InWord, WordEnd, BeforeBlank, AfterBlank, WordEnd, AtLineEnd}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q, want %q", got, want)
	}
	if kind := kindAt("a  b", 2); kind != "" {
		t.Errorf("between blanks: %q", kind)
	}
	s := Source{Name: "tree", Language: "go", Half: Held}
	trees := map[Source]Repository{s: tree()}
	holes := CutSuite(trees, []Source{s})
	all, lines := 0, 0
	for _, p := range Places(trees, []Source{s}, holes) {
		if p.Holes != quota[p.Kind] || p.Positions == 0 {
			t.Errorf("%+v, and the quota is %d", p, quota[p.Kind])
		}
		all += p.Holes
	}
	for _, d := range tree().Documents {
		for line := range strings.Lines(d.Text) {
			if isCode(strings.TrimSpace(line)) {
				lines++
			}
		}
	}
	if p := Places(trees, []Source{s}, holes); p[5].Kind != AtLineEnd || p[5].Positions != lines {
		t.Errorf("%+v in %d lines", p, lines)
	}
	if share := float64(quota[InWord]) / float64(all); share < 0.63 || share > 0.65 {
		t.Errorf("%.3f of the positions are inside a word, and 64 %% are in the issue", share)
	}
}

// Every beginning of the order has each language and kind of place in its share; the order
// within them is by chance and always the same.
func TestOrder(t *testing.T) {
	var holes []TypedHole
	for i := range 400 {
		kind := InWord
		if i%4 == 0 {
			kind = WordEnd
		}
		holes = append(holes, TypedHole{ID: fmt.Sprint(i), Kind: kind, Source: Source{Name: fmt.Sprint(i % 2), Language: []string{"go", "rust"}[i/200], Half: Held}})
	}
	order := Order(holes)
	if fmt.Sprint(Order(holes)) != fmt.Sprint(order) || len(order) != len(holes) {
		t.Fatal("the order is another each time, or loses holes")
	}
	var ids []int // of one kind and language
	for _, h := range order {
		if id, err := strconv.Atoi(h.ID); err == nil && h.Kind == InWord && h.Source.Language == "go" {
			ids = append(ids, id)
		}
	}
	if slices.IsSorted(ids) {
		t.Error("the holes of one kind and language are in the order that they were cut in")
	}
	for _, n := range []int{25, 50, 107, 200, 400} {
		count := map[string]int{}
		for _, h := range order[:n] {
			count[h.Source.Language]++
			count[string(h.Kind)]++
			count[h.Source.Name]++
		}
		for name, share := range map[string]float64{"go": 0.5, "rust": 0.5, string(WordEnd): 0.25, string(InWord): 0.75} {
			if got := float64(count[name]); math.Abs(got-share*float64(n)) > 2 {
				t.Errorf("of the first %d %v are %s", n, got, name)
			}
		}
		// One of two trees by turns is not by chance: the shares differ, but not much.
		if got := count["0"]; got < n/4 || got > 3*n/4 && n < 400 {
			t.Errorf("of the first %d %d are of one of two trees", n, got)
		}
	}
}

// Kinds that few holes have do not come first.
func TestOrderOfRareKinds(t *testing.T) {
	var holes []TypedHole
	for _, language := range []string{"c", "cpp", "go", "java", "javascript", "python", "rust", "typescript"} {
		for _, kind := range CursorKinds {
			for range quota[kind] {
				holes = append(holes, TypedHole{Kind: kind, Source: Source{Language: language, Half: Held}})
			}
		}
	}
	words := 0
	for _, h := range Order(holes)[:len(holes)/8] {
		if h.Kind == InWord {
			words++
		}
	}
	if words < 16 || words > 26 {
		t.Errorf("%d of the first 40 are inside a word, and 21 of 40 are", words)
	}
}

// What a compiler made of the tree's own sources is not loaded, and a file with half of the
// lines of another is a copy of it.
func TestCopies(t *testing.T) {
	text := func(lines ...string) string { return strings.Join(lines, "\n") + "\n" }
	docs := []completion.Document{
		{Path: "src/v3/a.ts", Language: "typescript", Text: text("const first = one(1)", "const second = two(2)", "}")},
		{Path: "src/v4/a.ts", Language: "typescript", Text: text("  const first = one(1)", "const another = three(3)", "const fourth = four(4)")},
		{Path: "src/b.ts", Language: "typescript", Text: text("const fifth = five(5)", "}")},
		{Path: "v3/a.js", Language: "javascript", Text: text("const first = one(1)")},
		{Path: "own.js", Language: "javascript", Text: text("module.exports = own")},
	}
	got := withoutCompiled(docs)
	if len(got) != 4 || got[3].Path != "own.js" {
		t.Errorf("%v", got)
	}
	lines := linesOf(got)
	if c := lines.copies("src/v3/a.ts"); fmt.Sprint(c) != "[src/v4/a.ts]" {
		t.Errorf("copies of v3: %v", c)
	}
	if c := lines.copies("src/v4/a.ts"); len(c) != 0 {
		t.Errorf("a third of the lines is a copy: %v", c)
	}
}

// A suite has the sources of its trees without what was compiled of them.
func TestLoadSuite(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"suite.json": `[{"name": "r", "language": "typescript", "half": "held"}]`, "r/src/a.ts": "export {}\n", "r/build/a.js": "export {}\n", "r/own.js": "export {}\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	trees, sources, err := LoadSuite(filepath.Join(dir, "suite.json"), dir)
	if err != nil || len(sources) != 1 {
		t.Fatalf("%v, %v", sources, err)
	}
	var paths []string
	for _, d := range trees[sources[0]].Documents {
		paths = append(paths, d.Root+"/"+d.Path)
	}
	if fmt.Sprint(paths) != "[/r/own.js /r/src/a.ts]" {
		t.Errorf("%v", paths)
	}
}

// What a prompt can be told of a hole's file is the file with the hole, and of one that is
// taken away nothing.
func TestSurveyIsWritten(t *testing.T) {
	d := tree().Documents[0]
	v, err := read(tree(), 0)
	if err != nil {
		t.Fatal(err)
	}
	d.Text = "package p0\n\nfunc other() {}\n"
	if err := v.write(d); err != nil {
		t.Fatal(err)
	}
	if text, err := v.texts.Text(d.Path); err != nil || text != d.Text {
		t.Errorf("%q, %v", text, err)
	}
	v.remove(d)
	if text, err := v.texts.Text(d.Path); err == nil {
		t.Errorf("a file that is away says %q", text)
	}
	for _, f := range v.index.Current().Paths() {
		if f == d.Path {
			t.Error("a file that is away is found")
		}
	}
}

// Plain FIM writes all of a body, and nothing behind it counts.
func TestPlainBody(t *testing.T) {
	s := Source{Name: "tree", Language: "go", Half: Held}
	trees := map[Source]Repository{s: tree()}
	var holes []TypedHole
	for _, h := range CutSuite(trees, []Source{s}) {
		if h.Kind == AtBody && strings.Count(strings.TrimSpace(h.Want), "\n") > 0 {
			holes = append(holes, h)
		}
	}
	if len(holes) == 0 {
		t.Fatal("no body of several lines")
	}
	for _, h := range holes {
		a, err := OpenAnswers(filepath.Join(t.TempDir(), "answers"), "qwen2.5-coder", 200, &scriptedModel{answer: h.Want + "\n}\n\nfunc more() {\n"})
		if err != nil {
			t.Fatal(err)
		}
		report, err := FillTyped(t.Context(), a, Asking{}, completion.Options{}, trees, []Source{s}, []TypedHole{h}, nil)
		if err != nil || len(report.Fillings) != 1 {
			t.Fatalf("%+v, %v", report, err)
		}
		if f := report.Fillings[0]; f.GotPlain != h.Want || !f.Plain.Line || !f.Ours.Line || f.Plain.Right != len(fullLines(h.Want)) {
			t.Errorf("%s: wanted %q, got %q %+v and %q %+v", h.ID, h.Want, f.GotPlain, f.Plain, f.Got, f.Ours)
		}
		a.Close()
	}
}

// What a model that knows every hole writes is right by both ways.
func TestKnowing(t *testing.T) {
	s := Source{Name: "tree", Language: "go", Half: Held}
	trees := map[Source]Repository{s: tree()}
	holes := CutSuite(trees, []Source{s})
	a, err := OpenAnswers(filepath.Join(t.TempDir(), "answers"), "qwen2.5-coder", 128, NewKnowing("qwen2.5-coder", holes))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	report, err := FillTyped(t.Context(), a, Asking{}, completion.Options{}, trees, []Source{s}, holes, nil)
	if err != nil {
		t.Fatal(err)
	}
	if row := report.Rows[0]; row.Line.Holes != len(holes) || row.Line.Plain != len(holes) || row.Line.Ours != len(holes) || row.Repeats+row.RepeatsPlain > 0 {
		t.Errorf("%+v", row)
		for _, f := range report.Fillings {
			if !f.Ours.Line || !f.Plain.Line {
				t.Error(f)
			}
		}
	}
	if lost := report.TooManyLost(); lost != "" {
		t.Error(lost)
	}
	for i := range mostLost + 1 {
		report.Fillings[i].Ours.Line = false
	}
	want := fmt.Sprintf("3 of %d right answers are lost, and 2 may be", len(holes))
	if got := report.TooManyLost(); got != want || len(report.Lost()) != mostLost+1 {
		t.Errorf("%q, want %q; %d are lost", got, want, len(report.Lost()))
	}
	// What plain FIM has not either is no loss.
	report.Fillings[0].Plain.Line = false
	if got := report.TooManyLost(); got != "" {
		t.Error(got)
	}
}

// A body is the whole block, blank lines and all.
func TestBodyBelow(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"f() {\n\ta()\n\n\tb()\n}\n", "\n\ta()\n\n\tb()"},
		{"def f():\n    a()\n    b()\n\n\ndef g():\n", "\n    a()\n    b()"},
		{"f() {\n\ta()\n}\n", ""},
		{"f() {\n" + strings.Repeat("\ta()\n", 9) + "}\n", ""},
		{"f() {\n" + strings.Repeat("\ta()\n\n", 9) + "}\n", ""},
		{"f() {\n\t// a\n\tb()\n}\n", ""},
		{"f()\n\ta()\n\tb()\n", ""},
	} {
		if got := bodyBelow(strings.SplitAfter(tt.text, "\n")); got != tt.want {
			t.Errorf("below %q: %q, want %q", tt.text, got, tt.want)
		}
	}
}

// No prompt shows the copy of a hole's file, and the hole's own file is read as it is
// typed; where a line stands elsewhere the report says so.
func TestCopiesStayOut(t *testing.T) {
	file := func(n int) string {
		var b strings.Builder
		fmt.Fprintf(&b, "package p%d\n\n", n)
		for i := range 12 {
			fmt.Fprintf(&b, "func handle%d(request string) error {\n\treturn process%d(request)\n}\n\n", i, i)
		}
		return b.String()
	}
	docs := []completion.Document{
		{Root: "/r", Path: "v3/a.go", Language: "go", Text: file(3)}, {Root: "/r", Path: "v4/a.go", Language: "go", Text: file(4)},
		{Root: "/r", Path: "other/o.go", Language: "go", Text: "package other\n\nfunc other() {\n\treturn process7(request)\n}\n"},
	}
	s := Source{Name: "r", Language: "go", Half: Held}
	trees := map[Source]Repository{s: {"r", docs}}
	at := strings.Index(docs[0].Text, "cess7(")
	h := TypedHole{ID: "h", Source: s, Kind: InWord, Offset: at, Typed: "\treturn pro", Want: "cess7(request)", Document: docs[0]}
	h.Document.Text = docs[0].Text[:at] + docs[0].Text[at+len(h.Want):]
	asked := &scriptedModel{answer: h.Want + "\n"}
	a, err := OpenAnswers(filepath.Join(t.TempDir(), "answers"), "qwen2.5-coder", 16, asked)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	report, err := FillTyped(t.Context(), a, Asking{}, completion.Options{}, trees, []Source{s}, []TypedHole{h}, nil)
	if err != nil || len(report.Fillings) != 1 {
		t.Fatalf("%+v, %v", report, err)
	}
	if f := report.Fillings[0]; !f.InTree || !f.Ours.Line || !f.Plain.Line {
		t.Errorf("%+v", f)
	}
	for _, prompt := range asked.prompts {
		if strings.Contains(prompt, "v4/a.go") {
			t.Errorf("the copy is shown:\n%s", prompt)
		}
	}
	if want := (Stands{Half: Held, Holes: 1, Tree: 1, Copies: 1}); len(report.Stands) != 1 || (report.Stands[0] != want && report.Stands[0] != Stands{Half: Held, Holes: 1, Tree: 1, Head: 1, Copies: 1}) {
		t.Errorf("%+v, want %+v", report.Stands, want)
	}
}

func TestRepeats(t *testing.T) {
	for _, tt := range []struct {
		typed, got, want string
		repeats          bool
	}{
		{"x := resu", "ult", "lt", true},
		{"x = ge", "get_user_name(x)", "t_user_name(x)", true},
		{"x = ge", "get_other(x)", "t_user_name(x)", true},
		{"x = 0x", "0xFF", "FF", true},
		{"x = 12", "123", "3", true},
		{"\tawait ", "await foo()", "foo()", true},
		{"\tawait ", "await bar()", "foo()", true},
		{"x = new ", "new Map()", "Map()", true},
		{"// ", "// Add it", "Add it", true},
		{"// ", "// Remove them", "Add it", true},
		{"#", "# Add it", " Add it", true},
		{"# ", "# Remove them", "Add it", true},
		{"// Add ", "Add the endpoint", "the endpoint", true},
		{"\treturn to", "return total", "tal", true},
		{"from starlette imp", "from starlette import x", "ort x", true},
		{"strings.Repl", "strings.ReplaceAll(a, b)", "aceAll(a, b)", true},
		{"    x = get_us", "\n    x = get_user_name(x)", "er_name(x)", true},
		{"x = resu", "lt", "lt", false},
		{"x = resu", "mption", "lt", false},
		{"a.", "a.b", "a.b", false},
		{"f(", "(a)", "a)", true},
		{"f(", "(a + b)", "c)", false},
		{"for x in ", "int(y)", "range(y)", false},
		{"x, ", "x", "y", false},
		{"\tcall()", "\n\tcall()", "\n\tcall()", false},
		{"\t", "x", "y", false},
	} {
		if got := repeats(tt.typed, tt.got, tt.want); got != tt.repeats {
			t.Errorf("%q | %q, wanted %q: %v", tt.typed, tt.got, tt.want, got)
		}
	}
}

// scriptedModel answers with what stands for a prompt, and counts.
type scriptedModel struct {
	silent
	answer  string
	asked   int
	prompts []string
}

func (m *scriptedModel) Generate(_ context.Context, prompt string, _ int, _ []string, _ int, emit func(string, float64) bool) (int, error) {
	m.asked++
	m.prompts = append(m.prompts, prompt)
	for _, r := range m.answer {
		if !emit(string(r), math.NaN()) {
			break
		}
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
		a, err := OpenAnswers(file, "granite4.1:3b", 16, upstream)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		report, err := FillTyped(t.Context(), a, Asking{}, completion.Options{}, trees, []Source{s}, holes, nil)
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

// An answer that was cut where nobody wanted more serves whom wants no more, and is asked
// anew for whom does.
func TestCutAnswers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "answers.jsonl")
	m := &scriptedModel{answer: "a\nb\nc\n"}
	ask := func(upstream completion.Generator, until string) (string, error) {
		a, err := OpenAnswers(file, "m", 16, upstream)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		got := ""
		_, err = a.Generate(t.Context(), "prompt", 16, nil, 0, func(piece string, _ float64) bool {
			got += piece
			return until == "" || !strings.HasSuffix(got, until)
		})
		return got, err
	}
	for i, tt := range []struct {
		upstream completion.Generator
		until    string
		want     string
		asked    int
	}{{m, "\n", "a\n", 1}, {nil, "\n", "a\n", 1}, {m, "b", "a\nb", 2}, {nil, "\nb", "a\nb", 2}, {m, "", "a\nb\nc\n", 3}, {nil, "", "a\nb\nc\n", 3}} {
		if got, err := ask(tt.upstream, tt.until); got != tt.want || err != nil || m.asked != tt.asked {
			t.Errorf("%d: %q after %d askings, %v", i, got, m.asked, err)
		}
	}
	if _, err := ask(nil, ""); err != nil {
		t.Errorf("an answer that ended: %v", err)
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

// The prompt of a peer is what stands around the cursor, in characters; behind the cursor, it has
// what the text before it leaves.
func TestAroundPrompt(t *testing.T) {
	const before, after = "// äöü\nfunc f() {\n\tret", "\n}\n\n// größer\nfunc g() {}\n"
	h := TypedHole{Document: completion.Document{Text: before + after}, Offset: len(before)}
	for characters, want := range map[int]string{
		8:    "<|fim_prefix|>\tret<|fim_suffix|>\n}\n\n<|fim_middle|>",
		60:   "<|fim_prefix|>" + before + "<|fim_suffix|>" + after + "<|fim_middle|>",
		44:   "<|fim_prefix|>" + before + "<|fim_suffix|>\n}\n\n// größer\nfunc g()<|fim_middle|>",
		8000: "<|fim_prefix|>" + before + "<|fim_suffix|>" + after + "<|fim_middle|>",
	} {
		if got := aroundPrompt(characters, &h); got != want {
			t.Errorf("%d characters: %q, want %q", characters, got, want)
		}
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
	inHead := r.count("<|fim_prefix|>// other.go\n// func readAll(flags int)\n// func readAll(flags int)\n// p.go, go, indent tabs\nimport \"path\"\nfunc f(n int) {\n\tread<|fim_suffix|>\n}\n<|fim_middle|>", &h, true, false)
	if !inHead == (r.Stands[0] == Stands{Half: Fit, Holes: 1, Tree: 1, Head: 1}) {
		t.Errorf("in the head: %v, %+v", inHead, r.Stands)
	}
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
	if got := report(alike[1:]...); !strings.Contains(got, "only 239 of them are answered") {
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
	if got := worse(Filling{Half: Held, Kind: BeforeBlank, Ours: wrong, Plain: right}); !strings.Contains(got, string(BeforeBlank)+": 0 lines") {
		t.Errorf("worse behind a sign and before a blank, and the gate says %q", got)
	}
	if got := worse(Filling{Half: Held, Kind: InWord, Ours: Verdict{Line: true, Word: true, Repeats: true}, Plain: wrong}); !strings.Contains(got, "written again") {
		t.Errorf("typed text is repeated, and the gate says %q", got)
	}
}

// A family whose prompts cannot be taken apart is refused before anything is asked.
func TestKnowsTags(t *testing.T) {
	for model, want := range map[string]bool{"granite4.1:3b": true, "qwen2.5-coder:1.5b": true, "starcoder2:3b": false, "codestral": false} {
		if got := KnowsTags(completion.Choice{}.Families(model)[0].Tags); got != want {
			t.Errorf("%s: %v, want %v", model, got, want)
		}
	}
}
