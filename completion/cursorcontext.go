package completion

import (
	"strings"
	"sync"

	"quarry/index/lang"
)

// A cursorContext is what the stop rules and post-processing know of the place to fill.
// All its text has Unix line endings.
type cursorContext struct {
	lang language
	// above is the text before the cursor's line, as much as the rules may
	// want to see; line what is typed on it; rest what follows the cursor on
	// it; below the lines after it.
	above, line, rest, below string
	// unit is one step of the document's indentation, eol its line ending.
	unit, eol string
	// eights: a tab stands for eight blanks of an indentation by blanks, as in GNU sources.
	eights   bool
	mode     fillMode
	maxLines int
	// asked: the user asked for an answer, and is not just typing.
	asked bool
	// goesOn: the document does, behind below.
	goesOn bool
	// surroundings is what the lines around the cursor's leave without a partner.
	surroundings *surroundings
}

// fillMode says how far an answer may reach.
type fillMode uint8

const (
	// fillLine: to the end of the line, because code follows the cursor.
	fillLine fillMode = iota
	// fillStatement: to the end of the line, and on to the end of the block if
	// the finished line opens one. Only closers may follow the cursor.
	fillStatement
	// fillBlock: the cursor is on an empty line; up to the end of its block.
	fillBlock
)

// nearBytes bounds how much text around the cursor the rules look at.
const nearBytes = 8 << 10

func newCursorContext(doc Document, cursor int, unit string, maxLines int) *cursorContext {
	start := lineStart(doc.Text, cursor)
	if cursor-start > nearBytes {
		start = runeStart(doc.Text, cursor-nearBytes)
	}
	end := lineEnd(doc.Text[:runeStart(doc.Text, min(len(doc.Text), cursor+nearBytes))], cursor)
	s := &cursorContext{
		lang:     languageFor(doc.Language),
		above:    unixLines(doc.Text[runeStart(doc.Text, max(0, start-nearBytes)):start]),
		line:     doc.Text[start:cursor],
		rest:     doc.Text[cursor:end],
		unit:     unit,
		eol:      lineEnding(doc.Text, end),
		maxLines: maxLines,
	}
	below := doc.Text[end:runeStart(doc.Text, min(len(doc.Text), end+nearBytes))]
	s.below, s.goesOn = strings.TrimPrefix(unixLines(below), "\n"), end+len(below) < len(doc.Text)
	s.unit = nearUnit(s.above, s.line, s.below, unit)
	if blanks, ok := eightBlanks(s.above + s.below); ok {
		s.unit, s.eights = blanks, true
	}
	s.mode = s.fill()
	s.surroundings = &surroundings{}
	return s
}

// cursorContext is that of the place req asks for.
func (e *Engine) cursorContext(req Request) *cursorContext {
	s := newCursorContext(req.Document, req.Offset, indentUnit(req.Text, req.Language), e.maxLines(req))
	s.asked = req.Manual
	return s
}

// nearUnit is unit, that of the whole document, unless the lines around say
// otherwise: a Go file may be mostly shell templates, indented by spaces. Where
// the cursor's line is the only one indented, its indentation is the unit.
func nearUnit(above, typed, below, unit string) string {
	const near = 1500
	tabs, spaces := 0, 0
	lead := leadingSpace(typed)
	for _, text := range []string{above[max(0, len(above)-near):], below[:min(len(below), near)]} {
		for line := range strings.SplitSeq(text, "\n") {
			switch {
			case strings.HasPrefix(line, "\t"):
				tabs++
			case strings.HasPrefix(line, "  "):
				spaces++
			}
		}
	}
	switch {
	case tabs > 0 && spaces == 0:
		return "\t"
	case tabs+spaces == 0 && (lead == "\t" || len(lead) > 1 && strings.Trim(lead, " ") == ""):
		return lead
	case spaces > 0 && tabs == 0 && unit == "\t":
		return "    "
	}
	return unit
}

// eightBlanks tells whether each eight blanks that a line of text is indented by are
// written as a tab, and the blanks of one step: lines with tabs and lines with fewer
// blanks follow each other, and hardly a line has more blanks. A file of two languages,
// one indented by tabs, has few such pairs.
func eightBlanks(text string) (unit string, ok bool) {
	const pairsOfTabs = 8 // at least one line of so many with tabs stands next to blanks
	tabs, more, pairs := 0, 0, 0
	var blanks strings.Builder // the lines without tabs
	const none, tab, few = 0, 1, 2
	last := none
	for line := range strings.SplitSeq(text, "\n") {
		lead, kind := leadingSpace(line), none
		switch {
		case lead == line:
			continue
		case lead == "" || lead == " ":
		case strings.Contains(lead, strings.Repeat(" ", 8)):
			more++
		case lead[0] == '\t':
			tabs++
			kind = tab
		default:
			kind = few
		}
		if kind+last == tab+few {
			pairs++
		}
		if last = kind; kind != tab {
			blanks.WriteString(line + "\n")
		}
	}
	if pairs < 2 || pairs*pairsOfTabs < tabs || more*pairsOfTabs > tabs {
		return "", false
	}
	return indentUnit(blanks.String(), ""), true
}

