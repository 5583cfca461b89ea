package lsp_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"quarry/agent"
	"quarry/lsp/headless"
)

// firstHangs is a core whose first fix ends only when it is cancelled; its error
// comes out of the channel.
func firstHangs() (*core, <-chan bool, <-chan error) {
	begun, ended := make(chan bool, 1), make(chan error, 1)
	var n atomic.Int32
	return &core{indexed: true, assistant: assistant{fix: func(ctx context.Context, p agent.Problem) (agent.Proposal, error) {
		if n.Add(1) > 1 {
			return fixFoo(ctx, p)
		}
		begun <- true
		<-ctx.Done()
		ended <- ctx.Err()
		return agent.Proposal{}, ctx.Err()
	}}}, begun, ended
}

func receive[T any](t *testing.T, from <-chan T, what string) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-soon(t).Done():
		t.Fatal(what)
	}
	return v
}

// A user whose fix takes its time, and who asks again, gets one change.
func TestARepeatedFixTakesThePlaceOfTheOlder(t *testing.T) {
	c, begun, stopped := firstHangs()
	e := edit(t, "neovim", c)
	b := problemAt(t, e, "a.go")
	beginFix(t, e, b)
	receive(t, begun, "the first fix did not begin")
	beginFix(t, e, b)
	if err := receive(t, stopped, "the first fix was not stopped"); !errors.Is(err, context.Canceled) {
		t.Errorf("the older ended with %v", err)
	}
	ended(t, e, "cancelled")
	agree(t, e)
	ended(t, e, "applied")
	if n, shown := e.Waiting(), e.Shown(); n > 0 || len(shown) > 0 || b.Text.String() != fixed {
		t.Errorf("%d more changes, shown %q, text %q", n, shown, b.Text.String())
	}
}

// answering notes how often it was asked for a fix.
func answering(asked *atomic.Int32) *core {
	return &core{indexed: true, assistant: assistant{fix: func(ctx context.Context, p agent.Problem) (agent.Proposal, error) {
		asked.Add(1)
		return fixFoo(ctx, p)
	}}}
}

// questions waits until n of them are on the user's screen.
func questions(t *testing.T, e *headless.Editor, n int) {
	t.Helper()
	if err := e.Await(soon(t), func() bool { return e.Waiting() == n }); err != nil {
		t.Fatalf("%d questions, not %d", e.Waiting(), n)
	}
}

// A user who asks again while the first question is still on their screen may
// say yes to either; the model is asked once. A no to the older may have been said before they asked again.
func TestARepeatedFixAsksAboutTheSameChange(t *testing.T) {
	closed := func(string, []string) string { return "" }
	for name, c := range map[string]struct {
		answers []headless.Prompter // to the questions, the older first
		agreed  bool                // to what follows
		says    string
	}{
		"the older is answered":      {[]headless.Prompter{headless.AcceptPrompt}, true, ""},
		"the older closes by itself": {[]headless.Prompter{closed, headless.AcceptPrompt}, true, ""},
		"the older says no":          {[]headless.Prompter{headless.RejectPrompt, headless.AcceptPrompt}, true, ""},
		"both say no":                {[]headless.Prompter{headless.RejectPrompt, headless.RejectPrompt}, false, ""},
		"both are closed":            {[]headless.Prompter{closed, closed}, false, "the question was closed"},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int32
			e := edit(t, "helix", answering(&asked))
			b := problemAt(t, e, "a.go")
			beginFix(t, e, b)
			questions(t, e, 1)
			beginFix(t, e, b)
			questions(t, e, 2)
			for _, user := range c.answers {
				attend(t, e, user)
			}
			want := source
			if c.agreed {
				if len(c.answers) == 1 {
					questions(t, e, 2)   // the first answer has been taken when what follows it is asked
					attend(t, e, closed) // the newer question, to which nobody needs an answer now
				}
				agree(t, e)
				ended(t, e, "applied")
				want = fixed
			} else {
				ended(t, e, "not applied")
			}
			if c.says != "" {
				awaitShown(t, e, c.says)
			} else if shown := e.Shown(); len(shown) > 0 {
				t.Errorf("shown: %q", shown)
			}
			if got := b.Text.String(); got != want {
				t.Errorf("text %q", got)
			}
			if n := asked.Load(); n != 1 {
				t.Errorf("the model was asked %d times", n)
			}
		})
	}
}

// In an editor that shows the change there is one showing of it, however often it
// is asked for.
func TestARepeatedFixIsShownOnce(t *testing.T) {
	var asked atomic.Int32
	e := edit(t, "vscode", answering(&asked))
	b := problemAt(t, e, "a.go")
	beginFix(t, e, b)
	questions(t, e, 1)
	beginFix(t, e, b)
	ended(t, e, "cancelled") // the older
	agree(t, e)
	ended(t, e, "applied")
	if got, n := b.Text.String(), asked.Load(); got != fixed || n != 1 || e.Waiting() > 0 {
		t.Errorf("asked %d times, %d questions, text %q", n, e.Waiting(), got)
	}
}

