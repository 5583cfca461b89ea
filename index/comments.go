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

// maxSummary is the length of a summary in bytes.
const maxSummary = 400

// licenceWords mark the lines of a licence or a build directive.
var licenceWords = []string{
	"licen", "copyright", "warrant", "permission", "redistribut", "merchantab", "spdx", "liabilit", "all rights reserved",
	"apache", "\"as is\"", "governing", "in compliance", "agreed to in writing", "eslint", "prettier", "coding:", "go:build", "+build", "do not edit",
}

// summarize takes the first paragraph of what a file says about itself: its head
// comment without licence text or, in a document, the first lines of prose.
func summarize(language, text string) string {
	if len(text) > 8<<10 {
		text = text[:8<<10]
	}
	prose := language == "markdown" || language == "plaintext" || language == "restructuredtext"
	var out []string
	size, done := 0, false
	eachLine(language, text, func(line string, comment bool) {
		t := strings.Trim(strings.TrimSpace(line), "/*#-<>!;=\"' \t")
		switch {
		case done:
		case !comment && !prose && strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "<?"):
			done = true // the code begins
		case prose && (strings.HasPrefix(line, "#") || strings.HasPrefix(line, "[!")):
			// a heading or a row of badges
		case t == "":
			done = size > 0
		case isLicence(t) || strings.HasPrefix(line, "#!"):
		default:
			out = append(out, t)
			size += len(t) + 1
			done = size > maxSummary
		}
	})
	s := strings.Join(out, " ")
	if len(s) > maxSummary {
		s = strings.ToValidUTF8(s[:maxSummary], "")
	}
	return s
}

func isLicence(line string) bool {
	lower := strings.ToLower(line)
	for _, w := range licenceWords {
		if strings.Contains(lower, w) {
			return true
		}
	}
	return false
}
