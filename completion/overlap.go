package completion

import (
	"regexp"
	"slices"
	"strings"

	"quarry/index/lang"
)

// The overlap of an answer with the rest of the cursor's line: what the
// answer says again is cut, what it closes by itself is replaced.

// cutRest cuts from the end of text what the rest of the line says already.
func cutRest(s *cursorContext, text string) string {
	rest := strings.TrimRight(s.rest, " \t")
	if blank(rest) || text == "" {
		return text
	}
	marks := s.marks(text)
	closers := closersOf(marks)
	cut := text
	if bare := strings.TrimLeft(rest, " \t"); wordCount(bare) > 0 || strings.ContainsAny(bare, "([{<") {
		cut = cutOverlap(text, rest)
		for _, r := range []string{bare, rest} {
			if before, ok := strings.CutSuffix(strings.TrimRight(text, " \t"), r); ok && !s.endsKnownWord(text, r) {
				cut = before
			}
		}
		if cut == text {
			cut = s.cutUnpaired(text, rest, false, func(k int) bool { return !blank(rest[:k]) && strings.Trim(rest[:k], ")]} ") == "" })
		}
	} else if before, ok := strings.CutSuffix(text, rest); ok && before != "" && s.saysRest(text, rest) {
		cut = before
	} else {
		cut = s.cutUnpaired(text, rest, true, func(k int) bool {
			return tailUnmatched(text, k, marks, k == len(rest) || operation.MatchString(rest[:k]))
		})
	}
	if at := s.closesTwice(text, closers); cut == text && at >= 0 && coveredRest(s, text) < len(rest) &&
		s.imbalance(text[:at]+s.rest) <= s.imbalance(text+s.rest) {
		return text[:at]
	}
	return cut
}

// cutUnpaired cuts what rest begins with from the end of text: as many bytes, of those
// numbers that may allows, as leave the fewest brackets of the line without a partner. So
// string(b) keeps its bracket where the rest closes the call around it alone. What
// changes nothing in that is cut if said, since the rest says it already.
func (s *cursorContext) cutUnpaired(text, rest string, said bool, may func(k int) bool) string {
	cut, least := text, -1
	for k := min(len(rest), len(text)); k > 0; k-- {
		if !strings.HasSuffix(text, rest[:k]) || !may(k) {
			continue
		}
		if least < 0 {
			least = s.imbalance(text + s.rest)
		}
		if n := s.imbalance(text[:len(text)-k] + s.rest); n < least || said && n == least && cut == text {
			cut, least = text[:len(text)-k], n
		}
	}
	return cut
}

// endsKnownWord: the word that text and rest make where they meet stands near, and the
// one that text ends in does not, so that text ends as rest does by chance: nul|l.
func (s *cursorContext) endsKnownWord(text, rest string) bool {
	end, next := lastWord(s.line+text), 0
	for next < len(rest) && isWord(rest[next]) {
		next++
	}
	return end != "" && next > 0 && s.isNear(end+rest[:next]) && !s.isNear(end)
}

// saysRest: that text ends in rest, which has no words, is no chance.
func (s *cursorContext) saysRest(text, rest string) bool {
	if !onlyClosers(rest) && len(rest) >= minEcho {
		return true // whatever the line leaves open: it may go on below
	}
	return s.typedOver(text, rest) && s.imbalance(text) <= s.imbalance(text+s.rest)
}

// typedOver: text, which ends in rest, is all that the line needs behind the cursor. The
// user wrote over the line's beginning, so that rest closes nothing: t.| before ).
func (s *cursorContext) typedOver(text, rest string) bool {
	return !s.closesNothing(text) && (s.closesNothing(rest) || coveredRest(s, text) == 0 && s.closesNothing(text+rest))
}

// closesNothing: the line with text behind the cursor has a bracket that closes nothing,
// there or above, or a string without an end.
func (s *cursorContext) closesNothing(text string) bool {
	closers, open := s.unpaired(text)
	return innermostString(open) >= 0 || s.closesAbove(closers) < len(closers)
}

