//go:build editors

package nvim_test

import (
	"fmt"
	"strings"
	"testing"

	"quarry/editors/editortest"
)

// longFile has more lines than the window, and is offered the rest of a function at its end.
func longFile() string {
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "// line %d\n", i)
	}
	return b.String()
}

var body = offer{Before: "func f() {", Insert: "\n\tone()\n\ttwo()\n\tthree()\n}"}

// Neovim draws virtual lines below the window's last row; what is not seen must not be accepted.
func TestGhostTextAtTheEndOfTheWindowIsScrolledIntoView(t *testing.T) {
	p := openScripted(t, longFile(), body)
	p.Type("Go")
	p.typeForGhost("func f() {", "one()", "two()", "three()", "}")
	p.Press("Tab")
	p.waitForSaved(longFile() + "func f() {\n\tone()\n\ttwo()\n\tthree()\n}\n")
}

// A row of the window is its 'winbar', where there is one.
func TestGhostTextBelowAWinbar(t *testing.T) {
	p := openScripted(t, longFile(), body)
	p.Type(":set winbar=%f\n")
	p.Type("Go")
	p.typeForGhost("func f() {", "one()", "two()", "three()", "}")
	p.Type("\x1b:3split\n")
	p.Type("S")
	p.Type("func f() {")
	p.WaitForText("one() … 3 more lines")
}

// Diagnostics as virtual lines come below ghost text, which stands where its code will.
func TestGhostTextAboveDiagnostics(t *testing.T) {
	p := openScripted(t, longFile()+"func f() \n", body)
	p.Type(":set lines=14\n")
	p.Type(`:lua vim.diagnostic.config({ virtual_lines = true })` + "\n")
	p.Type(`:lua vim.diagnostic.set(vim.api.nvim_create_namespace('x'), 0, vim.tbl_map(function(i) return { lnum = 60, col = i, end_col = i + 1, message = 'wrong' } end, { 0, 1, 2, 3, 4 }))` + "\n")
	p.Type(":61\nzt")
	p.WaitForText("└──── wrong")
	p.Type("zbA")
	p.typeForGhost("{", "one()", "two()", "three()", "}")
	p.Press("Tab")
	p.waitForSaved(longFile() + "func f() {\n\tone()\n\ttwo()\n\tthree()\n}\n")
}

// Virtual lines of others that come first take room, and leave none in the end.
func TestGhostTextBelowVirtualLines(t *testing.T) {
	p := openScripted(t, longFile()+"func f() \n\nx := \n", body, offer{Before: "x := 1", Insert: "0"})
	p.Type(":set lines=14\n")
	p.Type(`:lua function _G.lens(n) vim.api.nvim_buf_set_extmark(0, 1, 60, 0, { id = 1, right_gravity = false, virt_lines = vim.fn['repeat']({ { { 'lens' } } }, n) }) end` + "\n")
	p.Type(":lua lens(6)\n")
	p.Type(":61\nA{")
	p.WaitForText("two() … 2 more lines")
	p.Press("Escape")
	p.Type(":lua lens(12)\n") // as many as the window has rows
	p.typeForGhost("GA1", "0")
	p.Press("Escape")
	p.Type(":61\nA")
	p.Press("BSpace")
	p.Type("{")
	p.waitForUnseen("func f() {")
	p.Press("Tab")
	p.waitForSaved(longFile() + "func f() {\t\n\nx := 1\n")
}

func TestGhostTextInASmallWindow(t *testing.T) {
	p := openScripted(t, longFile(), body)
	p.Type(":3split\n")
	p.Type("Go")
	p.Type("func f() {")
	p.WaitForText("two() … 2 more lines")
	p.Press("M-l")
	p.WaitForText("three() … 1 more line")
}

