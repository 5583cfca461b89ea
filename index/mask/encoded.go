package mask

import (
	"encoding/base64"
	hexadecimal "encoding/hex"
	"strings"
)

const (
	// leastEncoded is the shortest token in base64: twenty letters, as Amazon's and some of GitLab's have.
	leastEncoded = 27
	// longestEncoded is how much of a text in base64 is looked into.
	longestEncoded = 1 << 18
	// deepest is how often a text in base64 may be in another: a key in a kubeconfig in a variable.
	deepest = 2
	// leadEncoded are the letters of such a text that tell what it is, and stay.
	leadEncoded = 12
)

// appendEncoded finds texts in base64 that hold a value of those that are masked: the key of a
// kubeconfig is PEM in base64. The whole text is the value then.
func appendEncoded(list []Span, text string, long []Span, depth int) []Span {
	if depth >= deepest {
		return list
	}
	next := 0
	for _, r := range long {
		start := r.Start
		if name := strings.LastIndexByte(strings.TrimRight(text[start:r.End], "="), '='); name >= 0 {
			start += name + 1
		}
		if start < next || r.End-start < leastEncoded || !readable(text[start:r.End]) {
			continue
		}
		if first := nextRun(text, start, len(text)); endsHere(text, first) && holdsToken(text, first, depth) {
			list, next = append(list, encodedSpan(first)), r.End
			continue
		}
		runs, last := encodedRuns(text, start)
		next = max(r.End, last)
		if holdsValue(text, runs, depth) {
			list = append(list, encodedSpan(runs[0]))
			list = append(list, runs[1:]...)
		}
	}
	return list
}

// encodedSpan is a text in base64 without the letters that tell what it is.
func encodedSpan(s Span) Span { return Span{min(s.End, s.Start+leadEncoded), s.End} }

// readable answers whether letters of base64 are those of a text, wherever it begins in them. What
// may have been typed into the first of them is not in the second part that is looked at.
func readable(s string) bool {
	const part = 24
	for _, from := range []int{0, part, 2 * part} {
		for at := from; at < from+4 && at+part <= len(s); at++ {
			if plain, err := base64.StdEncoding.DecodeString(s[at : at+part]); err == nil && isPlain(plain) {
				return true
			}
		}
	}
	return false
}

func isPlain(b []byte) bool {
	for _, c := range b {
		if c >= 0x7f || c < ' ' && c != '\n' && c != '\r' && c != '\t' {
			return false
		}
	}
	return true
}

// encodedRuns are the parts of a text in base64 that begins at start: its lines, and what goes on
// behind something odd. Another such text ends it.
func encodedRuns(text string, start int) (list []Span, end int) {
	end = start
	for i := start; i < len(text) && i-start < longestEncoded; {
		s := nextRun(text, i, len(text))
		if s.End == s.Start {
			break
		}
		if len(list) > 0 {
			if signs(text, s) { // joins the strings that it is written in
				i = s.End
				continue
			}
			if gap := s.Start - list[len(list)-1].End; gap > farFirst {
				break
			} else if value := text[s.Start:s.End]; strings.Contains(value[:min(len(value), 16)], "LS0tLS1CRUdJTi") || text[s.Start-1] == '=' {
				break
			} else if kindOf(value, false) == other && (gap > 8 || len(value) > leastPiece || worded(value)) {
				i = s.End
				continue
			}
		}
		list = append(list, s)
		i, end = s.End, s.End
		if strings.HasSuffix(text[s.Start:s.End], "=") {
			break
		}
	}
	return list, end
}

// endsHere answers whether the next run of base64 stands on the line of this one, so that it is
// another text, or another string.
func endsHere(text string, s Span) bool {
	next := nextRun(text, s.End, len(text))
	for next.End > next.Start && signs(text, next) {
		next = nextRun(text, next.End, len(text))
	}
	between := text[s.End:next.Start]
	return next.Start == next.End || !strings.Contains(between, "\n") && !strings.Contains(between, `\n`)
}

// holdsToken answers whether a run is a whole text with a value, which is no key: what is beside
// it on its line is another's.
func holdsToken(text string, s Span, depth int) bool {
	for _, plain := range decoded(text, []Span{s}) {
		if len(spans(plain, depth+1)) > 0 && !strings.Contains(plain, "-----") {
			return true
		}
	}
	return false
}

// holdsValue answers whether the text whose letters are in runs has a value that is masked.
func holdsValue(text string, runs []Span, depth int) bool {
	for _, plain := range decoded(text, runs) {
		if len(spans(plain, depth+1)) > 0 {
			return true
		}
	}
	return false
}

// decoded are the texts that the letters in runs may stand for: behind a letter that was typed into
// one, it goes on at another of four places.
func decoded(text string, runs []Span) (list []string) {
	var b strings.Builder
	for _, r := range runs {
		for i := r.Start; i < r.End; {
			n := max(1, letter(text, i))
			if c := unescaped(text[i : i+n]); base64Plain[c] {
				b.WriteByte(c)
			}
			i += n
		}
	}
	letters := b.String()
	for at := 0; at < 4 && at < len(letters); at++ {
		part := letters[at:]
		if len(part)%4 == 1 { // a letter alone says nothing
			part = part[:len(part)-1]
		}
		plain, _ := base64.RawStdEncoding.DecodeString(part) // to its end: a token may be the last of it
		list = append(list, string(plain))
	}
	return list
}

// unescaped is the letter of base64 that s is, or is an escape of.
func unescaped(s string) byte {
	if len(s) == 1 {
		return s[0]
	}
	switch code := strings.ToLower(strings.Trim(s, `\u0x%&#;`)); code {
	case "2b", "43":
		return '+'
	case "/", "2f", "47":
		return '/'
	}
	return '='
}

// appendHexadecimal finds the same in hexadecimal digits, from the dashes on that a key begins with.
func appendHexadecimal(list []Span, text string, depth int) []Span {
	if depth >= deepest {
		return list
	}
	const between = 8 // of what joins lines and strings
	for _, dashes := range []string{"2d2d2d2d2d", "2D2D2D2D2D"} {
		for at := 0; ; {
			n := strings.Index(text[at:], dashes)
			if n < 0 {
				break
			}
			at += n
			var runs []Span
			var digits strings.Builder
			for i := at; i < len(text) && i-at < longestEncoded; {
				start := i
				for i < len(text) && hexAny[text[i]] {
					i++
				}
				runs = append(runs, Span{start, i})
				digits.WriteString(text[start:i])
				for gap := i; i < len(text) && i-gap < between && !word[text[i]]; {
					i++
				}
				if i == len(text) || !hexAny[text[i]] {
					break
				}
			}
			at = runs[len(runs)-1].End
			plain, _ := hexadecimal.DecodeString(digits.String()) // as much as it can
			if len(spans(string(plain), depth+1)) > 0 {
				runs[0].Start = min(runs[0].End, runs[0].Start+leadEncoded)
				list = append(list, runs...)
			}
		}
	}
	return list
}
