//go:build editors

package nvim_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/editors/editortest"
)

// offer is one line of the script of testdata/scripted_server.lua.
type offer struct {
	Before string `json:"before"`
	Insert string `json:"insert"`
	Tail   int    `json:"tail"`
	Asked  bool   `json:"asked"` // only where the user asks
}

// openScripted opens Neovim with the scripted server in place of quarry.
func openScripted(t *testing.T, text string, offers ...offer) user {
	t.Helper()
	script, err := json.Marshal(offers)
	if err != nil {
		t.Fatal(err)
	}
	server, err := os.ReadFile("testdata/scripted_server.lua")
	if err != nil {
		t.Fatal(err)
	}
	p := open(t, editor{
		text:  text,
		files: map[string]string{"script.json": string(script), "server.lua": string(server)},
		init:  "dofile('server.lua')\n",
	})
	p.WaitForText("server attached")
	return p
}

// waitForUnseen waits until the scripted server has answered behind `before`, and the plugin has shown nothing of that.
func (p user) waitForUnseen(before string) {
	p.t.Helper()
	p.WaitForFile(filepath.Join(p.workspace, "answered"), before+"\n")
	p.waitForNoGhost()
}

// In each of these the server answers once, where the ghost text begins; what is shown and inserted from there on while
// the user types is the plugin's doing.

func TestTypedThroughGhostTextIsNotInsertedTwice(t *testing.T) {
	p := openScripted(t, "\n", offer{Before: "x := ", Insert: "compute(a, b)"})
	p.typeForGhost("ix := ", "compute(a, b)")
	p.typeForGhost("com", "pute(a, b)")
	// The rest in one burst: the editor has had no time to draw, nor the server to answer.
	p.Type("pute")
	p.Press("(", "Tab", ";")
	p.waitForSaved("x := compute(a, b);\n")
}

func TestGhostTextThatIsTypedAwayFromGoes(t *testing.T) {
	p := openScripted(t, "\n", offer{Before: "x := ", Insert: "compute(a, b)"})
	p.typeForGhost("ix := ", "compute(a, b)")
	p.Type("call")
	p.Press("Tab") // nothing is offered here: a tab
	p.waitForNoGhost()
	p.waitForSaved("x := call\t\n")
}

func TestGhostTextStaysAtTheCursor(t *testing.T) {
	p := openScripted(t, "\n", offer{Before: "x := ", Insert: "1"})
	p.typeForGhost("ix := ", "1")
	p.Press("Left")
	p.waitForNoGhost()
	p.Press("Tab")
	p.waitForSaved("x :=\t \n")
}

// Neovim takes the indent back from a line that is left empty, and with it what the answer's columns speak of.
func TestEnterOnALineOfIndentOnly(t *testing.T) {
	p := openScripted(t, "{\n", offer{Before: "\t", Insert: "return"})
	p.Press("o") // Neovim indents the new line
	p.waitForGhost("return")
	p.Press("Enter")
	p.Type("x")
	screen := p.waitForNoGhost()
	if screen.Contains("Error") || screen.Contains("ENTER") {
		t.Errorf("an error on the screen:\n%s", screen.Framed())
	}
	p.waitForSaved("{\n\n\tx\n")
}

func TestAcceptByWordAndLine(t *testing.T) {
	p := openScripted(t, "\n", offer{Before: "func f() {", Insert: "\n\tg(one, two)\n\treturn three\n}"})
	p.typeForGhost("ifunc f() {", "g(one, two)", "return three", "}")
	p.Press("M-w")
	p.waitForGhost("(one, two)", "return three", "}")
	p.Press("M-w", "M-w") // ( and one
	p.waitForGhost(", two)", "return three", "}")
	p.Press("M-l")
	p.waitForGhost("return three", "}")
	p.Press("M-l")
	p.waitForGhost("}")
	p.Press("M-l")
	p.waitForNoGhost()
	p.waitForSaved("func f() {\n\tg(one, two)\n\treturn three\n}\n")
}

