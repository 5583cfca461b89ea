package headless

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEveryEditorIsComplete: an editor has a folder with a README that the project's
// README links to, and a profile of how it speaks; CONTRIBUTING.md has the steps.
func TestEveryEditorIsComplete(t *testing.T) {
	root := filepath.Join("..", "..")
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	editors, err := os.ReadDir(filepath.Join(root, "editors"))
	if err != nil {
		t.Fatal(err)
	}
	otherNames := map[string][]string{"nvim": {"neovim"}, "emacs": {"eglot", "lsp-mode"}}
	seen := 0
	for _, e := range editors {
		if !e.IsDir() || e.Name() == "editortest" {
			continue
		}
		seen++
		if _, err := os.Stat(filepath.Join(root, "editors", e.Name(), "README.md")); err != nil {
			t.Errorf("%s has no README: %v", e.Name(), err)
		}
		if !strings.Contains(string(readme), "editors/"+e.Name()+"/README.md") {
			t.Errorf("README.md does not link to editors/%s/README.md", e.Name())
		}
		names := otherNames[e.Name()]
		if names == nil {
			names = []string{e.Name()}
		}
		for _, name := range names {
			if _, err := LoadProfile(name); err != nil {
				t.Errorf("%s: %v", e.Name(), err)
			}
		}
	}
	if seen < 4 {
		t.Errorf("%d editors found; the test looks in the wrong place", seen)
	}
}
