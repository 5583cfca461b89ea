package lsp_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"quarry/agent"
	"quarry/lsp/lsptest"
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

// A person whose fix takes its time, and who asks again, gets one change.
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
	attend(t, e, lsptest.Yes)
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

// questions waits until n of them are on the person's screen.
func questions(t *testing.T, e *lsptest.Editor, n int) {
	t.Helper()
	if err := e.Await(soon(t), func() bool { return e.Waiting() == n }); err != nil {
		t.Fatalf("%d questions, not %d", e.Waiting(), n)
	}
}

// A person who asks again while the first question is still on their screen may
// answer either; the model is asked once.
func TestARepeatedFixAsksAboutTheSameChange(t *testing.T) {
	closed := func(string, []string) string { return "" }
	const late = "this is not offered any more"
	for name, c := range map[string]struct {
		answers []lsptest.Person // to the questions, the older first
		text    string
		result  string
		told    bool // that the last answer came to nothing
	}{
		"the older is answered":      {[]lsptest.Person{lsptest.Yes}, fixed, "applied", false},
		"the older closes by itself": {[]lsptest.Person{closed, lsptest.Yes}, fixed, "applied", false},
		"the older says no":          {[]lsptest.Person{lsptest.No, lsptest.Yes}, source, "not applied", true},
		"both are closed":            {[]lsptest.Person{closed, closed}, source, "not applied", false},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int32
			e := edit(t, "helix", answering(&asked))
			b := problemAt(t, e, "a.go")
			beginFix(t, e, b)
			questions(t, e, 1)
			beginFix(t, e, b)
			questions(t, e, 2)
			for i, person := range c.answers {
				if c.told && i > 0 {
					ended(t, e, c.result)
				}
				attend(t, e, person)
			}
			if c.result == "applied" && len(c.answers) == 1 {
				attend(t, e, lsptest.Yes) // the newer question, which waits before the change does
				attend(t, e, nil)
				awaitShown(t, e, late)
			} else if c.result == "applied" {
				attend(t, e, nil)
			}
			ended(t, e, c.result)
			if c.told {
				awaitShown(t, e, late)
			} else if shown := e.Shown(); c.result != "applied" && len(shown) > 0 {
				t.Errorf("shown: %q", shown)
			}
			if got := b.Text.String(); got != c.text {
				t.Errorf("text %q", got)
			}
			if n := asked.Load(); n != 1 {
				t.Errorf("the model was asked %d times", n)
			}
		})
	}
}

// An answer that comes when the person has cancelled is answered, too.
func TestAnAnswerAfterACancel(t *testing.T) {
	var asked atomic.Int32
	e := edit(t, "helix", answering(&asked))
	b := problemAt(t, e, "a.go")
	beginFix(t, e, b)
	questions(t, e, 1)
	cancelJob(t, e, "Fix")
	ended(t, e, "cancelled")
	attend(t, e, lsptest.Yes)
	awaitShown(t, e, "this is not offered any more")
	if got := b.Text.String(); got != source {
		t.Errorf("text %q", got)
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
	attend(t, e, lsptest.Yes)
	awaitShown(t, e, "this is not offered any more")
	attend(t, e, lsptest.Yes)
	attend(t, e, nil)
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

func TestResolvingAgainTakesThePlaceOfTheOlder(t *testing.T) {
	c, begun, stopped := firstHangs()
	e := edit(t, "vscode", c)
	b := problemAt(t, e, "a.go")
	fix := named(t, actions(t, e, b, b.Cursor, b.Cursor), "Fix")
	params := map[string]any{"title": fix.Title, "data": fix.Data}
	older, err := e.Start("codeAction/resolve", params)
	if err != nil {
		t.Fatal(err)
	}
	receive(t, begun, "the first fix did not begin")
	var newer lsptest.Action
	if err := e.Call(soon(t), "codeAction/resolve", params, &newer); err != nil || newer.Edit == nil {
		t.Errorf("the newer: %v, edit %s", err, newer.Edit)
	}
	if err := receive(t, stopped, "the first fix was not stopped"); !errors.Is(err, context.Canceled) {
		t.Errorf("the older ended with %v", err)
	}
	var was lsptest.Action
	if err := older.Wait(&was); err != nil || was.Edit != nil {
		t.Errorf("the older: %v, edit %s", err, was.Edit)
	}
	if shown := e.Shown(); len(shown) > 0 {
		t.Errorf("shown: %q", shown)
	}
}