// closesAbove is how many of closers, which close nothing in the cursor's line, close what
// is open above it, and what no line below closes.
func (s *cursorContext) closesAbove(closers []byte) int {
	if len(closers) == 0 {
		return 0
	}
	above := s.around().open
	for i, c := range closers {
		if at := len(above) - 1 - i; at < 0 || closerOf(above[at].sign) != c || s.closedLower(above[at]) {
			return i
		}
	}
	return len(closers)
}

// closedLower: the first line below the cursor's that is indented as the line above it
// with the bracket o, or less, is indented so and begins with what closes o.
func (s *cursorContext) closedLower(o opening) bool {
	width := s.indentWidth(s.above[lineStart(s.above, o.at):])
	if width >= s.indentWidth(s.line+"x") {
		return false
	}
	closer := s.closerBelow(width)
	return closer != "" && closer[0] == closerOf(o.sign)
}

// closerBelow is the first line below the cursor's that is indented by no more than width,
// without its indentation, if it is indented by as much and begins with a closing bracket.
func (s *cursorContext) closerBelow(width int) string {
	for line := range strings.SplitSeq(s.below, "\n") {
		if n := s.indentWidth(line); !blank(line) && n <= width {
			if said := strings.TrimSpace(line); n == width && strings.IndexByte(")]}", said[0]) >= 0 {
				return said
			}
			return ""
		}
	}
	return ""
}

// imbalance is how many brackets and strings of the line with text behind the cursor have
// no partner: in the line, above it, or in the line below that ends what the line begins.
func (s *cursorContext) imbalance(text string) int {
	closers, open := s.unpaired(text)
	paired := s.closesAbove(closers)
	n := len(closers) - paired + len(open) + s.leftAbove(paired, open)
	if len(open) == 0 {
		return n
	}
	eachMark(s.lang.ID, s.closerBelow(s.indentWidth(s.line+text)), func(m mark) {
		if m.opener >= 0 {
			return
		}
		n++
		if last := len(open) - 1; last >= 0 && closerOf(open[last].sign) == m.sign {
			open = open[:last]
			n -= 2
		}
	})
	return n
}

// closesMore: the line closes more of what it opens with text than without.
func (s *cursorContext) closesMore(text string) bool {
	return s.imbalance(text+s.rest) < s.imbalance(s.rest)
}

// unpaired are the brackets that close nothing in the line with text behind the cursor,
// and what nothing closes there: what is open behind it last, the innermost at the end.
func (s *cursorContext) unpaired(text string) (closers []byte, open []opening) {
	line := s.line + text
	apostrophe := false
	var lost []opening // brackets that another one closes with what it closes
	open = eachMark(s.lang.ID, line+barrier+"'", func(m mark) {
		switch {
		case m.at > len(line):
			apostrophe = !m.quoted // which began a string
		case m.opener == m.at:
			lost = append(lost, opening{m.at, 1, m.sign, quotedOpening})
		case m.opener < 0:
			closers = append(closers, m.sign)
		default:
			lost = slices.DeleteFunc(lost, func(o opening) bool { return o.at == m.opener })
		}
	})
	lost = slices.DeleteFunc(lost, func(l opening) bool {
		return slices.ContainsFunc(open, func(o opening) bool { return o.at == l.at })
	})
	open = append(lost, open...)
	if apostrophe {
		open = append(open, opening{len(line), 1, '\'', stringOpening})
	}
	return closers, open
}

// closesTwice is where text closes by itself what the rest of the line, which says
// more, closed before: g[int](1)]() where an editor had put the bracket. -1 if it does not.
func (s *cursorContext) closesTwice(text string, closers []mark) int {
	rest := strings.TrimLeft(s.rest, " \t")
	closers = meantBy(closers, rest[0])
	if len(closers) == 0 || onlyClosers(rest) || strings.IndexByte(")]}>\"'`", rest[0]) < 0 || closers[0].sign != rest[0] {
		return -1
	}
	if closers[0].at == 0 && strings.IndexByte(")]}", rest[0]) < 0 {
		return -1 // more than a string or types
	}
	before, after := s.line+s.rest, s.line+text+barrier+s.rest
	if !s.closed(before, len(before)-len(rest)) || s.closed(after, len(after)-len(rest)) {
		return -1
	}
	return closers[0].at
}

