//go:build editors

// Package vim_test types in the real Vim 9 with generic LSP plugins, configured as docs/any-editor.md
// says, and looks at its screen. `make test-editors` runs it.
package vim_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/editors/editortest"
	"quarry/model/modeltest"
)

func TestMain(m *testing.M) { os.Exit(editortest.Run(m)) }

// yegappan is the commit of the plugin that the page is tried with.
const yegappan = "33aef9d2f041d16f6e0c0adc9f486a5cf3724924"

// open starts Vim with a vimrc on shelf.go and puts the user below its end.
func open(t *testing.T, vimrc string, binds ...string) (term *editortest.Terminal, file string) {
	t.Helper()
	model := modeltest.NewServer(t)
	model.Script(func(r modeltest.Request) modeltest.Answer {
		return modeltest.Answer{Pieces: editortest.Recite(editortest.Shelf+editortest.Take, r.Prompt)}
	})
	home, workspace := t.TempDir(), t.TempDir()
	editortest.WriteFile(t, filepath.Join(home, ".vimrc"), "set nocompatible nobackup noswapfile\nfiletype plugin on\n"+vimrc)
	editortest.WriteFile(t, filepath.Join(workspace, "go.mod"), "module stock\n\ngo 1.26\n")
	file = filepath.Join(workspace, "shelf.go")
	editortest.WriteFile(t, file, editortest.Shelf)
	term = editortest.Open(t, editortest.Session{
		Root: "clients",
		Dir:  workspace, Home: home,
		Binds:   binds,
		Path:    []string{editortest.QuarryFolder},
		Env:     map[string]string{"OLLAMA_HOST": model.URL},
		Rows:    36,
		Command: []string{"vim", "shelf.go"},
	})
	term.WaitForText("package stock")
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
	term, file := open(t, block(t, "ale#linter"))
	takeTheMenusEntry(t, term, file, "s.mu.Lock")
}

// yegappan/lsp takes it whole.
func TestYegappan(t *testing.T) {
	plugin := editortest.Plugin(t, "yegappan/lsp", yegappan)
	term, file := open(t, "set runtimepath^="+plugin+"\nruntime plugin/lsp.vim\n"+block(t, "LspAddServer"), plugin)
	takeTheMenusEntry(t, term, file, "s.mu.Lock()")
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