// A line of ghost text that wraps takes rows as well: it is scrolled into view whole, and not accepted where there is no room.
func TestGhostTextThatWrapsAtTheEndOfTheWindow(t *testing.T) {
	var call strings.Builder
	for i := range 30 {
		fmt.Fprintf(&call, "argument%d, ", i)
	}
	rest := "ute(" + call.String() + "omega)"
	p := openScripted(t, longFile(), offer{Before: "x := comp", Insert: rest}, offer{Before: "y := comp", Insert: "ute()"})
	p.Type(":12split\n")
	p.Type("Go")
	p.Type("x := comp")
	p.WaitFor("the end of the ghost text", func(s editortest.Screen) bool {
		return strings.HasPrefix(ghost(s), "ute(argument0") && s.Contains("omega)")
	})
	p.Press("Tab")
	p.waitForSaved(longFile() + "x := comp" + rest + "\n")
	p.Type(":resize 3\n")
	p.typeForGhost("Sy := comp", "ute()")
	p.Press("C-u")
	p.Type("x := comp")
	p.waitForUnseen("x := comp")
	p.Press("Tab")
	p.waitForSaved(longFile() + "x := comp\t\n")
}

// Rows on which an indented line goes on have less room, where they are indented and marked, too.
func TestGhostTextThatWrapsBehindABreakIndent(t *testing.T) {
	rest := "ute(" + strings.Repeat("argument, ", 6) + "omega)"
	indent := strings.Repeat(" ", 48)
	p := openScripted(t, longFile(), offer{Before: indent + "x := comp", Insert: rest}, offer{Before: indent + "y := comp", Insert: "ute()"})
	p.Type(":set breakindent linebreak noautoindent indentexpr= showbreak=" + strings.Repeat(">", 30) + "\n")
	p.Type(":4split\n")
	p.typeForGhost("Go"+indent+"y := comp", "ute()")
	p.Press("C-u")
	p.Type(indent + "x := comp")
	p.waitForUnseen(indent + "x := comp")
	p.Press("Tab")
	p.waitForSaved(longFile() + indent + "x := comp\t\n")
	p.Type(":set showbreak= breakindentopt=min:79\n") // in which there is room for it
	p.Type("S" + indent + "x := comp")
	p.WaitFor("the end of the ghost text", func(s editortest.Screen) bool { return s.Contains("omega)") })
}

// What a smaller window hides is not accepted.
func TestGhostTextInAWindowThatShrinks(t *testing.T) {
	p := openScripted(t, longFile(), body)
	p.Type(`:inoremap <C-x> <Cmd>resize 3<CR>` + "\n")
	p.Type(":12split\n")
	p.Type("Go")
	p.typeForGhost("func f() {", "one()", "two()", "three()", "}")
	p.Press("C-x")
	p.WaitForText("two() … 2 more lines")
}

// In a window of one row none of it can be seen, so Tab is a tab.
func TestGhostTextThatCannotBeSeenIsNotAccepted(t *testing.T) {
	p := openScripted(t, "\n", body, offer{Before: "func g() {", Insert: "return }"})
	p.Type(":1split\n")
	p.Type("ifunc g() {")
	p.WaitFor("ghost text", func(s editortest.Screen) bool { return strings.Contains(ghost(s), "return }") })
	p.Press("C-u")
	p.Type("func f() {")
	p.waitForUnseen("func f() {")
	p.Press("Tab")
	p.waitForSaved("func f() {\t\n")
}

// Neovim draws nothing beyond the window's last column: a line that does not wrap is scrolled, what is longer than the window
// says so, and virtual lines are folded.
func TestGhostTextBesideTheWindow(t *testing.T) {
	long := strings.Repeat("word ", 30)
	p := openScripted(t, "\n",
		offer{Before: long + "x := comp", Insert: "ute(alpha, beta)"},
		offer{Before: "y := comp", Insert: "ute(" + long + "omega)"},
		offer{Before: "func f() {", Insert: "\n\tone(" + long + "omega)\n}"})
	p.Type(":set nowrap sidescroll=1 sidescrolloff=0\ni" + long)
	p.typeForGhost("x := comp", "ute(alpha, beta)")
	p.Press("C-u")
	p.Type("y := comp")
	p.WaitFor("ghost text that is cut", func(s editortest.Screen) bool {
		return strings.HasPrefix(ghost(s), "ute(word word") && strings.Contains(s.String(), "…")
	})
	p.Press("Escape")
	p.Type(":set wrap\nS")
	p.Type("func f() {")
	p.WaitFor("folded ghost text", func(s editortest.Screen) bool { return strings.Contains(s.String(), "omega)") })
}

