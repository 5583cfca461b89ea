package patch

import (
	"fmt"
	"strings"
	"testing"

	"quarry/agent"
)

// generated is Go of n lines, of functions that differ in their names only.
func generated(n int) string {
	var b strings.Builder
	b.WriteString("package big\n\n")
	for i := 0; i*8+2 < n; i++ {
		fmt.Fprintf(&b, "func f%d(items []int) int {\n\tn := 0\n\tfor _, it := range items {\n\t\tn += it * %d\n\t}\n\treturn n\n}\n\n", i, i)
	}
	return b.String()
}

// BenchmarkPatch applies diffs to Go files of 1,000 and 20,000 lines: one as git
// writes it, one with every line number and count wrong, one whose indentation is
// wrong, and one that fits nowhere.
func BenchmarkPatch(b *testing.B) {
	for _, lines := range []int{1_000, 20_000} {
		text := generated(lines)
		k := lines / 8 / 2
		line := 2 + 8*k + 1
		body := fmt.Sprintf(" func f%d(items []int) int {\n \tn := 0\n \tfor _, it := range items {\n-\t\tn += it * %d\n+\t\tn += it\n \t}\n \treturn n\n }\n", k, k)
		head := "--- a/big.go\n+++ b/big.go\n"
		for name, diff := range map[string]string{
			"exact":   fmt.Sprintf("%s@@ -%d,7 +%d,7 @@\n%s", head, line, line, body),
			"numbers": head + "@@ -1,3 +1,4 @@\n" + body,
			"blanks":  head + "@@\n" + strings.ReplaceAll(body, "\t", "    "),
			"refused": head + "@@\n" + strings.Replace(body, "-\t\tn += it", "-\t\tm += it", 1),
		} {
			b.Run(fmt.Sprintf("%s/%d", name, lines), func(b *testing.B) {
				p := New(memory{"big.go": text})
				for b.Loop() {
					if _, err := p.Patch(b.Context(), diff); (err != nil) != (name == "refused") {
						b.Fatal(err)
					}
				}
			})
		}
		b.Run(fmt.Sprintf("place/%d", lines), func(b *testing.B) {
			files, refusal := read(head + "@@ -1,3 +1,4 @@\n" + body)
			if refusal != nil {
				b.Fatal(refusal)
			}
			for b.Loop() {
				if _, refusal := place(b.Context(), cut(text), files[0].hunks, maxCompared, 0); refusal != nil {
					b.Fatal(refusal)
				}
			}
		})
		b.Run(fmt.Sprintf("check/%d", lines), func(b *testing.B) {
			at := strings.Index(text, fmt.Sprintf("it * %d\n", k))
			edits := []agent.TextEdit{{Start: at, End: at + 2, New: "item"}}
			for b.Loop() {
				if refusal := newErrors("go", text, edits); refusal != nil {
					b.Fatal(refusal)
				}
			}
		})
	}
}
