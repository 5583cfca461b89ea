//go:build editors

package helix_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"quarry/editors/editortest"
	"quarry/model/modeltest"
)

// Whatever a file is called, an answer names it as it is called, within the signs of code: Helix shows pages as text.
func TestCitationsOfOddNames(t *testing.T) {
	model := modeltest.NewServer(t)
	model.Script(func(r modeltest.Request) modeltest.Answer {
		return modeltest.Answer{Pieces: editortest.OddAnswer(r.Prompt)}
	})
	home, workspace := t.TempDir(), t.TempDir()
	editortest.WriteFile(t, filepath.Join(home, ".config", "helix", "languages.toml"), editortest.FencedBlock(t, "README.md", "toml"))
	editortest.WriteFile(t, filepath.Join(home, ".config", "helix", "config.toml"), settings(t))
	editortest.WriteFile(t, filepath.Join(workspace, ".git", "HEAD"), "ref: refs/heads/main\n")
	editortest.WriteFile(t, filepath.Join(workspace, "shop.go"), editortest.Shop)
	for name, text := range editortest.OddFiles() {
		editortest.WriteFile(t, filepath.Join(workspace, name), text)
	}
	term := editortest.Open(t, editortest.Session{
		Dir: workspace, Home: home,
		Path:    []string{editortest.QuarryFolder},
		Env:     map[string]string{"OLLAMA_HOST": model.URL},
		Columns: 100,
		Rows:    40,
		Command: []string{"hx", "shop.go"},
	})
	term.WaitForText("NOR")
	for row, question := range editortest.OddQuestions {
		term.Insist("answer", func() { term.Type(":lsp-workspace-command quarry.ask \"" + question + "\"\n") }, func(s editortest.Screen) bool {
			return s.Contains("counted** field by field, as `__init__` wants it.") && s.Contains("# "+question)
		})
		for i, name := range editortest.OddNames[row] {
			place := fmt.Sprintf("%[1]s:%[2]d-%[2]d", name, editortest.OddLine)
			if name != "a+b.ts" {
				place = "`" + place + "`"
			}
			term.WaitForText(fmt.Sprintf("field %d (%s)", i, place))
		}
	}
}
