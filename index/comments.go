package index

import (
	"slices"
	"strings"

	"quarry/index/lang"
)

// eachLine calls fn for each line of text with whether it is all comment. The
// full-text table weighs the two apart; a comment behind code counts as code, and
// one inside a multi-line string as comment, which no ranking notices.
func eachLine(language, text string, fn func(line string, comment bool)) {
	style := lang.Of(language).Comment
	inside := false         // a comment of several lines
	quote, doc := "", false // what ends the string of several lines that is open, and whether it is a comment
	for line := range strings.Lines(text) {
		t := strings.TrimSpace(line)
		comment := inside || quote != "" && doc
		switch {
		case inside:
			inside = !strings.Contains(t, style.Shut)
		case quote != "":
			quote = openQuote(t, quote, style.Quotes)
		case style.Open != "" && strings.HasPrefix(t, style.Open):
			comment = true
			inside = !strings.Contains(t[len(style.Open):], style.Shut)
		default:
			if comment = comment || style.Starts(t); !comment {
				doc = startsWithAny(strings.TrimLeft(t, "bBfFrRuU"), style.Quotes)
				comment, quote = doc, openQuote(t, "", style.Quotes)
			}
		}
		fn(line, comment)
	}
}

// openQuote returns the one of quotes that is open after a line, given the one that
// is open before it, "" for none.
func openQuote(line, quote string, quotes []string) string {
	for {
		if quote == "" {
			first := len(line)
			for _, q := range quotes {
				if i := strings.Index(line, q); i >= 0 && i < first {
					first, quote = i, q
				}
			}
			if quote == "" {
				return ""
			}
			line = line[first+len(quote):]
		}
		_, rest, ok := strings.Cut(line, quote)
		if !ok {
			return quote
		}
		line, quote = rest, ""
	}
}

func startsWithAny(s string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}
