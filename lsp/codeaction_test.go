package lsp_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/agent"
	"quarry/lsp/assist"
	"quarry/lsp/headless"
)

const source = "package a\r\n\r\n// 😀\r\nvar x = foo(1)\r\n"

// problemAt opens source as a.go with the diagnostic of another server on foo.
func problemAt(t *testing.T, e *headless.Editor, name string) *headless.Buffer {
	t.Helper()
	b := open(t, e, name, "go", source)
	at := strings.Index(source, "foo")
	b.Diagnostics = []headless.Diagnostic{{Start: at, End: at + 3, Severity: 2, Source: "compiler", Code: "UndeclaredName", Message: "undefined: foo"}}
	b.Cursor = at + 1
	return b
}

// replace proposes to put with in the place of the first old in a document.
func replace(d agent.Document, old, with string) agent.Proposal {
	at := strings.Index(d.Text, old)
	return agent.Proposal{
		Title: "Call bar", Reason: "foo was renamed.", Confidence: agent.Medium,
		Citations: []agent.Citation{{Path: "b.go", StartLine: 3, EndLine: 5}, {Path: "c.go", StartLine: 1, EndLine: 1}},
		Diff:      "-" + old + "\n+" + with + "\n",
		Files:     []agent.FileChange{{Path: d.Path, Base: agent.HashText(d.Text), Edits: []agent.TextEdit{{Start: at, End: at + len(old), New: with}}}},
	}
}

func fixFoo(_ context.Context, p agent.Problem) (agent.Proposal, error) {
	return replace(p.Document, "foo", "bar"), nil
}

var fixed = strings.Replace(source, "foo", "bar", 1)

func actions(t *testing.T, e *headless.Editor, b *headless.Buffer, start, end int, only ...string) []headless.Action {
	t.Helper()
	list, err := e.CodeActions(soon(t), b, start, end, only...)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func titles(list []headless.Action) []string {
	names := []string{}
	for _, a := range list {
		name := strings.TrimSuffix(a.Title, " (quarry)")
		if a.Disabled != nil {
			name += " [" + a.Disabled.Reason + "]"
		}
		names = append(names, name)
	}
	return names
}

// named is the action whose title contains part.
func named(t *testing.T, list []headless.Action, part string) headless.Action {
	t.Helper()
	i := slices.IndexFunc(list, func(a headless.Action) bool { return strings.Contains(a.Title, part) })
	if i < 0 {
		t.Fatalf("no action %q among %q", part, titles(list))
	}
	return list[i]
}

const (
	noWish  = "Do what the selection's quarry: comment says [write what you want as a comment in it (quarry: ...), or pass it to the command quarry.refactor]"
	select_ = " [select the code to change]"
)

func TestActionsAreOfferedWithoutAskingTheModel(t *testing.T) {
	onProblem := []string{"Explain: undefined: foo", "Fix: undefined: foo"}
	onCode := []string{"Extract into a function", "Rename to something clearer within its scope", "Simplify", "Document", "Write tests"}
	var onNothing []string
	for _, title := range append(slices.Clone(onCode), "Do what the selection's quarry: comment says") {
		onNothing = append(onNothing, title+select_)
	}
	for _, profile := range headless.Profiles {
		e := edit(t, profile, &core{}) // whose assistant fails where it is asked
		b := problemAt(t, e, "a.go")
		instructed := open(t, e, "b.go", "go", "x()\n// quarry: use a map \ny()\n")
		at := b.Cursor
		for _, tt := range []struct {
			name       string
			b          *headless.Buffer
			start, end int
			only       []string
			want       []string
		}{
			{"cursor on a diagnostic", b, at, at, nil, onProblem},
			{"cursor elsewhere", b, 0, 0, nil, []string{}},
			{"selection", b, 0, 9, nil, append(slices.Clone(onCode), noWish)},
			{"selection with an instruction", instructed, 0, 30, nil, append(slices.Clone(onCode), "Do: use a map")},
			{"selection and diagnostic", b, at, len(source), nil, slices.Concat(onProblem, onCode, []string{noWish})},
			{"only fixes", b, at, len(source), []string{"quickfix"}, onProblem},
			{"only one kind", b, at, len(source), []string{"refactor.extract"}, onCode[:1]},
			{"kinds below one", b, 0, 9, []string{"refactor.rewrite"}, append(slices.Clone(onCode[1:]), noWish)},
			{"every kind", b, at, at, []string{""}, onProblem},
			{"none of ours", b, at, len(source), []string{"source"}, []string{}},
			{"refactorings of nothing", b, 0, 0, []string{"refactor"}, onNothing},
			{"refactorings of a blank", b, 9, 11, []string{"refactor"}, onNothing},
		} {
			want := tt.want
			if !profiled(t, profile).ShowsDisabledActions() {
				want = slices.DeleteFunc(slices.Clone(want), func(title string) bool { return strings.Contains(title, "[") })
			}
			if diff := cmp.Diff(want, titles(actions(t, e, tt.b, tt.start, tt.end, tt.only...))); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", profile, tt.name, diff)
			}
		}
	}
}

