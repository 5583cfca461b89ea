package lsp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"quarry/agent"
	"quarry/lsp/assist"
	"quarry/lsp/headless"
)

// slowly is an engine that says one piece after each value of next.
func slowly(next <-chan bool, pieces ...string) func(context.Context, func(string) bool) (string, error) {
	return func(ctx context.Context, emit func(string) bool) (string, error) {
		for _, piece := range pieces {
			select {
			case <-next:
			case <-ctx.Done():
				return "", ctx.Err()
			}
			if !emit(piece) {
				return "", ctx.Err()
			}
		}
		select {
		case <-next:
		case <-ctx.Done():
			return "", ctx.Err()
		}
		return strings.Join(pieces, ""), nil
	}
}

func explaining(write func(context.Context, func(string) bool) (string, error)) *core {
	return &core{indexed: true, assistant: assistant{explain: func(ctx context.Context, _ agent.Problem, emit func(string) bool) (agent.Explanation, error) {
		text, err := write(ctx, emit)
		return agent.Explanation{Text: text, Confidence: agent.High, Citations: []agent.Citation{{Path: "b.go", StartLine: 2, EndLine: 2}}, Removed: 2}, err
	}}}
}

const explained = "# undefined: foo\n\na.go:4, says compiler.\n\nNobody wrote foo. Write it.\n\n---\n\n" +
	"Confidence: high. Based on b.go:2. 2 citations were removed: the answer's evidence does not show them.\n"

// explainedInFile is explained as a page that is a file has it.
var explainedInFile = strings.Replace(explained, "the answer's", "the\nanswer's", 1)

func explain(t *testing.T, e *headless.Editor, b *headless.Buffer) {
	t.Helper()
	a := named(t, actions(t, e, b, b.Cursor, b.Cursor), "Explain")
	if err := e.Choose(soon(t), a); err != nil {
		t.Fatal(err)
	}
}

// page waits until the shown document is as want says.
func page(t *testing.T, e *headless.Editor, want string) {
	t.Helper()
	var got string
	err := e.Await(soon(t), func() bool {
		var err error
		if got, err = e.Page(); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		return got == want
	})
	if err != nil {
		t.Fatalf("the page (-want +got):\n%s\nmessages: %q", cmp.Diff(want, got), e.Shown())
	}
}

func TestExplanationsAreShownAsTheyAreWritten(t *testing.T) {
	next := make(chan bool)
	e := edit(t, "vscode", explaining(slowly(next, "Nobody ", "wrote foo. ", "Write it.")))
	b := problemAt(t, e, "a.go")
	explain(t, e, b)
	head := "# undefined: foo\n\na.go:4, says compiler.\n\n"
	if docs := e.Documents(); len(docs) > 0 {
		t.Errorf("shown before there was a word: %q", docs)
	}
	next <- true
	page(t, e, head+"Nobody ")
	next <- true
	page(t, e, head+"Nobody wrote foo. ")
	next <- true
	page(t, e, head+"Nobody wrote foo. Write it.")
	next <- true
	page(t, e, explained)
	if docs := e.Documents(); !cmp.Equal(docs, []string{"quarry:/explanation.md"}) {
		t.Errorf("shown: %q", docs)
	}
	ended(t, e, "explained")
}

// A fast model's words do not make the client read the page for each of them.
func TestPagesAreRefreshedInMeasure(t *testing.T) {
	next := make(chan bool, 1001)
	for range cap(next) {
		next <- true
	}
	e := edit(t, "vscode", explaining(slowly(next, strings.Split(strings.Repeat("word ", 1000), " ")[:1000]...)))
	b := problemAt(t, e, "a.go")
	explain(t, e, b)
	ended(t, e, "explained")
	if n := e.Refreshed(); n > 20 {
		t.Errorf("a page of 1000 words was read %d times", n)
	}
}

