package ask

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"quarry/agent"
	"quarry/agent/cite"
)

// checkFake lets citations of a.go stand and takes out those of b.go.
func checkFake(text string) cite.Checked {
	c := cite.Checked{Text: strings.ReplaceAll(text, " b.go:1-2", "")}
	c.Removed = strings.Count(text, " b.go:1-2")
	if strings.Contains(text, "a.go:1-2") {
		c.Citations = []agent.Citation{{Path: "a.go", StartLine: 1, EndLine: 2}}
	}
	return c
}

// What is shown of a beginning is the beginning of what is shown of the whole,
// and never part of a call or of an answer that nothing proves.
func TestShownIsNeverTakenBack(t *testing.T) {
	part := rapid.SampledFrom([]string{
		"A sentence. ", "One with a place a.go:1-2. ", "One with a wrong place b.go:1-2. ", "e.g. this (a.go:1-2); ", "\n", "\n\n",
		"- a point a.go:1-2\n", "* a wrong point b.go:1-2\n", "1. numbered a.go:1-2\n", "  - nested a.go:1-2\n", "Answer: ", "**Evidence:**\n", "- ", "12", ".",
		"```go\nx := 1\n```\n", "```\n", "```json\n", "NOT IN THE EVIDENCE", "<think>", "</think>", "\r\n",
		`<tool_call>{"name": "read_file", "arguments": {}}</tool_call>`, `{"name": "read_file", "arguments": {"path": "a.go:1-2"}}`, "{x} ", "[y] ", `{"a": 1} `,
	})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(part, 1, 14).Draw(t, "parts"), "")
		whole := compose(checkFake, text, true)
		for i := 0; i <= len(text); i++ {
			p := compose(checkFake, text[:i], false)
			if !strings.HasPrefix(whole.text, p.text) {
				t.Fatalf("of %q:\nshown %q\nwhole %q", text[:i], p.text, whole.text)
			}
			if p.text != "" && !strings.Contains(p.text, "a.go:1-2") {
				t.Fatalf("%q is shown and nothing proves it", p.text)
			}
		}
		for _, bad := range []string{"tool_call", `"name"`, "b.go:1-2"} {
			if strings.Contains(whole.text, bad) {
				t.Fatalf("of %q %q is shown", text, whole.text)
			}
		}
		if whole.points > mostPoints {
			t.Fatalf("%d points", whole.points)
		}
	})
}

// A model that mistakes a place for a tool has not answered, although the place stands.
func TestCallOfAPlaceIsNoAnswer(t *testing.T) {
	const call = `{"name": "a.go:1-2", "arguments": {"path": "a.go:1-2", "start_line": 1}}`
	for text, want := range map[string]string{
		call:                                 "",
		"\n" + call + "\n" + call:            "",
		"It is there a.go:1-2.\n" + call:     "It is there a.go:1-2.",
		`The field is {"name": "a.go:1-2"}.`: `The field is {"name": "a.go:1-2"}.`,
	} {
		if p := compose(checkFake, text, true); p.text != want {
			t.Errorf("of %q is shown %q", text, p.text)
		}
	}
}

func BenchmarkCompose(b *testing.B) {
	text := strings.Repeat("One with a place a.go:1-2. ", 40) + "\n\n" + strings.Repeat("- a point a.go:1-2 of some length\n", 6)
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		compose(checkFake, text, false)
	}
}
