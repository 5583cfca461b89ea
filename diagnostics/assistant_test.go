package diagnostics_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"quarry/agent"
	"quarry/diagnostics"
	"quarry/retrieval/workspace"
)

var update = flag.Bool("update", false, "rewrite the goldens")

const root = "/work"

// files is a workspace in memory.
type files map[string]string

func (f files) Roots() []string { return []string{root} }

func (f files) Locate(_ context.Context, name string) (string, error) {
	name = strings.TrimPrefix(name, root+"/")
	if several := f["several/"+name]; several != "" {
		return "", &workspace.Ambiguous{Name: name, Choices: strings.Fields(several)}
	}
	if _, ok := f[name]; !ok {
		return "", fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	return filepath.Join(root, name), nil
}

func (f files) LocateNew(_ context.Context, name string) (string, error) {
	return filepath.Join(root, name), nil
}

func (f files) Name(path string) string {
	return strings.TrimPrefix(filepath.ToSlash(path), root+"/")
}

func (f files) Text(path string) (string, error) { return f[f.Name(path)], nil }

// script is a chat that answers as it is told and keeps what it was asked.
type script struct {
	answers []string
	cut     bool
	asked   []agent.Conversation
}

func (s *script) Chat(_ context.Context, c agent.Conversation, emit func(string) bool) (agent.Reply, error) {
	s.asked = append(s.asked, c)
	if len(s.answers) == 0 {
		return agent.Reply{}, fmt.Errorf("asked once too often")
	}
	answer := s.answers[0]
	s.answers = s.answers[1:]
	var text strings.Builder
	for piece := range strings.SplitAfterSeq(answer, " ") {
		text.WriteString(piece)
		if !emit(piece) {
			break
		}
	}
	return agent.Reply{Text: text.String(), Cut: s.cut}, nil
}

// lastTurn is what was said before the last answer.
func (s *script) lastTurn() string {
	messages := s.asked[len(s.asked)-1].Messages
	return messages[len(messages)-1].Text
}

// tools answer every call with one snippet.
type tools struct{ calls []string }

func (t *tools) Definitions(names ...string) json.RawMessage {
	return json.RawMessage(`["` + strings.Join(names, `","`) + `"]`)
}

func (t *tools) Call(_ context.Context, name string, args json.RawMessage) agent.Envelope {
	t.calls = append(t.calls, name+" "+string(args))
	return agent.Envelope{OK: true, Data: json.RawMessage(`{"snippets":[{"at":"stock/item.go:1-6","text":"package stock\n\ntype Item struct {\n\tName  string\n\tCount int\n}"}]}`)}
}

const count = `package stock

import "fmt"

// Total counts items.
func Total(items []Item) int {
	n := 0
	for _, it := range items {
		n += it.Counts
	}
	return n
}

func Print(items []Item) {
	fmt.Println(Total(items))
}
`

const item = `package stock

type Item struct {
	Name  string
	Count int
}
`

// world is an assistant over a small workspace.
type world struct {
	*diagnostics.Assistant
	files files
	chat  *script
	tools *tools
}

func newWorld(answers ...string) world { return newWorldOf(diagnostics.Diff, answers...) }

func newWorldOf(form diagnostics.Form, answers ...string) world {
	w := world{
		files: files{"stock/count.go": count, "stock/item.go": item},
		chat:  &script{answers: answers}, tools: &tools{},
	}
	w.Assistant = diagnostics.New(diagnostics.Parts{
		Chat: w.chat, Tools: w.tools, Files: w.files, ContextTokens: 4096, MaxTokens: 512, Form: form,
		Occurs: func(_ context.Context, word string) bool {
			for _, text := range w.files {
				if strings.Contains(text, word) {
					return true
				}
			}
			return false
		},
	})
	return w
}

func (w world) place(of string) agent.Location {
	text := w.files["stock/count.go"]
	at := strings.Index(text, of)
	return agent.Location{Document: agent.Document{Path: root + "/stock/count.go", Language: "go", Text: text}, Start: at, End: at + len(of)}
}

func (w world) problem() agent.Problem {
	return agent.Problem{
		Location: w.place("it.Counts"), Severity: agent.SeverityError, Source: "compiler", Code: "MissingFieldOrMethod",
		Message: "it.Counts undefined (type Item has no field or method Counts, but does have field Count)",
	}
}

// after is the workspace's count.go once a proposal is applied.
func (w world) after(t *testing.T, p agent.Proposal) string {
	t.Helper()
	if len(p.Files) != 1 || p.Files[0].Path != root+"/stock/count.go" {
		t.Fatalf("the proposal changes %v", p.Files)
	}
	if p.Files[0].Base != agent.HashText(count) {
		t.Error("the base is not the hash of the document")
	}
	return agent.ApplyEdits(count, p.Files[0].Edits)
}

// golden compares a text with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s is not current; go test ./diagnostics -update rewrites it. Got:\n%s", path, got)
	}
}

