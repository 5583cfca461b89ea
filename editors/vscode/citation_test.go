//go:build editors

package vscode_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"quarry/editors/editortest"
	"quarry/model/modeltest"
)

// TestCitationsOfOddNames: whatever a file is called, an answer names it as it is called, and a click goes there, as test/citations.mjs says.
func TestCitationsOfOddNames(t *testing.T) {
	model := modeltest.NewServer(t)
	model.Script(func(r modeltest.Request) modeltest.Answer {
		return modeltest.Answer{Pieces: editortest.OddAnswer(r.Prompt)}
	})
	workspace := filepath.Join(t.TempDir(), "shop")
	editortest.WriteFile(t, filepath.Join(workspace, "shop.ts"), shop)
	for name, text := range editortest.OddFiles() {
		editortest.WriteFile(t, filepath.Join(workspace, name), text)
	}
	codeServer := made(t)
	live(t, "citations.mjs", codeServer, start(t, codeServer, workspace, model.URL), steps(t, map[string]func() (string, error){
		"names": func() (string, error) {
			names, err := json.Marshal(map[string]any{"questions": editortest.OddQuestions, "names": editortest.OddNames, "line": editortest.OddLine, "code": editortest.OddCode})
			return string(names), err
		},
	}))
}
