package completion

import (
	"time"
)

// Options are what an Engine takes from the user's settings. The zero value
// of a field means its default.
type Options struct {
	// ContextTokens is the model's context window, the num_ctx the runtime
	// pins. Default 4096.
	ContextTokens int
	// PrefixTokens, SuffixTokens and SnippetTokens are the budgets of the
	// document before and after the cursor and of other places' code.
	// Defaults 1536, 96 (at most 128) and 768; lowered together where
	// ContextTokens leaves less.
	PrefixTokens, SuffixTokens, SnippetTokens int
	// MaxTokens ends an answer of the model. Default 128.
	MaxTokens int
	// MaxLines bounds a suggestion. Default 12 while typing, three times that
	// when the user asks.
	MaxLines int
	// Timeout is how long the model may take; what it wrote until then is
	// used. Default 10 s while typing, three times that when the user asks.
	Timeout time.Duration
	// Candidates is how many alternatives are asked for when the user asks.
	// Default 3.
	Candidates int
	// Debounce is the longest that a request made while typing waits for the
	// next keystroke; how long it does adapts to the typing and the model.
	// Default 250 ms, negative for never.
	Debounce time.Duration
	// MinConfidence is the mean token probability below which a suggestion is
	// not shown unless the user asked, where the backend gives
	// probabilities. Default 0: show all.
	MinConfidence float64
	// Alone has the model-free engine answer only where the model cannot, as
	// evaluations of the model want it.
	Alone bool
	// Template is the family of models to make prompts for.
	Template Choice
	// Family is the family of those that Template allows whose tags the model has;
	// "" while that is not known, then the likeliest by its name serves. Nil if
	// nobody finds out.
	Family func() string
	// Chat wraps the prompt into the family's chat turns, as IBM's examples
	// for the instruct models do. Default false: raw.
	Chat bool
	// Off switches completion off for some documents.
	Off Off
	// Context finds code of other places for the prompt; nil for none.
	Context ContextSource
	// Repository is what is known of files that are not open; nil for one of
	// the Engine's own.
	Repository *Repository
	// TwoRounds asks twice when the user asks for a body: the first answer
	// says what to look up for the second.
	TwoRounds bool
	// Syntax cuts suggestions where they would add syntax errors; nil for
	// none.
	Syntax Syntax
}

func (o Options) withDefaults() Options {
	def := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	def(&o.ContextTokens, 4096)
	def(&o.PrefixTokens, 1536)
	def(&o.SuffixTokens, 96)
	def(&o.SnippetTokens, 768)
	def(&o.MaxTokens, 128)
	def(&o.MaxLines, 12)
	def(&o.Candidates, 3)
	if o.Debounce == 0 {
		o.Debounce = 250 * time.Millisecond
	}
	// A window that cannot hold an answer and some lines is a setting gone
	// wrong; the smallest one that works keeps ghost text alive.
	o.ContextTokens = max(o.ContextTokens, 256)
	o.MaxTokens = min(o.MaxTokens, o.ContextTokens/4)
	if o.Timeout <= 0 {
		o.Timeout = 10 * time.Second
	}
	return o
}
