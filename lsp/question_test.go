package lsp_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/agent"
	"quarry/diagnostics/patch"
	"quarry/lsp/headless"
)

// pageless is a client that asks and applies, but has no page to show a change on: its users
// see what is in the question.
const pageless = `{"workspace":{"applyEdit":true,"workspaceEdit":{"resourceOperations":["create"]}},"window":{"workDoneProgress":true}}`

// Where a change cannot be shown on a page, its lines stand among the choices, so that a yes
// is one to what is on the screen; nothing but Apply is a yes.
func TestAQuestionWithoutAPageHasTheLinesOfTheChange(t *testing.T) {
	e := edit(t, "helix", &core{indexed: true, assistant: assistant{fix: fixFoo}}, capabilities(pageless))
	b := problemAt(t, e, "a.go")
	answer := func(say string) {
		beginFix(t, e, b)
		attend(t, e, func(question string, choices []string) string {
			want := "quarry: Apply the lines below to a.go? Call bar. foo was renamed. Confidence: medium. Based on b.go:3-5, c.go:1."
			if diff := cmp.Diff(want, question); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if want := []string{"Discard", "-4  var x = foo(1)", "+4  var x = bar(1)", "Apply"}; !slices.Equal(choices, want) {
				t.Errorf("choices %q", choices)
			}
			return say
		})
	}
	answer("+4  var x = bar(1)")
	awaitShown(t, e, "Not applied: that is a line of the change, only Apply makes it. Ask again to see the same proposal at once.")
	answer("Discard")
	if got := b.Text.String(); got != source {
		t.Errorf("text %q", got)
	}
	answer("Apply")
	attend(t, e, nil)
	ended(t, e, "applied")
	if got := b.Text.String(); got != fixed || len(e.Shown()) != 1 {
		t.Errorf("text %q, shown %q", got, e.Shown())
	}
}

// Lines are numbered as they stand before and after; what nobody would see is written out.
func TestLinesOfAChangeAmongTheChoices(t *testing.T) {
	many := func(n int) string { return strings.Repeat("x\n", n) }
	for name, tt := range map[string]struct {
		before string // what a.go is
		edits  func(text string) []agent.TextEdit
		lines  []string // between Discard and Apply
		refuse string
	}{
		"two places": {"a\n\tb\nc\n\nd\n", func(text string) []agent.TextEdit {
			return []agent.TextEdit{{Start: 2, End: 4, New: "\tB\n\tmore"}, {Start: 7, End: 8}}
		}, []string{"-2      b", "+2      B", "+3      more", "-4  (empty)"}, ""},
		"the end": {"a\nb", func(text string) []agent.TextEdit { return []agent.TextEdit{{Start: 3, End: 3, New: "\n"}} },
			[]string{"-2  b (no end of line)", "+2  b"}, ""},
		"as many as there is room for": {"", func(string) []agent.TextEdit { return []agent.TextEdit{{New: many(20)}} },
			func() (list []string) {
				for i := range 20 {
					list = append(list, fmt.Sprintf("+%d  x", i+1))
				}
				return list
			}(), ""},
		"too many": {"", func(string) []agent.TextEdit { return []agent.TextEdit{{New: many(21)}} }, nil,
			"change less at once: 21 lines change, and this editor can show 20 before you agree. Nothing was applied"},
		"as long as there is room for": {"", func(string) []agent.TextEdit { return []agent.TextEdit{{New: strings.Repeat("y", 116) + "\n"}} },
			[]string{"+1  " + strings.Repeat("y", 116)}, ""},
		"too long": {"", func(string) []agent.TextEdit { return []agent.TextEdit{{New: strings.Repeat("y", 117) + "\n"}} }, nil,
			"change less at once: a changed line has 121 letters, and this editor can show 120 of it"},
	} {
		t.Run(name, func(t *testing.T) {
			e := edit(t, "helix", fixing(func(d agent.Document) agent.Proposal {
				return agent.Proposal{Title: "Change", Reason: "So.", Files: []agent.FileChange{{Path: d.Path, Base: agent.HashText(d.Text), Edits: tt.edits(d.Text)}}}
			}), capabilities(pageless))
			b := open(t, e, "a.go", "go", tt.before)
			b.Diagnostics = []headless.Diagnostic{{Message: "wrong"}}
			beginFix(t, e, b)
			if tt.refuse != "" {
				awaitShown(t, e, tt.refuse)
				if e.Waiting() > 0 {
					t.Error("the user was asked")
				}
				return
			}
			attend(t, e, func(_ string, choices []string) string {
				if diff := cmp.Diff(tt.lines, choices[1:len(choices)-1]); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
				return "Discard"
			})
			ended(t, e, "not applied")
		})
	}
}