// TestPrompts keeps the exact words of every prompt.
func TestPrompts(t *testing.T) {
	form := diagnostics.Diff
	say := func(name string, run func(w world) error) {
		t.Run(name, func(t *testing.T) {
			w := newWorldOf(form, "", "")
			_ = run(w) // an empty answer is an error; the prompt is what counts
			if len(w.chat.asked) == 0 {
				t.Fatal("the model was not asked")
			}
			var b strings.Builder
			for _, m := range w.chat.asked[0].Messages {
				fmt.Fprintf(&b, "== %s\n%s\n", m.Role, m.Text)
			}
			golden(t, "prompts/"+name+".golden", b.String())
		})
	}
	ctx := t.Context()
	say("explain", func(w world) error {
		_, err := w.Explain(ctx, w.problem(), func(string) bool { return true })
		return err
	})
	say("fix", func(w world) error { _, err := w.Fix(ctx, w.problem()); return err })
	kinds := []agent.Refactoring{agent.Free}
	for _, r := range agent.Refactorings {
		kinds = append(kinds, r.Kind)
	}
	for _, kind := range kinds {
		say(string(kind), func(w world) error {
			sel := agent.Selection{Location: w.place("n += it.Counts"), Kind: kind}
			if kind == agent.Free {
				sel.Goal = "leave out items without a name"
			}
			_, err := w.Refactor(ctx, sel)
			return err
		})
	}
	for _, form = range []diagnostics.Form{diagnostics.Replace, diagnostics.Whole, diagnostics.Line} {
		say("fix-"+form.String(), func(w world) error { _, err := w.Fix(ctx, w.problem()); return err })
	}
}

// Whatever form is asked for, an answer in any of them is taken, and one without a change
// is told what to write.
func TestForms(t *testing.T) {
	const block = "The field is `Count`, stock/item.go:3-6.\n<<<<<<< SEARCH\n\tfor _, it := range items {\n\t\tn += it.Counts\n=======\n\tfor _, it := range items {\n\t\tn += it.Count\n>>>>>>> REPLACE\n"
	const whole = "The field is `Count`, stock/item.go:3-6.\n```go\nfunc Total(items []Item) int {\n\tn := 0\n\tfor _, it := range items {\n\t\tn += it.Count\n\t}\n\treturn n\n}\n```\n"
	want := strings.Replace(count, "it.Counts", "it.Count", 1)
	told := map[diagnostics.Form]string{diagnostics.Diff: "no unified diff", diagnostics.Replace: "<<<<<<< SEARCH", diagnostics.Whole: "no declaration"}
	for form, words := range told {
		for _, answer := range []string{fixed, block, whole, block + strings.Repeat("It is the field. ", 40) + "\n```\nfunc x() {\n"} {
			if strings.Contains(answer, "func x") && form != diagnostics.Replace {
				continue
			}
			w := newWorldOf(form, "Rename the field.", answer)
			p, err := w.Fix(t.Context(), w.problem())
			if err != nil {
				t.Errorf("%s, answered %q: %v", form, answer, err)
				continue
			}
			if got := w.after(t, p); got != want {
				t.Errorf("%s, answered %q: %s", form, answer, got)
			}
			if turn := w.chat.lastTurn(); !strings.Contains(turn, words) {
				t.Errorf("%s: the model is not told %q, but %q", form, words, turn)
			}
		}
	}
	for _, form := range []diagnostics.Form{diagnostics.Diff, diagnostics.Replace, diagnostics.Whole, diagnostics.Line} {
		if again, err := diagnostics.FormOf(form.String()); again != form || err != nil {
			t.Errorf("%s is read as %s, %v", form, again, err)
		}
	}
	if _, err := diagnostics.FormOf("prose"); err == nil {
		t.Error("prose is a form")
	}
}