func TestExplanationsWithoutVirtualDocuments(t *testing.T) {
	for _, profile := range []string{"neovim", "helix"} {
		t.Run(profile, func(t *testing.T) {
			next := make(chan bool)
			e := edit(t, profile, explaining(slowly(next, "Nobody ", "wrote foo. Write it.")))
			b := problemAt(t, e, "a.go")
			for i := range 2 {
				explain(t, e, b)
				for range 3 {
					if docs := e.Documents(); len(docs) != i {
						t.Fatalf("shown before it is whole: %q", docs)
					}
					next <- true
				}
				if err := e.Await(soon(t), func() bool { return len(e.Documents()) > i }); err != nil {
					t.Fatal(err)
				}
				page(t, e, explainedInFile)
			}
			if docs := e.Documents(); docs[0] == docs[1] {
				t.Error("the second explanation is in the file of the first, which the editor may not read again")
			}
			if shown := e.Shown(); len(shown) > 0 {
				t.Errorf("shown: %q", shown)
			}
		})
	}
	t.Run("no documents at all", func(t *testing.T) {
		next := make(chan bool, 2)
		next <- true
		next <- true
		e := edit(t, "vscode", explaining(slowly(next, "Nobody wrote foo. Write it.")), capabilities(`{}`))
		b := problemAt(t, e, "a.go")
		explain(t, e, b)
		awaitShown(t, e, explained)
	})
}

