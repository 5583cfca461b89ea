package model

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/ollama/ollama/api"
)

// explainWithin is explain for a request whose context has a time limit that quarry set and
// that may have passed.
func (c *ollama) explainWithin(ctx context.Context, err error) error {
	if err != nil && ctx.Err() == context.DeadlineExceeded {
		return &problem{kind: ErrUnreachable, what: fmt.Sprintf("%s does not answer requests", c.endpoint.Host), fix: "restart Ollama", cause: err}
	}
	return c.explain(err)
}

// explain turns an error of the API client into one that names its kind and the remedy. It
// leaves errors of a context alone.
func (c *ollama) explain(err error) error {
	var p *problem
	var status api.StatusError
	var auth api.AuthorizationError
	var dial *net.OpError
	var viaURL *url.Error
	say := func(kind error, what, fix string) error {
		return &problem{kind: kind, what: what, fix: fix, cause: err}
	}
	switch {
	case errors.As(err, &p) && errors.As(err, &viaURL):
		return p // the guard blocked the request: its address adds nothing
	case err == nil, p != nil:
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.As(err, &auth), errors.As(err, &status) && status.StatusCode == http.StatusForbidden:
		return say(ErrServer, fmt.Sprintf("%s requires a login", c.endpoint.Host), "set the address of one without a login, because quarry sends none")
	case errors.As(err, &status):
		return c.explainStatus(err, status, say)
	case errors.Is(err, errRedirect):
		return say(ErrServer, fmt.Sprintf("%s sends requests elsewhere", c.endpoint.Host), "set the address of the Ollama itself")
	case untrusted(c.endpoint, err) != nil:
		return untrusted(c.endpoint, err)
	case errors.As(err, &dial) && dial.Op == "dial":
		// Cause and remedy come first, because a status line or a message may have no room for
		// more.
		return say(ErrUnreachable, "Ollama does not answer",
			fmt.Sprintf("start it with `ollama serve` or by opening the Ollama app, quarry asks it at %s (to install it: https://ollama.com/download)", c.endpoint))
	}
	if errors.As(err, &viaURL) { // a connection that was made and lost
		return c.brokeOff(err)
	}
	// What remains is an error line in an answer with status 200, or an answer that is not
	// JSON.
	text := clean(err.Error())
	if strings.HasPrefix(text, "<") || strings.Contains(text, "invalid character") {
		return c.notOllama(err)
	}
	return say(ErrServer, "Ollama failed", "see the output of `ollama serve` ("+text+")")
}

// errNoOllama is the cause of the problem that a server is none.
var errNoOllama = errors.New("no Ollama")

func (c *ollama) notOllama(cause error) error {
	return &problem{
		kind: ErrServer, what: fmt.Sprintf("%s does not speak Ollama's API", c.endpoint.Host), fix: "check the address, and ollama.api",
		cause: errors.Join(errNoOllama, cause),
	}
}

func (c *ollama) explainStatus(err error, status api.StatusError, say func(kind error, what, fix string) error) error {
	message := clean(status.ErrorMessage)
	if strings.HasPrefix(message, "<") { // a page of what stands before it
		message = ""
	}
	switch {
	case status.StatusCode == http.StatusNotFound && strings.Contains(message, "model") && c.model == c.unchosen:
		return say(ErrModelMissing, fmt.Sprintf("Ollama has no model %s", c.model), "run `quarry setup model`")
	case status.StatusCode == http.StatusNotFound && strings.Contains(message, "model"):
		return say(ErrModelMissing, fmt.Sprintf("Ollama has no model %s", c.model), fmt.Sprintf("run `quarry model pull %s`", c.model))
	case status.StatusCode == http.StatusNotFound:
		return c.notOllama(err)
	case status.StatusCode == http.StatusServiceUnavailable:
		return say(ErrBusy, "Ollama's queue is full", "try again when the other program has its answers")
	case status.StatusCode == http.StatusBadRequest && strings.Contains(message, "exceeds the context length"):
		return say(ErrTooLong, fmt.Sprintf("the prompt has more than %d tokens", c.numCtx),
			"raise the context length in quarry's settings, or lower the context budget ("+c.model+")")
	case status.StatusCode == http.StatusBadRequest && strings.Contains(message, "does not support tools"):
		return say(ErrNoTools, fmt.Sprintf("the chat template of %s has no place for tools", c.model), "describe them in words")
	case strings.Contains(message, "system memory"):
		return say(ErrServer, fmt.Sprintf("not enough memory for %s", c.model), "close other programs, or choose a smaller model ("+message+")")
	case strings.Contains(message, "runner process"):
		return say(ErrServer, "Ollama's runner crashed", fmt.Sprintf("see the output of `ollama serve` (%s, %s)", c.model, message))
	case message == "":
		return say(ErrServer, fmt.Sprintf("Ollama failed with status %d", status.StatusCode), "see the output of `ollama serve`")
	}
	return say(ErrServer, fmt.Sprintf("Ollama failed with status %d", status.StatusCode), "see the output of `ollama serve` ("+message+")")
}