// lineEnding is the one at or after offset at, else the text's first, else \n.
func lineEnding(text string, at int) string {
	i := lineEnd(text, at)
	if i == len(text) {
		i = lineEnd(text, 0)
	}
	switch {
	case i == len(text), text[i] == '\n':
		return "\n"
	case strings.HasPrefix(text[i:], "\r\n"):
		return "\r\n"
	}
	return "\r"
}

func (s *cursorContext) fill() fillMode {
	rest := strings.TrimSpace(s.rest)
	line := strings.TrimRight(s.line, " \t")
	switch {
	case rest == "" && line == "":
		return fillBlock
	case rest == "":
		return fillStatement
	case onlyClosers(rest):
		return fillStatement // foo(|), which an editor closed by itself
	}
	return fillLine
}

// onlyClosers reports whether s is nothing but signs an editor closes by
// itself, and separators after them.
func onlyClosers(s string) bool {
	return s != "" && strings.Trim(s, ")]}>\"'`;,: \t") == ""
}

// indentWidth is the column of a line's first sign, a tab counting to the next
// multiple of the unit's width, or of eight.
func (s *cursorContext) indentWidth(line string) int {
	step := len(s.unit)
	switch {
	case s.eights:
		step = 8
	case s.unit == "\t":
		step = 4
	}
	w := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			w++
		case '\t':
			w += step - w%step
		default:
			return w
		}
	}
	return w
}

