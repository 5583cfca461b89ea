package habits

import (
	"slices"
	"strings"

	"quarry/completion/idioms"
)

// How many votes a word has: each place in the text where it stands is one, up to a few; a
// place behind the same word or sign as here is worth more, and so are words that everybody
// uses.
const (
	maxPlaces     = 3
	sameBefore    = 3
	keywordVotes  = 6
	nameVotes     = 2
	memberVotes   = 3
	sureWord      = 0.6
	minTyped      = 3
	minWordSaved  = 2
	maxWordsBytes = 16 << 10
)

// declaring words are followed by a name that is new.
var declaring = strings.Fields("let var val const func fn fun def class struct enum type interface trait function module namespace package mod define")

// Word is the rest of the word that typed ends with, if one word that stands in above, or
// is met often in the language, is likelier than all others together.
func Word(above, typed string, known idioms.Words) string {
	start := len(typed)
	for start > 0 && isWordByte(typed[start-1]) {
		start--
	}
	partial := typed[start:]
	if len(partial) < minTyped || !isName(partial) || known.Is(partial) { // "for" is a word, and no part of "format"
		return ""
	}
	before := lastToken(typed[:start])
	if slices.Contains(declaring, before) {
		return ""
	}
	member := before == "." || before == "->" || before == "::"
	votes := map[string]int{}
	if member {
		for _, w := range known.Members {
			votes[w] += memberVotes
		}
	}
	if !member || before == "::" {
		for _, w := range known.Keywords {
			votes[w] += keywordVotes
		}
		for _, w := range known.Names {
			votes[w] += nameVotes
		}
	}
	text := above[max(0, len(above)-maxWordsBytes):] + typed[:start]
	places := map[string]int{}
	last := ""
	eachToken(text, func(token string) {
		if isName(token) && strings.HasPrefix(token, partial) {
			if places[token] < maxPlaces {
				places[token]++
				votes[token]++
				if last == before {
					votes[token] += sameBefore
				}
			}
		}
		last = token
	})
	best, most, total := "", 0, 0
	for w, n := range votes {
		if !strings.HasPrefix(w, partial) {
			continue
		}
		total += n
		if n > most || n == most && w < best {
			best, most = w, n
		}
	}
	if len(best)-len(partial) < minWordSaved || float64(most) < sureWord*float64(total) {
		return ""
	}
	return best[len(partial):]
}

// lastToken is the last word or sign of text, "" at a line's beginning.
func lastToken(text string) string {
	last := ""
	eachToken(text[strings.LastIndexByte(text, '\n')+1:], func(token string) { last = token })
	return last
}

// eachToken calls f with the words and signs of text, with "" where a line ends.
func eachToken(text string, f func(string)) {
	for i := 0; i < len(text); {
		j := i + 1
		switch c := text[i]; {
		case c == '\n':
			f("")
		case c == ' ' || c == '\t' || c == '\r':
		case isWordByte(c):
			for j < len(text) && isWordByte(text[j]) {
				j++
			}
			f(text[i:j])
		default:
			if s := text[i:min(len(text), i+2)]; s == "->" || s == "::" {
				j = i + 2
			}
			f(text[i:j])
		}
		i = j
	}
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
