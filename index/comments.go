package index

import (
	"slices"
	"strings"
)

// commentStyle is how a language family writes comments that fill whole lines.
type commentStyle struct {
	line       []string
	open, shut string
	// quotes begin and end strings of several lines, which are comments if they
	// begin a line.
	quotes []string
}

var (
	slashStyle = commentStyle{line: []string{"//"}, open: "/*", shut: "*/"}
	hashStyle  = commentStyle{line: []string{"#"}}
	markStyle  = commentStyle{open: "<!--", shut: "-->"}
)

var commentStyles = map[string]commentStyle{
	"python": {line: []string{"#"}, quotes: []string{`"""`, "'''"}}, "ruby": {line: []string{"#"}, open: "=begin", shut: "=end"},
	"shellscript": hashStyle, "yaml": hashStyle, "toml": hashStyle, "dockerfile": hashStyle, "makefile": hashStyle, "perl": hashStyle,
	"r": hashStyle, "elixir": hashStyle, "cmake": hashStyle,
	"hcl": {line: []string{"#", "//"}, open: "/*", shut: "*/"}, "php": {line: []string{"//", "#"}, open: "/*", shut: "*/"},
	"lua": {line: []string{"--"}, open: "--[[", shut: "]]"}, "sql": {line: []string{"--"}, open: "/*", shut: "*/"},
	"haskell": {line: []string{"--"}, open: "{-", shut: "-}"}, "html": markStyle, "xml": markStyle, "vue": markStyle,
	"clojure": {line: []string{";"}}, "lisp": {line: []string{";"}}, "css": {open: "/*", shut: "*/"}, "ocaml": {open: "(*", shut: "*)"},
}

// eachLine calls fn for each line of text with whether it is all comment. The
// full-text table weighs the two apart; a comment behind code counts as code, and
// one inside a multi-line string as comment, which no ranking notices.
func eachLine(language, text string, fn func(line string, comment bool)) {
	style, ok := commentStyles[language]
	if !ok {
		style = slashStyle
	}
	inside := false         // a comment of several lines
	quote, doc := "", false // what ends the string of several lines that is open, and whether it is a comment
	for line := range strings.Lines(text) {
		t := strings.TrimSpace(line)
		comment := inside || quote != "" && doc
		switch {
		case inside:
			inside = !strings.Contains(t, style.shut)
		case quote != "":
			quote = openQuote(t, quote, style.quotes)
		case style.open != "" && strings.HasPrefix(t, style.open):
			comment = true
			inside = !strings.Contains(t[len(style.open):], style.shut)
		default:
			for _, mark := range style.line {
				comment = comment || strings.HasPrefix(t, mark)
			}
			if !comment {
				doc = startsWithAny(strings.TrimLeft(t, "bBfFrRuU"), style.quotes)
				comment, quote = doc, openQuote(t, "", style.quotes)
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
