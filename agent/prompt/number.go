package prompt

import (
	"fmt"
	"strings"
)

// longLine is how much of a line a model is shown: no hand-written line is longer,
// and one of a generated file would take the whole context.
const longLine = 400

// Number puts its number before each line of a text, whose first line is number
// first of its file: small models cannot count lines, and are to cite them. The
// result is not quoted and ends without a line break.
func Number(text string, first int) string {
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimRight(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n") {
		if len(line) > longLine {
			line = strings.ToValidUTF8(line[:longLine], "") + " …"
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%d| %s", first+i, line)
	}
	return b.String()
}
