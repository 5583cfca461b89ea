package completion

import "strings"

// placed is a Request as if the entry selected in the editor's popup had been
// accepted: the model continues it, so an answer always extends it.
type placed struct {
	Request
	sel *Selected
	// from is the cursor the user sees.
	from int
}

// withSelected reports false if the selection does not reach the cursor or
// leaves its line; then nothing could be shown.
func withSelected(req Request) (placed, bool) {
	p := placed{Request: req, sel: req.Selected, from: req.Offset}
	if p.sel == nil {
		return p, true
	}
	start, end := p.sel.Start, p.sel.End
	if start > req.Offset || end < req.Offset || start < lineStart(req.Text, req.Offset) || end > lineEnd(req.Text, req.Offset) ||
		strings.ContainsAny(p.sel.Text, "\r\n") {
		return p, false
	}
	p.Text = req.Text[:start] + p.sel.Text + req.Text[end:]
	p.Offset = start + len(p.sel.Text)
	return p, true
}

// restore turns an item of the imagined document into one of the real one.
func (p placed) restore(it Item) Item {
	if p.sel == nil {
		return it
	}
	it.Text = p.sel.Text + it.Text
	it.End += p.sel.End - p.Offset
	it.Start = p.sel.Start
	return it
}
