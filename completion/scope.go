package completion

import (
	"strings"

	"quarry/index/lang"
)

// scope answers where text, filled in at the cursor, leaves the scope it may
// fill: text[:cut] stays, and done says that whatever follows will be cut. The
// same rules stop a running stream (final false: the last line may be unfinished
// and is not judged) and trim a finished answer (final true).
//
// A line-by-line reading of indentation, as zed, continue and tabby use it,
// serves every language; the syntax check refines it where a parser is at hand.
func (s *cursorContext) scope(text string, final bool) (cut int, done bool) {
	r := scopeRules{cursorContext: s}
	at := 0
	for {
		end := strings.IndexByte(text[at:], '\n')
		if end < 0 {
			break
		}
		switch r.line(text[at : at+end]) {
		case keepAndStop:
			return at + end, true
		case dropAndStop:
			return max(at-1, 0), true
		}
		at += end + 1
	}
	if final && at <= len(text) {
		if r.line(text[at:]) == dropAndStop {
			return max(at-1, 0), true
		}
	}
	return len(text), false
}

type verdict uint8

const (
	keep verdict = iota
	keepAndStop
	dropAndStop
)

// scopeRules reads an answer line by line.
type scopeRules struct {
	*cursorContext
	// n lines were read, the last blanks of them blank.
	n, blanks int
	// base is the indentation that lines of the answer must not fall below.
	base int
	// inside is set while the answer is in a block that it opened itself, at
	// indentation base.
	inside bool
	// header is set when the first line may be the head of a block whose brace
	// stands on the next one.
	header bool
	// finished is set when the answer begins with a line break: of the lines after it
	// the answer may fill one statement, or what the finished line begins, as a label does.
	// begun is set behind the first of them.
	finished, begun bool
	// last is the indentation of the last line that was not blank.
	last int
	// depth is how many brackets the cursor's line and the answer left open, of those that
	// they opened.
	depth int
}

func (r *scopeRules) line(line string) verdict {
	r.n++
	if r.n > r.maxLines {
		return dropAndStop
	}
	if r.n == 1 {
		closers, _ := r.unpaired(line)
		r.depth = openBrackets(r.cursorContext.line+line) + r.closesAbove(closers)
		return r.first(line)
	}
	if r.depth += openBrackets(line); r.depth < 0 && r.lang.Blocks.Style == lang.Offside && !r.openedAbove(r.indentWidth(line)) {
		return dropAndStop // a brace behind a block that has none
	}
	if blank(line) {
		r.blanks++
		// One blank line separates statements of a body; at the level the
		// user is at, it ends the thought.
		if r.blanks > 1 || !r.inside && r.last <= r.base && !r.onlyBlank() {
			return dropAndStop
		}
		return keep
	}
	r.blanks = 0
	if r.header {
		r.header = false
		if strings.HasPrefix(strings.TrimSpace(line), "{") {
			if strings.HasPrefix(strings.TrimSpace(r.firstBelow()), "{") {
				return dropAndStop // the block stands there, and the user was at its head
			}
			r.inside = true
			return keep
		}
		if r.finished {
			return r.outside(line)
		}
		return dropAndStop
	}
	if r.meetsBelow(line) {
		return dropAndStop
	}
	if r.inside {
		return r.insideBlock(line)
	}
	return r.outside(line)
}

// outside: the answer's lines belong to the block the cursor is in.
func (r *scopeRules) outside(line string) verdict {
	r.last = r.indentWidth(line)
	if r.finished && r.begun && r.last <= r.base {
		return r.behindStatement(line)
	}
	if !r.begun {
		r.begun = true
		if r.finished && r.last >= r.base && r.indentWidth(r.firstBelow()) > r.last {
			return keepAndStop // what belongs to it stands there
		}
	}
	if r.last >= r.base {
		return keep
	}
	closes := r.lang.closesBlock(line)
	if closes && !r.closedBelow(line) || r.asked && r.finished && !closes && r.n == 2 {
		return keepAndStop
	}
	return dropAndStop
}

// behindStatement: what follows the one statement that may follow a finished line stays
// where it belongs to it, which is where it opens the statement's block or closes it.
// Further statements are guesses upon a guess: the next one is asked for when this one is
// accepted.
func (r *scopeRules) behindStatement(line string) verdict {
	switch {
	case r.last == r.base && r.lang.Blocks.BraceBelow && strings.TrimSpace(line) == "{":
		return keep
	case !r.lang.closesBlock(line), r.last < r.base && r.closedBelow(line):
		return dropAndStop
	case r.last == r.base && (r.lang.opensBlock(line) || openBrackets(line) > 0):
		return keep // } else {
	}
	return keepAndStop
}

