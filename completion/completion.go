// Package completion turns a document and a cursor into ghost text: prompt,
// stream, stop rules, post-processing, and the model-free engine that answers
// when no model does. It knows bytes and paths, not LSP positions; package lsp
// converts. An Engine is safe for concurrent use.
//
// # One request
//
// [Engine.Complete] (engine.go) first imagines the entry selected in the
// editor's popup as accepted (selected.go). The document's window advances to the
// request (window.go): it says which part of the text is shown, and holds the
// code of other places that package crossfile found and the last edits (edits.go). If an
// earlier answer, or one that is still coming, was given for the same window and
// says what was typed since, it serves (reuse.go). Else the request waits as
// long as the typing suggests (debounce.go), the prompt is rendered (layout.go,
// prompt.go, template.go) within its tokens (tokens.go), and a stream takes off
// (stream.go), after the backend has read a long new prompt in steps (warm.go).
//
// A stream is stopped where the rest would be cut anyway (scope.go).
// What it wrote goes through the chain of post.go: repetition (repeat.go), scope,
// indentation, the overlap with the rest of the line (overlap.go), and the syntax check
// (syntaxcheck.go). The rules see the cursor as a cursorContext (cursorcontext.go) and the language as
// lines and words (language.go).
//
// # No model
//
// The model-free engine lexes the open documents (tokentext.go) and the
// repository (corpus.go), finds the places that agree with the cursor's
// (local.go), and lets them vote (predict.go). Where they are not sure, a line ends as it
// usually does in its language (package idioms), or goes on as an earlier one of the document
// does with other names (package habits).
//
// # What must hold
//
//   - Between keystrokes a prompt is the same up to the cursor (window.go); what a
//     backend reads again is what was typed and a short suffix.
//   - Nothing of the workspace can put a control token into a prompt, or make it
//     longer than the model's window (template.go, layout.go).
//   - A request never waits for a Generator that does not return, and no stream
//     runs that nobody waits for (stream.go).
//   - A newer request of a document ends the older ones and is never ended by
//     them (reuse.go).
//   - Post-processing settles: done twice it changes nothing (post.go).
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
	// Model names the model as the user configured it.
	Model() string
	// Ready answers nil when the model can be asked now, else an error whose
	// text says what is missing and what to do.
	Ready() error
	Generate(ctx context.Context, prompt string, maxTokens int, stop []string, sample int,
		emit func(text string, logprob float64) bool) (promptTokens int, err error)
}

// Document is one open document as the editor has it.
type Document struct {
	// Root is the workspace folder that Path is relative to, as an absolute path;
	// outside every folder it is "".
	Root string
	// Path is relative to Root, with slashes; outside every folder it is the base
	// name.
	Path string
	// Language is the LSP language id.
	Language string
	Text     string
	// Opened is the text that the editor opened the document with, "" if that is not known.
	Opened string
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
	// Manual is true when the user asked, false while they type.
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
	// Confidence is the probability that its first line is right, 0 where that is
	// not known.
	Confidence float64
}

// same: accepting either makes the same text.
func (it Item) same(other Item) bool { return it.Text == other.Text && it.End == other.End }
