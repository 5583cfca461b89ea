package completion

import (
	"context"
	"slices"
	"time"
)

// A Result is the answer to one Request.
type Result struct {
	// Items are the candidates, the best first; none if there is nothing
	// worth showing.
	Items []Item
	// Engine is the source that answered: the model's name, or "local".
	Engine string
	// Note says why the model's answer is not what is shown, or why there is no answer at
	// all; "" when it is.
	Note string
	// Reused is true when no request to the model was started: an earlier
	// one's answer, or what is still coming of it, serves.
	Reused bool
	// Prompt is what the model was sent, also when the answer was reused; where the
	// user asked and no model could be, what it would have been sent. Its Text is ""
	// when there was none.
	Prompt  Prompt
	Timings Timings
}

// has reports whether res offers what it says.
func (res Result) has(it Item) bool { return slices.ContainsFunc(res.Items, it.same) }

// Prompt is the record of one request to the model.
type Prompt struct {
	// Text is the exact prompt.
	Text string
	// Tokens is the backend's count of Text, the estimate if it gave none.
	Tokens int
	// Snippets are the pieces of other places in Text, in its order.
	Snippets []Snippet
}

// Timings are the parts of answering one Request. They are zero for what was
// not done.
type Timings struct {
	// Context is the search for code of other places, Build the rest of
	// writing the prompt.
	Context, Build time.Duration
	// FirstToken is from sending the prompt to its first token, Generate to
	// the last one needed.
	FirstToken, Generate time.Duration
	// Post is stop rules and post-processing of the finished answer, Local the
	// model-free engine.
	Post, Local time.Duration
	Total       time.Duration
}

// add counts what an earlier round spent.
func (t *Timings) add(earlier Timings) {
	t.Context += earlier.Context
	t.Build += earlier.Build
	t.FirstToken += earlier.FirstToken
	t.Generate += earlier.Generate
	t.Post += earlier.Post
}

// ContextSource finds code of other places that helps to fill in the place
// asked for, the most useful first. It answers what it has when ctx ends. One that is
// versioned, too, is asked whether a file may still stand in a prompt as it was.
type ContextSource interface {
	Context(ctx context.Context, q ContextQuery) []Snippet
}

// ContextQuery is a place to find context for.
type ContextQuery struct {
	Document
	Offset int
	// Shown is the part of Text that the prompt has anyway, as byte offsets.
	Shown [2]int
	// Open are the other open documents, the most recently used first.
	Open []Document
	// Draft is a first answer whose names are worth looking up, "" in the
	// first round.
	Draft string
	// Tokens is about how much can be used.
	Tokens int
}