// A change that is shown once more may be answered while the answer before is at work: that one
// counts, and nobody waits.
func TestAnAnswerToWhatIsDecided(t *testing.T) {
	var asked atomic.Int32
	e := edit(t, "vscode", answering(&asked))
	b := problemAt(t, e, "a.go")
	beginFix(t, e, b)
	questions(t, e, 1)
	for i, apply := range []bool{true, true, false} {
		var result struct {
			Open    bool
			Message string
		}
		if err := e.Call(soon(t), "quarry/decide", map[string]any{"id": "1", "apply": apply}, &result); err != nil || result.Open || result.Message != "" {
			t.Fatalf("answer %d: %v, %+v", i+1, err, result)
		}
	}
	questions(t, e, 2) // the change as it was shown, and its edit, which nobody has made yet
	agree(t, e)
	ended(t, e, "applied")
	if got, n := b.Text.String(), asked.Load(); got != fixed || n != 1 {
		t.Errorf("asked %d times, text %q", n, got)
	}
}

// A question that was closed, perhaps by a key meant for something else, is back at
// once when it is asked for again.
func TestAClosedQuestionComesBack(t *testing.T) {
	var asked atomic.Int32
	e := edit(t, "helix", answering(&asked))
	b := problemAt(t, e, "a.go")
	beginFix(t, e, b)
	attend(t, e, func(string, []string) string { return "" })
	awaitShown(t, e, "Not applied: the question was closed. Ask again to see the same proposal at once.")
	ended(t, e, "not applied")
	beginFix(t, e, b)
	agree(t, e)
	ended(t, e, `"applied"`)
	if got, n := b.Text.String(), asked.Load(); got != fixed || n != 1 {
		t.Errorf("the model was asked %d times, text %q", n, got)
	}
}

// An answer that comes when the user has cancelled is answered, too; an editor that
// shows the change is told to take it off the screen.
func TestAnAnswerAfterACancel(t *testing.T) {
	for _, profile := range headless.Profiles {
		var asked atomic.Int32
		e := edit(t, profile, answering(&asked))
		b := problemAt(t, e, "a.go")
		beginFix(t, e, b)
		questions(t, e, 1)
		cancelJob(t, e, "Fix")
		ended(t, e, "cancelled")
		if !profiled(t, profile).ShowsProposals() {
			attend(t, e, headless.AcceptPrompt)
		} else {
			questions(t, e, 0)
			var result struct{ Message string }
			if err := e.Call(soon(t), "quarry/decide", map[string]any{"id": "1", "apply": true}, &result); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(result.Message, "this proposal has expired") {
				t.Errorf("%s: the late answer is answered %q", profile, result.Message)
			}
			continue
		}
		awaitShown(t, e, "this proposal has expired")
		if got := b.Text.String(); got != source {
			t.Errorf("%s: text %q", profile, got)
		}
	}
}

// A question about a text that is no more decides nothing.
func TestARepeatedFixOfAnotherTextIsMadeAnew(t *testing.T) {
	var asked atomic.Int32
	e := edit(t, "helix", answering(&asked))
	b := problemAt(t, e, "a.go")
	beginFix(t, e, b)
	questions(t, e, 1)
	if err := e.Replace(b, b.Text.Len(), b.Text.Len(), "// more\r\n"); err != nil {
		t.Fatal(err)
	}
	beginFix(t, e, b)
	questions(t, e, 2)
	attend(t, e, headless.AcceptPrompt)
	awaitShown(t, e, "this proposal has expired")
	agree(t, e)
	ended(t, e, `"applied"`)
	if got := b.Text.String(); got != fixed+"// more\r\n" || asked.Load() != 2 {
		t.Errorf("asked %d times, text %q", asked.Load(), got)
	}
}

func TestAnotherFixLeavesTheFirstAlone(t *testing.T) {
	begun := make(chan context.Context, 2)
	c := &core{indexed: true, assistant: assistant{fix: func(ctx context.Context, _ agent.Problem) (agent.Proposal, error) {
		begun <- ctx
		<-ctx.Done()
		return agent.Proposal{}, ctx.Err()
	}}}
	e := edit(t, "neovim", c)
	b := problemAt(t, e, "a.go")
	beginFix(t, e, b)
	firstCtx := receive(t, begun, "the first fix did not begin")
	b.Diagnostics[0].Message = "too many arguments"
	beginFix(t, e, b)
	receive(t, begun, "the second fix did not begin")
	if err := firstCtx.Err(); err != nil {
		t.Errorf("the first ended with %v", err)
	}
}
