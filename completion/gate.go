package completion

import "strings"

// Syntax counts syntax errors; package syntaxgate does it with tree-sitter.
// ok is false where the language has no grammar.
type Syntax interface {
	// Document makes text the version that candidates are compared with.
	Document(key, language, text string) (errors int, ok bool)
	// Candidate counts the errors of what the document would become.
	Candidate(key, text string) (errors int, ok bool)
	Forget(key string)
}

const (
	// maxGateParses bounds the work of the gate: a parse of the window takes
	// some 0.3 ms.
	maxGateParses = 6
	// gateWindow is how much of a long document is parsed on each side of the
	// cursor. An incremental parse still takes time in proportion to the number
	// of declarations: 35 ms in a file of 20,000 lines, of which nobody waits
	// for more than 3.
	gateWindow = 4 << 10
)

// gate answers the longest beginning of text, in whole lines, that adds no
// syntax error when it replaces [start, end) of the document; "" if there is
// none. A document with errors (one is being typed, after all) may keep them.
func gate(s Syntax, req Request, start, end int, text string) string {
	from, to := gateSpan(req.Text, start, end)
	head, tail := req.Text[from:start], req.Text[end:to]
	before, ok := s.Document(req.Key, req.Language, head+req.Text[start:end]+tail)
	if !ok {
		return text
	}
	for n := 0; text != "" && n < maxGateParses; n++ {
		after, ok := s.Candidate(req.Key, head+text+tail)
		if !ok || after <= before {
			return text
		}
		cut := strings.LastIndexAny(text, "\r\n")
		if cut < 0 {
			return ""
		}
		text = strings.TrimRight(text[:cut], " \t\r\n")
	}
	return ""
}

// prepareGate parses the document as it is while the model writes, so that the
// gate has only the candidate left to parse.
func (e *Engine) prepareGate(req Request) {
	if e.opts.Syntax == nil {
		return
	}
	e.running.Go(func() {
		from, to := gateSpan(req.Text, req.Offset, req.Offset)
		e.opts.Syntax.Document(req.Key, req.Language, req.Text[from:to])
	})
}

// gateSpan is the part of text that is parsed for an edit of [start, end): all
// of a short one, else about gateWindow on both sides, and never more than twice
// that. It is cut where a declaration begins, or inside a long one at its
// outermost line. What such a cut leaves unbalanced counts before and after the
// edit alike.
func gateSpan(text string, start, end int) (from, to int) {
	from, to = 0, len(text)
	if start > gateWindow {
		from = outermostLine(text, start-gateWindow, start)
	}
	if len(text)-end > 2*gateWindow {
		to = outermostLine(text, end+gateWindow, end+2*gateWindow)
	}
	return from, to
}

// outermostLine is the start of the line in [from, to) that is indented least,
// the first of several; blank lines and closing brackets begin nothing. It is a
// rune's start near from if no line begins there.
func outermostLine(text string, from, to int) int {
	best, least := -1, 0
	for at := from; at < to; {
		i := strings.IndexByte(text[at:to], '\n')
		if i < 0 {
			break
		}
		at += i + 1
		body := strings.TrimLeft(text[at:], " \t")
		if body == "" || strings.IndexByte("\r\n})]", body[0]) >= 0 {
			continue
		}
		if indent := len(text) - at - len(body); at < to && (best < 0 || indent < least) {
			best, least = at, indent
		}
		if least == 0 && best >= 0 {
			break
		}
	}
	if best < 0 {
		return runeStart(text, from)
	}
	return best
}
