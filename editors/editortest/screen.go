package editortest

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Style is how a cell is drawn. A colour is "" for the terminal's default, "#rrggbb", or a palette index from 0 to 255.
type Style struct {
	Foreground, Background                  string
	Bold, Dim, Italic, Underlined, Reversed bool
}

// Cell is one character on the screen.
type Cell struct {
	Text rune
	Style
}

// Screen is one look at a terminal. Characters are taken to be one column wide.
type Screen struct {
	Columns                 int
	CursorRow, CursorColumn int      // from 0
	Rows                    [][]Cell // without the blanks at a row's end that were never drawn
}

// String is the text without its styles; no blanks at line ends.
func (s Screen) String() string {
	var b strings.Builder
	for _, row := range s.Rows {
		b.WriteString(rowText(row))
		b.WriteByte('\n')
	}
	return b.String()
}

// Framed is String in a frame, for a failure's message.
func (s Screen) Framed() string {
	bar := "+" + strings.Repeat("-", s.Columns) + "+\n"
	var b strings.Builder
	b.WriteString(bar)
	for _, row := range s.Rows {
		fmt.Fprintf(&b, "|%-*s|\n", s.Columns, rowText(row))
	}
	b.WriteString(bar)
	return b.String()
}

// Contains reports whether text stands within one line.
func (s Screen) Contains(text string) bool {
	for _, row := range s.Rows {
		if strings.Contains(rowText(row), text) {
			return true
		}
	}
	return false
}

// Styled is the text of the cells whose style satisfies is: each run of them
// on its own line, top to bottom, blanks around it cut.
func (s Screen) Styled(is func(Style) bool) string {
	var runs []string
	for _, row := range s.Rows {
		for start := 0; start < len(row); {
			end := start
			for end < len(row) && is(row[end].Style) == is(row[start].Style) {
				end++
			}
			if text := strings.TrimSpace(rowText(row[start:end])); is(row[start].Style) && text != "" {
				runs = append(runs, text)
			}
			start = end
		}
	}
	return strings.Join(runs, "\n")
}

func rowText(row []Cell) string {
	var b strings.Builder
	for _, c := range row {
		b.WriteRune(c.Text)
	}
	return strings.TrimRight(b.String(), " ")
}

// parseScreen reads what `tmux capture-pane -p -e` prints: lines of text with
// SGR sequences (ECMA-48 8.3.117) between them, and no other control sequence.
// Attributes go on from one line to the next.
func parseScreen(capture string) Screen {
	var screen Screen
	var style Style
	for line := range strings.Lines(capture) {
		line = strings.TrimSuffix(line, "\n")
		var row []Cell
		for line != "" {
			if rest, ok := strings.CutPrefix(line, "\x1b["); ok {
				if parameters, after, ok := strings.Cut(rest, "m"); ok {
					style.apply(parameters)
					line = after
					continue
				}
			}
			// tmux brackets line-drawing characters by SO and SI.
			char, size := utf8.DecodeRuneInString(line)
			if char >= ' ' {
				row = append(row, Cell{Text: char, Style: style})
			}
			line = line[size:]
		}
		screen.Rows = append(screen.Rows, row)
	}
	return screen
}

// apply changes the style by the parameters of one SGR sequence, "1;38;2;79;82;88".
func (s *Style) apply(parameters string) {
	codes := strings.Split(parameters, ";")
	for i := 0; i < len(codes); i++ {
		// "" is 0; "4:3" is a shape of underline, "58:…" its colour.
		base, shape, shaped := strings.Cut(codes[i], ":")
		code, _ := strconv.Atoi(base)
		switch {
		case code == 0:
			*s = Style{}
		case code == 1:
			s.Bold = true
		case code == 2:
			s.Dim = true
		case code == 3:
			s.Italic = true
		case code == 4:
			s.Underlined = !shaped || shape != "0"
		case code == 7:
			s.Reversed = true
		case code == 22:
			s.Bold, s.Dim = false, false
		case code == 23:
			s.Italic = false
		case code == 24:
			s.Underlined = false
		case code == 27:
			s.Reversed = false
		case (code == 38 || code == 48 || code == 58) && !shaped:
			colour, used := extendedColour(codes[i+1:])
			i += used
			if code == 38 {
				s.Foreground = colour
			} else if code == 48 {
				s.Background = colour
			}
		case code == 39:
			s.Foreground = ""
		case code == 49:
			s.Background = ""
		case 30 <= code && code <= 37:
			s.Foreground = strconv.Itoa(code - 30)
		case 40 <= code && code <= 47:
			s.Background = strconv.Itoa(code - 40)
		case 90 <= code && code <= 97:
			s.Foreground = strconv.Itoa(code - 90 + 8)
		case 100 <= code && code <= 107:
			s.Background = strconv.Itoa(code - 100 + 8)
		}
	}
}

// extendedColour reads the parameters after 38 or 48, "5;N" or "2;R;G;B", and tells how many there were.
func extendedColour(codes []string) (colour string, used int) {
	switch {
	case len(codes) >= 2 && codes[0] == "5":
		return codes[1], 2
	case len(codes) >= 4 && codes[0] == "2":
		var rgb [3]int
		for i := range rgb {
			rgb[i], _ = strconv.Atoi(codes[i+1])
		}
		return fmt.Sprintf("#%02x%02x%02x", rgb[0], rgb[1], rgb[2]), 4
	}
	return "", len(codes)
}
