package completion

import (
	"strings"

	"quarry/index/lang"
	"quarry/index/visible"
)

// A step turns an answer into a better one. It is pure: it sees the cursor context and
// the text, and text has Unix line endings.
type step func(s *cursorContext, text string) string

// steps is the chain from what a model wrote to what the user sees. A step
// may cut text that made an earlier one hold back, so the chain runs until
// nothing changes; that makes it idempotent by construction.
var steps = []step{
	func(_ *cursorContext, text string) string { return cutControl(unixLines(text)) },
	stripFences,
	stripEcho,
	fixLeading,
	func(s *cursorContext, text string) string { cut, _ := s.scope(text, true); return text[:cut] },
	dropRepetition,
	matchIndent,
	alignColumn,
	cutRest,
	trimEnd,
	dropUseless,
	dropHidden,
}

// finish runs the chain over text and answers what to insert, in the
// document's own line endings, and how many bytes of the line's rest it
// replaces. An empty text means there is nothing worth showing.
func finish(s *cursorContext, text string) (insert string, covers int) {
	// Each round that changes something shortens the text or rewrites its
	// indentation, which settles in two rounds. An answer that does not settle
	// is not understood and not shown.
	const rounds = 8
	for range rounds {
		before := text
		for _, f := range steps {
			if text = f(s, text); text == "" {
				return "", 0
			}
		}
		if text == before {
			covers = coveredRest(s, text)
			if s.eol != "\n" {
				text = strings.ReplaceAll(text, "\n", s.eol)
			}
			return text, covers
		}
	}
	return "", 0
}

// dropHidden answers "" for an answer with a control, or a character that turns the
// direction of text or has no look, that the document does not have: nobody would see
// what they accept.
func dropHidden(s *cursorContext, text string) string {
	if _, ok := visible.Added(text, s.above, s.line, s.rest, s.below); ok {
		return ""
	}
	return text
}

// stripFences takes the code out of a Markdown answer.
func stripFences(s *cursorContext, text string) string {
	const fence = "```"
	if !strings.Contains(text, fence) || s.lang.ID == "markdown" {
		return text
	}
	lines := strings.Split(text, "\n")
	open := -1
	for i, line := range lines {
		mark := strings.TrimSpace(line)
		if !strings.HasPrefix(mark, fence) {
			continue
		}
		if open < 0 && (i == 0 || len(mark) > len(fence) || blankLines(lines[:i])) {
			open = i // what stands before it is talk
			continue
		}
		return strings.Join(lines[open+1:i], "\n")
	}
	if open < 0 {
		return text // a fence inside a line: part of the code
	}
	return strings.Join(lines[open+1:], "\n")
}

func blankLines(lines []string) bool {
	for _, l := range lines {
		if !blank(l) {
			return false
		}
	}
	return true
}

// minEcho is the least that is an echo: "if" may well follow "if", and "papa" is
// no "pa" said twice.
const minEcho = 3

// stripEcho drops what is typed where the answer says it again: the whole line,
// or what begins with some name in it and ends in the word at the cursor.
func stripEcho(s *cursorContext, text string) string {
	typed, lead := strings.TrimSpace(s.line), leadingSpace(text)
	inWord := typed != "" && isWord(s.line[len(s.line)-1])
	for i := 0; i+minEcho <= len(typed); i++ {
		echo := typed[i:]
		rest, ok := strings.CutPrefix(text[len(lead):], echo)
		switch {
		case !ok:
		case i > 0:
			if inWord && lead == "" && !isWord(typed[i-1]) && startsName(echo) {
				return rest
			}
		case !holdsName(" " + echo): // a row of numbers goes on with the same ones
		case wordCount(echo) >= 2:
			if inWord || rest == "" || !isWord(rest[0]) || !isWord(echo[len(echo)-1]) {
				return rest
			}
		case inWord && (lead == "" || lead == leadingSpace(s.line)), !inWord && cannotFollowItself(echo, rest):
			return rest
		}
	}
	return text
}

// cannotFollowItself tells of a line of one word, which the answer says again before
// rest, whether no code has it twice: the left side of an assignment, or the type of
// what rest declares. A field may well be called as its type is, so a name of one more
// word has to follow; and "long long" is a type.
func cannotFollowItself(echo, rest string) bool {
	left := strings.TrimRight(echo, "=:+-*/|&")
	if sign := echo[len(left):]; strings.HasSuffix(sign, "=") && sign != "==" {
		return true
	}
	declared := strings.TrimLeft(rest, " *&")
	return left == echo && strings.ToLower(echo) != echo && len(declared) < len(rest) && rest[0] == ' ' && declared != "" && startsName(declared)
}