func leadingSpace(line string) string {
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// firstBelow is the first line below the cursor's that is not blank, "" if none.
func (s *cursorContext) firstBelow() string {
	for line := range strings.SplitSeq(s.below, "\n") {
		if !blank(line) {
			return line
		}
	}
	return ""
}

// lastAbove is the last line above the cursor's that is not blank.
func (s *cursorContext) lastAbove() string {
	above := strings.TrimRight(s.above, " \t\n")
	return above[strings.LastIndexByte(above, '\n')+1:]
}

// expectedIndent is the indentation a line below the text above would have.
func (s *cursorContext) expectedIndent() int {
	above := s.lastAbove()
	w := s.indentWidth(above)
	switch said := strings.TrimSpace(above); {
	case strings.HasPrefix(said, "/*") && !strings.Contains(said, "*/"):
		w++ // below its first star
	case strings.HasPrefix(said, "*/"):
		w--
	case s.lang.opensBlock(above):
		w += s.indentWidth(s.unit + "x")
	}
	return w
}

// surroundings are the brackets and strings that the lines above the cursor's leave open,
// the innermost last, and the brackets that close nothing in those below it.
type surroundings struct {
	once    sync.Once // few answers ask
	open    []opening
	closers []mark
}

func (s *cursorContext) around() *surroundings {
	a := s.surroundings
	a.once.Do(func() {
		a.open = eachMark(s.lang.ID, s.ofOneKind(s.above), func(mark) {})
		eachMark(s.lang.ID, s.ofOneKind(s.below), func(m mark) {
			if m.opener < 0 {
				a.closers = append(a.closers, m)
			}
		})
	})
	return a
}

// ofOneKind is text with blanks for its lines of comment or, where the cursor's line is one,
// for all but those that begin with the same sign. A fence begins and ends what it encloses.
func (s *cursorContext) ofOneKind(text string) string {
	var b strings.Builder
	sign := s.lineSign()
	within := false // a comment of several lines
	for line := range strings.Lines(text) {
		said := strings.TrimLeft(line, " \t")
		keep := sign != "" && strings.HasPrefix(said, sign) && !strings.Contains(said, "```")
		if sign == "" {
			within = within || s.lang.Comment.Open != "" && strings.HasPrefix(said, s.lang.Comment.Open)
			keep = !within && !s.lang.Comment.Starts(said)
			within = within && !strings.Contains(said, s.lang.Comment.Shut)
		}
		if keep {
			b.WriteString(line)
		} else {
			b.WriteString(strings.Repeat(" ", len(line)-1) + line[len(line)-1:])
		}
	}
	return b.String()
}

// leftAbove is how many brackets that the statement has open above the cursor's line find
// no partner, where that line closes the innermost closed of all that is open there and
// leaves open ones open by itself: the one of g(a, above h(b) where no line below has its
// bracket.
func (s *cursorContext) leftAbove(closed int, open []opening) int {
	const deepest = 20 // brackets in brackets; no code has more
	a := s.around()
	above, below := a.open[:len(a.open)-closed], a.closers
	for i := len(open) - 1; i >= 0 && len(below) > 0 && below[0].sign == closerOf(open[i].sign); i-- {
		below = below[1:]
	}
	n, within := 0, s.above+s.line
	if closed > 0 { // what stands behind that bracket is in it, however it is indented
		within = s.above[:lineEnd(s.above, a.open[len(above)].at)]
	}
	for i := len(above) - 1; i >= max(0, len(above)-deepest); i-- {
		o := above[i]
		typed := within[lineStart(s.above, o.at):]
		width := s.indentWidth(s.inComment(typed))
		if o.kind != codeOpening || s.holdsStatements(o) || s.statementEnd(typed, width) < len(typed) {
			break // or another statement's, which lost its partner
		}
		end := s.statementEnd(s.line+s.rest+"\n"+s.below, width) - len(s.line+s.rest) - 1
		switch {
		case len(below) > 0 && below[0].at < end && below[0].sign == closerOf(o.sign):
			below = below[1:]
		case end == len(s.below) && s.goesOn:
			return n // nobody looked that far
		default:
			n++
		}
	}
	return n
}

// holdsStatements: o, above the cursor's line, is a brace that is not a value's.
func (s *cursorContext) holdsStatements(o opening) bool {
	before := strings.TrimRight(s.above[lineStart(s.above, o.at):o.at], " \t")
	return o.sign == '{' && (before == "" || strings.IndexByte("=([{,:?&|", before[len(before)-1]) < 0)
}

// statementEnd is where the first line of text behind its first begins that is indented by
// no more than width, ends nothing and does not go on with what the line before it began.
// In a comment only the lines of that comment count.
func (s *cursorContext) statementEnd(text string, width int) int {
	last, at := "", 0
	for line := range strings.SplitSeq(text, "\n") {
		said := s.inComment(line)
		if said == "" && line != "" {
			return at
		}
		if at > 0 && !blank(said) && !s.isDirective(said) {
			if s.indentWidth(said) <= width && !s.lang.closesBlock(said) && !areJoined(last, said) {
				return at
			}
		}
		if !blank(said) {
			last = said
		}
		at += len(line) + 1
	}
	return len(text)
}

// isDirective: line is the C preprocessor's, which stands at the margin within statements.
func (s *cursorContext) isDirective(line string) bool {
	return line[0] == '#' && s.lang.Blocks.Style == lang.Braced
}

// areJoined: what stands at the end of the line last, or at the beginning of the next one, has
// a value on both sides.
func areJoined(last, next string) bool {
	const operators = ",.+-*/%&|^=<>?:\\("
	last, next = strings.TrimRight(last, " \t"), strings.TrimLeft(next, " \t")
	return last != "" && strings.IndexByte(operators, last[len(last)-1]) >= 0 || strings.IndexByte(".+&|^=?:", next[0]) >= 0
}

// inComment is line, of those around the cursor's, as it is indented within the comment
// where the cursor's line is one: with blanks for the sign. It is "" where it has no sign.
func (s *cursorContext) inComment(line string) string {
	sign := s.lineSign()
	if sign == "" {
		return line
	}
	lead := leadingSpace(line)
	body, ok := strings.CutPrefix(line[len(lead):], sign)
	if !ok {
		return ""
	}
	return lead + strings.Repeat(" ", len(sign)) + body
}

// lineSign is the comment's sign that the cursor's line begins with, and the star in one of
// several lines; "" if it is code.
func (s *cursorContext) lineSign() string {
	line := strings.TrimLeft(s.line, " \t")
	signs, _, _ := strings.Cut(line, " ")
	switch {
	case s.lang.Comment.Open == "/*" && signs == "*":
		return signs
	case s.lang.Comment.Starts(line):
		return signs[:len(signs)-len(strings.TrimLeft(signs, "/#-;%!\""))]
	}
	return ""
}

// isDocumentation: the cursor is in a comment, or in a string of several lines.
func (s *cursorContext) isDocumentation() bool {
	return s.lineSign() != "" || innermostString(s.around().open) >= 0
}
