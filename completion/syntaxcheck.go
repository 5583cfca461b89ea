package completion

import (
	"math"
	"regexp"
	"strings"

	"quarry/completion/idioms"
	"quarry/index/lang"
)

// Syntax counts syntax errors; package syntaxcheck does it with tree-sitter.
// ok is false where the language has no grammar.
type Syntax interface {
	// Document makes text the version that candidates are compared with.
	Document(key, language, text string) (errors int, ok bool)
	// Candidate counts the errors of what the document would become.
	Candidate(key, text string) (errors int, ok bool)
	Forget(key string)
}

const (
	// maxSyntaxParses bounds the work of the check.
	maxSyntaxParses = 6
	// syntaxNear is the least that is parsed on each side of an edit, syntaxReach how
	// much farther a line to cut at is looked for. Even an incremental parse takes
	// time in proportion to the number of declarations: of all of a file of 20,000
	// lines 35 ms, of this much 0.1 to 0.3. bench/completion.md has what a smaller
	// window costs in wrong verdicts.
	syntaxNear, syntaxReach = 1 << 10, 4 << 10
	// syntaxStep is how far the cursor goes before the window follows it: what moved
	// is parsed anew, and that takes up to 20 times as long as the parse of a keystroke.
	syntaxStep = syntaxNear / 2
	// syntaxWhole is the longest document that is parsed whole, where a part of it has
	// errors as it is and a candidate is refused in it.
	syntaxWhole = 64 << 10
)

// checkSyntax answers the longest beginning of text, in whole lines, that adds no
// syntax error when it replaces [start, end) of the document; "" if there is
// none. A document with errors (one is being typed, after all) may keep them.
// Of a text of many lines it tries the first ones last: an answer that leaves the
// place it was asked for often begins with what belongs there.
func checkSyntax(s Syntax, req Request, start, end int, text string) string {
	from, to := syntaxSpan(req.Text, req.Language, start, end)
	head, tail := req.Text[from:start], req.Text[end:to]
	before, ok := s.Document(req.Key, req.Language, head+req.Text[start:end]+tail)
	if !ok {
		return text
	}
	// A part may lack the word that ends the block which text begins, or the beginning of the
	// one that it ends.
	l := languageFor(req.Language)
	ends := l.Blocks.Style == lang.EndWords || l.closesBlock(firstLines(text))
	for n := 0; text != "" && n < maxSyntaxParses; n++ {
		after, ok := s.Candidate(req.Key, head+text+tail)
		if !ok || after <= before || n == 0 && (before > 0 || ends) && len(head)+len(tail) < len(req.Text) && soundInWhole(s, req, start, end, text) {
			return text
		}
		if n == maxSyntaxParses-2 {
			text = firstLines(text)
			continue
		}
		cut := strings.LastIndexAny(text, "\r\n")
		if cut < 0 {
			return ""
		}
		text = strings.TrimRight(text[:cut], " \t\r\n")
	}
	return ""
}

// soundInWhole: text adds no syntax error to the whole document, where that is short
// enough. A part cut out of a class or a literal may be all errors, whose number says
// nothing.
func soundInWhole(s Syntax, req Request, start, end int, text string) bool {
	if len(req.Text) > syntaxWhole {
		return false
	}
	key := req.Key + " whole"
	defer s.Forget(key)
	before, ok := s.Document(key, req.Language, req.Text)
	if !ok {
		return false
	}
	after, ok := s.Candidate(key, req.Text[:start]+text+req.Text[end:])
	return ok && after <= before
}

var names = regexp.MustCompile(`[\pL\d_]+`)

// likeNeighbour: the line that text completes is as the one above or below but for names,
// and begins with the same: one more use of a macro, of which the grammar knows nothing.
func (s *cursorContext) likeNeighbour(text string) bool {
	line := strings.TrimSpace(s.line + text)
	if strings.Contains(text, "\n") || !blank(s.rest[coveredRest(s, text):]) || wordCount(line) < 2 || openBrackets(line) != 0 || !startsName(line) {
		return false
	}
	form := func(line string) string {
		word := firstWord(line)
		return word + names.ReplaceAllString(line[len(word):], "x")
	}
	for _, near := range []string{s.lastAbove(), s.firstBelow()} {
		if near = strings.TrimSpace(near); near != "" && near != line && form(near) == form(line) {
			return true
		}
	}
	return false
}

// isBegun: text ends within a statement, as "require(" does, and with what the statement lacks
// it passes. Some grammars take what is not ended for an error, and others do not.
func (s *cursorContext) isBegun(text string, passes func(text string) bool) bool {
	if strings.Contains(text, "\n") || !blank(s.rest[coveredRest(s, text):]) {
		return false
	}
	var closers []byte
	for _, open := range opened(s.lang.ID, []string{s.line + text}) {
		closers = append([]byte{open.closer}, closers...)
	}
	line := strings.TrimSpace(s.line + text)
	words := idioms.WordsOf(s.lang.ID)
	ends := []string{string(closers)}
	switch {
	case strings.HasSuffix(line, "{") || strings.HasSuffix(line, "["):
	case len(line) > 0 && strings.IndexByte("=.,", line[len(line)-1]) >= 0:
		ends = []string{" x" + string(closers)}
	case len(closers) == 0 && words.Is(line):
		return true
	case words.Is(line[strings.LastIndexAny(line, " \t(")+1:]):
		ends = append(ends, " x"+string(closers))
	}
	for _, end := range ends {
		if end != "" && passes(text+end) {
			return true
		}
	}
	return false
}

