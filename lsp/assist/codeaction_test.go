package assist

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/agent"
)

// TestEveryRefactoringIsComplete: what a refactoring needs beside its row in
// agent.Refactorings is in the files below; CONTRIBUTING.md has the steps.
func TestEveryRefactoringIsComplete(t *testing.T) {
	root := filepath.Join("..", "..")
	read := func(path string) string {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
		if err != nil {
			t.Errorf("%v: write it", err)
		}
		return string(text)
	}
	mentions := map[string]string{ // file -> how it names a refactoring
		"docs/protocol.md":                   "`KIND`",
		"editors/vscode/src/assist.ts":       "refactoring: 'KIND'",
		"editors/emacs/quarry.el":            `"KIND"`,
		"editors/nvim/lua/quarry/assist.lua": "'KIND'",
	}
	kinds := []agent.Refactoring{agent.Free}
	for _, r := range agent.Refactorings {
		kinds = append(kinds, r.Kind)
		for path := range mentions {
			if path != "docs/protocol.md" && !strings.Contains(read(path), r.Title) {
				t.Errorf("%s does not show the title %q of %s", path, r.Title, r.Kind)
			}
		}
	}
	for _, kind := range kinds {
		for path, form := range mentions {
			if kind == agent.Free && path != "docs/protocol.md" {
				continue // editors have their own ways to ask for words
			}
			if name := strings.ReplaceAll(form, "KIND", string(kind)); !strings.Contains(read(path), name) {
				t.Errorf("%s does not name %s", path, name)
			}
		}
		for _, part := range []string{"system", "user"} {
			read("diagnostics/prompts/" + string(kind) + "." + part + ".tmpl")
		}
	}
}
