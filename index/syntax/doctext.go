package syntax

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// maxDoc bounds a doc comment, in bytes: what describes a declaration stands
// at its start.
const maxDoc = 4000

// cleanDoc strips the markers of comments and doc strings of any of the
// languages with a grammar, or else one of marks, line by line, and the blank lines
// around what remains.
func cleanDoc(text []byte, marks ...string) string {
	s := strings.ToValidUTF8(string(text), "\uFFFD")
	lines := strings.Split(s, "\n")
	out := lines[:0]
	for _, line := range lines {
		line = strings.TrimSpace(line)
		if isDirective(line) {
			continue
		}
		bare := trimOpeners(line)
		for _, mark := range marks {
			if bare == line {
				bare = strings.TrimPrefix(line, mark)
			}
		}
		line = strings.TrimSpace(docTags.Replace(trimClosers(bare)))
		if line == "" && (len(out) == 0 || out[len(out)-1] == "") {
			continue
		}
		out = append(out, line)
	}
	return strings.TrimSpace(truncate(strings.Join(out, "\n"), maxDoc))
}

// docTags removes the XML of C#'s doc comments that holds no text.
var docTags = strings.NewReplacer("<summary>", "", "</summary>", "", "<remarks>", "", "</remarks>", "", "<para>", "", "</para>", "")

// isDirective tells comments for tools from those for readers.
func isDirective(line string) bool {
	return strings.HasPrefix(line, "//go:") || strings.HasPrefix(line, "//nolint") || strings.HasPrefix(line, "#!")
}

// isLicence tells the comment at the head of a file that says who may use it, or
// what made it, from one that says what it is for.
func isLicence(doc string) bool {
	head := strings.ToLower(doc[:min(len(doc), 400)])
	for _, word := range []string{"copyright", "licence", "license", "spdx-", "redistribut", "all rights reserved", "code generated", "do not edit"} {
		if strings.Contains(head, word) {
			return true
		}
	}
	return false
}

func trimOpeners(line string) string {
	for _, attribute := range []string{"@doc ", "@typedoc ", "@moduledoc "} { // Elixir
		line = strings.TrimPrefix(line, attribute)
	}
	for _, open := range []string{`r"""`, `"""`, `'''`, "~S\"\"\"", "<!--", "--[[", "(*", "=begin"} {
		if rest, ok := strings.CutPrefix(line, open); ok {
			return rest
		}
	}
	switch {
	case line == "":
	case strings.HasPrefix(line, "//"), strings.HasPrefix(line, "/*"):
		return strings.TrimLeft(line, "/*!")
	case strings.HasPrefix(line, "--"):
		return strings.TrimLeft(line, "-| ")
	case line[0] == '#':
		return strings.TrimLeft(line, "#")
	case line[0] == ';':
		return strings.TrimLeft(line, ";")
	case line[0] == '%':
		return strings.TrimLeft(line, "%")
	case line == "*" || strings.HasPrefix(line, "* ") || strings.HasPrefix(line, "*/"):
		return line[1:]
	case line[0] == '"' && strings.HasSuffix(line, `"`), line[0] == '\'' && strings.HasSuffix(line, "'"):
		return line[1:]
	}
	return line
}

func trimClosers(line string) string {
	for _, end := range []string{"**/", "*/", `"""`, `'''`, "-->", "]]", "*)", "=end", `"`, "'"} {
		if rest, ok := strings.CutSuffix(line, end); ok && (len(end) > 1 || strings.Count(rest, end)%2 == 0) {
			return rest
		}
	}
	if line == "/" { // what trimOpeners leaves of a lone "*/"
		return ""
	}
	return line
}

// oneLineSignature joins the text before a body on one line, as its author would
// have written it had it fitted, without what only opens the body.
func oneLineSignature(text []byte) string {
	s := joinLines(strings.ToValidUTF8(string(text), "\uFFFD"))
	s = strings.TrimRight(s, " {=;,")
	if !strings.HasSuffix(s, "::") {
		s = strings.TrimSuffix(s, ":")
	}
	s = strings.TrimSuffix(strings.TrimRight(s, " "), " =>")
	return truncate(s, maxSignature)
}

// joinLines writes lines as one, blanks as one, none inside a bracket that ended or
// begins a line, and no comma before one that closes.
func joinLines(text string) string {
	var b []byte
	for line := range strings.Lines(text) {
		line = strings.Join(strings.Fields(line), " ")
		if line == "" {
			continue
		}
		closes := line[0] == ')' || line[0] == ']'
		if closes {
			b = bytes.TrimSuffix(b, []byte(","))
		}
		if n := len(b); n > 0 && b[n-1] != '(' && b[n-1] != '[' && !closes {
			b = append(b, ' ')
		}
		b = append(b, line...)
	}
	return string(b)
}

// truncate cuts s to at most n bytes, at a rune, with an ellipsis within them.
func truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n -= len("…")
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
