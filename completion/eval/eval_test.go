package eval

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/completion"
	"quarry/completion/crossfile"
)

// repetitive is a repository in which every other line was there before.
func repetitive() Repository {
	step := "\tif err := run(ctx, name); err != nil {\n\t\treturn fmt.Errorf(\"run %s: %w\", name, err)\n\t}\n"
	file := func(name string) completion.Document {
		return completion.Document{Path: name, Language: "go", Text: "package p\n\nfunc f() error {\n" + strings.Repeat(step, 10) + "}\n"}
	}
	return Repository{"repetitive", []completion.Document{file("a.go"), file("b.go"), file("c.go")}}
}

func TestHolesFitTheirFiles(t *testing.T) {
	r := repetitive()
	holes := Holes(r, 50, rand.New(rand.NewPCG(1, 0)))
	if len(holes) != 50 {
		t.Fatalf("%d holes", len(holes))
	}
	for _, h := range holes {
		req := h.Request
		if got := req.Text[:req.Offset] + h.Want + req.Text[req.Offset:]; got != r.Documents[h.file].Text {
			t.Errorf("the hole %q does not fill its file", h.Want)
		}
		for _, open := range req.Open {
			if open.Path == req.Path {
				t.Error("the file itself is open besides")
			}
		}
	}
}

func TestRunOnRepetitiveCode(t *testing.T) {
	e := completion.New(nil, completion.Options{})
	defer e.Close()
	report, err := Run(t.Context(), e, []Repository{repetitive()}, 40, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range report.Overall {
		if s.Holes != 40 {
			t.Errorf("%s: %d holes", s.Engine, s.Holes)
		}
		if s.Right > s.Shown || s.EditSimilarity < s.Precision-1e-9 {
			t.Errorf("%s: %+v does not add up", s.Engine, s)
		}
		if s.ExactMatch < 0.5 {
			t.Errorf("%s fills only %.2f of what it has seen nine times", s.Engine, s.ExactMatch)
		}
	}
	if again, err := Run(t.Context(), e, []Repository{repetitive()}, 40, 1); err != nil || again.Overall[0].Right != report.Overall[0].Right {
		t.Errorf("a second run differs: %+v, %v", again.Overall[0], err)
	}
}

// A body that several files share is shown whole.
func TestFurtherLines(t *testing.T) {
	r := Repository{Name: "shared"}
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"} {
		text := "package p\n\nfunc " + name + "() int {\n\tlock.Lock()\n\tdefer lock.Unlock()\n\tcount++\n\treturn count\n}\n"
		for i := range 9 {
			text += "\nvar " + strings.Repeat(name, i+2) + " = 1\n"
		}
		r.Documents = append(r.Documents, completion.Document{Path: name + ".go", Language: "go", Text: text})
	}
	e := completion.New(nil, completion.Options{})
	defer e.Close()
	for _, d := range r.Documents {
		e.Add("", d.Path, d.Text)
	}
	got, err := further(t.Context(), e, r, 100, rand.New(rand.NewPCG(1, 0)))
	if err != nil {
		t.Fatal(err)
	}
	if got.Holes != 100 || got.Shown < 20 || got.Right*10 < got.Shown*8 {
		t.Errorf("%+v", got)
	}
}

// The baselines must not see what the hole hides.
func TestBaselinesDoNotPeek(t *testing.T) {
	lines := []string{"package p"}
	for i := range 30 {
		lines = append(lines, strings.Repeat("x", i+1)+" = unique"+strings.Repeat("y", i)+"(only, here"+strings.Repeat("z", i)+")")
	}
	r := Repository{"unique", []completion.Document{{Path: "a.go", Language: "go", Text: strings.Join(lines, "\n") + "\n"}}}
	b := newBaselines(r.Documents)
	for _, h := range Holes(r, 60, rand.New(rand.NewPCG(2, 0))) {
		if len(lex(h.Want)) < 3 {
			continue // a closing bracket can be guessed
		}
		if text, _ := b.ngram(h); same(text, h.Want) {
			t.Errorf("4-gram knows %q", h.Want)
		}
		if text, _ := b.copyLast(h); same(text, h.Want) {
			t.Errorf("copy knows %q", h.Want)
		}
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"one/a.go": "package a\n", "one/dist/b.js": "x\n", "one/c.min.js": "x\n", "one/notes.txt": "x\n", "two/d.py": "x\n", "loose.go": "x\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || len(got[0].Documents) != 1 || got[0].Documents[0].Path != "a.go" || got[1].Documents[0].Language != "python" {
		t.Errorf("%+v", got)
	}
	if _, err := Load(t.TempDir()); err == nil {
		t.Error("an empty corpus is accepted")
	}
}

