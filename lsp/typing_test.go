package lsp_test

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/agent"
	"quarry/lsp/headless"
)

// clock stands still but for those who wait for it, whose wait is over at once.
type clock struct {
	mu  sync.Mutex
	now time.Duration // since the zero time, plus a day; guarded by mu
	// waited are the waits so far; guarded by mu.
	waited []time.Duration
	// hold, if not nil, is what the next wait ends by; guarded by mu.
	hold chan time.Time
	// begun is told of that wait.
	begun chan bool
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Time{}.Add(24*time.Hour + c.now)
}

func (c *clock) After(d time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now += d
	c.waited = append(c.waited, d)
	if end := c.hold; end != nil {
		c.hold = nil
		c.begun <- true
		return end
	}
	end := make(chan time.Time, 1)
	end <- time.Time{}
	return end
}

func (c *clock) waits() []time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.waited)
}

// pass lets time go by.
func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now += d
}

// holdNext has the next wait last until end is called.
func (c *clock) holdNext() (begun <-chan bool, end func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	hold := make(chan time.Time)
	c.hold, c.begun = hold, make(chan bool, 1)
	return c.begun, func() { close(hold) }
}

// In an editor without a plugin of quarry's, a yes is possible only to a change that
// was shown, and no is what a stray Enter says. Neovim without the plugin is one of
// them: what it makes of needsConfirmation shows no line of the change.
func TestAQuestionAboutAChangeShowsItFirst(t *testing.T) {
	plain := capabilities(`{"window":{"workDoneProgress":true,"showDocument":{"support":true}},"workspace":{"applyEdit":true,"workspaceEdit":{"changeAnnotationSupport":{},"resourceOperations":["create"]}},
		"textDocument":{"codeAction":{"dataSupport":true,"honorsChangeAnnotations":true,"resolveSupport":{"properties":["edit"]}}}}`)
	for name, option := range map[string]func(*headless.Options){"helix": func(*headless.Options) {}, "neovim": plain} {
		t.Run(name, func(t *testing.T) {
			e := edit(t, name, &core{indexed: true, assistant: assistant{fix: fixFoo}}, option)
			b := problemAt(t, e, "a.go")
			if err := e.Choose(soon(t), named(t, actions(t, e, b, b.Cursor, b.Cursor), "Fix")); err != nil {
				t.Fatal(err)
			}
			attend(t, e, func(question string, choices []string) string {
				want := "quarry: Call bar in a.go? foo was renamed. Confidence: medium. Based on b.go:3-5, c.go:1."
				if diff := cmp.Diff(want, question); diff != "" || !slices.Equal(choices, []string{"Discard", "Show changes"}) {
					t.Errorf("choices %q; question (-want +got):\n%s", choices, diff)
				}
				return "Show changes"
			})
			attend(t, e, func(question string, choices []string) string {
				if !strings.HasPrefix(question, "quarry: Apply this change to a.go?") || !slices.Equal(choices, []string{"Discard", "Apply"}) {
					t.Errorf("%q: %q", question, choices)
				}
				page, err := e.Page()
				want := "```diff\n-foo\n+bar\n```\n\nCall bar. foo was renamed.\n\nConfidence: medium. Based on b.go:3-5, c.go:1.\n"
				if diff := cmp.Diff(want, page); err != nil || diff != "" {
					t.Errorf("%v; shown (-want +got):\n%s", err, diff)
				}
				return "Apply"
			})
			attend(t, e, nil)
			ended(t, e, "applied")
			if got := b.Text.String(); got != fixed {
				t.Errorf("text %q", got)
			}
			if docs := e.Documents(); docs[len(docs)-1] != b.URI {
				t.Errorf("the page stays in the place of the code: %q", docs)
			}
		})
	}
}

// The question waits until the user pauses, and an answer near to a keystroke, in
// whatever document, is none: it is said, and the question comes back.
func TestAnAnswerGivenWhileTypingDoesNotCount(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		// before and after say whether a key was typed on that side of the answer.
		before, after bool
	}{
		"Show changes right behind a key":   {headless.Show, true, false},
		"Show changes right before a key":   {headless.Show, false, true},
		"Discard, meant as a new line":      {headless.Discard, false, true},
		"a letter that closed the question": {"", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int32
			core := answering(&asked)
			e := edit(t, "helix", core)
			b := problemAt(t, e, "a.go")
			other := open(t, e, "letter.txt", "plaintext", "dear reader\n")
			write := func() {
				if err := e.Replace(other, 0, 0, "x"); err != nil {
					t.Error(err)
				}
				if err := e.Complete(soon(t), other, true); err != nil { // a round trip: the server has read it
					t.Error(err)
				}
			}
			write()
			beginFix(t, e, b)
			questions(t, e, 1)
			if waits := core.clock.waits(); !slices.Equal(waits, []time.Duration{time.Second}) {
				t.Errorf("asked after waiting %v", waits)
			}
			begun, end := core.clock.holdNext()
			attend(t, e, func(string, []string) string {
				if c.before {
					core.clock.pass(299 * time.Millisecond)
					write()
					core.clock.pass(299 * time.Millisecond)
				}
				return c.answer
			})
			receive(t, begun, "the server does not wait")
			if c.after {
				write()
			}
			end()
			awaitShown(t, e, "Not applied: you were typing when the answer came. The question comes back when you pause.")
			agree(t, e)
			ended(t, e, "applied")
			if got := b.Text.String(); got != fixed || asked.Load() != 1 {
				t.Errorf("the model was asked %d times, text %q", asked.Load(), got)
			}
			if shown := e.Shown(); len(shown) != 1 {
				t.Errorf("shown %q", shown)
			}
		})
	}
}

// An editor that shows the change itself looks at the keys; the server does so once
// more.
func TestAHastyDecisionIsRefused(t *testing.T) {
	core := &core{indexed: true, assistant: assistant{fix: fixFoo}}
	e := edit(t, "neovim", core)
	b := problemAt(t, e, "a.go")
	other := open(t, e, "letter.txt", "plaintext", "dear reader\n")
	beginFix(t, e, b)
	for range 2 {
		attend(t, e, func(question string, choices []string) string {
			if err := e.Replace(other, 0, 0, "x"); err != nil {
				t.Error(err)
			}
			if err := e.Complete(soon(t), other, true); err != nil {
				t.Error(err)
			}
			core.clock.pass(299 * time.Millisecond)
			return headless.Apply
		})
	}
	const says = "Not applied: you were typing when the answer came. Answer once more."
	if shown := e.Shown(); !slices.Equal(shown, []string{says, says}) || b.Text.String() != source {
		t.Errorf("shown %q, text %q", shown, b.Text.String())
	}
	core.clock.pass(time.Millisecond)
	agree(t, e)
	ended(t, e, "applied")
	if got := b.Text.String(); got != fixed {
		t.Errorf("text %q", got)
	}
}

// What an editor is given to show.
func TestProposalsForEditorsThatShowThem(t *testing.T) {
	propose := func(d agent.Document) agent.Proposal { return replace(d, "foo", "bar") }
	e := edit(t, "vscode", fixing(propose))
	b := problemAt(t, e, "a.go")
	beginFix(t, e, b)
	attend(t, e, func(question string, choices []string) string {
		want := "Call bar\nfoo was renamed. Confidence: medium. Based on b.go:3-5, c.go:1.\n-foo\n+bar\n"
		if diff := cmp.Diff(want, question); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		return headless.Discard
	})
	ended(t, e, "not applied")
	if shown := e.Shown(); len(shown) > 0 || b.Text.String() != source {
		t.Errorf("shown %q, text %q", shown, b.Text.String())
	}
}