// The line of the problem is asked for without tools, in an answer that begins with code. A
// server may begin anew behind that. What comes to nothing is asked for once more, with a
// reason.
func TestFixOfALine(t *testing.T) {
	const begin = "```go\n"
	for name, c := range map[string]struct {
		answers    []string
		confidence agent.Confidence
		reason     string
	}{
		"the line":        {[]string{begin + "\t\tn += it.Count\n```"}, agent.Medium, "Check it: the model gave no reason."},
		"without fence":   {[]string{begin + "n += it.Count"}, agent.Medium, "Check it: the model gave no reason."},
		"begun anew":      {[]string{begin + "```go\nn += it.Count\n```"}, agent.Medium, "Check it: the model gave no reason."},
		"at the second":   {[]string{begin + "n += it.Counts\n```", `{"code":"n += it.Count","reason":"The field is named Count."}`}, agent.Medium, "The field is named Count. Check it: a first answer was refused."},
		"after a refusal": {[]string{begin + "n += (\n```", `{"code":"n += it.Count","reason":"The field is named Count."}`}, agent.Medium, "The field is named Count. Check it: a first answer was refused."},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorldOf(diagnostics.Line, c.answers...)
			p, err := w.Fix(t.Context(), w.problem())
			if err != nil {
				t.Fatal(err)
			}
			if got, want := w.after(t, p), strings.Replace(count, "it.Counts", "it.Count", 1); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if p.Confidence != c.confidence || p.Reason != c.reason {
				t.Errorf("confidence %s: %q; want %s: %q", p.Confidence, p.Reason, c.confidence, c.reason)
			}
			if len(p.Citations) != 1 || p.Citations[0].Path != "stock/count.go" {
				t.Errorf("it rests on %v", p.Citations)
			}
			first := w.chat.asked[0]
			if first.Begin != begin || first.Tools != nil || len(w.tools.calls) > 0 {
				t.Errorf("the model is asked %+v, with %q looked up", first, w.tools.calls)
			}
			if len(w.chat.asked) != len(c.answers) || len(c.answers) > 1 && w.chat.asked[1].Format == nil {
				t.Errorf("asked %+v", w.chat.asked)
			}
		})
	}
}

// A model that knows nothing better than the line as it is has no fix; one whose lines do
// not fit is refused.
func TestLineWithoutAFix(t *testing.T) {
	same := []string{"```go\n\t\tn += it.Counts\n```", `{"code":"n += it.Counts","reason":"It is right."}`}
	w := newWorldOf(diagnostics.Line, same...)
	p, err := w.Fix(t.Context(), w.problem())
	if err != nil || len(p.Files) > 0 || p.Confidence != agent.Low || !strings.Contains(p.Reason, "it knows no fix") {
		t.Errorf("got %+v, %v; want no change", p, err)
	}
	w = newWorldOf(diagnostics.Line, "```go\nn += (\n```", `{"code":"n += (","reason":"x"}`)
	if p, err := w.Fix(t.Context(), w.problem()); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("got %+v, %v; want a refusal", p, err)
	}
}