// Imports need no model: they are offered where none can be asked, and so is the fix where one of them
// is certain. What the user chose is what they are shown and what is applied.
func TestImportsAreOfferedWithoutAModel(t *testing.T) {
	for _, certain := range []bool{false, true} {
		c := &core{assistant: assistant{unavailable: errors.New("Ollama does not answer; start it")}}
		c.imports = func(p agent.Problem) (list []agent.Import) {
			for i, what := range []string{"\"foo\"", "\"bar/foo\""} {
				add := agent.Proposal{Title: "Import " + what + " (as 2 files do)", Reason: "It is missing.", Diff: "+import " + what + "\n"}
				add.Files = []agent.FileChange{{Path: p.Document.Path, Base: agent.HashText(p.Document.Text), Edits: []agent.TextEdit{{Start: 13, End: 13, New: "import " + what + "\r\n"}}}}
				list = append(list, agent.Import{Proposal: add, What: what, Certain: certain && i == 0})
			}
			return list
		}
		e := edit(t, "vscode", c)
		b := problemAt(t, e, "a.go")
		list := actions(t, e, b, b.Cursor, b.Cursor)
		fix := "Fix: undefined: foo [Ollama does not answer; start it]"
		if certain {
			fix = "Fix: undefined: foo"
		}
		want := []string{"Import \"foo\" (as 2 files do)", "Import \"bar/foo\" (as 2 files do)", "Explain: undefined: foo", fix}
		if !certain { // where nothing lacks a model, nothing is said of it
			want = append(want, helps)
		}
		if diff := cmp.Diff(want, titles(list)); diff != "" {
			t.Fatalf("certain %v (-want +got):\n%s", certain, diff)
		}
		if err := e.Choose(soon(t), list[1]); err != nil {
			t.Fatal(err)
		}
		if err := e.Agree(soon(t)); err != nil {
			t.Fatal(err)
		}
		err := e.Await(soon(t), func() bool { return b.Text.String() != source })
		if got := b.Text.String(); err != nil || !strings.Contains(got, "import \"bar/foo\"\r\n") || strings.Contains(got, "import \"foo\"") {
			t.Errorf("certain %v: the document is %q", certain, got)
		}
	}
}

// A menu of many diagnostics looks imports up for some of them.
func TestImportsOfAMenuAreBounded(t *testing.T) {
	c := &core{}
	asked := 0
	c.imports = func(agent.Problem) []agent.Import {
		asked++
		return []agent.Import{{Proposal: agent.Proposal{Title: "Import x"}, What: "x"}}
	}
	e := edit(t, "vscode", c)
	b := problemAt(t, e, "a.go")
	for range 20 {
		b.Diagnostics = append(b.Diagnostics, b.Diagnostics[0])
	}
	if actions(t, e, b, b.Cursor, b.Cursor); asked != 8 {
		t.Errorf("imports were looked up %d times, want 8", asked)
	}
}

// helps is what many editors show in the place of what cannot be done.
const helps = "No model answers: what helps, and what works"