// first judges the line that completes the cursor's own.
func (r *scopeRules) first(line string) verdict {
	full := r.cursorContext.line + line
	r.base = r.indentWidth(full)
	r.last = r.base
	if r.mode == fillLine {
		if blank(line) {
			return dropAndStop
		}
		return keepAndStop
	}
	if r.mode == fillBlock {
		if blank(full) {
			r.base = r.blockIndent()
			r.last = r.base
			return keep
		}
		if r.lang.closesBlock(full) && !blank(r.cursorContext.line) && r.closedBelow(full) {
			return dropAndStop
		}
		return keep
	}
	if strings.HasPrefix(strings.TrimSpace(full), "*/") {
		r.base-- // what follows stands below the comment's first sign
	}
	if r.lang.opensBlock(full) || openBrackets(full) > 0 {
		if body := r.indentWidth(r.firstBelow()); body > r.base {
			if r.asked && strings.TrimSpace(line) == strings.TrimSpace(r.rest) {
				r.base, r.finished = body, true // one more statement of it
				return keep
			}
			return keepAndStop // what is in the block stands there
		}
		r.inside = true
		return keep
	}
	r.header = r.lang.Blocks.BraceBelow && !strings.HasSuffix(r.lang.code(full), ";")
	// With nothing added to the line and its closers it was finished, and the
	// answer is the lines after it.
	r.finished = strings.TrimSpace(line) == strings.TrimSpace(r.rest) && (blank(line) || !r.closesMore(line))
	switch {
	case r.finished, r.header && !blank(line):
		return keep
	case blank(line):
		return dropAndStop // a line break inside the closers
	}
	return keepAndStop
}

// insideBlock: a line at base or left of it ends the block, with that line if
// it is the block's closing one.
func (r *scopeRules) insideBlock(line string) verdict {
	width := r.indentWidth(line)
	r.last = width
	if width > r.base {
		return keep
	}
	if width < r.base || !r.lang.closesBlock(line) {
		return dropAndStop
	}
	if (r.n == 2 || r.lang.opensBlock(r.cursorContext.line)) && blank(r.rest) && r.closedBelow(line) {
		return dropAndStop // the block, which has no line yet, is closed already, and not on this line
	}
	if r.lang.opensBlock(line) || openBrackets(line) > 0 {
		return keep // } else {
	}
	return keepAndStop
}

// blockIndent is where the answer's lines belong when its first one is blank.
func (r *scopeRules) blockIndent() int {
	if r.cursorContext.line != "" {
		return r.indentWidth(r.cursorContext.line + "x")
	}
	return r.expectedIndent()
}

// onlyBlank: nothing but blank lines so far.
func (r *scopeRules) onlyBlank() bool { return r.blanks == r.n }

// meetsBelow: the answer reached a line that already follows the cursor. Short
// lines (a brace, a return) must stand at the same indentation too.
func (r *scopeRules) meetsBelow(line string) bool {
	next := r.firstBelow()
	if next == "" {
		return false
	}
	if strings.TrimRight(line, " \t") == strings.TrimRight(next, " \t") {
		return !r.lang.closesBlock(line) || !r.inside || r.indentWidth(line) < r.base
	}
	return wordCount(line) >= 2 && strings.TrimSpace(line) == strings.TrimSpace(next)
}

// closedBelow: the block that line would close is closed by the text below.
func (r *scopeRules) closedBelow(line string) bool {
	next := r.firstBelow()
	return next != "" && (r.indentWidth(next) > r.indentWidth(line) ||
		r.lang.closesBlock(next) && r.indentWidth(next) == r.indentWidth(line))
}

// openedAbove: the nearest line above that is indented by no more than width
// leaves a bracket open.
func (s *cursorContext) openedAbove(width int) bool {
	for above := strings.TrimRight(s.above, "\n"); above != ""; {
		i := strings.LastIndexByte(above, '\n')
		line := above[i+1:]
		if !blank(line) && s.indentWidth(line) <= width {
			return openBrackets(line) > 0
		}
		above = above[:max(i, 0)]
	}
	return false
}

// openBrackets is the number of brackets that line opens and does not close,
// negative if it closes more. Brackets in strings are skipped as far as one
// line tells.
func openBrackets(line string) int {
	n := 0
	eachMark("", line, func(m mark) {
		switch {
		case m.quoted:
		case m.opener == m.at:
			n++
		case strings.IndexByte(")]}", m.sign) >= 0:
			n--
		}
	})
	return n
}

// wordCount is the number of words in line, a measure of how much it says.
func wordCount(line string) int {
	n := 0
	for i := 0; i < len(line); i++ {
		if isWord(line[i]) && (i == 0 || !isWord(line[i-1])) {
			n++
		}
	}
	return n
}
