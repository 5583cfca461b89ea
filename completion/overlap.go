package completion

import (
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
	closers := s.closers(text)
	cut := text
	if bare := strings.TrimLeft(rest, " \t"); wordCount(bare) > 0 || strings.ContainsAny(bare, "([{<") {
		cut = cutOverlap(text, rest)
		for _, r := range []string{bare, rest} {
			if before, ok := strings.CutSuffix(strings.TrimRight(text, " \t"), r); ok {
				cut = before
			}
		}
	} else {
		for k := min(len(rest), len(text)); k > 0 && cut == text; k-- {
			if strings.HasSuffix(text, rest[:k]) && tailUnmatched(text, k, closers) {
				cut = text[:len(text)-k]
			}
		}
	}
	if at := s.closesTwice(text, closers); cut == text && at >= 0 {
		return text[:at]
	}
	return cut
}

// closesTwice is where text closes by itself what the rest of the line, which says
// more, closed before: g[int](1)]() where an editor had put the bracket. -1 if it does not.
func (s *cursorContext) closesTwice(text string, closers []mark) int {
	rest := strings.TrimLeft(s.rest, " \t")
	closers = meantBy(closers, rest[0])
	if len(closers) == 0 || onlyClosers(rest) || strings.IndexByte(")]}", rest[0]) < 0 || closers[0].sign != rest[0] {
		return -1
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
	eachMark(s.lang.ID, text, func(m mark) { found = found || m.at == at && m.opener >= 0 })
	return found
}

// cutOverlap cuts the longest end of text that begins rest, if it holds a
// whole word and leaves no bracket of text open that it had closed, or a
// separator that would stand there twice.
func cutOverlap(text, rest string) string {
	for k := min(len(rest), len(text)); k >= 3; k-- {
		if !strings.HasSuffix(text, rest[:k]) || wordCount(rest[:k]) == 0 {
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

// tailUnmatched: each bracket and quote in the last k bytes of text closes
// something opened before text.
func tailUnmatched(text string, k int, closers []mark) bool {
	for i := len(text) - k; i < len(text); i++ {
		if strings.IndexByte(")]}\"'`", text[i]) < 0 {
			continue
		}
		if !slices.ContainsFunc(closers, func(m mark) bool { return m.at == i }) {
			return false
		}
	}
	return true
}

// barrier keeps a quote at the end of an answer from being one of two with the quote behind
// the cursor.
const barrier = "\x00"

// closers are the brackets and quotes of text that close what was opened before it, on
// the line or earlier; at counts from the text's beginning.
func (s *cursorContext) closers(text string) []mark {
	var closers []mark
	from, to := len(s.line), len(s.line)+len(text)
	eachMark(s.lang.ID, s.line+text+barrier+s.rest, func(m mark) {
		if m.at >= from && m.at < to && m.opener < from {
			m.at -= from
			closers = append(closers, m)
		}
	})
	return closers
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
	triples := ""
	if l, ok := lang.Find(language); ok {
		triples = l.Triple
	}
	triple := func(i int) bool {
		return strings.IndexByte(triples, text[i]) >= 0 && i+2 < len(text) && text[i+1] == text[i] && text[i+2] == text[i]
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
			if language == "swift" && i < len(text) && text[i] == '(' {
				open = append(open, opening{i, 1, '(', codeOpening})
				f(mark{at: i, sign: '(', opener: i})
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
		case c == '(' || c == '[' || c == '{':
			kind := codeOpening
			if at >= 0 && !placeholder(text, i, open[at].at) {
				kind = quotedOpening
			}
			open = append(open, opening{i, 1, c, kind})
			f(mark{at: i, sign: c, opener: i, quoted: kind == quotedOpening})
		case c == ')' || c == ']' || c == '}':
			last := len(open) - 1
			for last >= 0 && open[last].kind == codeOpening && closerOf(open[last].sign) != c {
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
	return before == "" || strings.IndexByte("(,=:[!&|?;{", before[len(before)-1]) >= 0 || strings.HasSuffix(before, "=>") ||
		strings.HasSuffix(before, "\n") || lastWord(before) == "return"
}

func closerOf(sign byte) byte {
	if sign == '(' {
		return ')'
	}
	return sign + 2
}

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
		return 0
	case strings.HasPrefix(text, rest+"\n"):
		return len(rest)
	}
	closers := s.closers(text)
	covers := 0
	for i := 0; i < len(s.rest) && len(closers) > 0; i++ {
		c := s.rest[i]
		if strings.IndexByte(skipped, c) >= 0 {
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
		closers = closers[at:]
		line, _, _ := strings.Cut(text[closers[0].at:], "\n")
		closers = closers[1:]
		covers = i + 1
		// What ends the answer's line need not stand there twice.
		if next := rest[covers:]; (next == ";" || next == ",") && strings.HasSuffix(strings.TrimRight(line, " \t"), next) {
			covers++
		}
	}
	return covers
}

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