// Of a line that is too long to be written again the declaration is asked for.
func TestFixOfALongLine(t *testing.T) {
	w := newWorldOf(diagnostics.Line, "")
	long := "n += it.Counts // " + strings.Repeat("x", 500)
	w.files["stock/count.go"] = strings.Replace(count, "n += it.Counts", long, 1)
	_, _ = w.Fix(t.Context(), w.problem()) // what comes of it is not the point
	if len(w.chat.asked) == 0 || w.chat.asked[0].Begin != "" || !strings.Contains(w.chat.asked[0].Messages[0].Text, "declaration") {
		t.Errorf("asked %+v", w.chat.asked)
	}
}

// A name that the file has nowhere else is told with those that it may be meant to be.
func TestMisspeltName(t *testing.T) {
	w := newWorldOf(diagnostics.Line, "")
	w.files["stock/count.go"] = strings.Replace(count, "n += it.Counts", "n += itemz", 1)
	p := agent.Problem{Location: w.place("itemz"), Source: "compiler", Message: "undefined: itemz"}
	_, _ = w.Fix(t.Context(), p)
	if turn := w.chat.lastTurn(); !strings.Contains(turn, "The file has no other `itemz`; names like it are `items`") {
		t.Errorf("asked %q", turn)
	}
}

const fixed = "The field is named `Count` (stock/item.go:3-6), so use that.\n```diff\n--- a/FILE\n+++ b/FILE\n@@ -9 +9 @@\n \tfor _, it := range items {\n-\t\tn += it.Counts\n+\t\tn += it.Count\n \t}\n```\n"

func TestFix(t *testing.T) {
	w := newWorld(fixed)
	p, err := w.Fix(t.Context(), w.problem())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := w.after(t, p), strings.Replace(count, "it.Counts", "it.Count", 1); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if p.Confidence != agent.High {
		t.Errorf("confidence %s: %s", p.Confidence, p.Reason)
	}
	if want := []agent.Citation{{Path: "stock/item.go", StartLine: 3, EndLine: 6}}; len(p.Citations) != 1 || p.Citations[0] != want[0] {
		t.Errorf("citations %v, want %v", p.Citations, want)
	}
	if want := "The field is named `Count` (stock/item.go:3-6), so use that."; p.Reason != want {
		t.Errorf("reason %q, want %q", p.Reason, want)
	}
	if !strings.HasPrefix(p.Title, "Fix: it.Counts undefined") {
		t.Errorf("title %q", p.Title)
	}
	if len(w.tools.calls) != 1 || !strings.HasPrefix(w.tools.calls[0], "retrieve_context ") {
		t.Errorf("evidence was looked up by %q, want one retrieve_context", w.tools.calls)
	}
}

func TestFixIsToldWhyItWasRefused(t *testing.T) {
	for name, c := range map[string]struct{ first, told string }{
		"not found":  {strings.ReplaceAll(fixed, "n += it.Counts", "sum += it.Counts"), `it wants "sum += it.Counts", where the document has "n += it.Counts"`},
		"syntax":     {strings.Replace(fixed, "+\t\tn += it.Count\n", "+\t\tn += it.Count {\n", 1), "syntax error"},
		"other file": {strings.ReplaceAll(fixed, "FILE", "stock/item.go"), "only stock/count.go may be changed here"},
		"no diff":    {"Rename the field.", "no unified diff"},
		"no citation": {strings.Replace(fixed, " (stock/item.go:3-6)", "", 1),
			"it names no place that you were shown"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(c.first, fixed)
			p, err := w.Fix(t.Context(), w.problem())
			if err != nil {
				t.Fatal(err)
			}
			if got, want := w.after(t, p), strings.Replace(count, "it.Counts", "it.Count", 1); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if p.Confidence != agent.Medium || !strings.Contains(p.Reason, "a first answer was refused") {
				t.Errorf("confidence %s: %s", p.Confidence, p.Reason)
			}
			if told := w.chat.lastTurn(); !strings.HasPrefix(told, "That is not taken: ") || !strings.Contains(told, c.told) {
				t.Errorf("the model is not told %q, but %q", c.told, told)
			}
		})
	}
}

