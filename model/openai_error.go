package model

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// status is the error for an HTTP status of an answer to a request for a path, and the body that came with it.
func (c *openAI) status(path string, code int, body []byte) error {
	message := messageIn(body)
	lower := strings.ToLower(message)
	switch {
	case refusesTools(message):
		return c.noTools(message)
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		return &problem{kind: ErrServer, what: fmt.Sprintf("%s refuses the API key", c.endpoint.Host), fix: "put the key it expects into the system key store (ollama.keyStore) or QUARRY_OLLAMA_API_KEY"}
	case code == http.StatusServiceUnavailable && strings.Contains(lower, "loading"):
		return &problem{kind: ErrLoading, what: fmt.Sprintf("%s is loading %s", c.endpoint.Host, c.model)}
	case code == http.StatusTooManyRequests && strings.Contains(lower, "quota"):
		return &problem{kind: ErrServer, what: fmt.Sprintf("the quota at %s is used up", c.endpoint.Host), fix: "raise it there, or ask another server (" + message + ")"}
	case code == http.StatusTooManyRequests, code == http.StatusServiceUnavailable:
		return &problem{kind: ErrBusy, what: fmt.Sprintf("%s is busy", c.endpoint.Host), fix: "try again later"}
	case code == http.StatusBadRequest && strings.Contains(lower, "context"):
		return &problem{kind: ErrTooLong, what: "the prompt is too long", fix: fmt.Sprintf("lower the context budget in quarry's settings (%s, %s)", c.model, message)}
	case path == completionsPath && lacksPath(code, lower):
		return c.chatsOnly(message)
	case code == http.StatusNotFound && strings.Contains(lower, "model"):
		return c.lacks(nil)
	case code == http.StatusNotFound:
		return c.notOpenAI()
	case message == "":
		return &problem{kind: ErrServer, what: fmt.Sprintf("%s failed with HTTP status %d", c.endpoint.Host, code), fix: "see its log"}
	}
	if code < http.StatusInternalServerError {
		return &problem{kind: ErrServer, what: fmt.Sprintf("%s refuses requests", c.endpoint.Host), fix: "see its log (" + message + ")"}
	}
	return c.failed(message)
}

// messageIn is the error message in the body of an answer, "" if there is none.
func messageIn(body []byte) string {
	var wrapped struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"` // older vLLM
		Detail  json.RawMessage `json:"detail"`  // FastAPI
	}
	if json.Unmarshal(body, &wrapped) != nil {
		return ""
	}
	if len(wrapped.Error) > 0 {
		return errorMessage(wrapped.Error)
	}
	var said string
	var fields []struct {
		Where []any  `json:"loc"`
		What  string `json:"msg"`
	}
	if json.Unmarshal(wrapped.Detail, &said) == nil {
		return clean(said)
	}
	if json.Unmarshal(wrapped.Detail, &fields) == nil && len(fields) > 0 {
		said = fields[0].What
		if n := len(fields[0].Where); n > 0 {
			said = fmt.Sprint(fields[0].Where[n-1]) + ": " + said
		}
		return clean(said)
	}
	return clean(wrapped.Message)
}

// completionsPath is the path at which a server completes a prompt unchanged.
const completionsPath = "v1/completions"

// lacksPath reports whether the answer to a request for completionsPath means that the server
// has no such path, at least for this model: some models only chat. It does not, if the server
// says that the model is missing.
func lacksPath(code int, message string) bool {
	switch code {
	case http.StatusNotFound:
		return !strings.Contains(message, "model") || strings.Contains(message, "chat/completions")
	case http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return true
	case http.StatusOK, http.StatusBadRequest:
		return strings.Contains(message, "unexpected endpoint") || strings.Contains(message, "chat/completions")
	}
	return false
}

// chatsOnly is the error for a server that completes no prompts. It may still answer questions.
func (c *openAI) chatsOnly(message string) error {
	p := &problem{kind: ErrNoFIM, what: fmt.Sprintf("%s has no /v1/completions", c.endpoint.Host), fix: "ask one that has it for ghost text, such as vLLM or llama.cpp"}
	if message != "" {
		p.fix += " (" + message + ")"
	}
	return p
}

// lacks is the error if the server does not have the model. It suggests those on its list (if
// that is known) that could take its place. A model that completes code is no suggestion for
// search.
func (c *openAI) lacks(list []openAIModel) error {
	names := shortList(c.fit(list))
	fix := "start it with that model, or set model to one it has"
	switch {
	case c.search && names != "":
		fix = "set embedding.model to one it has: " + names
	case c.search:
		fix = "set embedding.model to one it has that embeds, or embedding.enabled to false"
	case names != "":
		fix = "set model to one it has: " + names
	}
	return &problem{kind: ErrModelMissing, what: fmt.Sprintf("%s has no model %s", c.endpoint.Host, c.model), fix: fix}
}

func (c *openAI) failed(message string) error {
	if refusesTools(message) {
		return c.noTools(message)
	}
	return &problem{kind: ErrServer, what: fmt.Sprintf("%s failed", c.endpoint.Host), fix: "see its log (" + message + ")"}
}

func (c *openAI) notOpenAI() error {
	return &problem{kind: ErrServer, what: fmt.Sprintf("%s is not an OpenAI server", c.endpoint.Host), fix: "check the address"}
}

// refusesTools reports whether a server says that it supports no tools: llama.cpp without
// --jinja, vLLM without a parser for the model's calls, and servers whose chat template has no
// tools.
func refusesTools(message string) bool {
	lower := strings.ToLower(message)
	return strings.Contains(lower, "tool") &&
		(strings.Contains(lower, "requires --") || strings.Contains(lower, "not support"))
}

func (c *openAI) noTools(message string) error {
	return &problem{kind: ErrNoTools, what: fmt.Sprintf("%s takes no tools", c.endpoint.Host), fix: "describe them in words (" + message + ")"}
}

// errorMessage reads an error that is an object with a message, or a string.
func errorMessage(raw json.RawMessage) string {
	var object struct {
		Message string `json:"message"`
	}
	var text string
	if json.Unmarshal(raw, &text) != nil && json.Unmarshal(raw, &object) == nil {
		text = object.Message
	}
	return clean(text)
}
