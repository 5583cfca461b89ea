package editortest

import "strings"

// Shop is a Go file with a mistake that the server compiler reports, and Mended
// the same without it.
const Shop = `package shop

type Item struct {
	Name  string
	Count int
}

func total(items []Item) int {
	n := 0
	for _, it := range items {
		n += it.Counts
	}
	return n
}
`

// Mended is Shop without its mistake.
var Mended = strings.Replace(Shop, "Counts", "Count", 1)

// ShopAnswer is what a model that knows Shop answers to the prompt of a
// conversation, in pieces: it explains the mistake, fixes it, also when told to use
// the right field or to simplify, and knows how totals are made, all of it about a file called shop.go. It completes nothing.
func ShopAnswer(prompt string) []string {
	text := "Totals are added up item by item.\n\n- `total` adds every Count (shop.go:8-14)\n- an Item has one (shop.go:3-6)\n"
	switch {
	case !strings.Contains(prompt, "<|start_of_role|>"):
		return nil
	case strings.Contains(prompt, "\nExplain it."):
		text = "Nothing is called Counts; the field is Count (shop.go:3-6).\n\nFix: write it.Count.\n"
	case strings.Contains(prompt, "\nFix it."), strings.Contains(prompt, "\nSimplify lines"), strings.Contains(prompt, "use the right field"):
		text = "The field is named `Count` (shop.go:3-6).\n```diff\n--- a/shop.go\n+++ b/shop.go\n@@\n" +
			" \tfor _, it := range items {\n-\t\tn += it.Counts\n+\t\tn += it.Count\n \t}\n```\n"
	}
	return strings.SplitAfter(text, " ")
}