func TestFixWrittenWhole(t *testing.T) {
	w := newWorld("`Count` is the field, stock/item.go:3-6.\n\n```go\nfunc Total(items []Item) int {\n\tn := 0\n\tfor _, it := range items {\n\t\tn += it.Count\n\t}\n\treturn n\n}\n```\n")
	p, err := w.Fix(t.Context(), w.problem())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := w.after(t, p), strings.Replace(count, "it.Counts", "it.Count", 1); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if p.Confidence != agent.Medium || !strings.Contains(p.Reason, "it writes Total anew") {
		t.Errorf("confidence %s: %s", p.Confidence, p.Reason)
	}
}

func TestFixRefusedTwice(t *testing.T) {
	bad := strings.ReplaceAll(fixed, "n += it.Counts", "sum += it.Counts")
	w := newWorld(bad, bad)
	if p, err := w.Fix(t.Context(), w.problem()); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("got %v, %v; want a refusal", p, err)
	}
}

func TestHalfADiffIsNotTaken(t *testing.T) {
	half := fixed[:strings.Index(fixed, "+\t\tn +=")]
	w := newWorld(half, half)
	w.chat.cut = true
	if p, err := w.Fix(t.Context(), w.problem()); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("got %v, %v; want a refusal", p, err)
	}
}

func TestFixThatIsNotKnown(t *testing.T) {
	const words = "The type comes from elsewhere, see stock/item.go:3-6; no safe change is known."
	w := newWorld(words)
	p, err := w.Fix(t.Context(), w.problem())
	if err != nil || len(p.Files) != 0 || p.Reason != words {
		t.Errorf("got %+v, %v", p, err)
	}
}

