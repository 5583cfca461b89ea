package model

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// status is the error for an HTTP status and the body that came with it.
func (c *openAI) status(code int, body []byte) error {
	var wrapped struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"` // older vLLM
	}
	message := ""
	if json.Unmarshal(body, &wrapped) == nil {
		message = clean(wrapped.Message)
		if len(wrapped.Error) > 0 {
			message = errorMessage(wrapped.Error)
		}
	}
	lower := strings.ToLower(message)
	switch {
	case refusesTools(message):
		return c.noTools(message)
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		return &problem{kind: ErrServer, what: fmt.Sprintf("%s refuses the API key", c.endpoint.Host), fix: "put the key it expects into the system key store (ollama.keyStore) or QUARRY_OLLAMA_API_KEY"}
	case code == http.StatusServiceUnavailable && strings.Contains(lower, "loading"):
		return &problem{kind: ErrLoading, what: fmt.Sprintf("%s is loading %s", c.endpoint.Host, c.model)}
	case code == http.StatusTooManyRequests, code == http.StatusServiceUnavailable:
		return &problem{kind: ErrBusy, what: fmt.Sprintf("%s is busy", c.endpoint.Host), fix: "try again later"}
	case code == http.StatusBadRequest && strings.Contains(lower, "context"):
		return &problem{kind: ErrTooLong, what: "the prompt is too long", fix: fmt.Sprintf("lower the context budget in quarry's settings (%s, %s)", c.model, message)}
	case code == http.StatusNotFound && strings.Contains(lower, "model"):
		return c.lacks(nil)
	case code == http.StatusNotFound:
		return c.notOpenAI()
	case message == "":
		return &problem{kind: ErrServer, what: fmt.Sprintf("%s failed with HTTP status %d", c.endpoint.Host, code), fix: "see its log"}
	}
	return c.failed(message)
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
