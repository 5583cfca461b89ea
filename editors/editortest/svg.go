package editortest

import (
	"fmt"
	"html"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Theme is the terminal's own colours, which a program on it uses where it names none.
type Theme struct {
	Foreground, Background, Cursor, TitleBar, TitleText string
	Palette                                             [16]string
}

// Dark is a theme around the colours of Neovim's own colour scheme.
var Dark = Theme{
	Foreground: "#e0e2ea", Background: "#14161b", Cursor: "#e0e2ea", TitleBar: "#2c2e33", TitleText: "#9b9ea4",
	Palette: [16]string{
		"#14161b", "#ffc0b9", "#b3f6c0", "#fce094", "#a6dbff", "#ffcaff", "#8cf8f7", "#c4c6cd",
		"#4f5258", "#ffc0b9", "#b3f6c0", "#fce094", "#a6dbff", "#ffcaff", "#8cf8f7", "#eef1f8",
	},
}

// Metrics of the picture, in pixels. A monospace character is about 0.6 of its size wide.
const (
	fontSize   = 15.0
	cellWidth  = 9.0
	cellHeight = 20.0
	padding    = 16.0
	titleBar   = 34.0
)

// SVG draws the screen as a window with a title: each run of equal style is one text element stretched to its exact
// width, so that columns line up whatever monospace font the viewer has.
func (s Screen) SVG(title string, theme Theme) string {
	var b strings.Builder
	height := s.height()
	s.open(&b, title, theme, height)
	for y, row := range s.Rows[:height] {
		writeRow(&b, row, y, theme)
	}
	b.WriteString("</g>\n")
	s.writeCursor(&b, theme)
	b.WriteString("</svg>\n")
	return b.String()
}

// Picture draws the screen into a file of folder, if there is a folder: that of a test's flag -screenshot.
func (s Screen) Picture(t testing.TB, folder, name, title string) {
	t.Helper()
	if folder == "" {
		return
	}
	theme := Dark
	if len(s.Rows) > 0 && len(s.Rows[0]) > 0 && s.Rows[0][0].Background != "" {
		theme.Background = s.Rows[0][0].Background // an editor that has one of its own has it everywhere
	}
	WriteFile(t, filepath.Join(folder, name), s.SVG(title, theme))
}

// height is how many rows there are without blank ones at the end.
func (s Screen) height() int {
	n := len(s.Rows)
	for n > 0 && rowText(s.Rows[n-1]) == "" {
		n--
	}
	return n
}

// open draws an empty window and opens a group for its text.
func (s Screen) open(b *strings.Builder, title string, theme Theme, rows int) {
	width := 2*padding + float64(s.Columns)*cellWidth
	height := titleBar + 2*padding + float64(rows)*cellHeight
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" width="%g" height="%g" viewBox="0 0 %g %g" role="img">`+"\n", width, height, width, height)
	fmt.Fprintf(b, "<title>%s</title>\n", html.EscapeString(title))
	fmt.Fprintf(b, `<rect width="%g" height="%g" rx="10" fill="%s"/>`+"\n", width, height, theme.TitleBar)
	fmt.Fprintf(b, `<path d="M0 %g H%g V%g a10 10 0 0 1 -10 10 H10 a10 10 0 0 1 -10 -10 Z" fill="%s"/>`+"\n", titleBar, width, height-10, theme.Background)
	for i, colour := range []string{"#ff5f57", "#febc2e", "#28c840"} {
		fmt.Fprintf(b, `<circle cx="%d" cy="%g" r="6" fill="%s"/>`+"\n", 20+20*i, titleBar/2, colour)
	}
	fmt.Fprintf(b, `<text x="%g" y="%g" text-anchor="middle" font-family="system-ui, sans-serif" font-size="13" fill="%s">%s</text>`+"\n",
		width/2, titleBar/2+4.5, theme.TitleText, html.EscapeString(title))
	fmt.Fprintf(b, `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="%g" xml:space="preserve">`+"\n", fontSize)
}

func writeRow(b *strings.Builder, row []Cell, y int, theme Theme) {
	top := titleBar + padding + float64(y)*cellHeight
	for start := 0; start < len(row); {
		end := runEnd(row, start)
		writeRun(b, row[start:end], padding+float64(start)*cellWidth, top, theme)
		start = end
	}
}

func (s Screen) writeCursor(b *strings.Builder, theme Theme) {
	fmt.Fprintf(b, `<rect x="%g" y="%g" width="2" height="%g" fill="%s"/>`+"\n",
		padding+float64(s.CursorColumn)*cellWidth, titleBar+padding+float64(s.CursorRow)*cellHeight+1, cellHeight-2, theme.Cursor)
}

// runEnd is where the run of cells drawn as one ends: at another style, or at a gap of several blanks, so that a viewer
// that ignores textLength still has every column start in its place.
func runEnd(row []Cell, start int) int {
	end := start
	for end < len(row) && row[end].Style == row[start].Style {
		gap := end > start && row[end-1].Text == ' ' && row[end].Text != ' '
		if gap && (end == start+1 || row[end-2].Text == ' ') {
			break
		}
		end++
	}
	return end
}

// writeRun draws cells of one style with their upper left corner at x, y.
func writeRun(b *strings.Builder, cells []Cell, x, y float64, theme Theme) {
	style, width := cells[0].Style, float64(len(cells))*cellWidth
	foreground := theme.colour(style.Foreground, theme.Foreground)
	background := theme.colour(style.Background, theme.Background)
	if style.Reversed {
		foreground, background = background, foreground
	}
	if background != theme.Background {
		fmt.Fprintf(b, `<rect x="%g" y="%g" width="%g" height="%g" fill="%s"/>`, x, y, width, cellHeight, background)
	}
	var text strings.Builder
	for _, c := range cells {
		text.WriteRune(c.Text)
	}
	trimmed := strings.TrimLeft(text.String(), " ")
	x += float64(len(text.String())-len(trimmed)) * cellWidth
	trimmed = strings.TrimRight(trimmed, " ")
	if trimmed == "" {
		b.WriteByte('\n')
		return
	}
	fmt.Fprintf(b, `<text x="%g" y="%g" textLength="%g" lengthAdjust="spacingAndGlyphs" fill="%s"`,
		x, y+fontSize, float64(len([]rune(trimmed)))*cellWidth, foreground)
	for _, attribute := range []struct {
		on   bool
		text string
	}{
		{style.Bold, ` font-weight="bold"`},
		{style.Italic, ` font-style="italic"`},
		{style.Underlined, ` text-decoration="underline"`},
		{style.Dim, ` opacity="0.6"`},
	} {
		if attribute.on {
			b.WriteString(attribute.text)
		}
	}
	fmt.Fprintf(b, ">%s</text>\n", html.EscapeString(trimmed))
}

// colour is the RGB value of a Style's colour; standard is what "" stands for.
func (t Theme) colour(name, standard string) string {
	if name == "" {
		return standard
	}
	if strings.HasPrefix(name, "#") {
		return name
	}
	index, err := strconv.Atoi(name)
	switch {
	case err != nil || index < 0 || index > 255:
		return standard
	case index < 16:
		return t.Palette[index]
	case index < 232: // a 6x6x6 cube
		level := [6]int{0, 95, 135, 175, 215, 255}
		index -= 16
		return fmt.Sprintf("#%02x%02x%02x", level[index/36], level[index/6%6], level[index%6])
	default: // 24 greys
		grey := 8 + 10*(index-232)
		return fmt.Sprintf("#%02x%02x%02x", grey, grey, grey)
	}
}
