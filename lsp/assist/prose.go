package assist

import (
	"strings"

	"quarry/agent/markdown"
	"quarry/index/visible"
)

// prose is a text for the user: the words of a model between those of quarry, which
// are Markdown already.
type prose struct{ head, words, foot string }

func (p prose) markdown() string { return p.head + markdown.Render(p.words) + p.foot }

// short is a beginning of it for what is shown in passing: VS Code's renderer of hovers takes
// more than the square of a text's length where emphases begin and never end, and all of its
// windows wait for it.
func (p prose) short() prose {
	const most = 3000 // bytes: few explanations are longer
	if len(p.words) > most {
		words := strings.ToValidUTF8(p.words[:most], "")
		if at := strings.LastIndexAny(words, " \n"); at > most/2 {
			words = words[:at]
		}
		p.words = words + " …"
	}
	return p
}

// plain is for clients that show text as it is.
func (p prose) plain() string { return visible.Text(p.head + p.words + p.foot) }
