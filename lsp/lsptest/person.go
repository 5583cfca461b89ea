package lsptest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Person answers a question of the server or the editor with one of choices, or
// with "" to close it.
type Person func(question string, choices []string) string

// Yes chooses the first choice, No the last.
var (
	Yes Person = func(_ string, choices []string) string { return choices[0] }
	No  Person = func(_ string, choices []string) string { return choices[len(choices)-1] }
)

// errLater is answered to a Conn whose request is replied to later.
var errLater = errors.New("answered later")

// request is one of the server's that waits for the person.
type request struct {
	id     json.RawMessage
	method string
	params json.RawMessage
}

// Attend waits for the next question or change of the server's, lets the person
// answer, and applies what is to be applied.
func (e *Editor) Attend(ctx context.Context, person Person) error {
	var r request
	err := e.Await(ctx, func() bool {
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
		return fmt.Errorf("the server asks for nothing: %w", err)
	}
	if r.method == "window/showMessageRequest" {
		var p struct {
			Message string
			Actions []struct{ Title string }
		}
		if err := json.Unmarshal(r.params, &p); err != nil {
			return err
		}
		var choices []string
		for _, a := range p.Actions {
			choices = append(choices, a.Title)
		}
		if chosen := person(p.Message, choices); chosen != "" {
			return e.Reply(r.id, map[string]string{"title": chosen}, nil)
		}
		return e.Reply(r.id, nil, nil)
	}
	var p struct{ Edit json.RawMessage }
	if err := json.Unmarshal(r.params, &p); err != nil {
		return err
	}
	answer := map[string]any{"applied": true}
	if !e.Lies {
		applied, err := e.apply(p.Edit, person)
		if err != nil && !errors.Is(err, errVersion) {
			return errors.Join(err, e.Reply(r.id, nil, err))
		}
		answer["applied"] = applied || e.opts.Profile.AppliedAnyway
		if err != nil {
			answer["failureReason"] = err.Error()
		}
	}
	return e.Reply(r.id, answer, nil)
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