// What is taken back comes back in front of the ghost text, with no new answer.
func TestBackspaceDoesNotBlink(t *testing.T) {
	p := openScripted(t, "\n", offer{Before: "x := comp", Insert: "ute(a, b)"})
	p.typeForGhost("ix := comp", "ute(a, b)")
	p.Press("BSpace")
	p.waitForGhost("pute(a, b)")
	p.Press("BSpace", "BSpace")
	p.waitForGhost("ompute(a, b)")
	p.typeForGhost("om", "pute(a, b)")
	p.Press("C-u") // taking the line back does not ask for it
	p.waitForNoGhost()
	p.waitForSaved("\n")
}

func TestTrigger(t *testing.T) {
	p := openScripted(t, "\n", offer{Before: "x := ", Insert: "one()", Asked: true}, offer{Before: "x := ", Insert: "two()", Asked: true})
	p.Type("ix := ")
	p.Press(`M-\`)
	p.WaitFor("the first of two candidates", func(s editortest.Screen) bool { return ghost(s) == "one()" && s.Contains("one() (1/2)") })
	p.Press("M-n")
	p.WaitFor("the second", func(s editortest.Screen) bool { return ghost(s) == "two()" && s.Contains("two() (2/2)") })
	p.Press("Tab")
	p.waitForSaved("x := two()\n")
	p.Type("oy := ")
	p.Press(`M-\`)
	p.WaitForText("nothing to suggest here")
	p.waitForSaved("x := two()\ny := \n")
}

// Where there is one candidate, the next one is asked for.
func TestNextAsksForMore(t *testing.T) {
	p := openScripted(t, "\n", offer{Before: "x := ", Insert: "one()"}, offer{Before: "x := ", Insert: "two()", Asked: true})
	p.typeForGhost("ix := ", "one()")
	p.Press("M-n")
	p.WaitFor("one of two", func(s editortest.Screen) bool { return s.Contains("one() (1/2)") })
	p.Press("M-n")
	p.waitForGhost("two()")
	p.waitForSaved("x := \n")
}

// An Alt key without ghost text is what Neovim makes of it: Escape and the key. One word too many is not.
func TestAltKeysWithoutGhostText(t *testing.T) {
	p := openScripted(t, "a b\n", offer{Before: "x := ", Insert: "one two"})
	p.typeForGhost("ccx := ", "one two")
	p.Press("M-w", "M-w", "M-w", "M-w")
	p.Type(";")
	p.waitForSaved("x := one two;\n")
	p.Type("0i")
	p.Press("M-w") // a word on, in normal mode
	p.Type("x")
	p.waitForSaved("x = one two;\n")
}

// A snippet's placeholders have the Tab key.
func TestSnippetPlaceholdersComeFirst(t *testing.T) {
	p := openScripted(t, "\n", offer{Before: "f(a", Insert: "bc)"}, offer{Before: "f(a, b", Insert: "cd"})
	p.Type(`:lua vim.keymap.set('i', '<C-x>', function() vim.snippet.expand('f(${1:one}, ${2:two})$0') end)` + "\n")
	p.Type("i")
	p.Press("C-x")
	p.WaitForText("f(one, two)")
	p.WaitForText("-- SELECT --") // until then a key would stand before the placeholder
	p.Type("a")
	p.WaitForText("f(a, two)")
	p.Press("Tab")
	p.WaitForText("-- SELECT --")
	p.Type("b")
	p.WaitForText("f(a, b)")
	p.Press("Tab")
	p.Type(";")
	p.waitForSaved("f(a, b);\n")
}

// A macro repeats the keys, and Tab is one of them.
func TestTabInAMacroIsATab(t *testing.T) {
	p := openScripted(t, "\n", offer{Before: "va", Insert: "lue"})
	p.Type("qaova\x1bq")
	p.waitForSaved("\nva\n")
	p.Type(":let @b = \"ova\\<Tab>\\<Esc>\"\n")
	p.Type("2@b")
	p.waitForSaved("\nva\nva\t\nva\t\n")
}
