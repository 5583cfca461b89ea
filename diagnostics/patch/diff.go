package patch

import (
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"quarry/agent"
)

// Unified writes the edits of a file as a unified diff with git's names, as git
// and patch(1) take it. create says that the file is new. It is "" without
// edits, save for a new file.
func Unified(name, text string, edits []agent.TextEdit, create bool) string {
	from, to := label("a/"+name), label("b/"+name)
	if create {
		from = "/dev/null"
	}
	list := make([]udiff.Edit, len(edits))
	for i, e := range edits {
		list[i] = udiff.Edit{Start: e.Start, End: e.End, New: e.New}
	}
	diff, err := udiff.ToUnified(from, to, text, list, udiff.DefaultContextLines)
	if err != nil { // edits are sorted, within the text, and do not overlap
		panic("patch: " + err.Error())
	}
	if diff == "" && create { // only git's own lines can say that
		a, b := strings.TrimSuffix(label("a/"+name), "\t"), strings.TrimSuffix(to, "\t")
		return "diff --git " + a + " " + b + "\nnew file mode 100644\n--- " + from + "\n+++ " + to + "\n"
	}
	return diff
}

// label is a name as the head of a diff has it: git and patch(1) take a name with a
// blank to its end only if a tab follows, and one with special characters quoted.
func label(name string) string {
	special := func(r rune) bool { return r < ' ' || r == 0x7f || r == '"' || r == '\\' }
	switch {
	case strings.ContainsFunc(name, special):
		var b strings.Builder
		b.WriteByte('"')
		for _, c := range []byte(name) {
			switch {
			case c == '"' || c == '\\':
				b.WriteByte('\\')
				b.WriteByte(c)
			case c < ' ' || c == 0x7f:
				fmt.Fprintf(&b, `\%03o`, c)
			default:
				b.WriteByte(c)
			}
		}
		b.WriteByte('"')
		return b.String()
	case strings.ContainsAny(name, " "):
		return name + "\t"
	}
	return name
}