func TestHoverShowsAFinishedExplanation(t *testing.T) {
	next := make(chan bool, 3)
	e := edit(t, "neovim", explaining(slowly(next, "Nobody wrote foo. ", "Write it.")))
	b := problemAt(t, e, "a.go")
	hover := func(at int) string {
		t.Helper()
		text, err := e.Hover(soon(t), b, at)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	explain(t, e, b)
	if got := hover(b.Cursor); got != "" {
		t.Errorf("hover before it is finished: %q", got)
	}
	for range cap(next) {
		next <- true
	}
	page(t, e, explainedInFile)
	want := "**quarry:** undefined: foo\n\nNobody wrote foo. Write it."
	if err := e.Await(soon(t), func() bool { return strings.HasPrefix(hover(b.Cursor), want) }); err != nil {
		t.Fatalf("hover: %q", hover(b.Cursor))
	}
	if got := hover(0); got != "" {
		t.Errorf("hover elsewhere: %q", got)
	}
	// It moves with the text, and is kept when the editor tells of it again.
	if err := e.Replace(b, 0, 0, "// more\r\n"); err != nil {
		t.Fatal(err)
	}
	at := strings.Index(b.Text.String(), "foo")
	if got := hover(at); !strings.HasPrefix(got, want) {
		t.Errorf("hover after a line was put before: %q", got)
	}
	b.Diagnostics[0].Start, b.Diagnostics[0].End = at, at+3
	actions(t, e, b, at, at)
	if got := hover(at + 3); !strings.HasPrefix(got, want) {
		t.Errorf("hover after the editor told again: %q", got)
	}
	if err := e.Replace(b, at+3, at+3, "d"); err != nil {
		t.Fatal(err)
	}
	if got := hover(at); got != "" {
		t.Errorf("hover after the text changed: %q", got)
	}
	// What the editor tells of no more is forgotten.
	b.Diagnostics[0].End = at + 4
	explain(t, e, b)
	for range cap(next) {
		next <- true
	}
	if err := e.Await(soon(t), func() bool { return hover(at) != "" }); err != nil {
		t.Error("no hover after it was explained again")
	}
	b.Diagnostics = nil
	actions(t, e, b, at, at)
	if got := hover(at); got != "" {
		t.Errorf("hover on a diagnostic that is no more: %q", got)
	}
}

// A hover is short: the renderers of some editors take minutes for 32 KB of emphases that never end.
func TestHoverShowsTheBeginningOfALongExplanation(t *testing.T) {
	next := make(chan bool, 2)
	next <- true
	next <- true
	e := edit(t, "vscode", explaining(slowly(next, strings.Repeat("é **a *b ", 4000))))
	b := problemAt(t, e, "a.go")
	explain(t, e, b)
	text := ""
	if err := e.Await(soon(t), func() (ok bool) {
		text, _ = e.Hover(soon(t), b, b.Cursor)
		return text != ""
	}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text, "é **a *b …") || len(text) > 3500 || !utf8.ValidString(text) {
		t.Errorf("the hover has %d bytes and ends with %q", len(text), text[max(0, len(text)-80):])
	}
}

// Neovim and eglot show a server only its own diagnostics; what is explained by
// their commands comes along with these.
func TestHoverOnADiagnosticThatOnlyTheCommandToldOf(t *testing.T) {
	e := edit(t, "neovim", explaining(func(context.Context, func(string) bool) (string, error) { return "Write foo.", nil }))
	b := problemAt(t, e, "a.go")
	d := b.Diagnostics[0]
	b.Diagnostics = nil
	argument := map[string]any{"uri": b.URI, "range": e.Range(b, d.Start, d.End), "diagnostic": map[string]any{"message": d.Message}}
	if err := e.Execute(soon(t), "quarry.explain", argument); err != nil {
		t.Fatal(err)
	}
	var got string
	err := e.Await(soon(t), func() (found bool) {
		var err error
		if got, err = e.Hover(soon(t), b, d.Start); err != nil {
			t.Fatal(err)
		}
		return strings.HasPrefix(got, "**quarry:** undefined: foo\n\nWrite foo.")
	})
	if err != nil {
		t.Errorf("hover: %q", got)
	}
}

// A user who types above while they wait finds the explanation where the
// diagnostic is then; one who changes what it speaks of finds none.
func TestAnExplanationFindsItsDiagnosticWhereItIsNow(t *testing.T) {
	for name, c := range map[string]struct {
		typed string
		over  bool
		want  bool
	}{
		"a line above": {typed: "// more\r\n", want: true},
		"over it":      {typed: "bar", over: true},
	} {
		t.Run(name, func(t *testing.T) {
			next := make(chan bool, 3)
			e := edit(t, "vscode", explaining(slowly(next, "Nobody wrote foo. ", "Write it.")))
			b := problemAt(t, e, "a.go")
			explain(t, e, b)
			next <- true
			page(t, e, "# undefined: foo\n\na.go:4, says compiler.\n\nNobody wrote foo. ")
			at := b.Diagnostics[0].Start
			start, end := 0, 0
			if c.over {
				start, end = at, at+len("foo")
			}
			if err := e.Replace(b, start, end, c.typed); err != nil {
				t.Fatal(err)
			}
			at += len(c.typed) - (end - start)
			if !c.over { // the editor tells of it again, at its new place
				b.Diagnostics[0].Start, b.Diagnostics[0].End = at, at+len("foo")
				actions(t, e, b, at, at)
			}
			next <- true
			next <- true
			ended(t, e, "explained")
			got, err := e.Hover(soon(t), b, at)
			if err != nil || strings.Contains(got, "Write it.") != c.want {
				t.Errorf("hover %q, %v", got, err)
			}
		})
	}
}

// The user who asks again, or cancels, waits for nothing older.
func TestOnlyTheNewestExplanationIsWritten(t *testing.T) {
	ended1 := make(chan error, 1)
	var n atomic.Int32
	c := &core{indexed: true}
	c.explain = func(ctx context.Context, _ agent.Problem, emit func(string) bool) (agent.Explanation, error) {
		if n.Add(1) == 1 {
			emit("old words")
			<-ctx.Done()
			ended1 <- ctx.Err()
			return agent.Explanation{}, ctx.Err()
		}
		emit("new words")
		return agent.Explanation{Text: "New words."}, nil
	}
	e := edit(t, "vscode", c)
	b := problemAt(t, e, "a.go")
	head := "# undefined: foo\n\na.go:4, says compiler.\n\n"
	explain(t, e, b)
	page(t, e, head+"old words")
	explain(t, e, b)
	if err := <-ended1; !errors.Is(err, context.Canceled) {
		t.Errorf("the older ended with %v", err)
	}
	page(t, e, head+"New words.\n")
	if shown := e.Shown(); len(shown) > 0 {
		t.Errorf("shown: %q", shown)
	}
}

func TestCancellingAnExplanation(t *testing.T) {
	c := &core{indexed: true}
	stopped := make(chan bool)
	c.explain = func(ctx context.Context, _ agent.Problem, emit func(string) bool) (agent.Explanation, error) {
		emit("some words")
		<-ctx.Done()
		close(stopped)
		return agent.Explanation{}, ctx.Err()
	}
	e := edit(t, "vscode", c)
	b := problemAt(t, e, "a.go")
	explain(t, e, b)
	head := "# undefined: foo\n\na.go:4, says compiler.\n\n"
	page(t, e, head+"some words")
	cancelJob(t, e, "Explain")
	select {
	case <-stopped:
	case <-soon(t).Done():
		t.Fatal("the engine was not told")
	}
	page(t, e, head+"some words\n\n(cancelled)\n")
	ended(t, e, "cancelled")
	if shown := e.Shown(); len(shown) > 0 {
		t.Errorf("shown: %q", shown)
	}
}

func TestAFailedExplanationSaysWhy(t *testing.T) {
	c := &core{indexed: true}
	c.explain = func(_ context.Context, _ agent.Problem, emit func(string) bool) (agent.Explanation, error) {
		emit("some words")
		return agent.Explanation{}, errors.New("Ollama went away")
	}
	e := edit(t, "vscode", c)
	b := problemAt(t, e, "a.go")
	explain(t, e, b)
	page(t, e, "# undefined: foo\n\na.go:4, says compiler.\n\nsome words\n\n(interrupted)\n")
	awaitShown(t, e, "Ollama went away (Explain: undefined: foo)")
}

// Whatever happens, nothing stays on the screen as if it went on.
func TestAPanicEndsItsProgress(t *testing.T) {
	panics := assistant{fix: func(context.Context, agent.Problem) (agent.Proposal, error) { panic("boom") }}
	e := edit(t, "neovim", &core{indexed: true, assistant: panics})
	beginFix(t, e, problemAt(t, e, "a.go"))
	ended(t, e, "failed")
	awaitShown(t, e, "internal error; please report it")
}

// What a user can type after a command, and what they are asked if they type
// nothing.
func TestCommandsAsPeopleRunThem(t *testing.T) {
	type request struct{ What, Message, Goal string }
	for _, tt := range []struct {
		name    string
		command string
		args    []any
		choices string // asked of the user, whose choice is the second
		want    any
		says    string
	}{
		{name: "part of a message", command: "explain", args: []any{"undefined: f"}, want: request{"explain", "undefined: foo", ""}},
		{name: "place", command: "fix", args: []any{"a.go:4"}, want: request{"fix", "undefined: foo", ""}},
		{name: "place with a column", command: "explain", args: []any{"a.go:4:9"}, want: request{"explain", "undefined: foo", ""}},
		{name: "place and message", command: "explain", args: []any{"a.go:1:1: who knows"}, want: request{"explain", "who knows", ""}},
		{name: "a line without", command: "fix", args: []any{"a.go:1"}, says: "no diagnostic is known there; add its message, as in a.go:1: undefined: x"},
		{name: "a line that is not", command: "fix", args: []any{"a.go:99: x"}, says: "a.go has 5 lines"},
		{name: "a file that is not", command: "fix", args: []any{"b.go:1: x"}, says: "b.go"},
		{name: "words that nobody said", command: "explain", args: []any{"no such thing"}, says: "choose explain in its menu of code actions"},
		{name: "several", command: "explain", choices: "a.go:3 unused, a.go:4 undefined: foo", want: request{"explain", "undefined: foo", ""}},
		{name: "several in a document", command: "fix", args: []any{"URI"}, choices: "a.go:3 unused, a.go:4 undefined: foo", want: request{"fix", "undefined: foo", ""}},
		{name: "words of a line cut up", command: "ask", args: []any{"where", "is", "x?"}, want: request{"ask", "where is x?", ""}},
		{name: "a question", command: "ask", args: []any{"where is x?"}, want: request{"ask", "where is x?", ""}},
		{name: "no question", command: "ask", choices: "What does a.go do?, Who uses a.go, and for what?, What is this workspace for, and where does it begin?", want: request{"ask", "Who uses a.go, and for what?", "a.go"}},
		{name: "a kind", command: "refactor", args: []any{"simplify"}, want: request{"refactor", "simplify", ""}},
		{name: "a name", command: "refactor", args: []any{"rename newName"}, want: request{"refactor", "rename", "newName"}},
		{name: "an instruction", command: "refactor", args: []any{"rename what is wrong"}, want: request{"refactor", "free", "rename what is wrong"}},
		{name: "no instruction", command: "refactor", choices: "Extract into a function, Rename to something clearer within its scope, Simplify, Document, Write tests", want: request{"refactor", "rename", ""}},
		{name: "nonsense", command: "ask", args: []any{[]int{1}}, says: "neither a text nor"},
	} {
		t.Run(tt.command+" "+tt.name, func(t *testing.T) {
			got := make(chan request, 1)
			done := errors.New("done")
			c := &core{indexed: true, assistant: assistant{
				explain: func(_ context.Context, p agent.Problem, _ func(string) bool) (agent.Explanation, error) {
					got <- request{"explain", p.Message, ""}
					return agent.Explanation{}, done
				},
				fix: func(_ context.Context, p agent.Problem) (agent.Proposal, error) {
					got <- request{"fix", p.Message, ""}
					return agent.Proposal{}, done
				},
				refactor: func(_ context.Context, sel agent.Selection) (agent.Proposal, error) {
					got <- request{"refactor", string(sel.Kind), sel.Goal}
					return agent.Proposal{}, done
				},
				ask: func(_ context.Context, q agent.Question, _ func(string) bool) (agent.Answer, error) {
					about := ""
					if q.About != nil {
						about = q.About.Document.Path[strings.LastIndexAny(q.About.Document.Path, `/\`)+1:]
					}
					got <- request{"ask", q.Text, about}
					return agent.Answer{}, done
				},
			}}
			e := edit(t, "neovim", c)
			b := problemAt(t, e, "a.go")
			b.Diagnostics = append(b.Diagnostics, headless.Diagnostic{Start: 16, End: 18, Message: "unused"})
			actions(t, e, b, 0, len(source))
			for i, arg := range tt.args {
				if arg == "URI" {
					tt.args[i] = b.URI
				}
			}
			err := e.Execute(soon(t), "quarry."+tt.command, tt.args...)
			if tt.name == "nonsense" {
				wantCode(t, tt.name, err, -32602)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if tt.choices != "" {
				attend(t, e, func(_ string, choices []string) string {
					if diff := cmp.Diff(tt.choices, strings.Join(choices, ", ")); diff != "" {
						t.Errorf("choices (-want +got):\n%s", diff)
					}
					return choices[1]
				})
			}
			if tt.says != "" {
				awaitShown(t, e, tt.says)
				return
			}
			if diff := cmp.Diff(tt.want, any(<-got)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestRefactorNeedsASelectionItKnows(t *testing.T) {
	e := edit(t, "helix", &core{})
	b := problemAt(t, e, "a.go")
	run := func() {
		t.Helper()
		if err := e.Execute(soon(t), "quarry.refactor", "simplify"); err != nil {
			t.Fatal(err)
		}
	}
	run()
	awaitShown(t, e, "nothing is selected; select code")
	actions(t, e, b, 0, 9)
	if err := e.Replace(b, 0, 0, "x"); err != nil {
		t.Fatal(err)
	}
	run()
	if err := e.Await(soon(t), func() bool { return len(e.Shown()) == 2 }); err != nil {
		t.Fatalf("a selection in a text that has changed: %q", e.Shown())
	}
}

// A document without a range means what was selected in it; of nothing no model
// is asked.
func TestRefactorOfADocumentMeansItsSelection(t *testing.T) {
	const says = "select the code to change"
	got := make(chan agent.Selection, 1)
	c := &core{assistant: assistant{refactor: func(_ context.Context, sel agent.Selection) (agent.Proposal, error) {
		got <- sel
		return agent.Proposal{}, errors.New("done")
	}}}
	e := edit(t, "helix", c)
	b, other := problemAt(t, e, "a.go"), open(t, e, "b.go", "go", source)
	run := func(argument map[string]any) {
		t.Helper()
		argument["kind"] = "simplify"
		if err := e.Execute(soon(t), "quarry.refactor", argument); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(argument map[string]any) {
		t.Helper()
		before := len(e.Shown())
		run(argument)
		if err := e.Await(soon(t), func() bool { return len(e.Shown()) > before }); err != nil {
			t.Fatal(err)
		}
		if shown := e.Shown()[before]; !strings.Contains(shown, says) {
			t.Errorf("%v: shown %q", argument, shown)
		}
	}
	refused(map[string]any{"uri": b.URI})
	actions(t, e, b, 0, 9)
	refused(map[string]any{"uri": other.URI})
	refused(map[string]any{"uri": b.URI, "range": e.Range(b, 0, 0)})
	refused(map[string]any{"uri": b.URI, "range": e.Range(b, 9, 11)})
	run(map[string]any{"uri": b.URI})
	if sel := receive(t, got, "the model was not asked about the selection"); sel.Start != 0 || sel.End != 9 || sel.Kind != agent.Simplify {
		t.Errorf("%s of bytes %d to %d", sel.Kind, sel.Start, sel.End)
	}
}

func TestAskAnswersInParts(t *testing.T) {
	var got agent.Question
	c := &core{assistant: assistant{ask: func(_ context.Context, q agent.Question, emit func(string) bool) (agent.Answer, error) {
		got = q
		for _, piece := range []string{"It ", "is ", "there."} {
			emit(piece)
		}
		return agent.Answer{Text: "It is there: a.go:1.", Citations: []agent.Citation{{Path: "a.go", StartLine: 1, EndLine: 1}}, Removed: 1, Backend: []string{"lexical"}}, nil
	}}}
	e := edit(t, "vscode", c)
	b := problemAt(t, e, "a.go")
	for _, token := range []any{nil, "parts", 7} {
		before := len(e.Progressed())
		params := map[string]any{"question": " where? ", "textDocument": map[string]any{"uri": b.URI}, "range": e.Range(b, 0, 9)}
		if token != nil {
			params["partialResultToken"] = token
		}
		var result json.RawMessage
		if err := e.Call(soon(t), assist.MethodAsk, params, &result); err != nil {
			t.Fatal(err)
		}
		want := `{"text":"It is there: a.go:1.","citations":[{"path":"a.go","start_line":1,"end_line":1}],"removed_citations":1,"unfounded":false,"backend":["lexical"]}`
		if diff := cmp.Diff(want, string(result)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		var parts []string
		for _, p := range e.Progressed()[before:] {
			parts = append(parts, fmt.Sprintf("%s %s", p.Token, p.Value))
		}
		var wantParts []string
		if token != nil {
			name, _ := json.Marshal(token)
			for _, piece := range []string{"It ", "is ", "there."} {
				wantParts = append(wantParts, fmt.Sprintf(`%s {"text":%q}`, name, piece))
			}
		}
		if diff := cmp.Diff(wantParts, parts); diff != "" {
			t.Errorf("parts (-want +got):\n%s", diff)
		}
	}
	if got.Text != "where?" || got.About == nil || got.About.End != 9 || got.About.Document.Text != source {
		t.Errorf("the engine's question: %+v", got)
	}
	wantCode(t, "no question", e.Call(soon(t), assist.MethodAsk, map[string]any{"question": " "}, nil), -32602)
	wantCode(t, "a token of a wrong type", e.Call(soon(t), assist.MethodAsk, map[string]any{"question": "x", "partialResultToken": true}, nil), -32602)
}

// How far a job is stands behind its title, which leaves it room on a status bar.
func TestProgressHasAShortTitle(t *testing.T) {
	e := edit(t, "vscode", explaining(func(context.Context, func(string) bool) (string, error) { return "Write it.", nil }))
	b := problemAt(t, e, "a.go")
	b.Diagnostics[0].Message = "Property 'Counts' does not exist on type 'Item'. Did you mean 'Count'?"
	explain(t, e, b)
	ended(t, e, "explained")
	var told strings.Builder // of the index, too
	for _, p := range e.Progressed() {
		told.Write(p.Value)
	}
	if !strings.Contains(told.String(), `"title":"Explain: Property 'Counts' doe…"`) {
		t.Errorf("%s", &told)
	}
}

// An answer that is not shown has no citations to tell of.
func TestAnAnswerThatIsNotShownLostNoCitations(t *testing.T) {
	e := edit(t, "vscode", &core{indexed: true, assistant: assistant{ask: func(_ context.Context, _ agent.Question, _ func(string) bool) (agent.Answer, error) {
		return agent.Answer{Text: "Not in the evidence.", Unfounded: true, Removed: 7}, nil
	}}})
	if err := e.Execute(soon(t), "quarry.ask", "where is it?"); err != nil {
		t.Fatal(err)
	}
	page(t, e, "# where is it?\n\nNot in the evidence.\n")
}

func TestAskingIsCancelledWithItsRequest(t *testing.T) {
	asked := make(chan bool)
	c := &core{assistant: assistant{ask: func(ctx context.Context, _ agent.Question, _ func(string) bool) (agent.Answer, error) {
		close(asked)
		<-ctx.Done()
		return agent.Answer{}, ctx.Err()
	}}}
	e := edit(t, "vscode", c)
	p, err := e.Start(assist.MethodAsk, map[string]any{"question": "where?"})
	if err != nil {
		t.Fatal(err)
	}
	<-asked
	if err := p.Cancel(); err != nil {
		t.Fatal(err)
	}
	wantCode(t, "cancelled", p.Wait(nil), -32800)
}

// Nothing is offered for what no model may see.
func TestExcludedDocumentsGetNoActions(t *testing.T) {
	e := edit(t, "vscode", &core{indexed: true})
	b := problemAt(t, e, ".env")
	if got := titles(actions(t, e, b, 0, len(source))); len(got) > 0 {
		t.Errorf("offered: %q", got)
	}
	beginFix(t, e, b)
	awaitShown(t, e, ".env is private, see docs/secrets.md")
	const pasted = "PuTTY-User-Key-File-3: ssh-ed25519\nfoo\n"
	b = open(t, e, "pasted.txt", "plaintext", pasted)
	at := strings.Index(pasted, "foo")
	b.Diagnostics = []headless.Diagnostic{{Start: at, End: at + 3, Severity: 2, Source: "compiler", Message: "undefined: foo"}}
	if got := titles(actions(t, e, b, 0, len(pasted))); len(got) > 0 {
		t.Errorf("offered in a private key: %q", got)
	}
	beginFix(t, e, b)
	awaitShown(t, e, "pasted.txt is private, see docs/secrets.md")
}
