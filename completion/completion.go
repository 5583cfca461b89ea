// Package completion turns a document and a cursor into ghost text: prompt,
// stream, stop rules, post-processing, and the model-free engine that answers
// when no model does. It knows bytes and paths, not LSP positions; package lsp
// converts. An Engine is safe for concurrent use.
package completion

import "context"

// Generator is the model runtime an Engine draws from.
//
// Generate sends prompt to the model verbatim and calls emit for every piece of
// text in order, with the log-probability of its token where the backend gives
// one and NaN otherwise. Generation ends when the model ends, a stop string
// appears (it is not emitted), maxTokens tokens were produced, emit answers
// false, or ctx is done; in the last two cases the backend is told to stop
// before Generate returns. sample 0 asks for the preset's answer, n > 0 for the
// n-th alternative. promptTokens is the number of tokens the backend counted in
// prompt, 0 if it did not say.
type Generator interface {
	// Model names the model as the person configured it.
	Model() string
	// Ready answers nil when the model can be asked now, else an error whose
	// text says what is missing and what to do.
	Ready() error
	Generate(ctx context.Context, prompt string, maxTokens int, stop []string, sample int,
		emit func(text string, logprob float64) bool) (promptTokens int, err error)
}

// Document is one open document as the editor has it.
type Document struct {
	// Path is relative to the workspace root, with slashes; outside every root
	// it is the base name.
	Path string
	// Language is the LSP language id.
	Language string
	Text     string
}

// Request asks for ghost text at a place in a document.
type Request struct {
	// Key identifies the document across requests; its URI, say.
	Key string
	Document
	// Version is the document's version; a Request is answered for exactly it.
	Version int32
	// Offset is the cursor's byte offset in Text.
	Offset int
	// Manual is true when the person asked, false while they type.
	Manual bool
	// Selected is the entry the editor's completion popup has selected, nil if
	// none: an answer extends it or is dropped.
	Selected *Selected
	// Open are the other open documents, the most recently used first.
	Open []Document
}

// Selected is LSP's SelectedCompletionInfo in bytes: Text would replace
// [Start, End) of the document.
type Selected struct {
	Start, End int
	Text       string
}

// Item is one candidate: Text replaces [Start, End) of the document. Start is
// never after the cursor, End never before it, and neither leaves the cursor's
// line.
type Item struct {
	Text       string
	Start, End int
	// Engine is the source: the model's name, or "local" for the model-free
	// engine.
	Engine string
}
