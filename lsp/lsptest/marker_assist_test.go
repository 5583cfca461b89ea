package lsptest_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"quarry/index"
	"quarry/lsp/headless"
	"quarry/model/modeltest"
)

// isConversation tells a prompt in turns from others. The steps in which a long
// one is read ask for a single token.
func isConversation(r modeltest.Request) bool {
	return strings.Contains(r.Prompt, "<|start_of_role|>") && r.NumPredict() > 1
}

// replies are what the model says in conversations.
type replies struct {
	mu    sync.Mutex
	texts []string      // guarded by mu
	hold  chan struct{} // the next answer waits for it; guarded by mu
	asked chan struct{} // closed when the held answer is asked for; guarded by mu
}

func newReplies() *replies { return &replies{} }

func (r *replies) add(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.texts = append(r.texts, text)
}

func (r *replies) next() modeltest.Answer {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.texts) == 0 {
		return modeltest.Answer{ErrorLine: "the scenario has no reply"}
	}
	text := r.texts[0]
	if len(r.texts) > 1 {
		r.texts = r.texts[1:]
	}
	a := modeltest.Answer{Pieces: words(text), Hold: r.hold}
	if r.asked != nil {
		close(r.asked)
		r.asked, r.hold = nil, nil
	}
	return a
}

// holdNext makes the next answer wait for release; asked is closed when it is
// asked for.
func (r *replies) holdNext() (asked <-chan struct{}, release func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	hold, when := make(chan struct{}), make(chan struct{})
	r.hold, r.asked = hold, when
	return when, func() { close(hold) }
}

// assist plays a step of explaining, fixing and asking; it answers false for
// any other.
func (p *player) assist(ctx context.Context, verb, rest string) (done bool, err error) {
	b := p.buffer
	switch verb {
	case "diagnose":
		both, err := unquoteAll(rest)
		if err != nil || len(both) != 2 {
			return true, fmt.Errorf("diagnose wants two strings: %w", err)
		}
		at := strings.Index(b.Text.String(), both[0])
		if at < 0 {
			return true, fmt.Errorf("%q does not stand in the document", both[0])
		}
		b.Diagnostics = append(b.Diagnostics, headless.Diagnostic{Start: at, End: at + len(both[0]), Severity: 1, Source: "compiler", Message: both[1]})
		b.Cursor = at
		return true, nil
	case "errors":
		want := []string{}
		if rest != "none" {
			var err error
			if want, err = unquoteAll(rest); err != nil {
				return true, err
			}
		}
		return true, p.errors(ctx, want)
	case "select":
		text, err := strconv.Unquote(rest)
		at := strings.Index(b.Text.String(), text)
		if err == nil && at < 0 {
			err = fmt.Errorf("%q does not stand in the document", text)
		}
		p.selected = [2]int{at, at + len(text)}
		return true, err
	case "indexed":
		return true, p.indexed(ctx)
	case "lie":
		p.editor.Lies = true
		return true, nil
	case "actions":
		want, err := []string{}, error(nil)
		if rest != "none" {
			want, err = unquoteAll(rest)
		}
		if err != nil {
			return true, err
		}
		actions, err := p.actions(ctx)
		got := []string{}
		for _, a := range actions {
			if a.Disabled == nil {
				got = append(got, strings.TrimSuffix(a.Title, " (quarry)"))
			}
		}
		if err != nil {
			return true, err
		}
		return true, same("actions", want, got)
	case "choose":
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return true, err
		}
		part, err := strconv.Unquote(quoted)
		if err != nil {
			return true, err
		}
		rest = strings.TrimSpace(rest[len(quoted):])
		if text, ok := strings.CutPrefix(rest, "typing "); ok {
			if text, err = strconv.Unquote(text); err != nil {
				return true, err
			}
			return true, p.chooseTyping(ctx, part, text)
		}
		answers, err := answersOf(rest)
		if err != nil {
			return true, err
		}
		return true, p.choose(ctx, part, answers)
	case "command":
		name, args, _ := strings.Cut(rest, " ")
		list, err := unquoteAll(args)
		if err != nil {
			return true, err
		}
		var given []any
		for _, arg := range list {
			given = append(given, arg)
		}
		return true, p.editor.Execute(ctx, name, given...)
	case "decide":
		answers, err := answersOf(rest)
		if err != nil {
			return true, err
		}
		return true, p.decide(ctx, answers)
	case "page":
		want, err := strconv.Unquote(rest)
		if err != nil {
			return true, err
		}
		got := ""
		err = p.editor.Await(ctx, func() bool {
			got, _ = p.editor.Page() // not there yet
			return strings.Contains(got, want)
		})
		if err != nil {
			err = fmt.Errorf("%w; the page is:\n%s\nmessages: %q", err, got, p.editor.Shown())
		}
		return true, err
	case "hover":
		want, err := "", error(nil)
		if rest != "none" {
			want, err = strconv.Unquote(rest)
		}
		if err != nil {
			return true, err
		}
		got := ""
		err = p.editor.Await(ctx, func() bool {
			if got, err = p.editor.Hover(ctx, b, b.Cursor); err != nil {
				return true
			}
			return rest == "none" || strings.Contains(got, want)
		})
		if err == nil && rest == "none" {
			err = same("hover", "", got)
		}
		return true, err
	case "exists":
		if p.editor.Buffer(rest) == nil {
			return true, fmt.Errorf("%s is not open", rest)
		}
		return true, nil
	}
	return false, nil
}