// meantBy are those of closers from the one on that may be meant by sign: a bracket
// in a string closes another in it, or is nothing but text.
func meantBy(closers []mark, sign byte) []mark {
	for len(closers) > 0 && closers[0].quoted && closers[0].sign != sign {
		closers = closers[1:]
	}
	return closers
}

// closed: the bracket of text at offset at closes one of text.
func (s *cursorContext) closed(text string, at int) bool {
	found := false
	eachMarkIn(s.lang.ID, text, s.angle(), func(m mark) { found = found || m.at == at && m.opener >= 0 })
	return found
}

// operation begins with an operator between two values, so that what stands there twice
// is no code: = "" and then = "".
var operation = regexp.MustCompile("^[ \\t]*[-=!<>+*/%&|?:^]+[ \\t\"'`]")

// cutOverlap cuts the longest end of text that begins rest, if it holds a whole word or
// an operation and leaves no bracket of text open that it had closed, or a
// separator that would stand there twice.
func cutOverlap(text, rest string) string {
	for k := min(len(rest), len(text)); k >= 3; k-- {
		if !strings.HasSuffix(text, rest[:k]) || wordCount(rest[:k]) == 0 && !operation.MatchString(rest[:k]) {
			continue
		}
		if k < len(rest) && isWord(rest[k]) && isWord(rest[k-1]) {
			continue
		}
		if i := len(text) - k; i > 0 && isWord(text[i-1]) && isWord(text[i]) {
			continue
		}
		if openBrackets(text[:len(text)-k]) <= max(openBrackets(text), 0) {
			return text[:len(text)-k]
		}
	}
	if c := text[len(text)-1]; c == rest[0] && (c == ';' || c == ',') {
		return text[:len(text)-1]
	}
	return text
}

// tailUnmatched: each bracket and quote in the last k bytes of text closes something
// opened before text or, if own, is one of a pair there.
func tailUnmatched(text string, k int, marks []mark, own bool) bool {
	tail, signs := len(text)-k, ")]}\"'`"
	if slices.ContainsFunc(marks, func(m mark) bool { return m.sign == '>' }) {
		signs += ">"
	}
	for i := tail; i < len(text); i++ {
		if strings.IndexByte(signs, text[i]) < 0 {
			continue
		}
		if !slices.ContainsFunc(marks, func(m mark) bool {
			return m.at == i && m.opener < 0 || own && m.opener >= tail && (m.at == i || m.opener == i)
		}) {
			return false
		}
	}
	return true
}

// barrier keeps a quote at the end of an answer from being one of two with the quote behind
// the cursor.
const barrier = "\x00"

// marks are the brackets and quotes of text that close something; their offsets count from
// the text's beginning, and are negative for what was opened before it.
func (s *cursorContext) marks(text string) []mark {
	var marks []mark
	from, to := len(s.line), len(s.line)+len(text)
	eachMarkIn(s.lang.ID, s.line+text+barrier+s.rest, s.angle(), func(m mark) {
		if m.at >= from && m.at < to && m.opener != m.at {
			m.at -= from
			m.opener = max(m.opener-from, -1)
			marks = append(marks, m)
		}
	})
	return marks
}

// closersOf are those of marks that close what was opened before the text, on the line or
// earlier.
func closersOf(marks []mark) []mark {
	return slices.DeleteFunc(slices.Clone(marks), func(m mark) bool { return m.opener >= 0 })
}

func (s *cursorContext) closers(text string) []mark { return closersOf(s.marks(text)) }

// angle is the offset in the line of the < that an editor closed behind the cursor, the
// outermost of them, -1 if there is none: that of types or a tag.
func (s *cursorContext) angle() int {
	closed := 0
	for i := 0; i < len(s.rest) && strings.IndexByte(")]}>\"'` \t", s.rest[i]) >= 0; i++ {
		if s.rest[i] == '>' {
			closed++
		}
	}
	at := -1
	for i, inner := len(s.line)-1, 0; i >= 0 && closed > 0; i-- {
		switch {
		case s.line[i] == '>' && (i == 0 || strings.IndexByte("-=", s.line[i-1]) < 0):
			inner++
		case s.line[i] != '<' || i > 0 && s.line[i-1] == '<' || i+1 < len(s.line) && strings.IndexByte("<=- ", s.line[i+1]) >= 0:
		case inner > 0:
			inner--
		default:
			at, closed = i, closed-1
		}
	}
	return at
}

