package loop

import (
	"strings"

	"quarry/agent"
)

// Evidence is what a model has read of the workspace, so that what it says can be
// held against that: the lines that stand in its prompt as it is now, not those that
// a tool answered and that there was no room for. It is not safe for concurrent
// use; a Task's functions may use it.
type Evidence struct {
	quoted  []agent.Citation
	results []*rendered
}

// NewEvidence makes the evidence of a task. quoted are the lines that its first
// messages quote.
func NewEvidence(quoted ...agent.Citation) *Evidence { return &Evidence{quoted: quoted} }

// Shown are the lines that the model was shown, or that were named to it as the
// location of a declaration.
func (e *Evidence) Shown() []agent.Citation {
	list := append([]agent.Citation{}, e.quoted...)
	for _, r := range e.results {
		list = append(list, joined(r.lines, func(line) bool { return true })...)
	}
	return list
}

// Pieces are the pieces of files that tools showed, in their order.
func (e *Evidence) Pieces() (list []agent.Citation) {
	for _, r := range e.results {
		list = append(list, joined(r.lines, func(l line) bool { return l.code })...)
	}
	return list
}

// Text is all that tools showed, as the model reads it.
func (e *Evidence) Text() string {
	var b strings.Builder
	for _, r := range e.results {
		b.WriteString(r.String())
	}
	return b.String()
}

// joined are the locations that lines show; what follows one another is one location.
func joined(lines []line, of func(line) bool) (list []agent.Citation) {
	for _, l := range lines {
		if !of(l) {
			continue
		}
		for _, c := range l.shows {
			if n := len(list); l.code && n > 0 && list[n-1].Path == c.Path && list[n-1].EndLine+1 == c.StartLine {
				list[n-1].EndLine = c.EndLine
			} else {
				list = append(list, c)
			}
		}
	}
	return list
}