// A change that may be longer or wider than the screen says so where it is agreed to, and its page stays for who closes the
// question.
func TestAChangeLongerThanTheScreen(t *testing.T) {
	const more = "which may be more than you see: close this question to read on, and ask again."
	for text, want := range map[string]string{
		strings.Repeat("x\n", 5):              "quarry: Apply this change to a.go? (Change)",
		strings.Repeat("x\n", 6):              "quarry: Apply this change to a.go? (Change) 6 lines change, " + more,
		strings.Repeat("y", 71) + "\n":        "quarry: Apply this change to a.go? (Change)",
		strings.Repeat("y", 72) + "\n":        "quarry: Apply this change to a.go? (Change) 1 line changes, " + more,
		"\t" + strings.Repeat("語", 32) + "\n": "quarry: Apply this change to a.go? (Change) 1 line changes, " + more,
	} {
		e := edit(t, "helix", fixing(func(d agent.Document) agent.Proposal {
			edits := []agent.TextEdit{{New: text}}
			return agent.Proposal{
				Title: "Change", Reason: "So.", Diff: patch.Unified("a.go", d.Text, edits, false),
				Files: []agent.FileChange{{Path: d.Path, Base: agent.HashText(d.Text), Edits: edits}},
			}
		}))
		b := problemAt(t, e, "a.go")
		beginFix(t, e, b)
		attend(t, e, func(string, []string) string { return "Show changes" })
		attend(t, e, func(question string, _ []string) string {
			if question != want {
				t.Errorf("question %q, want %q", question, want)
			}
			return "" // closed
		})
		ended(t, e, "not applied")
		docs := e.Documents()
		if stays := docs[len(docs)-1] != b.URI; stays != strings.Contains(want, more) {
			t.Errorf("%q: the page stays: %v, of %q", text, stays, docs)
		}
	}
}

// A change of several files says of each line where it is.
func TestLinesOfAChangeOfTwoFiles(t *testing.T) {
	e := edit(t, "helix", fixing(func(d agent.Document) agent.Proposal {
		p := replace(d, "foo", "bar")
		p.Files = append(p.Files, agent.FileChange{
			Path: strings.TrimSuffix(d.Path, "a.go") + "new.go", Base: agent.HashText(""), Create: true, Edits: []agent.TextEdit{{New: "package a\n"}},
		})
		return p
	}), capabilities(pageless))
	beginFix(t, e, problemAt(t, e, "a.go"))
	attend(t, e, func(question string, choices []string) string {
		want := []string{"Discard", "-a.go:4  var x = foo(1)", "+a.go:4  var x = bar(1)", "+new.go:1  package a", "Apply"}
		if !slices.Equal(choices, want) || !strings.Contains(question, "to a.go, new.go (new)?") {
			t.Errorf("%q: %q", question, choices)
		}
		return "Discard"
	})
	ended(t, e, "not applied")
}

// A client that says it makes no changes is offered none, and told so where it runs a command
// for one; what is only read it gets.
func TestAnEditorThatMakesNoChangesIsOfferedNone(t *testing.T) {
	e := edit(t, "helix", &core{indexed: true}, capabilities(`{"workspace":{"applyEdit":false}}`)) // whose assistant fails where it is asked
	b := problemAt(t, e, "a.go")
	if got := titles(actions(t, e, b, 0, len(source))); !slices.Equal(got, []string{"Explain: undefined: foo"}) {
		t.Errorf("actions %q", got)
	}
	beginFix(t, e, b)
	awaitShown(t, e, "change it by hand: this editor makes no changes that a language server proposes")
}