// fixLeading repairs the join of the typed text and the answer: a blank
// on both sides, or indentation that is there already.
func fixLeading(s *cursorContext, text string) string {
	lead := leadingSpace(text)
	body := text[len(lead):]
	switch {
	case lead == "" || body == "":
		return text
	case body[0] == '\n':
		return body
	case blank(s.line):
		return s.missingIndent(lead) + body
	case leadingSpace(s.line[len(s.line)-1:]) != "":
		return body
	}
	return text
}

// missingIndent is what of lead, an answer's own indentation, belongs behind the
// blanks of a line that has nothing else.
func (s *cursorContext) missingIndent(lead string) string {
	want, has := s.expectedIndent(), s.indentWidth(s.line+"x")
	width, total := s.indentWidth(lead+"x"), s.indentWidth(s.line+lead+"x")
	switch {
	case s.line == "":
		if width == want+1 && s.lang.Blocks.Style != lang.Flat && openBrackets(s.lastAbove()) <= 0 {
			return strings.TrimSuffix(lead, " ")
		}
		return lead // deeper on purpose
	case has < want && total == want:
		return lead
	case has < want && width == want:
		return strings.TrimPrefix(lead, s.line) // all of it, not what is missing
	}
	return ""
}

// matchIndent rewrites the indentation of the answer's lines in the
// document's style: tabs for groups of spaces or the other way round.
func matchIndent(s *cursorContext, text string) string {
	if !strings.Contains(text, "\n") && !(blank(s.line) && text != "" && (text[0] == ' ' || text[0] == '\t')) {
		return text
	}
	lines := strings.Split(text, "\n")
	first := 1
	if blank(s.line) {
		first = 0
	}
	if s.unit != "\t" {
		for i := first; i < len(lines); i++ {
			lead := leadingSpace(lines[i])
			if strings.Contains(lead, "\t") {
				lines[i] = strings.ReplaceAll(lead, "\t", s.unit) + lines[i][len(lead):]
			}
		}
		return strings.Join(lines, "\n")
	}
	width := 0
	for _, line := range lines[first:] {
		if n := len(line) - len(strings.TrimLeft(line, " ")); n > 1 && (width == 0 || n < width) {
			width = n
		}
	}
	if width == 0 {
		return text
	}
	if width > 8 || width%4 == 0 {
		width = 4
	}
	for i := first; i < len(lines); i++ {
		body := strings.TrimLeft(lines[i], " ")
		n := len(lines[i]) - len(body)
		lines[i] = strings.Repeat("\t", n/width) + strings.Repeat(" ", n%width) + body
	}
	return strings.Join(lines, "\n")
}

// alignColumn moves the lines after the first by the one column that all of them
// are off: a model that began with a blank too many goes on with it.
func alignColumn(s *cursorContext, text string) string {
	first, more, ok := strings.Cut(text, "\n")
	step := s.indentWidth(s.unit + "x")
	if !ok || step < 2 || s.lang.Blocks.Style == lang.Flat {
		return text
	}
	first = s.line + first
	next := strings.TrimLeft(more, "\n")
	next = next[:lineEnd(next, 0)]
	want := s.indentWidth(first)
	opens := s.lang.opensBlock(first)
	if opens {
		want += step
	}
	off := s.indentWidth(next) - want
	if off != 1 && off != -1 || want%step != 0 || openBrackets(first) > 0 && !opens || strings.HasPrefix(strings.TrimLeft(next, " \t"), "*") {
		return text // not off, or aligned with something else
	}
	lines := strings.Split(more, "\n")
	for i, line := range lines {
		if blank(line) {
			continue
		}
		width := s.indentWidth(line) - off
		if width%step != 0 {
			return text
		}
		lines[i] = strings.Repeat(s.unit, width/step) + strings.TrimLeft(line, " \t")
	}
	return text[:len(text)-len(more)] + strings.Join(lines, "\n")
}

// trimEnd drops blank lines and blanks at the end. Before code that follows on
// the line one blank may be meant, before a bracket its indentation.
func trimEnd(s *cursorContext, text string) string {
	trimmed := strings.TrimRight(text, " \t\n")
	tail := text[len(trimmed):]
	if tail == "" || blank(s.rest[coveredRest(s, text):]) {
		return trimmed
	}
	if i := strings.LastIndexByte(tail, '\n'); i >= 0 {
		return trimmed + tail[i:]
	}
	if tail[0] == ' ' && s.rest[0] != ' ' {
		return trimmed + " "
	}
	return trimmed
}

// dropUseless answers "" for what is blank, for lone closing brackets that
// say nothing, and for what the document says already.
func dropUseless(s *cursorContext, text string) string {
	body := strings.TrimSpace(text)
	if body == "" || body == strings.TrimSpace(s.rest) || copiesBelow(s, text) {
		return ""
	}
	return text
}
