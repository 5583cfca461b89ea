package assist

import (
	"quarry/agent/markdown"
	"quarry/index/visible"
)

// prose is a text for the user: the words of a model between those of quarry, which
// are Markdown already.
type prose struct{ head, words, foot string }

func (p prose) markdown() string { return p.head + markdown.Render(p.words) + p.foot }

// plain is for clients that show text as it is.
func (p prose) plain() string { return visible.Text(p.head + p.words + p.foot) }
