package index

import (
	"strings"
	"testing"
)

// TestEachLine marks in each text the lines that are to count as comment with a !.
func TestEachLine(t *testing.T) {
	for name, c := range map[string]struct{ language, text string }{
		"slashes":             {"go", "!// a\nb // c\n!/* d\n!e */\nf\n"},
		"hashes":              {"python", "!# a\nb\n"},
		"doc string":          {"python", "def f():\n!    \"\"\"A.\n!\n!    B.\n!    \"\"\"\n    return 1\n"},
		"doc string, short":   {"python", "def f():\n!    \"\"\"A.\"\"\"\n    return 1\n"},
		"doc string, raw":     {"python", "!r'''A\n!b'''\nc\n"},
		"string":              {"python", "SQL = \"\"\"\nSELECT 1\n\"\"\"\n\ndef f(ledger):\n    return ledger\n"},
		"string, closed":      {"python", "a = \"\"\"b\"\"\"\nc = f(\"\"\"d\ne\"\"\", '''f\ng''')\nh\n"},
		"string, other quote": {"python", "!\"\"\"A\n!'''\n!\"\"\"\nb\n"},
		"quote in a comment":  {"python", "!# \"\"\"\na\n"},
		"long comment":        {"lua", "!--[[ a\n!b ]]\nc\n!-- d\n"},
		"julia":               {"julia", "!# a\n!#= b\n!c =#\nx // y\n"},
		"a word":              {"bat", "!REM a\nREMOVE b\n!:: c\n"},
		"not slashes":         {"elm", "// a\n!-- b\n"},
		"without comments":    {"json", "// a\n"},
	} {
		var got strings.Builder
		eachLine(c.language, strings.ReplaceAll(c.text, "!", ""), func(line string, comment bool) {
			if comment {
				got.WriteByte('!')
			}
			got.WriteString(line)
		})
		if got.String() != c.text {
			t.Errorf("%s:\n%s, want\n%s", name, got.String(), c.text)
		}
	}
}
