package index

import "strings"

// commentStyle is how a language family writes comments that fill whole lines.
type commentStyle struct {
	line       []string
	open, shut string
}

var (
	slashStyle = commentStyle{[]string{"//"}, "/*", "*/"}
	hashStyle  = commentStyle{[]string{"#"}, "", ""}
	markStyle  = commentStyle{nil, "<!--", "-->"}
)

var commentStyles = map[string]commentStyle{
	"python": {[]string{"#"}, `"""`, `"""`}, "ruby": {[]string{"#"}, "=begin", "=end"}, "shellscript": hashStyle, "yaml": hashStyle,
	"toml": hashStyle, "dockerfile": hashStyle, "makefile": hashStyle, "perl": hashStyle, "r": hashStyle, "elixir": hashStyle, "cmake": hashStyle,
	"hcl": {[]string{"#", "//"}, "/*", "*/"}, "php": {[]string{"//", "#"}, "/*", "*/"}, "lua": {[]string{"--"}, "--[[", "]]"},
	"sql": {[]string{"--"}, "/*", "*/"}, "haskell": {[]string{"--"}, "{-", "-}"}, "html": markStyle, "xml": markStyle, "vue": markStyle,
	"clojure": {[]string{";"}, "", ""}, "lisp": {[]string{";"}, "", ""}, "css": {nil, "/*", "*/"}, "ocaml": {nil, "(*", "*)"},
}

// eachLine calls fn for each line of text with whether it is all comment. The
// full-text table weighs the two apart; a comment behind code counts as code, and
// one inside a multi-line string as comment, which no ranking notices.
func eachLine(language, text string, fn func(line string, comment bool)) {
	style, ok := commentStyles[language]
	if !ok {
		style = slashStyle
	}
	inside := false
	for line := range strings.Lines(text) {
		t := strings.TrimSpace(line)
		comment := inside
		switch {
		case inside:
			inside = !strings.Contains(t, style.shut)
		case style.open != "" && strings.HasPrefix(t, style.open):
			comment = true
			inside = !strings.Contains(t[len(style.open):], style.shut)
		default:
			for _, mark := range style.line {
				comment = comment || strings.HasPrefix(t, mark)
			}
		}
		fn(line, comment)
	}
}
