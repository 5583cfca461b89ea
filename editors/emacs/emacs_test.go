//go:build editors

// This test types in the real Emacs 30 with lsp-mode 10, configured as the
// README says, and looks at its screen. `make test-editors` runs it.
package emacs_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/editors/editortest"
	"quarry/model/modeltest"
)

var screenshot = flag.String("screenshot", "", "write the screen with ghost text, with a change and with an answer to this folder, as emacs-ghost-text.svg, emacs-change.svg and emacs-answer.svg")

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(editortest.Run(m))
}

const shelf = `"""Look after the shelves."""

import json


def load(path):
    """Read a shelf from its JSON file."""
    with open(path) as file:
        return json.load(file)


`

// save is what the user writes below shelf, the model helping.
const save = `def save(path, shelf):
    """Write a shelf to its JSON file."""
    with open(path, "w") as file:
        json.dump(shelf, file)
`

// editor is an Emacs to start.
type editor struct {
	files      map[string]string // more files of the workspace, by name
	file, text string
	line       int // where the cursor is at first, 1-based
	init       string
	model      string // the URL of one
	columns    int    // of the screen; 120 if 0
	rows       int    // of the screen; 40 if 0
}

// start starts Emacs on a file in a workspace of its own.
func start(t *testing.T, e editor) (term *editortest.Terminal, file string) {
	t.Helper()
	home, workspace := t.TempDir(), t.TempDir()
	editortest.WriteFile(t, filepath.Join(home, ".emacs.d", "init.el"), e.init)
	// Each test has a home of its own, in which Emacs would begin to compile lsp-mode to machine code.
	editortest.WriteFile(t, filepath.Join(home, ".emacs.d", "early-init.el"), "(setq native-comp-jit-compilation nil)\n")
	editortest.WriteFile(t, filepath.Join(workspace, ".git", "HEAD"), "ref: refs/heads/main\n")
	for name, text := range e.files {
		editortest.WriteFile(t, filepath.Join(workspace, name), text)
	}
	file = filepath.Join(workspace, e.file)
	editortest.WriteFile(t, file, e.text)
	return editortest.Open(t, editortest.Session{
		Dir: workspace, Home: home,
		Binds:   []string{filepath.Join(editortest.Module(t), "editors", "emacs")},
		Path:    []string{editortest.QuarryFolder},
		Env:     map[string]string{"OLLAMA_HOST": e.model},
		Columns: cmp.Or(e.columns, 120), Rows: cmp.Or(e.rows, 40),
		Command: []string{"emacs", fmt.Sprintf("+%d", e.line), e.file},
	}), file
}

// lspMode is what the README has a user write for lsp-mode.
func lspMode(t *testing.T) string {
	// lsp-mode asks about each new project otherwise, and the pictures are of quarry.
	return configuration(t, "elisp") + "(setq lsp-auto-guess-root t lsp-headerline-breadcrumb-enable nil lsp-modeline-code-actions-enable nil)\n(menu-bar-mode -1)\n"
}

// eglot is what the README has a user write for eglot.
func eglot(t *testing.T) string { return configuration(t, "lisp") }

func configuration(t *testing.T, language string) string {
	t.Helper()
	return strings.ReplaceAll(editortest.FencedBlock(t, "README.md", language), "/path/to/quarry", editortest.Module(t))
}

// openShelf starts Emacs with init on shelf.py, at its end.
func openShelf(t *testing.T, init string) (term *editortest.Terminal, file string) {
	t.Helper()
	model := modeltest.NewServer(t)
	model.Script(func(r modeltest.Request) modeltest.Answer {
		return modeltest.Answer{Pieces: editortest.Recite(shelf+save, r.Prompt)}
	})
	return start(t, editor{file: "shelf.py", text: shelf, init: init, model: model.URL, line: 12})
}

func TestGhostTextOfLspMode(t *testing.T) {
	term, file := openShelf(t, lspMode(t))
	term.WaitForText("LSP[quarry")
	term.Type("def save(path, shelf):\n")
	term.Type(`"""Write a shelf to its JSON file."""` + "\n")
	grey := "with open(path, \"w\") as file:\njson.dump(shelf, file)"
	screen := term.Insist("ghost text", func() { term.Press("Space", "BSpace") }, func(s editortest.Screen) bool { return greyText(s) == grey })
	screen.Picture(t, *screenshot, "emacs-ghost-text.svg", "shelf.py — Emacs")
	term.Press("Tab")
	term.Press("C-x", "C-s")
	term.WaitForFile(file, shelf+save)
}

func TestCompletionOfEglot(t *testing.T) {
	term, file := openShelf(t, eglot(t))
	term.WaitForText("eglot:")
	term.Type("def save(path, shelf):\n")
	term.Type(`"""Write a shelf to its JSON file."""` + "\n")
	term.Insist("completion", func() { term.Press("C-M-i") }, func(s editortest.Screen) bool {
		return s.Contains("json.dump(shelf, file)")
	})
	term.Press("C-x", "C-s")
	term.WaitForFile(file, shelf+save)
}

// greyText is the text on the screen in the colour of the face shadow, without the blanks around each line.
func greyText(s editortest.Screen) string {
	return s.Styled(func(style editortest.Style) bool { return style.Foreground == "#b3b3b3" })
}
