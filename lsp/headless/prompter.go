package headless

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Prompter answers a question of the server or the editor with one of choices, or
// with "" to close it.
type Prompter func(question string, choices []string) string

// What the user can say to a change.
const (
	Apply   = "Apply"
	Show    = "Show changes"
	Discard = "Discard"
)

// AcceptPrompt wants a change, and looks at it first where it must; RejectPrompt discards it. Of other
// choices they take the first and the last.
var (
	AcceptPrompt Prompter = func(_ string, choices []string) string { return firstOf(choices, Apply, Show, choices[0]) }
	RejectPrompt Prompter = func(_ string, choices []string) string { return firstOf(choices, Discard, choices[len(choices)-1]) }
)

// firstOf is the first of wanted that is among choices.
func firstOf(choices []string, wanted ...string) string {
	return wanted[slices.IndexFunc(wanted, func(w string) bool { return slices.Contains(choices, w) })]
}

const (
	methodApply    = "workspace/applyEdit"
	methodProposal = "quarry/proposal"
)

// errLater is answered to a Conn whose request is replied to later.
var errLater = errors.New("answered later")

// request is one of the server's that waits for the user, or a proposal of its,
// which has no id.
type request struct {
	id     json.RawMessage
	method string
	params json.RawMessage
}

// proposal is a change that the server proposes to an editor which shows it.
type proposal struct{ ID, Title, Reason, Basis, Diff string }

// Agree has the user want the change that the server asks about, until it is
// applied.
func (e *Editor) Agree(ctx context.Context) error {
	for {
		if method, err := e.attend(ctx, AcceptPrompt); err != nil || method == methodApply {
			return err
		}
	}
}

// Attend waits for the next question, proposal or change of the server's, lets the
// user answer, and applies what is to be applied, of which nobody is asked.
func (e *Editor) Attend(ctx context.Context, user Prompter) error {
	_, err := e.attend(ctx, user)
	return err
}

// attend is Attend; it answers what the server wanted.
func (e *Editor) attend(ctx context.Context, user Prompter) (method string, err error) {
	var r request
	err = e.Await(ctx, func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		if len(e.requests) == 0 {
			return false
		}
		r = e.requests[0]
		e.requests = e.requests[1:]
		return true
	})
	if err != nil {
		return "", fmt.Errorf("the server asks for nothing: %w", err)
	}
	switch r.method {
	case methodProposal:
		return r.method, e.confirm(ctx, r, user)
	case methodApply:
		return r.method, e.change(r)
	}
	var p struct {
		Message string
		Actions []struct{ Title string }
	}
	if err := json.Unmarshal(r.params, &p); err != nil {
		return r.method, err
	}
	var choices []string
	for _, a := range p.Actions {
		choices = append(choices, a.Title)
	}
	if chosen := user(p.Message, choices); chosen != "" {
		return r.method, e.Reply(r.id, map[string]string{"title": chosen}, nil)
	}
	return r.method, e.Reply(r.id, nil, nil)
}

// change does what workspace/applyEdit asks for.
func (e *Editor) change(r request) error {
	var p struct{ Edit json.RawMessage }
	if err := json.Unmarshal(r.params, &p); err != nil {
		return err
	}
	answer := map[string]any{"applied": true}
	if !e.Lies {
		applied, err := e.apply(p.Edit)
		if err != nil && !errors.Is(err, errVersion) {
			return errors.Join(err, e.Reply(r.id, nil, err))
		}
		answer["applied"] = applied
		if err != nil {
			answer["failureReason"] = err.Error()
		}
	}
	return e.Reply(r.id, answer, nil)
}

// confirm shows a proposal to the user and tells the server what they say of it.
func (e *Editor) confirm(ctx context.Context, r request, user Prompter) error {
	var p proposal
	if err := json.Unmarshal(r.params, &p); err != nil {
		return err
	}
	chosen := user(fmt.Sprintf("%s\n%s %s\n%s", p.Title, p.Reason, p.Basis, p.Diff), []string{Apply, Discard})
	var result struct {
		Open    bool
		Message string
	}
	err := e.Call(ctx, "quarry/decide", map[string]any{"id": p.ID, "apply": chosen == Apply}, &result)
	e.mu.Lock()
	defer e.mu.Unlock()
	if result.Open {
		e.requests = append([]request{r}, e.requests...)
	}
	if result.Message != "" {
		e.shown = append(e.shown, result.Message)
	}
	e.wake()
	return err
}

// propose shows a proposal, in the place of an older showing of the same; mu is
// held.
func (e *Editor) propose(params json.RawMessage) {
	e.withdraw(params)
	e.requests = append(e.requests, request{method: methodProposal, params: params})
}

// withdraw takes a proposal off the screen; mu is held.
func (e *Editor) withdraw(params json.RawMessage) {
	e.requests = slices.DeleteFunc(e.requests, func(r request) bool {
		return r.method == methodProposal && proposalID(r.params) == proposalID(params)
	})
}

func proposalID(params json.RawMessage) string {
	var p proposal
	_ = json.Unmarshal(params, &p) // what has no id is told so by who reads the rest
	return p.ID
}

// Waiting is how many questions and changes of the server's wait for Attend.
func (e *Editor) Waiting() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.requests)
}

// follow reads a virtual document, at first and whenever it has changed. The
// server waits for the answer of what made the editor read it, so it is read
// beside the connection's own goroutine.
func (e *Editor) follow(uri string) {
	e.reading.Go(func() {
		var result struct{ Text string }
		if err := e.Call(context.Background(), "workspace/textDocumentContent", map[string]any{"uri": uri}, &result); err != nil {
			return // the connection ended, or a test asserts on Page
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		e.virtual[uri] = result.Text
		e.refreshed++
		e.wake()
	})
}

// Refreshed is how often a virtual document was read.
func (e *Editor) Refreshed() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.refreshed
}
