package editortest

import (
	"fmt"
	"strings"
)

// Places are n declarations to write below Shelf, and a model that knows the rest of each, but says it only behind the sign of equality:
// so ghost text of it is never there before the last key of what the user types.
func Places(n int) (text string, rest func(prompt string) []string) {
	text = Shelf
	for i := range n {
		text += fmt.Sprintf("var place%d = shelf.Find(%d)\n", i, i)
	}
	return text, func(prompt string) []string {
		if before, _, _ := strings.Cut(prompt, "<|fim_suffix|>"); !strings.HasSuffix(before, " = ") {
			return nil
		}
		return ReciteLine(text, prompt)
	}
}
