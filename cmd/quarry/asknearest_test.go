package main

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quarry/lsp/headless"
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
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	client, server := net.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, []string{"lsp", "--ollama", noOllama, "--state-dir", t.TempDir(), "--log-level", "error"}, server, server, io.Discard)
		server.Close()
	}()
	profile, err := headless.LoadProfile("neovim")
	if err != nil {
		t.Fatal(err)
	}
	e, err := headless.Connect(ctx, client, headless.Options{Profile: profile, Root: root})
	if err != nil {
		t.Fatal(err)
	}
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
	if _, err := e.Quit(ctx); err != nil {
		t.Error(err)
	}
	<-code
}