// Explain shows what search finds, so it is no less there than a question is; what lacks a model says why, and what helps is
// beside it, since Helix and others hide what is disabled.
func TestActionsSayWhyTheyCannotBeDone(t *testing.T) {
	c := &core{assistant: assistant{unavailable: errors.New("Ollama does not answer; start it")}}
	e := edit(t, "vscode", c)
	b := problemAt(t, e, "a.go")
	want := []string{"Explain: undefined: foo", "Fix: undefined: foo [Ollama does not answer; start it]", helps}
	if diff := cmp.Diff(want, titles(actions(t, e, b, b.Cursor, b.Cursor))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	// A client that knows no disabled actions still learns it, where it runs one.
	c = &core{assistant: assistant{unavailable: c.unavailable}}
	c.fix = func(context.Context, agent.Problem) (agent.Proposal, error) { return agent.Proposal{}, c.unavailable }
	e = edit(t, "vscode", c, capabilities(`{"textDocument":{"codeAction":{"codeActionLiteralSupport":{"codeActionKind":{"valueSet":["quickfix"]}}}}}`))
	b = problemAt(t, e, "a.go")
	list := actions(t, e, b, b.Cursor, len(source))
	if diff := cmp.Diff([]string{"Explain: undefined: foo", "Fix: undefined: foo", helps}, titles(list)); diff != "" {
		t.Errorf("without disabledSupport (-want +got):\n%s", diff)
	}
	if err := e.Choose(soon(t), named(t, list, "Fix")); err != nil {
		t.Fatal(err)
	}
	awaitShown(t, e, "Ollama does not answer; start it")
	if err := e.Choose(soon(t), named(t, list, helps)); err != nil {
		t.Fatal(err)
	}
	attend(t, e, func(question string, choices []string) string { return choices[0] })
	// Who wants no model is not told of it in each menu.
	e = edit(t, "helix", &core{assistant: assistant{unavailable: assist.ErrOff}})
	b = problemAt(t, e, "a.go")
	want = []string{"Explain: undefined: foo", "Fix: undefined: foo [" + assist.ErrOff.Error() + "]"}
	if diff := cmp.Diff(want, titles(actions(t, e, b, b.Cursor, b.Cursor))); diff != "" {
		t.Errorf("with models off (-want +got):\n%s", diff)
	}
}

func capabilities(raw string) func(*headless.Options) {
	return func(o *headless.Options) { o.Profile.Capabilities = json.RawMessage(raw) }
}

func awaitShown(t *testing.T, e *headless.Editor, part string) {
	t.Helper()
	err := e.Await(soon(t), func() bool {
		return slices.ContainsFunc(e.Shown(), func(m string) bool { return strings.Contains(m, part) })
	})
	if err != nil {
		t.Fatalf("%q was not shown, but %q", part, e.Shown())
	}
}

// choose runs an action to its end in any editor: the user is asked, and wants the
// change or does not.
func choose(t *testing.T, e *headless.Editor, a headless.Action, yes bool) {
	t.Helper()
	if err := e.Choose(soon(t), a); err != nil {
		t.Fatal(err)
	}
	attend(t, e, func(question string, choices []string) string {
		for _, part := range []string{"Call bar", "foo was renamed.", "Confidence: medium.", "Based on b.go:3-5, c.go:1."} {
			if !strings.Contains(question, part) {
				t.Errorf("the user was asked %q, without %q", question, part)
			}
		}
		if yes {
			return headless.AcceptPrompt(question, choices)
		}
		return headless.RejectPrompt(question, choices)
	})
	if yes {
		agree(t, e)
	}
}

func agree(t *testing.T, e *headless.Editor) {
	t.Helper()
	if err := e.Agree(soon(t)); err != nil {
		t.Fatal(err)
	}
}

func TestFixIsAppliedOnlyIfTheUserWantsIt(t *testing.T) {
	for _, profile := range headless.Profiles {
		for answer, yes := range map[string]bool{"yes": true, "no": false} {
			t.Run(profile+"/"+answer, func(t *testing.T) {
				var got agent.Problem
				c := &core{assistant: assistant{fix: func(ctx context.Context, p agent.Problem) (agent.Proposal, error) {
					got = p
					return fixFoo(ctx, p)
				}}}
				e := edit(t, profile, c)
				b := problemAt(t, e, "a (1)!.go") // a name that clients and libraries encode differently
				choose(t, e, named(t, actions(t, e, b, b.Cursor, b.Cursor), "Fix"), yes)
				want := source
				if yes {
					want = fixed
				}
				if diff := cmp.Diff(want, b.Text.String()); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
				at := strings.Index(source, "foo")
				problem := agent.Problem{Severity: agent.SeverityWarning, Source: "compiler", Code: "UndeclaredName", Message: "undefined: foo"}
				problem.Location = agent.Location{Document: agent.Document{Path: got.Document.Path, Language: "go", Text: source}, Start: at, End: at + 3}
				if diff := cmp.Diff(problem, got); diff != "" {
					t.Errorf("the engine's problem (-want +got):\n%s", diff)
				}
				if shown := e.Shown(); len(shown) > 0 {
					t.Errorf("shown: %q", shown)
				}
			})
		}
	}
}

func TestNothingIsAppliedToADocumentThatMoved(t *testing.T) {
	const moved = "changed, so nothing was applied"
	t.Run("between the offer and the choice", func(t *testing.T) {
		for _, profile := range headless.Profiles {
			e := edit(t, profile, &core{assistant: assistant{fix: fixFoo}})
			b := problemAt(t, e, "a.go")
			fix := named(t, actions(t, e, b, b.Cursor, b.Cursor), "Fix")
			if err := e.Replace(b, 0, 0, "// "); err != nil {
				t.Fatal(err)
			}
			if err := e.Choose(soon(t), fix); err != nil {
				t.Fatal(err)
			}
			awaitShown(t, e, moved)
		}
	})
	t.Run("while the model writes", func(t *testing.T) {
		for _, profile := range headless.Profiles {
			begun, typed := make(chan bool), make(chan bool)
			c := &core{assistant: assistant{fix: func(ctx context.Context, p agent.Problem) (agent.Proposal, error) {
				close(begun)
				<-typed
				return fixFoo(ctx, p)
			}}}
			e := edit(t, profile, c)
			b := problemAt(t, e, "a.go")
			fix := named(t, actions(t, e, b, b.Cursor, b.Cursor), "Fix")
			if err := e.Choose(soon(t), fix); err != nil {
				t.Fatal(err)
			}
			<-begun
			if err := e.Replace(b, 0, 0, "// "); err != nil {
				t.Fatal(err)
			}
			complete(t, e, b) // a round trip, so that the server has the change
			close(typed)
			awaitShown(t, e, moved)
			if got := b.Text.String(); got != "// "+source {
				t.Errorf("%s: the text is %q", profile, got)
			}
		}
	})
	t.Run("while the user decides", func(t *testing.T) {
		for _, profile := range headless.Profiles {
			core := &core{assistant: assistant{fix: fixFoo}}
			e := edit(t, profile, core)
			b := problemAt(t, e, "a.go")
			if err := e.Choose(soon(t), named(t, actions(t, e, b, b.Cursor, b.Cursor), "Fix")); err != nil {
				t.Fatal(err)
			}
			attend(t, e, func(question string, choices []string) string {
				if err := e.Replace(b, 0, 0, "// "); err != nil {
					t.Error(err)
				}
				return headless.AcceptPrompt(question, choices)
			})
			if profiled(t, profile).ShowsProposals() { // nor does a second answer, when they have stopped typing
				core.clock.pass(time.Second)
				attend(t, e, headless.AcceptPrompt)
			}
			awaitShown(t, e, moved)
			if got := b.Text.String(); got != "// "+source {
				t.Errorf("%s: the text is %q", profile, got)
			}
		}
	})
}

func TestRefactoringsAndTheirGoals(t *testing.T) {
	asked := make(chan agent.Selection, 1)
	c := &core{assistant: assistant{refactor: func(_ context.Context, sel agent.Selection) (agent.Proposal, error) {
		asked <- sel
		return agent.Proposal{Reason: "It is as simple as it gets."}, nil
	}}}
	e := edit(t, "helix", c)
	b := open(t, e, "a.go", "go", "x()\n# QUARRY: use a map */\ny()\n")
	for title, want := range map[string]agent.Selection{
		"Extract": {Kind: agent.Extract}, "Rename": {Kind: agent.Rename}, "Simplify": {Kind: agent.Simplify},
		"Document": {Kind: agent.Describe}, "tests": {Kind: agent.Test}, "Do: use a map (": {Kind: agent.Free, Goal: "use a map"},
	} {
		a := named(t, actions(t, e, b, 0, b.Text.Len()), title)
		if err := e.Choose(soon(t), a); err != nil {
			t.Fatal(err)
		}
		got := <-asked
		if got.Kind != want.Kind || got.Goal != want.Goal || got.Start != 0 || got.End != b.Text.Len() {
			t.Errorf("%s: %s, goal %q, bytes %d to %d", title, got.Kind, got.Goal, got.Start, got.End)
		}
	}
	awaitShown(t, e, "no change is proposed. It is as simple as it gets.")
}

func TestHostileActionData(t *testing.T) {
	e := edit(t, "vscode", &core{})
	b := problemAt(t, e, "a.go")
	for _, data := range []string{`[]`, `7`, `{"uri":1}`} {
		wantCode(t, data, e.Execute(soon(t), "quarry.fix", json.RawMessage(data)), -32602)
	}
	for i, data := range []string{
		`{"uri":"` + b.URI + `","diagnostic":{}}`,
		`{"uri":"file:///etc/passwd","diagnostic":{"message":"x"}}`,
		`{"uri":"` + b.URI + `","range":{"start":{"line":9,"character":0},"end":{"line":99,"character":0}},"diagnostic":{"message":"x"}}`,
		`{"uri":"` + b.URI + `","range":{"start":{"line":1,"character":0},"end":{"line":0,"character":0}},"diagnostic":{"message":"x"}}`,
		`{"uri":"untitled:a","diagnostic":{"message":"x"}}`,
	} {
		if err := e.Execute(soon(t), "quarry.fix", json.RawMessage(data)); err != nil {
			t.Errorf("%s: %v", data, err)
		}
		if err := e.Await(soon(t), func() bool { return len(e.Shown()) == i+1 }); err != nil {
			t.Fatalf("%s: %d messages, want %d: %q", data, len(e.Shown()), i+1, e.Shown())
		}
	}
}

// What the editor tells of other servers' diagnostics is there for the tools of
// models, and moves with the text.
func TestProblemsForTools(t *testing.T) {
	c := &core{}
	e := edit(t, "vscode", c)
	b := problemAt(t, e, "a.go")
	if got := c.problems(""); len(got) != 0 {
		t.Errorf("before the editor told of any: %+v", got)
	}
	actions(t, e, b, b.Cursor, b.Cursor)
	path := c.problems("")[0].Document.Path
	check := func(at int) {
		t.Helper()
		for _, of := range []string{"", path} {
			got := c.problems(of)
			if len(got) != 1 || got[0].Start != at || got[0].Document.Text[got[0].Start:got[0].End] != "foo" ||
				got[0].Message != "undefined: foo" || got[0].Source != "compiler" || got[0].Severity != agent.SeverityWarning {
				t.Errorf("%q: %+v", of, got)
			}
		}
		if got := c.problems(path + ".go"); len(got) != 0 {
			t.Errorf("of another file: %+v", got)
		}
	}
	at := strings.Index(source, "foo")
	check(at)
	if err := e.Replace(b, 0, 0, "// news\n"); err != nil {
		t.Fatal(err)
	}
	if err := e.Complete(soon(t), b, true); err != nil { // answered after the edit was read
		t.Fatal(err)
	}
	check(at + len("// news\n"))
}

// Y14: what an editor says of its diagnostics comes back bounded, however long and many they are.
func TestDiagnosticsComeBackBounded(t *testing.T) {
	e := edit(t, "vscode", &core{})
	b := open(t, e, "a.go", "go", source)
	asked := func(diagnostics ...any) (raw json.RawMessage, list []headless.Action) {
		t.Helper()
		at := e.Range(b, 2, 2)
		err := e.Call(soon(t), "textDocument/codeAction", map[string]any{
			"textDocument": map[string]any{"uri": b.URI}, "range": at, "context": map[string]any{"diagnostics": diagnostics},
		}, &raw)
		if err == nil {
			err = json.Unmarshal(raw, &list)
		}
		if err != nil {
			t.Fatal(err)
		}
		return raw, list
	}
	diagnostic := func(message string, more any) any {
		return map[string]any{"range": e.Range(b, 0, 5), "message": message, "data": more, "source": strings.Repeat("s", len(message)), "code": strings.Repeat("c", len(message))}
	}
	long := strings.Repeat("long ", 1<<18)
	if raw, list := asked(diagnostic(long, nil)); len(raw) > 40_000 || len(list) != 2 || !strings.Contains(list[0].Title, "long long") {
		t.Errorf("a long message: %d bytes, %q", len(raw), titles(list))
	}
	if raw, list := asked(diagnostic("short", long)); len(raw) > 10_000 || len(list) != 2 {
		t.Errorf("much data: %d bytes, %q", len(raw), titles(list))
	}
	if raw, list := asked(diagnostic("short", "data")); len(list) != 2 || strings.Count(string(raw), `"data":"data"`) != 2 {
		t.Errorf("little data does not come back: %s", raw)
	}
	var many []any
	for range 1000 {
		many = append(many, diagnostic(strings.Repeat("m", 3000), nil))
	}
	if raw, list := asked(many...); len(raw) > 5_000_000 || len(list) != 200 {
		t.Errorf("many: %d bytes, %d actions", len(raw), len(list))
	}
}
