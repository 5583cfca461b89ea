//go:build editors

package nvim_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"quarry/editors/editortest"
)

// clock is Neovim's time for the plugin: it stands still, and ten seconds go by when F5 is pressed, in any mode.
const clock = `
local now = 0
require('quarry.proposal').now = function() return now end
vim.keymap.set({ 'n', 'i', 'x' }, '<F5>', function() now = now + 10000 end)
`

// keysOfChange are at the foot of the window that shows a change.
const keysOfChange = "ga apply · q discard"

func showsChange(s editortest.Screen) bool { return s.Contains(keysOfChange) }

// waitForChange waits until a change is shown: time goes by, and the user types nothing.
func (p user) waitForChange() editortest.Screen {
	p.t.Helper()
	return p.Insist("change", func() { p.Press("F5") }, showsChange)
}

// waitForNoChange waits until the window with the change is gone.
func (p user) waitForNoChange() {
	p.t.Helper()
	p.WaitFor("end of the change", func(s editortest.Screen) bool { return !showsChange(s) })
}

// apply says yes, after having looked for a while.
func (p user) apply() {
	p.t.Helper()
	p.Press("F5", "g", "a")
	p.waitForNoChange()
	p.WaitFor("change", func(s editortest.Screen) bool { return s.Contains("n += it.Count ") })
}

func TestFix(t *testing.T) {
	p := openShop(t, fix)
	p.Type(":QuarryFix\n")
	screen := p.waitForChange()
	for _, want := range []string{
		"Fix: it.Counts undefined", "The field is named `Count`", "Confidence: high. Based on shelf.go:3-6.",
		"-               n += it.Counts", "+               n += it.Count",
	} {
		if !screen.Contains(want) {
			t.Errorf("no %q on the screen:\n%s", want, screen.Framed())
		}
	}
	screen.Picture(t, *screenshot, "nvim-change.svg", "shelf.go — Neovim")
	p.Press("F5", "q")
	p.waitForNoChange()
	p.waitForSaved(editortest.Shop)
	p.Type(":11\n:QuarryFix\n")
	p.waitForChange()
	p.apply()
	p.waitForSaved(editortest.Mended)
	p.Press("u")
	p.waitForSaved(editortest.Shop)
}

// What is typed elsewhere answers nothing, although it has the keys in it that would: the change waits, and is shown once
// nothing is typed. Nor do keys that come together with the yes.
func TestTypingThroughAProposal(t *testing.T) {
	gate := make(chan struct{})
	p := openShopWaiting(t, fix, gate)
	p.Type(":QuarryFix\n:split letter.txt\ni")
	p.Type("Dear reader,\n")
	close(gate)
	p.WaitForText("a change of shelf.go is ready; normal mode in a file shows it")
	p.Press("F5")
	p.Type("my happy day is here again,\nga\ny\n\nyes\n")
	p.Press("F5")
	screen := p.WaitForText("yes")
	if showsChange(screen) {
		t.Errorf("the change is shown to somebody who types:\n%s", screen.Framed())
	}
	p.Press("Escape")
	p.Type(":silent wall\n")
	p.WaitForFile(filepath.Join(p.workspace, "letter.txt"), "Dear reader,\nmy happy day is here again,\nga\ny\n\nyes\n\n")

	p.waitForChange()
	for keys, want := range map[string]string{
		"jga": "not applied: a key came close to ga; press ga again",
		"jq":  "not discarded: a key came close to q; press q again",
	} {
		p.Type(keys)
		if screen = p.WaitForText(want); !showsChange(screen) {
			t.Errorf("the change is gone:\n%s", screen.Framed())
		}
	}
	// A change that was made would stand in the buffer.
	p.Type(":silent wall | call writefile(['all'], 'written')\n")
	p.WaitForFile(filepath.Join(p.workspace, "written"), "all\n")
	if got := p.read("shelf.go"); got != editortest.Shop {
		t.Errorf("shelf.go is\n%s", got)
	}
	p.apply()
	p.Type(":drop shelf.go\n")
	p.waitForSaved(editortest.Mended)
	p.Press("u")
	p.waitForSaved(editortest.Shop)
}