// A mark is a bracket, or the quote that ends a string.
type mark struct {
	at   int
	sign byte
	// opener is the offset of what the mark closes: its own for an opening bracket, -1
	// where that stands before the text.
	opener int
	// quoted is a bracket that is text within a string.
	quoted bool
}

// endsInString: text, of one line, has a string that nothing in it closes. A quote put
// behind it shows whether that began with an apostrophe.
func endsInString(language, text string) bool {
	closed := false
	open := eachMark(language, text+barrier+"'", func(m mark) { closed = m.at == len(text)+len(barrier) })
	return closed || innermostString(open) >= 0
}

// eachMark calls f with the marks of text, as far as single lines tell. In a string a
// bracket is text, unless it opens a placeholder with code: ${}, #{}, $(), the braces
// of f"" and $"", and Swift's \(). What closes nothing that is open is left out, but for
// brackets that lines before the text may have opened. It answers what stays open, the
// innermost last.
func eachMark(language, text string, f func(mark)) (open []opening) {
	return eachMarkIn(language, text, -1, f)
}

// eachMarkIn is eachMark for a text in which < and > are brackets too, from the one at
// offset angle to that which closes it.
func eachMarkIn(language, text string, angle int, f func(mark)) (open []opening) {
	triples := ""
	if l, ok := lang.Find(language); ok {
		triples = l.Triple
	}
	triple := func(i int) bool {
		return strings.IndexByte(triples, text[i]) >= 0 && i+2 < len(text) && text[i+1] == text[i] && text[i+2] == text[i]
	}
	// quoted pairs the quotes that are text in the string open[at]; sign tells escaped ones.
	quoted := func(i, at int, sign byte) {
		for last := len(open) - 1; last > at; last-- {
			if open[last].sign == sign {
				f(mark{at: i, sign: sign, opener: open[last].at, quoted: true})
				open = open[:last]
				return
			}
		}
		open = append(open, opening{i, 1, sign, quotedOpening})
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		at := innermostString(open)
		if c == '\n' { // which ends all strings but those that may have several lines
			if line := slices.IndexFunc(open, func(o opening) bool { return o.kind == stringOpening && o.sign != '`' && o.width == 1 }); line >= 0 {
				open = open[:line]
			}
			continue
		}
		switch {
		case at >= 0 && c == '\\':
			i++
			switch {
			case i == len(text):
			case language == "swift" && text[i] == '(':
				open = append(open, opening{i, 1, '(', codeOpening})
				f(mark{at: i, sign: '(', opener: i})
			case isQuote(text[i]) && open[at].sign != '/':
				quoted(i, at, '\\')
			}
		case at >= 0 && c == open[at].sign && open[at].width == 3:
			if !triple(i) {
				continue // a quote that is text
			}
			for range 3 {
				f(mark{at: i, sign: c, opener: open[at].at})
				i++
			}
			i--
			open = open[:at]
		case at >= 0 && open[at].sign == '/' && open[len(open)-1].sign == '[' && c != ']':
			continue // in a class of a regular expression
		case at >= 0 && c == open[at].sign:
			if c != '`' && c != '/' && i+1 < len(text) && text[i+1] == c {
				i++ // SQL's '', or two of three quotes
				continue
			}
			f(mark{at: i, sign: c, opener: open[at].at})
			open = open[:at]
		case at >= 0 && c == '{' && i+1 < len(text) && text[i+1] == '{' && formatted(text, open[at].at):
			i++ // a brace that is text
		case at >= 0 && isQuote(c) && open[at].sign != '/':
			if apostrophe := isWord(text[i-1]) && i+1 < len(text) && isWord(text[i+1]); c != '\'' || !apostrophe {
				quoted(i, at, c)
			}
		case c == '(' || c == '[' || c == '{' || i == angle || c == '<' && inAngle(open) && (isWord(text[i-1]) || text[i-1] == ':'):
			kind := codeOpening
			if at >= 0 && !placeholder(text, i, open[at].at) {
				kind = quotedOpening
			}
			open = append(open, opening{i, 1, c, kind})
			f(mark{at: i, sign: c, opener: i, quoted: kind == quotedOpening})
		case c == ')' || c == ']' || c == '}' || c == '>' && inAngle(open) && strings.IndexByte("-=", text[i-1]) < 0:
			last := len(open) - 1
			for last >= 0 && (open[last].kind == codeOpening || open[last].kind == quotedOpening && isQuote(open[last].sign)) && closerOf(open[last].sign) != c {
				last--
			}
			switch {
			case last >= 0 && open[last].kind != stringOpening && closerOf(open[last].sign) == c:
				f(mark{at: i, sign: c, opener: open[last].at, quoted: open[last].kind == quotedOpening})
				open = open[:last]
			case len(open) == 0:
				f(mark{at: i, sign: c, opener: -1})
			}
		case at < 0 && (c == '"' || c == '\'') && triple(i):
			open = append(open, opening{i, 3, c, stringOpening})
			i += 2
		case at < 0 && (c == '"' || c == '`' || c == '\'' && opensString(language, text, i) || c == '/' && opensPattern(language, text, i)):
			open = append(open, opening{i, 1, c, stringOpening})
		}
	}
	return open
}