func TestUndoTakesBackOneAcceptance(t *testing.T) {
	p := openScripted(t, "\n", offer{Before: "x := ", Insert: "compute(a, b)"})
	p.typeForGhost("ix := ", "compute(a, b)")
	p.Press("Tab")
	p.Type("; y()")
	p.WaitForText("x := compute(a, b); y()")
	p.Press("Escape", "u")
	p.waitForSaved("x := compute(a, b)\n")
	p.Press("u")
	p.waitForSaved("x := \n")
}

func TestAcceptReplacesTheClosedBracketAfterTheCursor(t *testing.T) {
	for name, accept := range map[string][]string{
		"whole":    {"Tab"},
		"by words": {"M-w", "M-w", "M-w", "M-w"},
	} {
		t.Run(name, func(t *testing.T) {
			// The text before the cursor has characters of two UTF-16 units and of four UTF-8 bytes.
			p := openScripted(t, "s(\"🙂\", )\n", offer{Before: `s("🙂", `, Insert: "a, b)", Tail: 1})
			p.Press("A", "Left")
			p.WaitFor("ghost text", func(s editortest.Screen) bool { return strings.Contains(ghost(s), "a, b)") })
			p.Press(accept...)
			p.waitForSaved("s(\"🙂\", a, b)\n")
		})
	}
}

func TestChangedTextAfterTheCursorEndsGhostText(t *testing.T) {
	p := openScripted(t, "f()\n", offer{Before: "f(", Insert: "a, b)", Tail: 1})
	p.Press("A", "Left")
	p.waitForGhost("a, b)")
	p.Press("Delete", "Tab") // what the answer would have replaced is gone
	p.waitForSaved("f(\t\n")
}

func TestCandidatesCycle(t *testing.T) {
	p := openScripted(t, "\n",
		offer{Before: "x := ", Insert: "one()"}, offer{Before: "x := ", Insert: "two()"}, offer{Before: "x := ", Insert: "three()"})
	p.typeForGhost("ix := ", "one()")
	p.Press("M-n")
	p.waitForGhost("two()")
	p.Press("M-p", "M-p")
	p.waitForGhost("three()")
	p.typeForGhost("t", "hree()")
	p.Press("M-n")
	p.waitForGhost("wo()")
	p.Press("Tab")
	p.waitForSaved("x := two()\n")
}

// A further answer puts nothing in the place of a candidate that the user went to, and what it says itself is the next one.
func TestAnAnswerLeavesTheChosenCandidate(t *testing.T) {
	p := openScripted(t, "\n",
		offer{Before: "x := ", Insert: "one()"}, offer{Before: "x := ", Insert: "two()"}, offer{Before: "x := t", Insert: "hree()"},
		offer{Before: "x := tw", Insert: "elve()"}, offer{Before: "x := tw", Insert: "o()"})
	answered := filepath.Join(p.workspace, "answered")
	p.typeForGhost("ix := ", "one()")
	p.Press("M-n")
	p.WaitForText("two() (2/2)")
	p.Type("t")
	p.WaitForFile(answered, "x := t\n")
	p.WaitForText("two() (1/2)")
	p.Type("w")
	p.WaitForFile(answered, "x := tw\n")
	p.WaitForText("two() (2/2)")
	p.Press("M-n")
	p.waitForGhost("elve()")
	p.Press("M-p")
	p.waitForGhost("o()")
	p.Press("Tab")
	p.waitForSaved("x := two()\n")

	p.typeForGhost("ox := ", "one()") // which nobody chose
	p.typeForGhost("t", "hree()")
	p.waitForSaved("x := two()\nx := t\n")
}

