package completion

import "strings"

// The overlap of an answer with the rest of the cursor's line: what the
// answer says again is cut, what it closes by itself is replaced.

// cutRest cuts from the end of text what the rest of the line says already.
func cutRest(s *cursorContext, text string) string {
	rest := strings.TrimRight(s.rest, " \t")
	if blank(rest) || text == "" {
		return text
	}
	if bare := strings.TrimLeft(rest, " \t"); wordCount(bare) > 0 {
		for _, r := range []string{rest, bare} {
			if cut, ok := strings.CutSuffix(strings.TrimRight(text, " \t"), r); ok {
				return cut
			}
		}
		return cutOverlap(text, rest)
	}
	closers := unmatched(s.line, text)
	for k := min(len(rest), len(text)); k > 0; k-- {
		if strings.HasSuffix(text, rest[:k]) && tailUnmatched(text, k, closers) {
			return text[:len(text)-k]
		}
	}
	return text
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
func tailUnmatched(text string, k int, closers []int) bool {
	for i := len(text) - k; i < len(text); i++ {
		if strings.IndexByte(")]}\"'`", text[i]) < 0 {
			continue
		}
		found := false
		for _, at := range closers {
			found = found || at == i
		}
		if !found {
			return false
		}
	}
	return true
}

// unmatched are the offsets in text of brackets and quotes that close what was
// opened before text, on the line or earlier.
func unmatched(line, text string) []int {
	var at []int
	depth := 0
	quote := openQuote(line)
	outer := quote != 0
	eachMark(text, quote, func(i int, c byte) {
		switch c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth > 0 {
				depth--
			} else {
				at = append(at, i)
			}
		default: // the end of a string, or of the line of one that has no end
			if outer && c != '\n' {
				at = append(at, i)
			}
			outer = false
		}
	})
	return at
}

// eachMark calls f with the offset of each bracket of text that stands in no string, as far
// as single lines tell, and with what ends each string: its quote, or the end of its line.
// quote is the one of the string that text begins in, 0 if in none.
func eachMark(text string, quote byte, f func(i int, c byte)) {
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0 && c == '\\':
			i++
		case quote != 0:
			if c == quote || c == '\n' && quote != '`' {
				quote = 0
				f(i, c)
			}
		case c == '"' || c == '`' || c == '\'' && closesLater(text, i):
			quote = c
		case strings.IndexByte("()[]{}", c) >= 0:
			f(i, c)
		}
	}
}

// insideClosers is text up to where it closes what the rest of the line closes by
// itself; "" where it does not, or where something else stands there.
func (s *cursorContext) insideClosers(text string) string {
	if closers := unmatched(s.line, text); len(closers) > 0 && onlyClosers(strings.TrimSpace(s.rest)) {
		return text[:closers[0]]
	}
	return ""
}

// openQuote is the quote that line leaves open, 0 if none.
func openQuote(line string) byte {
	var quote byte
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote != 0:
			if c == '\\' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '"' || c == '`':
			quote = c
		case c == '\'' && (i == 0 || !isWord(line[i-1])):
			quote = c
		}
	}
	return quote
}

// coveredRest is how many bytes of the rest of the line text makes
// superfluous: closing brackets and quotes an editor put there and that text
// closes itself, going on after them.
func coveredRest(s *cursorContext, text string) int {
	rest := strings.TrimRight(s.rest, " \t")
	if !onlyClosers(rest) {
		return 0
	}
	if strings.HasPrefix(text, rest+"\n") {
		return len(rest)
	}
	closers := unmatched(s.line, text)
	covers := 0
	for i := 0; i < len(s.rest) && len(closers) > 0; i++ {
		c := s.rest[i]
		if strings.IndexByte(";,: \t>", c) >= 0 {
			continue
		}
		if text[closers[0]] != c {
			break
		}
		closers = closers[1:]
		covers = i + 1
	}
	return covers
}
