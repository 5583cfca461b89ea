package patch

import (
	"strings"
	"testing"
)

// A tab is worth no more blanks than anybody sets it to: what is added would be as many times as long.
func TestTabsAreBounded(t *testing.T) {
	far := strings.Repeat(" ", 100_000)
	tabs := strings.Repeat("\t", 10_000)
	for name, c := range map[string]struct{ text, diff string }{
		"blanks of the document": {far + "a\nb\n", "--- a/x\n+++ b/x\n@@ @@\n-\ta\n+" + tabs + "c\n b\n"},
		"blanks of the hunk":     {"\ta\nb\n", "--- a/x\n+++ b/x\n@@ @@\n-" + far + "a\n+" + tabs + "c\n b\n"},
		"habit of the document":  {far + "a\nb\n", "--- a/x\n+++ b/x\n@@ @@\n-b\n+" + tabs + "c\n"},
		"habit of the hunk":      {"\ta\nb\n", "--- a/x\n+++ b/x\n@@ @@\n-b\n+" + tabs[1:] + far + "c\n+" + far + "d\n"},
	} {
		m := memory{"x": c.text}
		p, err := New(m).Patch(t.Context(), c.diff)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if after := m.after(t, p)["x"]; len(after) > mostWidth*len(tabs)+2*len(far)+100 {
			t.Errorf("%s: %d letters of %d", name, len(after), len(c.text)+len(c.diff))
		}
	}
}
