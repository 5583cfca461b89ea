// Package agent lets a model work on a workspace under rules it cannot change:
// the catalogue of tools and what they may read, the one loop that runs them, the
// staging of proposed changes, and answers whose citations are checked.
//
// Nothing here writes a file. A change is a Proposal; only the editor's side can
// mint the token that lets it be applied, and applying means that the editor is
// asked to.
package agent

import (
	"context"
	"encoding/json"
	"errors"
)

// ErrNoTools says that a model was offered tools and its chat template has no
// place for them.
var ErrNoTools = errors.New("the model's chat template knows no tools")

// Chat answers conversations. Implementations let completions go first. emit gets
// each piece of the answer as it comes, and ends the answer early, without an
// error, by returning false.
type Chat interface {
	Chat(ctx context.Context, c Conversation, emit func(text string) bool) (Reply, error)
}

// Conversation is what a Chat answers. A model's own type of the same shape converts to
// it, which is why Message is an alias: neither package knows the other.
type Conversation struct {
	Messages []Message
	// Tools are offered to the model: a JSON list of definitions as OpenAI's
	// interface has them, or nil.
	Tools json.RawMessage
	// Format is a JSON schema that the answer must fit; any text if nil.
	Format json.RawMessage
	// Temperature is 0 for the likeliest answer.
	Temperature float64
	// MaxTokens limits the answer; 0 leaves it to the Chat.
	MaxTokens int
	// Begin is how the answer begins: the model goes on from there. A server that cannot
	// be told so begins anew behind it.
	Begin string `json:",omitempty"`
}

// Message is one turn. Role is system, user or assistant; a tool's result is a
// user's turn.
type Message = struct{ Role, Text string }

// Reply is a whole answer.
type Reply struct {
	// Text holds tool calls in one of the forms that toolcall.Parse reads.
	Text string
	// Cut says that the length limit ended it.
	Cut bool
	// PromptTokens and Tokens are the server's counts, 0 if it gave none.
	PromptTokens, Tokens int
}
