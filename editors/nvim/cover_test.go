//go:build editors

package nvim_test

import (
	"strings"
	"testing"

	"quarry/editors/editortest"
)

// words is a file in which a word is completed by another.
const words = "one_word another_word\n\n"

// inRow is whether a row of the screen begins with text.
func inRow(s editortest.Screen, text string) bool {
	for _, row := range strings.Split(s.String(), "\n") {
		if strings.HasPrefix(strings.TrimLeft(row, " "), text) {
			return true
		}
	}
	return false
}

// seesMenu is whether the completion menu is on the screen: its word stands in a row of its own.
func seesMenu(s editortest.Screen) bool {
	return inRow(s, "one_word ") && strings.Count(s.String(), "one_word") > 1
}

// What Neovim's menu lies over is neither shown nor accepted, and is there again once the menu is gone.
func TestMenuOverGhostText(t *testing.T) {
	menus := map[string]struct{ set, open string }{
		"asked for": {"set completeopt=menuone,noinsert", "C-n"},
	}
	if *version == "0.12" {
		menus["by itself"] = struct{ set, open string }{"set completeopt=menuone,noinsert autocomplete complete=.", ""}
		menus["with a border"] = struct{ set, open string }{"set completeopt=menuone,noinsert pumborder=rounded", "C-n"}
	}
	for name, menu := range menus {
		t.Run(name, func(t *testing.T) {
			p := openScripted(t, words,
				offer{Before: "f(on", Insert: "e) {\n\tbody()\n\tmore()\n}"}, offer{Before: "x := on", Insert: "e(1)"})
			p.Type(":" + menu.set + "\n")
			p.Press("G", "o")
			p.Type("f(on")
			if menu.open != "" {
				p.waitForGhost("e) {", "body()", "more()", "}")
				p.Press(menu.open)
			}
			p.WaitFor("menu in place of ghost text", func(s editortest.Screen) bool { return seesMenu(s) && ghost(s) == "" })
			p.Press("C-e") // ends the menu
			screen := p.waitForGhost("e) {", "body()", "more()", "}")
			if seesMenu(screen) {
				t.Errorf("the menu is still there:\n%s", screen.Framed())
			}
			p.Press("Tab")
			p.waitForSaved(words + "f(one) {\n\tbody()\n\tmore()\n}\n")

			// With the menu there, Tab is what it was.
			p.Press("G", "o")
			p.Type("f(on")
			if menu.open != "" {
				p.waitForGhost("e) {", "body()", "more()", "}")
				p.Press(menu.open)
			}
			p.WaitFor("menu in place of ghost text", func(s editortest.Screen) bool { return seesMenu(s) && ghost(s) == "" })
			p.Press("Tab")
			p.Type("end")
			p.waitForSaved(words + "f(one) {\n\tbody()\n\tmore()\n}\nf(on\tend\n")

			// Beside the menu a single line is seen, and accepted.
			p.Press("o")
			p.Type("x := on")
			if menu.open != "" {
				p.waitForGhost("e(1)")
				p.Press(menu.open)
			}
			p.WaitFor("menu below ghost text", func(s editortest.Screen) bool { return seesMenu(s) && ghost(s) == "e(1)" })
			p.Press("Tab")
			p.waitForSaved(words + "f(one) {\n\tbody()\n\tmore()\n}\nf(on\tend\nx := one(1)\n")
		})
	}
}

// Menus of plugins are floating windows, which no event tells of; one beside the ghost text is in nobody's way.
func TestWindowOverGhostText(t *testing.T) {
	p := openScripted(t, "\n", body, offer{Before: "func g() {", Insert: "\n\treturn\n}"})
	p.Type(`:lua function _G.float(row, col) win = vim.api.nvim_open_win(vim.api.nvim_create_buf(false, true), false, { relative = 'cursor', row = row, col = col, width = 20, height = 2, style = 'minimal', noautocmd = true }) end` + "\n")
	p.Type(`:lua vim.keymap.set('i', '<F2>', function() float(1, 0) end) vim.keymap.set('i', '<F3>', function() vim.api.nvim_win_close(win, true) end) vim.keymap.set('i', '<F4>', function() float(1, 40) end) vim.keymap.set('i', '<F5>', function() vim.api.nvim_win_set_config(win, { relative = 'cursor', row = 1, col = 0 }) end)` + "\n")
	p.typeForGhost("ifunc f() {", "one()", "two()", "three()", "}")
	p.Press("F2")
	p.waitForNoGhost()
	p.Press("F3")
	p.waitForGhost("one()", "two()", "three()", "}")
	p.Press("F4")
	p.WaitForText("one()")
	p.Press("M-w") // accepted beside the window
	p.waitForGhost("()", "two()", "three()", "}")
	p.Press("F5") // which moves over it
	p.waitForNoGhost()
	p.Press("Tab")
	p.Type("x")
	p.waitForSaved("func f() {\n\tone\tx\n")
}

// The next candidate is one that can be seen; where no other can, the one that is shown stays.
func TestNextIsOneThatCanBeSeen(t *testing.T) {
	unseen := offer{Before: "x := ", Insert: "\n\tone()\n", Asked: true}
	p := openScripted(t, "\n", offer{Before: "x := ", Insert: "one()", Asked: true}, unseen, offer{Before: "x := ", Insert: "three()", Asked: true},
		offer{Before: "y := ", Insert: "one()", Asked: true}, offer{Before: "y := ", Insert: "\n\ttwo()\n", Asked: true})
	p.Type(":1split\n")
	p.Type("ix := ")
	p.Press(`M-\`)
	p.WaitForText("one() (1/3)")
	p.Press("M-n")
	p.WaitForText("three() (3/3)")
	p.Press("M-p")
	p.WaitForText("one() (1/3)")
	p.Press("C-u")
	p.Type("y := ")
	p.Press(`M-\`)
	p.WaitForText("one() (1/2)")
	p.Press("M-n", "Tab")
	p.waitForSaved("y := one()\n")
}