// A window that is closed by another way than its key says that the change is discarded, and a change that is longer than
// the window how much of it is below.
func TestChangeWindowSaysWhatItDoes(t *testing.T) {
	p := openShop(t, fix)
	p.Type(":set lines=15\n:QuarryFix\n")
	p.waitForChange()
	p.WaitForText("more lines below")
	p.Press("G")
	p.WaitFor("the end of the change", func(s editortest.Screen) bool { return showsChange(s) && !s.Contains("below") })
	p.Type(":q\n")
	p.WaitForText("quarry: discarded, since its window was closed")
	p.waitForNoChange()
	p.waitForSaved(editortest.Shop)
}

// In a narrow window the keys stay, and what else is said below it gives way.
func TestKeysOfAChangeInANarrowWindow(t *testing.T) {
	p := openShop(t, fix)
	p.Type(":set lines=12 columns=44\n:QuarryFix\n")
	if screen := p.waitForChange(); !screen.Contains(keysOfChange+" · ") || screen.Contains("below") {
		t.Errorf("what is below is not said, or at full length:\n%s", screen.Framed())
	}
	p.Press("F5", "q")
	p.waitForNoChange()
	p.Type(":set columns=30\n:11\n:QuarryFix\n")
	p.waitForChange()
}

// A change that the window has no room for is applied once every changed line of it was on the screen.
func TestNoChangeIsAppliedUnseen(t *testing.T) {
	p := openShop(t, fix)
	p.Type(":set lines=12\n:QuarryFix\n")
	screen := p.waitForChange()
	if screen.Contains("n += it.Count ") {
		t.Fatalf("the window has room for the change:\n%s", screen.Framed())
	}
	p.Press("F5", "g", "a")
	p.WaitForText("quarry: not applied: look and press ga again (unseen: 2)")
	p.WaitForText("+               n += it.Count")
	p.waitForSaved(editortest.Shop)
	p.apply()
	p.waitForSaved(editortest.Mended)
}

// Nor is one applied whose lines look like the head of a diff, or are in a fold of the user's.
func TestNoChangeIsAppliedThatLooksOtherwise(t *testing.T) {
	const notes = "-- WARNING: patients under 12 get half the dose\n-- do not remove\n"
	lua := "local guard = true -- {{{\n" + strings.Repeat("register('item')\n", 12) + notes + "return guard -- }}}\n"
	model := conversing(t, "The notes are old, calc.lua:14-15.\n```diff\n--- a/calc.lua\n+++ b/calc.lua\n@@ -12,5 +12,3 @@\n register('item')\n register('item')\n--- WARNING: patients under 12 get half the dose\n--- do not remove\n return guard -- }}}\n```\n", closed())
	p := openShopAs(t, editor{
		files: map[string]string{"calc.lua": lua}, before: "vim.o.foldmethod = 'marker'\n",
		init: compiler + clock, env: map[string]string{"OLLAMA_HOST": model},
	})
	p.Type(":edit calc.lua\nzR:set lines=13\n:%QuarryRefactor drop the notes\n")
	screen := p.waitForChange()
	if screen.Contains("do not remove") {
		t.Fatalf("the window has room for the change:\n%s", screen.Framed())
	}
	p.Press("F5", "g", "a")
	p.WaitForText("quarry: not applied: look and press ga again (unseen: ")
	p.WaitForText("--- do not remove")
	p.Press("F5", "g", "a")
	p.waitForNoChange()
	p.WaitFor("no word of the refusal", func(s editortest.Screen) bool { return !s.Contains("not applied") })
	p.Type(":set lines=24\n:wall\n")
	p.WaitForFile(filepath.Join(p.workspace, "calc.lua"), strings.Replace(lua, notes, "", 1))
}