// An opening is a bracket, or what a string begins with: one sign, or three.
type opening struct {
	at, width int
	sign      byte
	kind      openingKind
}

type openingKind int

const (
	codeOpening   openingKind = iota // a bracket
	quotedOpening                    // a bracket that is text in a string
	stringOpening
)

// innermostString is the index of the string that what comes next stands in, -1 for code.
func innermostString(open []opening) int {
	for i := len(open) - 1; i >= 0 && open[i].kind != codeOpening; i-- {
		if open[i].kind == stringOpening {
			return i
		}
	}
	return -1
}

// opensPattern tells the slash that begins a regular expression from a division, a
// comment and the end of a tag.
func opensPattern(language, text string, i int) bool {
	if family := lang.Family(language); family != "js" && family != "ruby" || i+1 < len(text) && strings.IndexByte("/*>", text[i+1]) >= 0 {
		return false
	}
	before := strings.TrimRight(text[:i], " \t")
	if value := strings.TrimSuffix(before, "!"); value != before && value != "" && (isWord(value[len(value)-1]) || strings.HasSuffix(value, ")") || strings.HasSuffix(value, "]")) {
		return false // a! / b
	}
	return before == "" || strings.IndexByte("(,=:[!&|?;{", before[len(before)-1]) >= 0 || strings.HasSuffix(before, "=>") ||
		strings.HasSuffix(before, "\n") || lastWord(before) == "return"
}

func closerOf(sign byte) byte {
	switch sign {
	case '(':
		return ')'
	case '[', '{', '<':
		return sign + 2
	}
	return sign
}

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

// inAngle: what comes next stands in < right away, in none of its brackets.
func inAngle(open []opening) bool { return len(open) > 0 && open[len(open)-1].sign == '<' }

// placeholder: the bracket of text at offset i, in the string that begins at quote, opens
// one with code.
func placeholder(text string, i, quote int) bool {
	before := text[i-1]
	switch {
	case i == quote+1:
		before = 0
	case text[i] == '(':
		return before == '$'
	}
	return text[i] == '{' && (before == '$' || before == '#' || formatted(text, quote))
}

// formatted: the string that begins at quote is one of Python's f"" or C#'s $"".
func formatted(text string, quote int) bool {
	return strings.ContainsAny(stringPrefix(text, quote), "fF$")
}

// stringPrefix are the letters and signs that belong to the quote at offset i.
func stringPrefix(text string, i int) string {
	start := i
	for start > 0 && strings.IndexByte("fFrRbBuUL$@", text[start-1]) >= 0 {
		start--
	}
	if i-start > 2 || start > 0 && isWord(text[start-1]) {
		return ""
	}
	return text[start:i]
}

// opensString tells a string from an apostrophe: don't, &'a str.
func opensString(language, text string, i int) bool {
	rest, _, _ := strings.Cut(text[i+1:], "\n")
	if i > 0 && isWord(text[i-1]) && stringPrefix(text, i) == "" || !strings.Contains(rest, "'") {
		return false
	}
	name := 0
	for isWord(rest[name]) { // up to the quote at the latest
		name++
	}
	if name > 0 && rest[name] != '\'' && (language == "rust" || i > 0 && (text[i-1] == '&' || text[i-1] == '<')) {
		return false // a lifetime
	}
	return true
}

