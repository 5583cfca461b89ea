package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Without a model a question is answered by the nearest places.
func TestAskWithoutAModel(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"shelf.go": "package shop\n\n// Reserve takes n items off the shelf.\nfunc Reserve(n int) bool {\n\treturn n > 0\n}\n",
		"till.go":  "package shop\n\nfunc Pay() {}\n",
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, e := serveEditor(t, "neovim", root, "--ollama", noOllama, "--state-dir", t.TempDir())
	var answer struct {
		Text      string
		Unfounded bool
		Citations []struct {
			Path      string
			StartLine int `json:"start_line"`
		}
	}
	// Asked at once, while the folder is being indexed.
	if err := e.Call(ctx, "quarry/ask", map[string]any{"question": "where are items reserved?"}, &answer); err != nil {
		t.Fatal(err)
	}
	if answer.Unfounded || len(answer.Citations) == 0 || answer.Citations[0].Path != "shelf.go" ||
		!strings.Contains(answer.Text, "does not answer") || !strings.Contains(answer.Text, "- shelf.go:") {
		t.Errorf("%+v", answer)
	}
}
