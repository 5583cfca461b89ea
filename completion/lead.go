package completion

import (
	"regexp"
	"slices"
	"strings"
)

// What a window that begins in the middle of a file has lost: the file's imports,
// and the lines that open the blocks the window begins in. A model that sees
// neither guesses at packages and at the type whose method it is in. They stand
// directly before the window, as code, a blank line after each part.

// importing begins a line that names what a file uses, in the languages where such
// lines stand at its head.
var importing = regexp.MustCompile(`^(?:import\b|from\s+\S+\s+import\b|#\s*include\b|use\s|using\s|package\s|namespace\s|open\s|require(?:_relative)?\b|` +
	`(?:const|let|var|local)\s[^=]*=\s*require\b|export\s[^;]*\sfrom\b|alias\s)`)

// leadOf is what of text before start is worth showing, within budget raw tokens:
// "" where start is the text's.
func leadOf(text string, start, budget int) string {
	if start == 0 || budget <= 0 {
		return ""
	}
	before := text[:start]
	heads := enclosing(before, firstLine(text[start:]))
	budget -= rawTokens(heads)
	if budget < 0 {
		return ""
	}
	lead := importsOf(before, budget)
	if lead != "" {
		lead += "\n"
	}
	return lead + heads
}

func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if !blank(line) {
			return line
		}
	}
	return ""
}

// maxImportLines is how far into a file imports are looked for.
const maxImportLines = 300

// importsOf are the imports at the head of text, whole ones as far as the budget
// goes.
func importsOf(text string, budget int) string {
	var b strings.Builder
	depth, n := 0, 0
	statement := ""
	for line := range strings.Lines(text) {
		if n++; n > maxImportLines {
			break
		}
		if depth == 0 && !importing.MatchString(line) {
			continue
		}
		statement += line
		if depth += openBrackets(line); depth > 0 {
			continue
		}
		if cost := rawTokens(statement); cost <= budget {
			budget -= cost
			b.WriteString(statement)
		}
		statement, depth = "", 0
	}
	return b.String()
}

// enclosing are the lines of text that open the blocks around line, by
// indentation: each the nearest one above that is indented less, with the line
// before it where it is but a brace.
func enclosing(text, line string) string {
	depth := len(leadingSpace(line))
	var heads []string
	brace := false
	for (depth > 0 || brace) && text != "" {
		text = strings.TrimSuffix(text, "\n")
		above := text[strings.LastIndexByte(text, '\n')+1:]
		text = text[:len(text)-len(above)]
		body := strings.TrimSpace(above)
		if body == "" || strings.Trim(body, ")}];,") == "" || body[0] == '*' || strings.HasPrefix(body, "//") || strings.HasPrefix(body, "/*") {
			continue
		}
		if n := len(leadingSpace(above)); n < depth || brace && n == depth {
			heads = append(heads, above+"\n")
			depth, brace = n, body == "{"
		}
	}
	slices.Reverse(heads)
	return strings.Join(heads, "")
}