// errors waits until quarry reports these diagnostics of the document, and has the
// editor know them: it passes them on where it asks for code actions.
func (p *player) errors(ctx context.Context, want []string) error {
	b := p.buffer
	var got []string
	err := p.editor.Await(ctx, func() bool {
		told := p.editor.Published(b)
		got = nil
		for _, d := range told {
			got = append(got, fmt.Sprintf("%s at %q: %s", d.Source, b.Text.String()[d.Start:d.End], d.Message))
		}
		if told == nil || !slices.Equal(got, want) {
			return false
		}
		b.Diagnostics = told
		if len(told) > 0 {
			b.Cursor = told[0].Start
		}
		return true
	})
	if err != nil {
		return fmt.Errorf("%w; reported: %q", err, got)
	}
	return nil
}

func (p *player) actions(ctx context.Context) ([]headless.Action, error) {
	start, end := p.buffer.Cursor, p.buffer.Cursor
	if p.selected[1] > p.selected[0] {
		start, end = p.selected[0], p.selected[1]
	}
	return p.editor.CodeActions(ctx, p.buffer, start, end)
}

func (p *player) action(ctx context.Context, part string) (headless.Action, error) {
	actions, err := p.actions(ctx)
	if err != nil {
		return headless.Action{}, err
	}
	i := slices.IndexFunc(actions, func(a headless.Action) bool { return strings.Contains(a.Title, part) })
	if i < 0 {
		return headless.Action{}, fmt.Errorf("no action contains %q", part)
	}
	return actions[i], nil
}

// indexed waits until the workspace has been read. The server tells of no such
// moment, so it is asked again and again.
func (p *player) indexed(ctx context.Context) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		var status []index.Status
		if err := p.editor.Call(ctx, "quarry/index.status", nil, &status); err != nil {
			return err
		}
		if len(status) > 0 && !status[0].Working && !status[0].Scanned.IsZero() && status[0].Files > 0 {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("the index is not ready: %w; %+v", ctx.Err(), status)
		}
	}
}

// answersOf reads answers: words, or quoted.
func answersOf(rest string) ([]string, error) {
	if strings.HasPrefix(rest, `"`) {
		return unquoteAll(rest)
	}
	return strings.Fields(rest), nil
}

// choose runs an action and answers what the server asks then.
func (p *player) choose(ctx context.Context, part string, answers []string) error {
	a, err := p.action(ctx, part)
	if err != nil {
		return err
	}
	if err := p.editor.Choose(ctx, a); err != nil {
		return err
	}
	return p.decide(ctx, answers)
}

// decide answers the server's next questions.
func (p *player) decide(ctx context.Context, answers []string) error {
	for _, answer := range answers {
		var err error
		switch answer {
		case "yes":
			err = p.editor.Agree(ctx)
		case "no":
			err = p.editor.Attend(ctx, headless.RejectPrompt)
		case "apply": // what the server has the editor do
			err = p.editor.Attend(ctx, nil)
		case "close":
			err = p.editor.Attend(ctx, func(string, []string) string { return "" })
		default:
			err = p.editor.Attend(ctx, func(question string, choices []string) string {
				chosen, want, _ := strings.Cut(answer, " of ")
				if got := strings.Join(choices, ", "); want != "" && got != want {
					p.t.Errorf("%q: the choices are %q, want %q", question, got, want)
				}
				return chosen
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// chooseTyping runs an action and types while the model answers.
func (p *player) chooseTyping(ctx context.Context, part, text string) error {
	a, err := p.action(ctx, part)
	if err != nil {
		return err
	}
	asked, release := p.replies.holdNext()
	if err := p.editor.Choose(ctx, a); err != nil {
		return err
	}
	select {
	case <-asked:
	case <-ctx.Done():
		return ctx.Err()
	}
	b := p.buffer
	if err := p.editor.Replace(b, b.Cursor, b.Cursor, text); err != nil {
		return err
	}
	if err := p.editor.Complete(ctx, b, false); err != nil { // a round trip: the server has the change
		return err
	}
	release()
	return nil
}
