package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"quarry/index/visible"
	"quarry/retrieval/workspace"
)

// MaxResultBytes bounds the encoded envelope of any tool call.
const MaxResultBytes = 200_000

// Envelope is the answer of a tool, the same form for every tool.
type Envelope struct {
	OK bool `json:"ok"`
	// Data is the tool's own answer, null if there is none. A write that waits
	// for the user has data though OK is false: the staged proposal.
	Data  json.RawMessage `json:"data"`
	Error *Failure        `json:"error"`
	Meta  Meta            `json:"meta"`
}

// Meta is what is said about an answer.
type Meta struct {
	// Truncated says that Data ends early, at the end of an item or a line.
	Truncated bool `json:"truncated"`
	// NextOffset is the argument offset that goes on where a list was cut.
	NextOffset int `json:"next_offset,omitempty"`
	// Bytes is the length of Data as encoded.
	Bytes    int      `json:"bytes"`
	Warnings []string `json:"warnings"`
	// Backend says what was asked: the signals of a search, symbols, graph, index,
	// files, or editor.
	Backend []string `json:"backend,omitempty"`
	// Incomplete says that the index was not whole when the tool was called, and what
	// was missing; null if nothing was.
	Incomplete *workspace.Missing `json:"incomplete,omitempty"`
}

// MarshalJSON writes no warnings as [], by whichever way an answer leaves: a client counts them.
func (m Meta) MarshalJSON() ([]byte, error) {
	type plain Meta
	if m.Warnings == nil {
		m.Warnings = []string{}
	}
	return encode(plain(m))
}

// String is the envelope as a model reads it: one line of JSON in which <, > and &
// stand for themselves, since models pay for each token of \u003c, and what nobody
// sees is escaped: whoever reads the line sees \u202e, and who decodes it has the
// character, with which a change fits its file.
func (e Envelope) String() string {
	raw, err := encode(e)
	if err != nil {
		panic(fmt.Sprintf("encode an envelope: %v", err)) // Data is valid JSON by construction
	}
	return visible.JSON(string(raw))
}

// encode is json.Marshal without the escapes that are for HTML.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Code is the kind of a failure.
type Code string

// The codes of failures.
const (
	InvalidArguments     Code = "invalid_arguments"
	NotFound             Code = "not_found"
	PermissionDenied     Code = "permission_denied"
	RequiresConfirmation Code = "requires_confirmation"
	TooLarge             Code = "too_large"
	// NotReady: the index does not know yet. What is missing stands in Meta; the same
	// call answers a little later.
	NotReady      Code = "not_ready"
	InternalError Code = "internal_error"
)

// Failure says why a tool did not do what it was asked for, and what to do
// instead. It is an error, so that what tools are built on can choose the code.
type Failure struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
}

// Failf makes a failure.
func Failf(code Code, format string, args ...any) *Failure {
	return &Failure{code, fmt.Sprintf(format, args...)}
}

func (f *Failure) Error() string { return f.Message }

// maxMessageBytes bounds a failure's message and each warning: they quote what
// the model wrote.
const maxMessageBytes = 2000

// Refused is the answer to a call that no tool could be asked, with the reason for the agent.
func Refused(code Code, reason error) Envelope { return failed(Failf(code, "%v", reason)) }

// failed is the envelope of a failure.
func failed(f *Failure) Envelope {
	return Envelope{Error: &Failure{f.Code, clip(f.Message, maxMessageBytes)}}
}

// clip cuts s to at most n bytes, between characters.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	const mark = "…"
	return strings.ToValidUTF8(s[:n-len(mark)], "") + mark
}
