package patch

import (
	"fmt"
	"strconv"
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
	diff, err := udiff.ToUnified(from, to, text, byLine(text, edits), udiff.DefaultContextLines)
	if err != nil { // edits are sorted, within the text, and do not overlap
		panic("patch: " + err.Error())
	}
	if diff == "" && create { // only git's own lines can say that
		a, b := strings.TrimSuffix(label("a/"+name), "\t"), strings.TrimSuffix(to, "\t")
		return "diff --git " + a + " " + b + "\nnew file mode 100644\n--- " + from + "\n+++ " + to + "\n"
	}
	return numbered(diff)
}

// byLine are the edits with all those of a line as one: udiff joins them one after the other, and
// copies what it has each time, which is seconds for thousands of edits in a long line.
func byLine(text string, edits []agent.TextEdit) (list []udiff.Edit) {
	for i := 0; i < len(edits); {
		next := udiff.Edit{Start: edits[i].Start, End: edits[i].End}
		var with strings.Builder
		with.WriteString(edits[i].New)
		for i++; i < len(edits) && strings.IndexByte(text[next.End:edits[i].Start], '\n') < 0; i++ {
			with.WriteString(text[next.End:edits[i].Start])
			with.WriteString(edits[i].New)
			next.End = edits[i].End
		}
		next.New = with.String()
		list = append(list, next)
	}
	return list
}

// numbered is a diff whose hunks say rightly where they stand in the new text: udiff does not
// count the lines between two edits of one hunk, so that the hunks after it say too little,
// and git applies them to an earlier place that looks the same.
func numbered(diff string) string {
	var b strings.Builder
	grown := 0 // by the hunks before
	for line := range strings.Lines(diff) {
		var from, with []string
		if fields := strings.Fields(line); strings.HasPrefix(line, "@@ ") {
			from, with = strings.Split(fields[1][1:], ","), strings.Split(fields[2][1:], ",")
		} else {
			b.WriteString(line)
			continue
		}
		removed, added := lines(from), lines(with)
		start, err := strconv.Atoi(from[0])
		if err != nil {
			panic("patch: " + line)
		}
		at := start + grown
		switch { // an empty side names the line before
		case removed == 0 && added > 0:
			at++
		case removed > 0 && added == 0:
			at--
		}
		with[0] = strconv.Itoa(at)
		fmt.Fprintf(&b, "@@ -%s +%s @@\n", strings.Join(from, ","), strings.Join(with, ","))
		grown += added - removed
	}
	return b.String()
}

// lines is how many lines a side of a hunk has, of its first line and their number, which
// is left out for one.
func lines(side []string) int {
	if len(side) < 2 {
		return 1
	}
	n, err := strconv.Atoi(side[1])
	if err != nil {
		panic("patch: " + side[1])
	}
	return n
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
