package loop

import (
	"fmt"
	"strings"

	"quarry/agent"
	"quarry/agent/prompt"
)

// Evidence is what a model has read of the workspace, so that what it says can be
// held against that: the lines that stand in its prompt as it is now, not those that
// a tool answered and that there was no room for. It is not safe for concurrent
// use; a Task's functions may use it.
type Evidence struct {
	quoted  []agent.Citation
	results []*result
}

// NewEvidence makes the evidence of a task. quoted are the lines that its first
// messages quote.
func NewEvidence(quoted ...agent.Citation) *Evidence { return &Evidence{quoted: quoted} }

// Shown are the lines that the model was shown, or that were named to it as the
// place of a declaration.
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

// joined are the places that lines show; what follows one another is one place.
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

// result is what the model reads of one call's answer.
type result struct {
	id, name string
	lines    []line
	cut      int // bytes that are left out
	message  int // in which message it stands
}

// String is the result between its tags.
func (r *result) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "<tool_result id=%q name=%q>\n", r.id, prompt.Quote(r.name))
	for _, l := range r.lines {
		b.WriteString(l.text + "\n")
	}
	if r.cut > 0 {
		fmt.Fprintf(&b, "[cut: %d bytes more]\n", r.cut)
	}
	b.WriteString("</tool_result>")
	return b.String()
}

// size is the length of the lines.
func (r *result) size() (n int) {
	for _, l := range r.lines {
		n += len(l.text) + 1
	}
	return n
}

// cutMarkBytes is room for what says that a result was cut.
const cutMarkBytes = len("[cut: 12345678 bytes more]\n")

// clip cuts a result to n bytes at the end of a line, or within a line where that
// would cost half of it; a line that is not whole shows nothing.
func (r *result) clip(n int) {
	whole := r.size()
	if whole <= n {
		return
	}
	room := max(0, n-cutMarkBytes)
	kept, at := 0, 0
	for kept+len(r.lines[at].text)+1 <= room {
		kept += len(r.lines[at].text) + 1
		at++
	}
	part := strings.ToValidUTF8(r.lines[at].text[:min(room-kept, len(r.lines[at].text))], "")
	r.lines = r.lines[:at:at]
	if kept < room/2 {
		r.lines = append(r.lines, line{text: part})
		kept += len(part) + 1
	}
	for len(r.lines) > 0 && r.lines[len(r.lines)-1].text == "" {
		r.lines = r.lines[:len(r.lines)-1]
	}
	r.cut += whole - kept
}
