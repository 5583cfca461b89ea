package patch

import (
	"errors"
	"strings"
	"testing"

	"quarry/agent"
)

// TestWholeDeclarations: a declaration written whole takes the place of its
// namesake, where that is clear.
func TestWholeDeclarations(t *testing.T) {
	const goText = "package a\n\nimport \"fmt\"\n\n// Total sums.\nfunc Total(xs []int) int {\n\tn := 0\n\tfor _, x := range xs {\n\t\tn += x\n\t}\n\treturn n\n}\n\nfunc (t T) Print() {\n\tfmt.Println(t)\n}\n"
	const pyText = "class Cart:\n    def total(self):\n        result = 0\n        return result\n\n    def count(self):\n        return 1\n\n\nclass Bag:\n    def count(self):\n        return 2\n"
	for name, c := range map[string]struct {
		file, text, answer string
		old, new           string // what changes
		reason             Reason
	}{
		"function":      {file: "a.go", text: goText, answer: "```go\nfunc Total(xs []int) int {\n\tn := 1\n\tfor _, x := range xs {\n\t\tn += x\n\t}\n\treturn n\n}\n```", old: "n := 0", new: "n := 1"},
		"with comment":  {file: "a.go", text: goText, answer: "```go\n// Total adds.\nfunc Total(xs []int) int {\n\tn := 0\n\tfor _, x := range xs {\n\t\tn += x\n\t}\n\treturn n\n}\n```", old: "Total sums", new: "Total adds"},
		"other head":    {file: "a.go", text: goText, answer: "```go\nfunc Total(xs ...int) int {\n\tn := 0\n\tfor _, x := range xs {\n\t\tn += x\n\t}\n\treturn n\n}\n```", old: "xs []int", new: "xs ...int"},
		"method":        {file: "a.go", text: goText, answer: "```go\nfunc (t T) Print() {\n    fmt.Print(t)\n}\n```", old: "Println(t)", new: "Print(t)"},
		"with imports":  {file: "a.go", text: goText, answer: "```go\npackage a\n\nimport \"fmt\"\n\nfunc (t T) Print() {\n\tfmt.Print(t)\n}\n```", old: "Println(t)", new: "Print(t)"},
		"python method": {file: "a.py", text: pyText, answer: "```python\ndef total(self):\n    result = 1\n    return result\n```", old: "result = 0", new: "result = 1"},
		"crlf":          {file: "a.go", text: strings.ReplaceAll(goText, "\n", "\r\n"), answer: "```go\nfunc (t T) Print() {\n\tfmt.Print(t)\n}\n```", old: "Println(t)", new: "Print(t)"},

		"two namesakes": {file: "a.py", text: pyText, answer: "```python\ndef count(self):\n    return 3\n```", reason: Incomplete},
		"none":          {file: "a.go", text: goText, answer: "```go\nfunc Sum() {}\n```", reason: Incomplete},
		"new import":    {file: "a.go", text: goText, answer: "```go\nimport \"os\"\n\nfunc (t T) Print() {\n\tfmt.Print(t)\n}\n```", reason: Incomplete},
		"elided":        {file: "a.go", text: goText, answer: "```go\nfunc Total(xs []int) int {\n\t// ... existing code ...\n\treturn n\n}\n```", reason: Elided},
		"several":       {file: "a.go", text: goText, answer: "```go\nfunc Total() {}\n```\nor\n```go\nfunc Print() {}\n```", reason: Incomplete},
		"statements":    {file: "a.go", text: goText, answer: "```go\nn := 1\n```", reason: Incomplete},
		"broken":        {file: "a.go", text: goText, answer: "```go\nfunc Total() {\n```", reason: Incomplete},
		"words":         {file: "a.go", text: goText, answer: "I would begin with 1.", reason: NoDiff},
		"the same":      {file: "a.go", text: goText, answer: "```go\nfunc (t T) Print() {\n\tfmt.Println(t)\n}\n```", reason: Unchanged},
	} {
		t.Run(name, func(t *testing.T) {
			m := memory{c.file: c.text}
			p := New(m).For(agent.Document{Path: memoryRoot + "/" + c.file, Text: c.text}, nil)
			r, err := p.Read(t.Context(), c.answer)
			if c.reason != "" {
				var refusal *Refusal
				if !errors.As(err, &refusal) || refusal.Reason != c.reason {
					t.Fatalf("got %v, want a refusal as %s\n%s", err, c.reason, r.Diff)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got, want := m.after(t, r.Proposal)[c.file], strings.Replace(c.text, c.old, c.new, 1); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if len(r.Rewritten) != 1 {
				t.Errorf("rewritten %q", r.Rewritten)
			}
			if _, err := New(m).Patch(t.Context(), c.answer); err == nil {
				t.Error("it is taken without a document that it is about")
			}
		})
	}
}
