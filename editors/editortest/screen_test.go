package editortest

import (
	"strings"
	"testing"
)

func TestParseScreen(t *testing.T) {
	// As tmux prints it: attributes go on over line ends, and empty parameters reset.
	screen := parseScreen("plain\x1b[1mbold\x1b[0m \x1b[38;2;125;130;140m\x1b[3mghost\n" +
		"more\x1b[m end\n" +
		"\x1b[7;4:3;31;48;5;236mx\x1b[58;2;1;2;3m\x1b[27;24;39;49my\n" +
		"\x1b[97;2mz\x1b[22;90m.\n")
	grey := Style{Foreground: "#7d828c", Italic: true}
	for _, want := range []struct {
		row, column int
		cell        Cell
	}{
		{0, 4, Cell{'n', Style{}}},
		{0, 5, Cell{'b', Style{Bold: true}}},
		{0, 9, Cell{' ', Style{}}},
		{0, 10, Cell{'g', grey}},
		{1, 3, Cell{'e', grey}},
		{1, 4, Cell{' ', Style{}}},
		{2, 0, Cell{'x', Style{Foreground: "1", Background: "236", Underlined: true, Reversed: true}}},
		{2, 1, Cell{'y', Style{}}},
		{3, 0, Cell{'z', Style{Foreground: "15", Dim: true}}},
		{3, 1, Cell{'.', Style{Foreground: "8"}}},
	} {
		if got := screen.Rows[want.row][want.column]; got != want.cell {
			t.Errorf("cell %d,%d is %+v, want %+v", want.row, want.column, got, want.cell)
		}
	}
	if got, want := screen.String(), "plainbold ghost\nmore end\nxy\nz.\n"; got != want {
		t.Errorf("text is %q, want %q", got, want)
	}
	if got, want := screen.Styled(func(s Style) bool { return s.Italic }), "ghost\nmore"; got != want {
		t.Errorf("italic text is %q, want %q", got, want)
	}
	if !screen.Contains("bold gh") || screen.Contains("ghost\nmore") {
		t.Error("Contains looks within single lines")
	}
}

func TestSVG(t *testing.T) {
	screen := parseScreen("\x1b[3;38;5;244ma < b\x1b[0m    c\x1b[44m \x1b[0m\n\n\n")
	screen.Columns, screen.CursorColumn = 20, 2
	svg := screen.SVG("a & b", Dark)
	for _, want := range []string{
		`<title>a &amp; b</title>`,
		// 20 cells of 9 and the padding; one row, for the blank ones at the end are cut.
		`width="212" height="86"`,
		`<text x="16" y="65" textLength="45" lengthAdjust="spacingAndGlyphs" fill="#808080" font-style="italic">a &lt; b</text>`,
		// After a gap a run of its own, at its own column.
		`<text x="97" y="65" textLength="9" lengthAdjust="spacingAndGlyphs" fill="#e0e2ea">c</text>`,
		`<rect x="106" y="50" width="9" height="20" fill="#a6dbff"/>`,
		`<rect x="34" y="51" width="2" height="18" fill="#e0e2ea"/>`,
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s in\n%s", want, svg)
		}
	}
}

func TestThemeColours(t *testing.T) {
	for name, want := range map[string]string{
		"": "standard", "#010203": "#010203", "1": "#ffc0b9", "16": "#000000", "231": "#ffffff", "196": "#ff0000",
		"232": "#080808", "255": "#eeeeee", "256": "standard", "x": "standard",
	} {
		if got := Dark.colour(name, "standard"); got != want {
			t.Errorf("colour %q is %s, want %s", name, got, want)
		}
	}
}
