//go:build editors

// This test types in the real Emacs 30 with lsp-mode 10, configured as the
// README says, and looks at its screen. `make test-editors` runs it.
package emacs_test

import (
	"os"
	"path/filepath"
	"testing"

	"quarry/editors/editortest"
	"quarry/model/modeltest"
)

func TestMain(m *testing.M) { os.Exit(editortest.Run(m)) }

const shelf = `"""Look after the shelves."""

import json


def load(path):
    """Read a shelf from its JSON file."""
    with open(path) as file:
        return json.load(file)


`

// save is what the person writes below shelf, the model helping.
const save = `def save(path, shelf):
    """Write a shelf to its JSON file."""
    with open(path, "w") as file:
        json.dump(shelf, file)
`

// open starts Emacs with init on shelf.py, at its end.
func open(t *testing.T, init string) (term *editortest.Terminal, file string) {
	t.Helper()
	model := modeltest.NewServer(t)
	model.Script(func(r modeltest.Request) modeltest.Answer {
		return modeltest.Answer{Pieces: editortest.Recite(shelf+save, r.Prompt)}
	})
	home, workspace := t.TempDir(), t.TempDir()
	editortest.WriteFile(t, filepath.Join(home, ".emacs.d", "init.el"), init)
	editortest.WriteFile(t, filepath.Join(workspace, ".git", "HEAD"), "ref: refs/heads/main\n")
	file = filepath.Join(workspace, "shelf.py")
	editortest.WriteFile(t, file, shelf)
	return editortest.Open(t, editortest.Session{
		Dir: workspace, Home: home,
		Path:    []string{editortest.QuarryFolder},
		Env:     map[string]string{"OLLAMA_HOST": model.URL},
		Command: []string{"emacs", "+12", "shelf.py"},
	}), file
}

func TestGhostTextOfLspMode(t *testing.T) {
	term, file := open(t, editortest.FencedBlock(t, "README.md", "elisp")+
		"(setq lsp-auto-guess-root t)\n") // lsp-mode asks about each new project otherwise
	term.WaitForText("LSP[quarry")
	term.Type("def save(path, shelf):\n")
	term.Type(`"""Write a shelf to its JSON file."""` + "\n")
	// lsp-mode's header line has a sign in the same grey.
	grey := ">\nwith open(path, \"w\") as file:\njson.dump(shelf, file)"
	term.Insist("ghost text", func() { term.Press("Space", "BSpace") }, func(s editortest.Screen) bool { return greyText(s) == grey })
	term.Press("Tab")
	term.Press("C-x", "C-s")
	term.WaitForFile(file, shelf+save)
}

func TestCompletionOfEglot(t *testing.T) {
	term, file := open(t, editortest.FencedBlock(t, "README.md", "lisp"))
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