// Nor a line that is longer than the window before its end was there.
func TestNoLineIsAppliedWhoseEndIsUnseen(t *testing.T) {
	for name, rest := range map[string]string{
		"words": strings.Repeat("get the dose in the morning, ", 40),
		"tabs":  strings.Repeat("\t", 115),
	} {
		t.Run(name, func(t *testing.T) {
			notes := "Patients " + rest + "halved under 12.\n"
			changed := strings.Replace(notes, "halved", "doubled", 1)
			model := conversing(t, "Plainer, notes.md:1.\n```diff\n--- a/notes.md\n+++ b/notes.md\n@@ -1 +1 @@\n-"+notes+"+"+changed+"```\n", closed())
			p := openShopAs(t, editor{files: map[string]string{"notes.md": notes}, init: compiler + clock, env: map[string]string{"OLLAMA_HOST": model}})
			frames := p.Record()
			p.Type(":edit notes.md\n:set lines=14\n:%QuarryRefactor plainer\n")
			p.waitForChange()
			for range 20 {
				p.Press("F5", "g", "a")
				if _, gone := p.Within(3*time.Second, func(s editortest.Screen) bool { return !showsChange(s) }); gone {
					break
				}
			}
			p.waitForNoChange()
			p.Type(":set lines=24\n:wall\n")
			p.WaitForFile(filepath.Join(p.workspace, "notes.md"), changed)
			for _, frame := range frames() {
				if showsChange(frame) && frame.Contains("doubled") {
					return
				}
			}
			t.Error("no frame of the change shows what became of the line's end")
		})
	}
}

// Where nothing is under way there is nothing to end, which is said.
func TestStopWithNothingUnderWay(t *testing.T) {
	p := openShop(t, fix)
	p.Type(":QuarryStop\n")
	p.WaitForText("quarry: nothing is under way")
}

// Where the last line has no room for a message, beside the ruler and the keys that are typed, nothing waits for it.
func TestMessageWithoutRoom(t *testing.T) {
	p := openShop(t, fix)
	p.Type(":set columns=30 laststatus=0\n:11\n:QuarryFix\n")
	p.waitForChange()
	p.Type("jga") // which is said not to count
	p.Press("F5", "q")
	p.waitForNoChange()
	p.waitForSaved(editortest.Shop)
}

// The lines of a range, in the user's own words.
func TestRefactor(t *testing.T) {
	p := openShop(t, strings.ReplaceAll(fix, "named", "called"))
	p.Type(":8,14QuarryRefactor\n")
	p.WaitForText("3: Simplify")
	p.Type("6\n")
	p.WaitForText("Change it so that:")
	p.Type("use the right field\n")
	p.waitForChange()
	p.apply()
	p.waitForSaved(editortest.Mended)
}

// Refactorings are code actions too, of a selection.
func TestRefactorByCodeAction(t *testing.T) {
	p := openShop(t, fix)
	p.Type(":8\nV6jgra")
	p.WaitForText(": Simplify (quarry)")
	number := regexp.MustCompile(`(\d+): Simplify \(quarry\)`).FindStringSubmatch(p.Screen().String())
	p.Type(number[1] + "\n")
	p.waitForChange()
	p.apply()
	p.waitForSaved(editortest.Mended)
}

// Without the plugin, which is what people have who take the server's configuration alone, quarry asks: a yes takes
// typing the number of a choice that is there only once the change was shown.
func TestFixWithoutThePlugin(t *testing.T) {
	now := make(chan struct{})
	close(now)
	p := openShopAs(t, editor{alone: true, init: compiler, env: map[string]string{"OLLAMA_HOST": conversing(t, fix, now)}})
	choose := func() {
		p.Press("Escape")
		p.Type(":11\n^fC:lua vim.lsp.buf_request_all(0, 'workspace/executeCommand', { command = 'quarry.fix', arguments = { 'shelf.go:11: it.Counts undefined' } }, function() end)\n")
	}
	choose()
	p.WaitForText("1: Discard")
	p.Type("yes\n")
	p.WaitForText("the question was closed")
	p.waitForSaved(editortest.Shop)
	choose()
	p.WaitForText("2: Show changes")
	p.Type("2\n")
	p.WaitForText("2: Apply")
	p.Type("2\n")
	p.WaitFor("changed code", func(s editortest.Screen) bool { return s.Contains("n += it.Count ") })
	p.waitForSaved(editortest.Mended)
	p.Press("u")
	p.waitForSaved(editortest.Shop)
}

// Neovim prints the label of an edit, and waits for Enter where that is long: the key that takes the change back would answer.
func TestFixOfALongDiagnosticIsTakenBack(t *testing.T) {
	long := strings.Replace(compiler, "undefined", "undefined (type Item has no field or method Counts, but does have field Count)", 1)
	p := openShopAs(t, editor{init: long + clock, env: map[string]string{"OLLAMA_HOST": conversing(t, fix, closed())}})
	p.Type(":QuarryFix\n")
	p.waitForChange()
	p.Press("F5", "g", "a")
	p.WaitFor("change", func(s editortest.Screen) bool { return !showsChange(s) && s.Contains("n += it.Count ") })
	p.Press("u")
	p.waitForSaved(editortest.Shop)
}