// Of keys that come together, as over a slow line, the second accepts nothing that the first has just brought: whatever is
// accepted was on the screen.
func TestNothingIsAcceptedThatNoFrameShowed(t *testing.T) {
	p := openScripted(t, "\n",
		offer{Before: "x := ", Insert: "one()"}, offer{Before: "x := ", Insert: "two()"}, offer{Before: "x := ", Insert: "three()"})
	p.typeForGhost("ix := ", "one()")
	p.Press("M-n")
	p.waitForGhost("two()")
	frames := p.Record()
	p.Press("o", "Tab") // goes over to one(), which was shown; "th" to three(), which was not
	p.waitForSaved("x := one()\n")
	p.Press("Escape", "u")
	p.Type("Sx := ")
	p.waitForGhost("one()")
	p.Press("t", "h", "Tab")
	p.Press("Escape")
	p.Type(":w\n")
	p.Insist("saved", func() { p.Type(":w\n") }, func(editortest.Screen) bool { return strings.HasPrefix(p.read("shelf.go"), "x := th") })
	if strings.Contains(p.read("shelf.go"), "three()") {
		for _, frame := range frames() {
			if ghost(frame) == "hree()" || ghost(frame) == "ree()" {
				return // a frame came between
			}
		}
		t.Errorf("accepted unseen: %q", p.read("shelf.go"))
	}
}

func TestDismiss(t *testing.T) {
	p := openScripted(t, "\n", offer{Before: "x := ", Insert: "one()"})
	p.typeForGhost("ix := ", "one()")
	p.Press("M-e")
	p.waitForNoGhost()
	p.Press("Tab")
	p.waitForSaved("x := \t\n")
}

func TestAcceptInAFileWithCRLF(t *testing.T) {
	p := openScripted(t, "func f() {\r\n", offer{Before: "func f() {", Insert: "\r\n\treturn\r\n}"})
	p.Press("A")
	p.waitForGhost("return", "}")
	p.Press("Tab")
	p.waitForSaved("func f() {\r\n\treturn\r\n}\r\n")
}

// `.` writes again what was typed and accepted, however much of it there was, and what a user does to pasted text is not done to it.
func TestDotRepeatsWhatWasAccepted(t *testing.T) {
	p := openScripted(t, "a\nb\nc\n", offer{Before: "x := ", Insert: "f(one, two)\ng()"})
	p.Type(":lua local paste = vim.paste; vim.paste = function(lines, phase) return paste(mine and lines or { 'pasted' }, phase) end\n")
	p.typeForGhost("ccx := ", "f(one, two)", "g()")
	p.Press("M-w", "M-l", "Tab")
	p.Type("; h()\x1b")
	again := "x := f(one, two)\ng(); h()\n"
	p.waitForSaved(again + "b\nc\n")
	p.Type(":lua mine = true\nj.j.")
	p.waitForSaved(again + again + again)
	p.Press("u")
	p.waitForSaved(again + again + "c\n")
}

// A Tab without ghost text does what the user's own mapping of it did.
func TestTabFallsThroughToAnEarlierMapping(t *testing.T) {
	for name, mapping := range map[string]string{
		"keys":      `vim.keymap.set('i', '<Tab>', 'own<Space>')`,
		"function":  `vim.keymap.set('i', '<Tab>', function() vim.api.nvim_put({ 'own ' }, 'c', false, true) end)`,
		"returned":  `vim.keymap.set('i', '<Tab>', function() return 'own<Space>' end, { expr = true })`,
		"vimscript": `vim.cmd('inoremap <expr> <Tab> "own" .. nr2char(32)')`,
	} {
		t.Run(name, func(t *testing.T) {
			p := openScripted(t, "\n", offer{Before: "x := ", Insert: "one()"})
			p.Type(":lua " + mapping + "; require('quarry').setup()\n")
			p.Type("i")
			p.Press("Tab")
			p.Type("x := ")
			p.WaitForText("own x :=")
			p.waitForNoGhost()
			p.waitForSaved("own x := \n")
			p.typeForGhost("ox := ", "one()")
			p.Press("Tab")
			p.waitForSaved("own x := \nx := one()\n")
		})
	}
}
