// Package completions answers POST /v1/completions, OpenAI's interface for code
// completion, on this machine, so that an editor that shows ghost text of such a
// server alone can show quarry's: Zed, and plugins for other editors.
//
// A client sends the text around the cursor and no name of a file. Whoever answers
// finds the document by that text ([Place.In]), so that the answer is the one that
// an editor would get over LSP: with the repository's context, and by the same rules
// of what may be shown to a model. A text that is in no known document is refused.
//
// Whoever asks needs the token, and comes from this machine and from no browser. One address serves all editors that are open ([Serve]).
//
// Everything here is safe for concurrent use.
package completions

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"quarry/completion"
)

// Answer is what is to be inserted at a place; its Text is "" if that is nothing.
type Answer struct {
	Text string
	// Engine is who wrote it.
	Engine string
	// PromptTokens is how long the prompt was, 0 if no model was asked.
	PromptTokens int
}

// ErrUnknown is the answer for a text that is in no known document.
var ErrUnknown = errors.New("this text is in no document that quarry knows; open the file in an editor in which quarry runs")

// Complete answers a place.
type Complete func(ctx context.Context, p CursorContext) (Answer, error)

// maxRequest bounds a request's body.
const maxRequest = 1 << 20

// request is the part of OpenAI's request that means something here. How long an
// answer is, where it stops and how it is sampled is for the settings to say.
type request struct {
	Model  string `json:"model"`
	Prompt string `json:"prompt"`
	Suffix string `json:"suffix"`
	Stream bool   `json:"stream"`
}

// response is OpenAI's. Zed drops an answer without any of these.
type response struct {
	ID      string   `json:"id"`
	Object  string   `json:"object"`
	Created int64    `json:"created"`
	Model   string   `json:"model"`
	Choices []choice `json:"choices"`
	Usage   usage    `json:"usage"`
}

type choice struct {
	Text         string  `json:"text"`
	Index        int     `json:"index"`
	Logprobs     *string `json:"logprobs"`
	FinishReason string  `json:"finish_reason"`
}

type usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	TotalTokens      int `json:"total_tokens"`
}

type handler struct {
	token    string
	complete Complete
	metrics  func(context.Context) (string, error) // nil if there are none
	// elsewhere asks the other servers on this machine; nil if there are none to
	// ask.
	elsewhere func(ctx context.Context, req request) (response, bool)
	log       *slog.Logger
	now       func() time.Time
}

const (
	path        = "/v1/completions"
	pathMetrics = "/metrics"
)

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	status, err := h.refuse(r)
	if err != nil {
		fail(w, status, err)
		return
	}
	if r.URL.Path == pathMetrics {
		h.sendMetrics(w, r)
		return
	}
	var req request
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequest)).Decode(&req); err != nil {
		fail(w, http.StatusBadRequest, fmt.Errorf("the body is not a completion request of at most %d bytes: %w", maxRequest, err))
		return
	}
	hasAsked(r.Context())
	if rewrites(req.Prompt) {
		fail(w, http.StatusBadRequest, errors.New(`set prompt_format to "qwen": quarry completes at the cursor, and this prompt asks for a region to be rewritten`))
		return
	}
	cursor := CursorContext{Prefix: req.Prompt, Suffix: req.Suffix}
	if prefix, suffix, ok := completion.SplitPrompt(req.Prompt); ok {
		cursor = CursorContext{prefix, suffix}
	}
	answer, err := h.complete(r.Context(), cursor)
	if errors.Is(err, ErrUnknown) && h.elsewhere != nil {
		if found, ok := h.elsewhere(r.Context(), req); ok {
			send(w, found, req.Stream)
			return
		}
	}
	switch {
	case r.Context().Err() != nil: // nobody reads what is written
		return
	case errors.Is(err, ErrUnknown):
		fail(w, http.StatusNotFound, err)
		return
	case err != nil:
		h.log.Error("completion over HTTP", "error", err)
		fail(w, http.StatusInternalServerError, err)
		return
	}
	now, tokens := h.now(), completion.EstimateTokens(answer.Text)
	send(w, response{
		ID:      fmt.Sprintf("cmpl-%d", now.UnixNano()),
		Object:  "text_completion",
		Created: now.Unix(),
		Model:   answer.Engine,
		Choices: []choice{{Text: answer.Text, FinishReason: "stop"}},
		Usage:   usage{answer.PromptTokens, tokens, answer.PromptTokens + tokens},
	}, req.Stream)
}

// rewrites is whether a prompt is of Zed's own models, in its formats zeta, zeta2 or zeta2_1. What answers one takes the
// place of the lines around the cursor, and no text removes them.
func rewrites(prompt string) bool {
	return strings.HasPrefix(prompt, "### Instruction:") && strings.Contains(prompt, "<|editable_region_start|>") ||
		strings.HasPrefix(prompt, "<[fim-suffix]>") && strings.Contains(prompt, "<|user_cursor|>")
}

// refuse says why a request is not answered. A browser cannot send the token
// unless it is allowed to by the answer to an OPTIONS request, which is refused like
// all others; that nothing of a browser's is answered does not rest on that alone.
func (h *handler) refuse(r *http.Request) (int, error) {
	switch {
	case len(r.Header["Origin"]) > 0 || len(r.Header["Sec-Fetch-Mode"]) > 0: // whatever it is, or each of several
		return http.StatusForbidden, errors.New("web pages are not answered")
	case !ownHost(r.Host):
		return http.StatusForbidden, fmt.Errorf("the host %q is not this machine's loopback address", r.Host)
	case len(r.Header["Authorization"]) > 1:
		return http.StatusBadRequest, errors.New("the request has two lines of Authorization: send one")
	case !h.knows(r.Header.Get("Authorization")):
		return http.StatusUnauthorized, errors.New("the token is missing or wrong: send http.token of quarry's settings as Authorization: Bearer TOKEN")
	}
	methods := map[string]string{path: http.MethodPost}
	if h.metrics != nil {
		methods[pathMetrics] = http.MethodGet
	}
	switch method, known := methods[r.URL.Path]; {
	case !known:
		return http.StatusNotFound, fmt.Errorf("there is only POST %s and GET %s here", path, pathMetrics)
	case r.Method != method:
		return http.StatusMethodNotAllowed, fmt.Errorf("there is only %s %s here", method, r.URL.Path)
	}
	return 0, nil
}

// sendMetrics answers the numbers of the server that has the address.
func (h *handler) sendMetrics(w http.ResponseWriter, r *http.Request) {
	hasAsked(r.Context())
	text, err := h.metrics(r.Context())
	if err != nil {
		fail(w, http.StatusInternalServerError, err)
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = io.WriteString(w, text) // who is gone reads nothing more
}

func (h *handler) knows(authorization string) bool {
	token, ok := strings.CutPrefix(authorization, "Bearer ")
	return ok && h.token != "" && subtle.ConstantTimeCompare([]byte(token), []byte(h.token)) == 1
}

// ownHost is false of a name that somebody else's DNS could let point here.
func ownHost(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	return name == "localhost" || isLoopback(name)
}

func isLoopback(name string) bool {
	ip := net.ParseIP(strings.Trim(name, "[]"))
	return ip != nil && ip.IsLoopback()
}

func send(w http.ResponseWriter, answer response, stream bool) {
	body, err := json.Marshal(answer)
	if err != nil {
		panic(err) // plain values always encode
	}
	if stream {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, "data: %s\n\ndata: [DONE]\n\n", body)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body)
}

// fail answers in OpenAI's form.
func fail(w http.ResponseWriter, status int, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": "quarry: " + err.Error(), "code": status}})
}