const (
	newTest = "package shop\n\nimport \"testing\"\n\nfunc TestTotal(t *testing.T) {\n\tif total(nil) != 0 {\n\t\tt.Fatal(\"not empty\")\n\t}\n}\n"
	oldTest = "package shop\n\nimport \"testing\"\n\nfunc TestNone(t *testing.T) {\n}\n"
)

// testsOf is a model that writes a new file of tests.
func testsOf(t *testing.T) string {
	t.Helper()
	lines := strings.ReplaceAll(strings.TrimSuffix(newTest, "\n"), "\n", "\n+")
	return conversing(t, "Tests of total (shelf.go:8-14).\n```diff\n--- /dev/null\n+++ b/shelf_test.go\n@@\n+"+lines+"\n```\n", closed())
}

// A new file is shown below the code with the text of its diff, and that it is not saved is said; `u` in it takes it back and leaves
// nothing, and `u` in the code is about the code.
func TestNewFile(t *testing.T) {
	for name, e := range map[string]editor{"plugin": {init: compiler + clock}, "alone": {alone: true, init: compiler}} {
		t.Run(name, func(t *testing.T) {
			e.env = map[string]string{"OLLAMA_HOST": testsOf(t)}
			p := openShopAs(t, e)
			if e.alone {
				p.Type(":8\nV6jgra")
				p.WaitForText(": Write tests (quarry)")
				number := regexp.MustCompile(`(\d+): Write tests \(quarry\)`).FindStringSubmatch(p.Screen().String())
				p.Type(number[1] + "\n")
				p.WaitForText("2: Show changes")
				p.Type("2\n")
				p.WaitForText("2: Apply")
				p.Type("2\n")
			} else {
				p.Type(":8,14QuarryRefactor test\n")
				p.waitForChange()
				p.Press("F5", "g", "a")
				p.waitForNoChange()
			}
			p.WaitForText("quarry: Applied, not saved; undo there: shelf_test.go (new)")
			screen := p.WaitForText("func TestTotal(t *testing.T) {")
			if !screen.Contains("n += it.Counts") {
				t.Errorf("the code is hidden:\n%s", screen.Framed())
			}
			p.waitForEcho("expand('%').."+"filereadable('shelf_test.go')", "shelf.go0")
			p.Type(":silent! messages\n")
			if screen := p.Screen(); screen.Contains("differs") || screen.Contains("unchanged") {
				t.Errorf("a false alarm:\n%s", screen.Framed())
			}
			p.Type(":execute bufwinnr('shelf_test.go')..'wincmd w'\n")
			p.waitForEcho("expand('%:t')", "shelf_test.go")
			p.Press("u")
			p.WaitFor("nothing", func(s editortest.Screen) bool { return !s.Contains("func TestTotal(t *testing.T) {") })
			p.Press("C-r")
			p.WaitForText("func TestTotal(t *testing.T) {")
			p.Type(":silent write\n")
			p.WaitForFile(filepath.Join(p.workspace, "shelf_test.go"), newTest)
		})
	}
}

// Of several files those that are out of sight are named.
func TestChangeOfTwoFiles(t *testing.T) {
	p := openShopAs(t, editor{init: compiler + clock, files: map[string]string{"shelf_test.go": oldTest}, env: map[string]string{
		"OLLAMA_HOST": conversing(t, "Tests of total (shelf.go:8-14).\n```diff\n--- a/shelf.go\n+++ b/shelf.go\n@@\n func total(items []Item) int {\n+\t// tested\n \tn := 0\n"+
			"--- a/shelf_test.go\n+++ b/shelf_test.go\n@@\n func TestNone(t *testing.T) {\n+\ttotal(nil)\n }\n```\n", closed()),
	}})
	p.Type(":8,14QuarryRefactor test\n")
	p.waitForChange()
	p.Press("F5", "g", "a")
	p.waitForNoChange()
	p.WaitForText("quarry: Applied, not saved; undo in each: shelf.go, shelf_test.go")
}