func TestSimilarity(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want float64
	}{{"", "", 1}, {"abc", "abc", 1}, {"abc", "abd", 2.0 / 3}, {"", "ab", 0}, {"kitten", "sitting", 1 - 3.0/7}} {
		if got := similarity(tt.a, tt.b); got < tt.want-1e-9 || got > tt.want+1e-9 {
			t.Errorf("similarity(%q, %q) = %v, want %v", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestLineDiff(t *testing.T) {
	a := []string{"a\n", "b\n", "c\n", "d\n"}
	b := []string{"a\n", "x\n", "b\n", "y\n", "z\n", "d\n", "e\n"}
	got := lineDiff(a, b)
	want := []hunk{{2, []string{"x\n"}}, {2, []string{"y\n", "z\n"}}, {2, []string{"e\n"}}}
	if len(got) != len(want) {
		t.Fatalf("%+v, want %+v", got, want)
	}
	for i := range want {
		if got[i].skipped != want[i].skipped || strings.Join(got[i].added, "") != strings.Join(want[i].added, "") {
			t.Errorf("hunk %d: %+v, want %+v", i, got[i], want[i])
		}
	}
	if got := lineDiff(a, a); len(got) != 0 {
		t.Errorf("equal texts differ: %+v", got)
	}
}

// Typing what a model foretold costs hardly a request, and no prompt throws
// away what the backend has read.
func TestTypeWithAProphet(t *testing.T) {
	before, after := repetitive(), repetitive()
	d := &after.Documents[0]
	d.Text = strings.Replace(d.Text, "\treturn fmt", "\tlog.Println(name, err)\n\t\tcount(&failures, name)\n\t\treturn fmt", 1)
	traces := Traces(before, after)
	if len(traces) != 1 || !strings.HasSuffix(traces[0].Text, "count(&failures, name)") {
		t.Fatalf("traces %+v", traces)
	}
	if d, at := traces[0].Document, traces[0].Offset; d.Text[:at]+d.Text[at+1:] != before.Documents[0].Text || d.Text[at] != '\n' {
		t.Errorf("the document without the text and after Enter:\n%s", d.Text)
	}
	for _, right := range []float64{1, 0.5, 0} {
		r, err := Type(t.Context(), traces, right, 1)
		if err != nil {
			t.Fatal(err)
		}
		if r.ShownRequests != 0 || r.Within < 1 || r.Reread >= r.RereadSliding || r.Requests+r.Reused < r.Keystrokes {
			t.Errorf("right %v: %+v", right, r)
		}
		if right == 1 && r.Requests > r.Keystrokes/5 {
			t.Errorf("%d requests for %d foretold keystrokes", r.Requests, r.Keystrokes)
		}
	}
}

// With code of the repository in the prompts every prompt is counted once, by what it
// followed, and one behind another document's reads all of its own again.
func TestTypeInto(t *testing.T) {
	before, after := repetitive(), repetitive()
	d := &after.Documents[0]
	d.Text = strings.Replace(d.Text, "\treturn fmt", strings.Repeat("\tlog.Println(name, err)\n\t\tcount(&failures, name)\n", 12)+"\treturn fmt", 1)
	before.Documents = append(before.Documents, completion.Document{Path: "other.go", Language: "go", Text: "package other\n\nfunc count(n *int, name string) {}\n"})
	traces := Traces(before, after)
	if len(traces) != 1 {
		t.Fatalf("traces %+v", traces)
	}
	r, err := TypeInto(t.Context(), []Edited{{before, traces}}, 0, 1, true)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]PromptRow{}
	n := 0
	for _, row := range r.Prompts {
		rows[row.Kind] = row
		if row.Kind != allOfThem {
			n += row.N
		}
	}
	if n != r.Requests || rows[allOfThem].N != n || rows[atFirst].N != 1 || rows[cameBack].N == 0 {
		t.Errorf("%d requests: %+v", r.Requests, r.Prompts)
	}
	if on, back := rows[typedOn], rows[cameBack]; on.Within*10 < on.N*9 || back.Within != 0 || back.Reread < back.Prompt/2 || rows[atFirst].Reread < rows[atFirst].Prompt-2 {
		t.Errorf("%+v", r.Prompts)
	}
	if plain, err := Type(t.Context(), traces, 0, 1); err != nil || plain.Prompt >= r.Prompt {
		t.Errorf("prompts of %.0f tokens without the repository's code and %.0f with: %v", plain.Prompt, r.Prompt, err)
	}
}

// The callee's signature is found when its call is written, and the numbers add up.
func TestContextRecall(t *testing.T) {
	r := Repository{"two", []completion.Document{
		{Path: "a/a.go", Language: "go", Text: "package a\n\nfunc Helper(n int, name string) error { return nil }\n"},
		{Path: "a/b.go", Language: "go", Text: "package a\n\nfunc use() error {\n\treturn Helper(1, \"x\")\n}\n"},
	}}
	report, err := Context(t.Context(), []Repository{r}, 10, 2048, 1, crossfile.Similar)
	if err != nil {
		t.Fatal(err)
	}
	if got := report.Overall; got.Sites != 1 || got.Written != 1 || got.Unwritten != 1 {
		t.Errorf("%+v", got)
	}
	if report, err = Context(t.Context(), []Repository{r}, 10, 1, 1, crossfile.Similar); err != nil || report.Overall.Written != 0 {
		t.Errorf("with no room for context: %+v, %v", report.Overall, err)
	}
}

// Each letter of code is asked for behind what was typed; comments are not, and no file has both halves.
func TestFirst(t *testing.T) {
	dir := t.TempDir()
	text := "// A licence.\n\npackage p\n\n// f does it.\nfunc f() error {\n" + strings.Repeat("\tif err := g(); err != nil {\n\t\treturn err\n\t}\n", 3) + "\treturn nil\n}\n"
	for _, name := range []string{"a.go", "b.go", "c.go", "d.go", "e.go", "f.go"} {
		if err := os.MkdirAll(filepath.Join(dir, "r"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "r", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files := 0
	for _, half := range []Half{Fit, Held} {
		report, err := First(t.Context(), dir, half, func(s FirstShown) {
			if strings.Contains(s.Typed, "//") {
				t.Errorf("asked in a comment: %+v", s)
			}
			if s.Right != strings.HasPrefix(s.Next, s.Text) && !strings.Contains(s.Text, "\n") {
				t.Errorf("judged wrongly: %+v", s)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		s := report["go"]
		files += s.Files
		if s.Shown == 0 || s.Right > s.Shown || s.Shown > s.Letters || s.Saved > s.Letters || s.Letters > s.Files*len(text) {
			t.Errorf("%s: %+v does not add up", half, s)
		}
	}
	if files != 6 {
		t.Errorf("%d files in both halves", files)
	}
	for _, tt := range []struct {
		text, shown string
		want        bool
	}{{"rn x\n", "rn", true}, {"rned\n", "rn", false}, {"( a,b )\n}", "(a, b)\n}", true}, {"(a)", "(b)", false}, {"", "x", false}} {
		if begins(tt.text, tt.shown) != tt.want {
			t.Errorf("%q shown before %q", tt.shown, tt.text)
		}
	}
}