// closeBlocks is text, of which a limit on lines or tokens took the end, with the
// brackets closed that its own lines opened: those of one line on one line, indented
// as it is. "" where it left none open, or has no line inside them. The answer may
// have broken off anywhere in the last line of what the model wrote, which goes then.
func (s *cursorContext) closeBlocks(text, written string) string {
	lines := strings.Split(unixLines(text), "\n")
	if strings.HasSuffix(written, lines[len(lines)-1]) {
		lines = lines[:len(lines)-1]
	}
	for ; len(lines) > 1; lines = lines[:len(lines)-1] {
		open := opened(s.lang.ID, lines)
		if len(open) == 0 {
			return ""
		}
		if open[len(open)-1].line == len(lines)-1 {
			continue // nothing is inside
		}
		for i := len(open) - 1; i >= 0; i-- {
			at := open[i].line
			opener := lines[at]
			if at == 0 {
				opener = s.line + opener
			}
			if i+1 == len(open) || open[i+1].line != at {
				lines = append(lines, leadingSpace(opener))
			}
			if s.indentWidth(lines[at+1]) <= s.indentWidth(opener) {
				return "" // what follows is not inside
			}
			lines[len(lines)-1] += string(open[i].closer)
			if i == 0 && s.endsStatement(opener) {
				lines[len(lines)-1] += ";"
			}
		}
		return strings.Join(lines, s.eol)
	}
	return ""
}

// endsStatement: the bracket that line ends with opens the value of an assignment, in
// a document whose statements end in semicolons.
func (s *cursorContext) endsStatement(line string) bool {
	line = strings.TrimRight(line, " \t")
	return strings.HasSuffix(strings.TrimRight(line[:max(len(line)-1, 0)], " \t"), "=") && strings.Contains(s.above, ";\n")
}

// openedBracket is one that stays open: its line, and what closes it.
type openedBracket struct {
	line   int
	closer byte
}

// opened are the brackets that lines open and do not close.
func opened(language string, lines []string) (open []openedBracket) {
	text := strings.Join(lines, "\n")
	var marks []mark // that are open
	eachMark(language, text, func(m mark) {
		for len(marks) > 0 && m.opener <= marks[len(marks)-1].at {
			marks = marks[:len(marks)-1]
		}
		if m.opener == m.at && !m.quoted {
			marks = append(marks, m)
		}
	})
	for _, m := range marks {
		open = append(open, openedBracket{strings.Count(text[:m.at], "\n"), closerOf(m.sign)})
	}
	return open
}

// firstLines is text up to the end of its first line that is not blank.
func firstLines(text string) string {
	lead := len(text) - len(strings.TrimLeft(text, " \t\r\n"))
	return text[:lineEnd(text, lead)]
}

// prepareSyntaxCheck parses the document as it is while the model writes, so that the
// check has only the candidate left to parse.
func (e *Engine) prepareSyntaxCheck(req Request) {
	if e.opts.Syntax == nil {
		return
	}
	e.running.Go(func() {
		from, to := syntaxSpan(req.Text, req.Language, req.Offset, req.Offset)
		e.opts.Syntax.Document(req.Key, req.Language, req.Text[from:to])
		e.mu.Lock()
		closed := e.docs[req.Key] == nil
		e.mu.Unlock()
		if closed { // before this began
			e.opts.Syntax.Forget(req.Key)
		}
	})
}

// syntaxSpan is the part of text that is parsed for an edit of [start, end): from
// the nearest line that begins a declaration and has syntaxNear bytes between it
// and the edit, to the nearest such line behind. What a cut leaves unbalanced
// counts before and after the edit alike.
//
// The lines are looked for from multiples of syntaxStep on, counted from the text's
// beginning before the edit and from its end behind it. So typing moves neither
// cut, and a kept tree serves the next keystroke.
func syntaxSpan(text, languageID string, start, end int) (from, to int) {
	to = len(text)
	l := languageFor(languageID)
	if at := (start - syntaxNear) / syntaxStep * syntaxStep; at > 0 {
		from = cutAbove(l, text, at)
	}
	if rest := (len(text) - end - syntaxNear) / syntaxStep * syntaxStep; rest > 0 {
		to = cutBelow(l, text, len(text)-rest)
	}
	return from, to
}

// cutAbove is the start of the nearest line above at that is not indented, or of
// the text; if neither is within syntaxReach, of the line indented least.
func cutAbove(l language, text string, at int) int {
	first := max(at-syntaxReach, 0)
	best, least := runeStart(text, at), math.MaxInt
	for end := at; least > 0; {
		i := strings.LastIndexByte(text[first:end], '\n')
		if i < 0 {
			if first == 0 {
				return 0
			}
			break
		}
		end = first + i
		if depth := depthOf(l, text[end+1:]); depth < least {
			best, least = end+1, depth
		}
	}
	return best
}

// cutBelow is the same for lines below at, and the text's end.
func cutBelow(l language, text string, at int) int {
	last := min(at+syntaxReach, len(text))
	best, least := runeStart(text, at), math.MaxInt
	for line := at; least > 0; {
		i := strings.IndexByte(text[line:last], '\n')
		if i < 0 {
			if last == len(text) {
				return last
			}
			break
		}
		line += i + 1
		if depth := depthOf(l, text[line:]); depth < least {
			best, least = line, depth
		}
	}
	return best
}

// depthOf is how far the first line of text is indented; blank lines and those that end a
// block, which begin nothing, are the deepest.
func depthOf(l language, text string) int {
	line, _, _ := strings.Cut(text, "\n")
	if blank(line) || l.closesBlock(line) {
		return math.MaxInt
	}
	return len(leadingSpace(line))
}
