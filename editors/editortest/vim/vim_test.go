//go:build editors

// Package vim_test types in the real Vim 9 with generic LSP plugins, configured as docs/any-editor.md
// says, and looks at its screen. `make test-editors` runs it.
package vim_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quarry/editors/editortest"
	"quarry/model/modeltest"
)

func TestMain(m *testing.M) { os.Exit(editortest.Run(m)) }

// yegappan is the commit of the plugin that the page is tried with.
const yegappan = "33aef9d2f041d16f6e0c0adc9f486a5cf3724924"

// open starts Vim with a vimrc on a file with a text, and a model that answers prompts.
func open(t *testing.T, name, text string, answer func(prompt string) []string, vimrc string, binds ...string) (term *editortest.Terminal, file string) {
	t.Helper()
	model := modeltest.NewServer(t)
	model.Script(func(r modeltest.Request) modeltest.Answer { return modeltest.Answer{Pieces: answer(r.Prompt)} })
	home, workspace := t.TempDir(), t.TempDir()
	editortest.WriteFile(t, filepath.Join(home, ".vimrc"), "set nocompatible nobackup noswapfile\nfiletype plugin on\n"+vimrc)
	editortest.WriteFile(t, filepath.Join(workspace, "go.mod"), "module stock\n\ngo 1.26\n")
	file = filepath.Join(workspace, name)
	editortest.WriteFile(t, file, text)
	term = editortest.Open(t, editortest.Session{
		Root: "clients",
		Dir:  workspace, Home: home,
		Binds:   binds,
		Path:    []string{editortest.QuarryFolder},
		Env:     map[string]string{"OLLAMA_HOST": model.URL},
		Rows:    36,
		Command: []string{"vim", name},
	})
	term.WaitForText(strings.SplitN(text, "\n", 2)[0])
	return term, file
}

// openShelf opens shelf.go and puts the user below its end.
func openShelf(t *testing.T, vimrc string, binds ...string) (term *editortest.Terminal, file string) {
	t.Helper()
	recite := func(prompt string) []string { return editortest.Recite(editortest.Shelf+editortest.Take, prompt) }
	term, file = open(t, "shelf.go", editortest.Shelf, recite, vimrc, binds...)
	term.Press("G", "o")
	term.Type("func (s *Shelf) Take(name string, n int) bool {\n\ts.mu.Lo")
	return term, file
}

// takeTheMenusEntry types on until the model's answer stands in the menu, takes it, and looks at what is saved.
func takeTheMenusEntry(t *testing.T, term *editortest.Terminal, file, line string) {
	t.Helper()
	term.Insist("menu with the model's answer", func() { term.Press("BSpace", "o") }, func(s editortest.Screen) bool {
		return s.Contains("quarry") // who says it, beside the entry
	})
	term.Press("C-n", "C-y", "Escape")
	term.Type(":w\n")
	term.WaitForFile(file, editortest.Shelf+"func (s *Shelf) Take(name string, n int) bool {\n\t"+line+"\n")
}

// ALE is in Debian and other distributions. It takes an entry as a word, up to its first bracket.
func TestALE(t *testing.T) {
	term, file := openShelf(t, block(t, "ale#linter"))
	takeTheMenusEntry(t, term, file, "s.mu.Lock")
	// It says that it makes no changes, so it is offered none.
	term.Type("ggVG:ALECodeAction\n")
	term.WaitFor("answer to it", func(s editortest.Screen) bool {
		if s.Contains("Simplify") {
			t.Fatalf("a change is offered:\n%s", s.Framed())
		}
		return s.Contains("No code actions received from server")
	})
}

// yegappan/lsp takes it whole.
func TestYegappan(t *testing.T) {
	vimrc, plugin := withYegappan(t)
	term, file := openShelf(t, vimrc, plugin)
	takeTheMenusEntry(t, term, file, "s.mu.Lock()")
}

// withYegappan is a vimrc with the plugin, which is in a folder and loaded after it, as plugin managers have it.
func withYegappan(t *testing.T) (vimrc, folder string) {
	t.Helper()
	folder = editortest.Plugin(t, "yegappan/lsp", yegappan)
	return "set runtimepath^=" + folder + "\n" + block(t, "LspAddServer"), folder
}

// The plugin has no page to show a change on, and what it echoes is gone by the next question: the lines of the
// change stand among the choices, so that who can say yes has seen them.
func TestAChangeIsSeenBeforeItIsAgreedTo(t *testing.T) {
	vimrc, plugin := withYegappan(t)
	term, file := open(t, "shop.go", editortest.Shop, editortest.ShopAnswer, vimrc, plugin)
	ask := func() {
		t.Helper()
		menu := func(s editortest.Screen) bool { return s.Contains("3. Simplify (quarry)") && s.Contains("Type number") }
		term.Insist("menu of refactorings", func() {
			term.Press("Escape")
			term.Type(":8,14LspCodeAction\n")
			term.Within(20*time.Second, menu) // a menu that comes late would lie over the question
		}, menu)
		term.Type("3\n")
		term.WaitFor("the change and the question at once", func(s editortest.Screen) bool {
			return s.Contains("quarry: Apply the lines below to shop.go?") && s.Contains("1. Discard") &&
				s.Contains("2. -11          n += it.Counts") && s.Contains("3. +11          n += it.Count") && s.Contains("4. Apply")
		})
	}
	for _, no := range []string{"", "1", "3"} { // a stray Enter, no, and a line of the change
		ask()
		term.Type(no + "\n")
		term.Insist("code alone", func() { term.Press("Escape") }, func(s editortest.Screen) bool { // it ends what Vim says
			return s.Contains("n += it.Counts") && !s.Contains("4. Apply")
		})
	}
	ask()
	term.Type("4\n")
	term.WaitFor("change", func(s editortest.Screen) bool { return s.Contains("n += it.Count") && !s.Contains("it.Counts") })
	term.Type(":w\n")
	term.WaitForFile(file, editortest.Mended)
	term.Insist("one undo", func() { term.Press("Enter", "u") }, func(s editortest.Screen) bool { // Enter ends what Vim says of the file
		return s.Contains("n += it.Counts")
	})
	term.Type(":w\n")
	term.WaitForFile(file, editortest.Shop)
}

// block is the page's block for a vimrc that contains a text.
func block(t *testing.T, contains string) string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/any-editor.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range strings.Split(string(text), "```vim\n")[1:] {
		if block, _, _ = strings.Cut(block, "```"); strings.Contains(block, contains) {
			return block
		}
	}
	t.Fatalf("the page has no block with %s", contains)
	return ""
}
