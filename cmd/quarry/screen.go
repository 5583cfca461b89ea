package main

import (
	"fmt"
	"strings"

	"quarry/cmd/internal/cli"
	"quarry/lsp/headless"
)

// screen draws a buffer with its ghost text as an editor would.
type screen struct{ colour bool }

// contextLines is how much of a document is shown around the cursor.
const contextLines = 5

func (s screen) style(sgr, text string) string {
	if !s.colour || text == "" {
		return text
	}
	return sgr + text + cli.Reset
}

// ghost marks ghost text; without colour it stands in guillemets.
func (s screen) ghost(text string) string {
	if !s.colour {
		return "«" + text + "»"
	}
	return s.style(cli.Ghost, text)
}

// render answers lines of b around its cursor, each with its number.
func (s screen) render(path string, b *headless.Buffer) string {
	var out strings.Builder
	line := b.Text.LineAt(b.Cursor)
	start, end := b.Text.LineBounds(line)
	text := b.Text.String()
	fmt.Fprintf(&out, "%s\n", s.style(cli.Bold, fmt.Sprintf("%s:%d:%d", path, line+1, b.Cursor-start+1)))
	numbered := func(n int, rest string) {
		rest = strings.ReplaceAll(rest, "\t", "    ")
		fmt.Fprintf(&out, "%s %s\n", s.style(cli.Dim, fmt.Sprintf("%4d │", n)), rest)
	}
	unnumbered := func(rest string) {
		fmt.Fprintf(&out, "%s %s\n", s.style(cli.Dim, "     │"), strings.ReplaceAll(rest, "\t", "    "))
	}
	for i := max(0, line-contextLines); i < line; i++ {
		numbered(i+1, b.Text.Line(i))
	}
	if b.Ghost == nil {
		numbered(line+1, text[start:end])
	} else {
		ghost := strings.Split(strings.ReplaceAll(b.Ghost.Suffix(b), "\r\n", "\n"), "\n")
		after := text[b.Ghost.End:end]
		if len(ghost) == 1 {
			numbered(line+1, text[start:b.Cursor]+s.ghost(ghost[0])+after)
		} else {
			numbered(line+1, text[start:b.Cursor]+s.ghost(ghost[0]))
			for i, g := range ghost[1:] {
				rest := s.ghost(g)
				if i == len(ghost)-2 {
					rest += after
				}
				unnumbered(rest)
			}
		}
	}
	for i := line + 1; i <= min(line+contextLines/2, b.Text.LineCount()-1); i++ {
		numbered(i+1, b.Text.Line(i))
	}
	return out.String()
}
