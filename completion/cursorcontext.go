package completion

import "strings"

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
	mode      fillMode
	maxLines  int
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
	s.below = strings.TrimPrefix(unixLines(below), "\n")
	s.unit = nearUnit(s.above, s.line, s.below, unit)
	s.mode = s.fill()
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
// multiple of the unit's width.
func (s *cursorContext) indentWidth(line string) int {
	step := len(s.unit)
	if s.unit == "\t" {
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