// insideClosers is text up to where it closes what the rest of the line closes by
// itself; "" where it does not, or where something else stands there.
func (s *cursorContext) insideClosers(text string) string {
	rest := strings.TrimSpace(s.rest)
	if !onlyClosers(rest) {
		return ""
	}
	if closers := meantBy(s.closers(text), (strings.TrimLeft(rest, skipped) + ")")[0]); len(closers) > 0 {
		return text[:closers[0].at]
	}
	return ""
}

// skipped are the signs among an editor's closers that close nothing.
const skipped = ";,: \t>"

// coveredRest is how many bytes of the rest of the line text makes
// superfluous: closing brackets and quotes an editor put there and that text
// closes itself, going on after them.
func coveredRest(s *cursorContext, text string) int {
	rest := strings.TrimRight(s.rest, " \t")
	pattern := strings.HasPrefix(rest, "/") && s.inPattern()
	switch {
	case !onlyClosers(rest) && !pattern:
		if said := strings.TrimRight(text, ";, \t"); len(said) < len(text) && len(rest) > 1 && strings.HasSuffix(said, rest) && s.balances(text) {
			return len(rest) // with what the answer has behind it
		}
		if !onlyClosers(emptyPairs.Replace(rest)) || strings.IndexByte(rest, '>') != 0 {
			return 0
		}
	case strings.HasPrefix(text, rest+"\n"):
		return len(rest)
	}
	marks := s.marks(text)
	closers := closersOf(marks)
	covers, end := 0, -1 // end is behind what closes the last that is covered
	cover := func(by int, m mark) {
		covers, end = by, m.at+1
		line, _, _ := strings.Cut(text[m.at:], "\n")
		// What ends the answer's line need not stand there twice.
		if next := rest[covers:]; (next == ";" || next == ",") && strings.HasSuffix(strings.TrimRight(line, " \t"), next) {
			covers++
		}
	}
	for i := 0; i < len(s.rest) && (len(closers) > 0 || end > 0); i++ {
		c := s.rest[i]
		if i+1 < len(s.rest) && emptyPairs.Replace(s.rest[i:i+2]) == "" { // the call behind the types
			pair := slices.IndexFunc(marks, func(m mark) bool { return m.opener == end && m.sign == s.rest[i+1] })
			if pair < 0 {
				break
			}
			i++
			cover(i+1, marks[pair])
			continue
		}
		if strings.IndexByte(skipped, c) >= 0 && (c != '>' || !slices.ContainsFunc(closers, func(m mark) bool { return m.sign == c })) {
			continue
		}
		closers = meantBy(closers, c)
		// What is closed before that is inside, where the editor closed nothing.
		at := slices.IndexFunc(closers, func(m mark) bool { return m.sign == c && !m.quoted })
		if len(closers) > 0 && closers[0].sign == c {
			at = 0
		}
		if at < 0 {
			break
		}
		cover(i+1, closers[at])
		closers = closers[at+1:]
	}
	if covers == 0 && onlyClosers(rest) && strings.HasSuffix(text, "{") && s.imbalance(text) == 0 && s.imbalance(text+s.rest) > 0 {
		return len(rest) // what it closes is closed below, behind the block that text opens
	}
	if covers > 0 && !strings.ContainsAny(text, "\n") && !strings.HasSuffix(strings.TrimRight(text, " "), ",") &&
		s.imbalance(text+s.rest) == 0 && s.imbalance(text+s.rest[covers:]) > 0 {
		return 0 // it closes what text opens, or what is typed
	}
	return covers
}

// emptyPairs takes out the brackets that hold nothing.
var emptyPairs = strings.NewReplacer("()", "", "[]", "", "{}", "")

// inPattern: the cursor is in a regular expression.
func (s *cursorContext) inPattern() bool {
	open := eachMark(s.lang.ID, s.line, func(mark) {})
	at := innermostString(open)
	return at >= 0 && open[at].sign == '/'
}

// balances: the line with text in place of its rest closes what it opens.
func (s *cursorContext) balances(text string) bool {
	return openBrackets(s.line+text) == openBrackets(s.line+s.rest)
}
