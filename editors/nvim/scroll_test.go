//go:build editors

package nvim_test

import (
	"fmt"
	"strings"
	"testing"

	"quarry/editors/editortest"
)

// What keeps the cursor from the window's edge gives way to ghost text while the user types, and no longer.
func TestGhostTextWithScrolloff(t *testing.T) {
	for _, scrolloff := range []string{"999", "7"} {
		p := openScripted(t, longFile(), body)
		p.Type(fmt.Sprintf(":set lines=9 scrolloff=%s\n", scrolloff))
		p.Type(":setlocal scrolloff=-1\n:40\no")
		p.typeForGhost("func f() {", "one()", "two()", "three()", "}")
		p.Press("Tab")
		p.WaitFor("accepted text", func(s editortest.Screen) bool { return ghost(s) == "" && s.Contains("three()") })
		p.Press("Escape")
		p.Type(":echo 'kept away by '..&scrolloff..' and '..&l:scrolloff\n")
		p.WaitForText("kept away by " + scrolloff + " and -1")
	}
}

func TestGhostTextWithSidescrolloff(t *testing.T) {
	long := strings.Repeat("word ", 30)
	p := openScripted(t, "\n", offer{Before: long + "x := comp", Insert: "ute(alpha, beta, gamma, delta, epsilon, zeta)"})
	p.Type(":set nowrap sidescrolloff=999\ni" + long)
	p.typeForGhost("x := comp", "ute(alpha, beta, gamma, delta, epsilon, zeta)")
	p.Press("C-c")
	p.waitForNoGhost()
	p.Type(":echo 'kept away by '..&sidescrolloff\n")
	p.WaitForText("kept away by 999")
}

// wheel turns the mouse's wheel by a step over the window.
func (p user) wheel(down bool) {
	p.t.Helper()
	button := 64
	if down {
		button = 65
	}
	p.Type(fmt.Sprintf("\x1b[<%d;20;5M", button))
}

// first is the number of the line of longFile at the top of the window.
func first(s editortest.Screen) (line int) {
	if _, err := fmt.Sscanf(strings.TrimLeft(s.String(), " \n"), "// line %d", &line); err != nil {
		return -1
	}
	return line
}

// A window that the user scrolls is not scrolled back for ghost text, which shows what there is room for.
func TestScrollingWhileGhostTextIsShown(t *testing.T) {
	p := openScripted(t, longFile(), body)
	p.Type(":set lines=22\n:30\nzzo") // rows 1 to 20 are the window's
	all := []string{"one()", "two()", "three()", "}"}
	p.typeForGhost("func f() {", all...)
	before := first(p.Screen())
	for range 2 { // three lines each
		p.wheel(false)
	}
	p.WaitFor("lines above", func(s editortest.Screen) bool { return first(s) == before-6 })
	p.WaitForText("three() … 1 more line")
	p.wheel(false)
	p.WaitFor("more lines above and no ghost text", func(s editortest.Screen) bool { return first(s) == before-9 && ghost(s) == "" })
	p.Press("Tab") // accepts nothing that is not on the screen
	p.Press("BSpace")
	p.waitForGhost(all...)
	before = first(p.Screen())
	p.Press("C-x", "C-y", "C-y", "C-y", "C-y")
	p.WaitFor("lines above", func(s editortest.Screen) bool { return first(s) == before-4 && ghost(s) != strings.Join(all, "\n") })
	p.Press("C-e", "C-e", "C-e", "C-e")
	p.WaitFor("the lines from before", func(s editortest.Screen) bool { return first(s) == before })
	p.waitForGhost(all...)
}

// Ctrl-C leaves insert mode without the event that tells of it.
func TestGhostTextGoesWithInsertMode(t *testing.T) {
	for _, key := range []string{"Escape", "C-c", "C-o"} {
		p := openScripted(t, "\n", body)
		p.typeForGhost("ifunc f() {", "one()", "two()", "three()", "}")
		p.Press(key)
		p.waitForNoGhost()
	}
}