// A change in several diffs is taken whole; a diff that is written twice is one.
func TestFixInSeveralDiffs(t *testing.T) {
	const second = "And the name, too:\n```diff\n--- a/FILE\n+++ b/FILE\n@@\n-func Total(items []Item) int {\n+func Count(items []Item) int {\n \tn := 0\n```\n"
	changed := strings.Replace(count, "it.Counts", "it.Count", 1)
	for name, c := range map[string]struct{ answer, want string }{
		"two":   {fixed + "\n" + second, strings.Replace(changed, "func Total", "func Count", 1)},
		"twice": {fixed + "\nThat is:\n" + fixed, changed},
		"words": {fixed + "\n" + strings.Repeat("It is the field that counts. ", 20) + second, changed}, // what comes late is not waited for
	} {
		w := newWorld(strings.ReplaceAll(c.answer, "FILE", "stock/count.go"))
		p, err := w.Fix(t.Context(), w.problem())
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := w.after(t, p); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

// A name that several folders have is that of the document which is spoken of.
func TestANameOfSeveralFolders(t *testing.T) {
	answer := strings.ReplaceAll(strings.Replace(fixed, "stock/item.go:3-6", "count.go:9", 1), "FILE", "count.go")
	for choices, fits := range map[string]bool{"stock/count.go other/count.go": true, "this/count.go other/count.go": false} {
		w := newWorld(answer, answer)
		w.files["several/count.go"] = choices
		p, err := w.Fix(t.Context(), w.problem())
		if !fits {
			if err == nil || !strings.Contains(err.Error(), "say which: "+strings.Join(strings.Fields(choices), ", ")) {
				t.Errorf("%s: %+v, %v", choices, p, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if got, want := w.after(t, p), strings.Replace(count, "it.Counts", "it.Count", 1); got != want || len(p.Citations) != 1 || p.Citations[0].Path != "stock/count.go" {
			t.Errorf("cites %v, got\n%s", p.Citations, got)
		}
	}
}

// What cannot be changed or shown whatever a model says is said before it is asked.
func TestNoModelIsAskedInVain(t *testing.T) {
	w := newWorld()
	huge := w.problem()
	huge.Document.Text += strings.Repeat("// more\n", 600_000)
	if _, err := w.Fix(t.Context(), huge); err == nil || !strings.Contains(err.Error(), "up to 4 are changed") {
		t.Errorf("a huge file: %v", err)
	}
	binary := w.problem()
	binary.Document.Text += "\x00"
	if _, err := w.Fix(t.Context(), binary); err == nil || !strings.Contains(err.Error(), "binary") {
		t.Errorf("a binary file: %v", err)
	}
	sel := agent.Selection{Location: w.problem().Location, Kind: agent.Simplify}
	sel.Document.Text += strings.Repeat("// more\n", 5000)
	sel.Start, sel.End = 0, len(sel.Document.Text)
	if _, err := w.Refactor(t.Context(), sel); err == nil || !strings.Contains(err.Error(), "select less") {
		t.Errorf("a huge selection: %v", err)
	}
	if len(w.chat.asked) > 0 || len(w.tools.calls) > 0 {
		t.Errorf("%d questions, calls %q", len(w.chat.asked), w.tools.calls)
	}
}

// endless is a chat that never answers.
type endless struct{}

func (endless) Chat(ctx context.Context, _ agent.Conversation, _ func(string) bool) (agent.Reply, error) {
	<-ctx.Done()
	return agent.Reply{}, ctx.Err()
}

func TestTooSlowAModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		a := diagnostics.New(diagnostics.Parts{Chat: endless{}, Tools: w.tools, Files: w.files, ContextTokens: 8192, MaxTokens: 512})
		if _, err := a.Fix(t.Context(), w.problem()); err == nil || !strings.Contains(err.Error(), "no answer within 4 minutes; ask again") {
			t.Errorf("got %v", err)
		}
	})
}

// A model that only talks, even when it is told to write a diff, proposes nothing.
func TestFixInWordsAlone(t *testing.T) {
	w := newWorld("Rename the field.", "There is no safe change, see gone.go:3.")
	p, err := w.Fix(t.Context(), w.problem())
	if want := "The model wrote no change, only: There is no safe change."; err != nil || len(p.Files) != 0 || p.Reason != want || len(p.Citations) != 0 {
		t.Errorf("got %+v, %v", p, err)
	}
	// What looks like code was meant as a change, and is refused as one.
	block := "<<<<<<< SEARCH\nit.Counts\n=======\nit.Count\n>>>>>>> REPLACE"
	for _, answer := range []string{block, "```\n" + block + "\n```"} {
		w = newWorld(answer, answer)
		if p, err := w.Fix(t.Context(), w.problem()); err == nil || !strings.Contains(err.Error(), "refused") {
			t.Errorf("%q: got %+v, %v", answer, p, err)
		}
	}
}

func TestDoubtsAreNamed(t *testing.T) {
	invented := strings.Replace(fixed, "+\t\tn += it.Count\n", "+\t\tn += sumOf(it)\n", 1)
	w := newWorld(strings.Replace(invented, "stock/item.go:3-6", "stock/item.go:3-6, stock/none.go:1", 1))
	p, err := w.Fix(t.Context(), w.problem())
	if err != nil {
		t.Fatal(err)
	}
	if p.Confidence != agent.Low || !strings.Contains(p.Reason, "it calls `sumOf`") || !strings.Contains(p.Reason, "a location it cited could not be found") {
		t.Errorf("confidence %s: %s", p.Confidence, p.Reason)
	}
}

func TestExplain(t *testing.T) {
	const words = "`Item` has no `Counts`, only `Count` (stock/item.go:3-6).\n\nFix: write `it.Count`."
	w := newWorld(words)
	var shown strings.Builder
	x, err := w.Explain(t.Context(), w.problem(), func(s string) bool { shown.WriteString(s); return true })
	if err != nil {
		t.Fatal(err)
	}
	if x.Text != words || shown.String() != words {
		t.Errorf("text %q, shown %q", x.Text, shown.String())
	}
	if x.Confidence != agent.High || len(x.Citations) != 1 || x.Removed != 0 {
		t.Errorf("got %+v", x)
	}
}

// The names of a problem are those on its line and what looks like one in its message, in any language.
func TestNamesOfAProblem(t *testing.T) {
	w := newWorld()
	for message, want := range map[string][]string{
		w.problem().Message: {"it", "Counts", "n", "Item", "Count"},
		"élément Counts: поле не найдено в Überladung, ни read_all": {"Counts", "read_all", "n", "it", "Überladung"},
	} {
		p := w.problem()
		p.Message = message
		words, names := w.Query(p)
		if !slices.Equal(names, want) || !strings.HasPrefix(words, message) {
			t.Errorf("%s: %q, looked up by %q", message, names, words)
		}
	}
}

// Of a file that the prompt shows in part, the other lines prove nothing.
func TestOnlyLinesShownAreProof(t *testing.T) {
	w := newWorld("See stock/count.go:15-16.", "See stock/count.go:15-16, stock/count.go:9 and stock/count.go:3.")
	x, err := w.Explain(t.Context(), w.problem(), func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	if told := w.chat.lastTurn(); !strings.Contains(told, "it names no place that you were shown") {
		t.Errorf("the model is told %q", told)
	}
	if len(x.Citations) != 2 || x.Removed != 1 || strings.Contains(x.Text, "15-16") {
		t.Errorf("got %+v", x)
	}
}

func TestExplainWithoutCitationLooksUpMore(t *testing.T) {
	w := newWorld("The field does not exist.", "The field is `Count` (stock/item.go:5).\n\nFix: use it.")
	x, err := w.Explain(t.Context(), w.problem(), func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	if told := w.chat.lastTurn(); !strings.Contains(told, "Look up more") {
		t.Errorf("the model is told %q", told)
	}
	if len(x.Citations) != 1 || x.Confidence != agent.Medium {
		t.Errorf("got %+v", x)
	}
}

func TestExplainShowsNoToolCall(t *testing.T) {
	w := newWorld("<tool_call>\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"stock/item.go\"}}\n</tool_call>", "See stock/item.go:5. Fix: `Count`.")
	var shown strings.Builder
	if _, err := w.Explain(t.Context(), w.problem(), func(s string) bool { shown.WriteString(s); return true }); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(shown.String(), "tool_call") || !strings.Contains(shown.String(), "See stock/item.go:5.") {
		t.Errorf("shown %q", shown.String())
	}
	if len(w.tools.calls) != 2 {
		t.Errorf("calls %q, want retrieval and read_file", w.tools.calls)
	}
}

func TestExplainStopsWhenNobodyReads(t *testing.T) {
	w := newWorld("One two three four.")
	x, err := w.Explain(t.Context(), w.problem(), func(string) bool { return false })
	if err != nil || len(w.chat.asked) != 1 || strings.Contains(x.Text, "four") {
		t.Errorf("got %+v, %v after %d questions", x, err, len(w.chat.asked))
	}
}

func TestRefactor(t *testing.T) {
	diff := func(body string) string {
		return "It rests on stock/count.go:6-12.\n```diff\n--- a/stock/count.go\n+++ b/stock/count.go\n@@\n" + body + "```\n"
	}
	comment := diff(" // Total counts items.\n+// It is 0 without items.\n func Total(items []Item) int {\n")
	code := diff(" \tn := 0\n-\tfor _, it := range items {\n+\tfor _, it := range items[1:] {\n \t\tn += it.Counts\n")
	for name, c := range map[string]struct {
		kind    agent.Refactoring
		answers []string
		want    string // in the result
		told    string // at the second attempt
	}{
		"document":             {agent.Describe, []string{comment}, "// It is 0 without items.\nfunc Total", ""},
		"document, not change": {agent.Describe, []string{code, comment}, "// It is 0 without items.\nfunc Total", "it changes code, but only comments were asked for"},
		"extract, not change": {agent.Extract, []string{code, diff(" \tfor _, it := range items {\n-\t\tn += it.Counts\n+\t\tn += counted(it)\n \t}\n \treturn n\n }\n \n+func counted(it Item) int { return it.Counts }\n+\n func Print(items []Item) {\n")},
			"n += counted(it)", "it declares no new function"},
		"simplify, not remove": {agent.Simplify, []string{diff(" \n-func Print(items []Item) {\n-\tfmt.Println(Total(items))\n-}\n"), comment}, "func Print", "it removes Print"},
		"free":                 {agent.Free, []string{code}, "items[1:]", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(c.answers...)
			p, err := w.Refactor(t.Context(), agent.Selection{Location: w.place("n += it.Counts"), Kind: c.kind, Goal: "leave the first out"})
			if err != nil {
				t.Fatal(err)
			}
			if got := w.after(t, p); !strings.Contains(got, c.want) {
				t.Errorf("no %q in\n%s", c.want, got)
			}
			if c.told != "" && !strings.Contains(w.chat.lastTurn(), c.told) {
				t.Errorf("the second prompt does not say %q", c.told)
			}
		})
	}
}

func TestRename(t *testing.T) {
	want := strings.NewReplacer("\tn := 0", "\tsum := 0", "\tn += ", "\tsum += ", "return n", "return sum").Replace(count)
	for name, c := range map[string]struct {
		goal    string
		answers []string
		fails   string
	}{
		"given":         {goal: "sum"},
		"found":         {answers: []string{"`sum`"}},
		"found at last": {answers: []string{"A good name would be sum", "sum\n"}},
		"not found":     {answers: []string{"items", "it"}, fails: "no better name for n was found; give one (that name is taken"},
		"taken":         {goal: "items", fails: "taken"},
		"taken in file": {goal: "Print", fails: "taken"},
		"imported":      {goal: "fmt", fails: "taken"},
		"no name":       {goal: "a b", fails: "it is no name"},
		"a keyword":     {goal: "func", fails: "syntax error"},
		"the same":      {goal: "n", fails: "already"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(c.answers...)
			p, err := w.Refactor(t.Context(), agent.Selection{Location: w.place("n += it.Counts"), Kind: agent.Rename, Goal: c.goal})
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("got %v, want an error with %q", err, c.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := w.after(t, p); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if p.Title != "Rename n to sum" || p.Confidence != agent.High {
				t.Errorf("title %q, confidence %s", p.Title, p.Confidence)
			}
		})
	}
	w := newWorld()
	if _, err := w.Refactor(t.Context(), agent.Selection{Location: w.place("Total(items []"), Kind: agent.Rename, Goal: "Sum"}); err == nil || !strings.Contains(err.Error(), "language server's rename") {
		t.Errorf("got %v, want to be sent to the language server", err)
	}
}

func TestTestsMayMakeTheirFile(t *testing.T) {
	const answer = "Tests of stock/count.go:6-12.\n```diff\n--- /dev/null\n+++ b/stock/count_test.go\n@@ -0,0 +1,3 @@\n+package stock\n+\n+func TestTotal(t *testing.T) {}\n```\n"
	w := newWorld(answer)
	p, err := w.Refactor(t.Context(), agent.Selection{Location: w.place("Total"), Kind: agent.Test})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Files) != 1 || !p.Files[0].Create || filepath.ToSlash(p.Files[0].Path) != root+"/stock/count_test.go" {
		t.Errorf("got %+v", p.Files)
	}
	elsewhere := strings.ReplaceAll(answer, "count_test.go", "main.go")
	w = newWorld(elsewhere, elsewhere)
	if p, err := w.Refactor(t.Context(), agent.Selection{Location: w.place("Total"), Kind: agent.Test}); err == nil {
		t.Errorf("tests went into %v", p.Files)
	}
}
