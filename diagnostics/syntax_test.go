package diagnostics_test

import (
	"testing"

	"quarry/agent"
	"quarry/diagnostics"
)

func TestSyntax(t *testing.T) {
	for _, c := range []struct {
		language, text string
		messages       []string
	}{
		{"go", "package a\n", nil},
		{"go", "package a\n\nfunc f() { g(1 }\n", []string{"Syntax error: ) is missing"}},
		{"javascript", "let a = 1;\r\nlet b = = 2;\r\n", []string{`Syntax error at "="`}},
		{"plaintext", "(((", nil},
	} {
		list := diagnostics.Syntax(agent.Document{Path: "/a", Language: c.language, Text: c.text})
		var got []string
		for _, p := range list {
			got = append(got, p.Message)
			if p.Severity != agent.SeverityError || p.Start > p.End || p.End > len(c.text) {
				t.Errorf("%q: %+v", c.text, p)
			}
		}
		if len(got) != len(c.messages) || len(got) > 0 && got[0] != c.messages[0] {
			t.Errorf("%q: got %q, want %q", c.text, got, c.messages)
		}
	}
}
