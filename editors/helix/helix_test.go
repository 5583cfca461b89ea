//go:build editors

// This test types in the real Helix, configured as the README says, and looks
// at its screen. `make test-editors` runs it.
package helix_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/editors/editortest"
	"quarry/model/modeltest"
)

var screenshot = flag.String("screenshot", "", "write a picture to this folder: helix-change.svg")

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(editortest.Run(m))
}

const shelf = `// Package stock keeps what lies on a shop's shelves.
package stock

import "sync"

// Shelf is a set of items that goroutines may share.
type Shelf struct {
	mu    sync.Mutex
	items map[string]int
}

`

// open starts Helix on shelf.go and puts the user below the end of it, having typed the head of Take.
func open(t *testing.T) (term *editortest.Terminal, file string) {
	t.Helper()
	model := modeltest.NewServer(t)
	model.Script(func(r modeltest.Request) modeltest.Answer {
		return modeltest.Answer{Pieces: editortest.Recite(shelf+editortest.Take, r.Prompt)}
	})
	term, file = start(t, shelf, model.URL)
	term.Type("func (s *Shelf) Take(name string, n int) bool {\n") // Helix adds the closing brace
	return term, file
}

// start starts Helix on shelf.go and begins a line below the end of it.
func start(t *testing.T, text, model string) (term *editortest.Terminal, file string) {
	t.Helper()
	home, workspace := t.TempDir(), t.TempDir()
	editortest.WriteFile(t, filepath.Join(home, ".config", "helix", "languages.toml"), editortest.FencedBlock(t, "README.md", "toml"))
	editortest.WriteFile(t, filepath.Join(home, ".config", "helix", "config.toml"), settings(t))
	editortest.WriteFile(t, filepath.Join(workspace, ".git", "HEAD"), "ref: refs/heads/main\n")
	file = filepath.Join(workspace, "shelf.go")
	editortest.WriteFile(t, file, text)
	term = editortest.Open(t, editortest.Session{
		Dir: workspace, Home: home,
		Path:    []string{editortest.QuarryFolder},
		Env:     map[string]string{"OLLAMA_HOST": model},
		Rows:    32,
		Command: []string{"hx", "shelf.go"},
	})
	term.WaitForText("NOR")
	term.Press("g", "e", "o")
	return term, file
}

// settings are what the README tells a user to put into config.toml.
func settings(t *testing.T) string {
	t.Helper()
	return "[editor.lsp]\n" + editortest.FencedBlock(t, "README.md", "toml\n[editor.lsp]")
}

// Without a model the first small file is copied from, while the user types and on request.
func TestFirstSignOfLifeWithoutAModel(t *testing.T) {
	term, file := start(t, editortest.Shelf+"\n", "127.0.0.1:1") // else Helix goes on with the comment
	term.Type("func (s *Shelf) Take(name string, n int) {\ns.mu.")
	term.Insist("menu with a copy", func() { term.Press("C-x") }, func(s editortest.Screen) bool { return s.Contains("Lock() text") })
	term.Press("Tab", "Enter")
	normal(term)
	save(term, file, editortest.Shelf+"\nfunc (s *Shelf) Take(name string, n int) {\n\ts.mu.Lock()\n}\n")
}

// In a first file of JavaScript there is nothing to copy from: lines end as they do in most programs, though each of these is half a
// statement.
func TestFirstLinesOfJavaScriptWithoutAModel(t *testing.T) {
	home, workspace := t.TempDir(), t.TempDir()
	languages := strings.ReplaceAll(editortest.FencedBlock(t, "README.md", "toml"), `name = "go"`, `name = "javascript"`)
	editortest.WriteFile(t, filepath.Join(home, ".config", "helix", "languages.toml"), strings.ReplaceAll(languages, `"gopls", `, ""))
	editortest.WriteFile(t, filepath.Join(home, ".config", "helix", "config.toml"), settings(t))
	editortest.WriteFile(t, filepath.Join(workspace, ".git", "HEAD"), "ref: refs/heads/main\n")
	file := filepath.Join(workspace, "first.js")
	editortest.WriteFile(t, file, "")
	term := editortest.Open(t, editortest.Session{
		Dir: workspace, Home: home, Path: []string{editortest.QuarryFolder}, Env: map[string]string{"OLLAMA_HOST": "127.0.0.1:1"}, Rows: 32, Command: []string{"hx", "first.js"},
	})
	term.WaitForText("NOR")
	term.Press("i")
	term.Type("const express = re")
	term.Insist("menu with the usual end", func() { term.Press("BSpace", "e") }, func(s editortest.Screen) bool { return s.Contains("require('express');") })
	term.Press("Tab", "Enter")
	term.Type("\nasync func")
	term.Insist("menu with the usual word", func() { term.Press("BSpace", "c") }, func(s editortest.Screen) bool { return s.Contains("function text") })
	term.Press("Tab", "Enter")
	normal(term)
	save(term, file, "const express = require('express');\nasync function\n")
}

// Several lines, asked for on an empty one.
func TestMenuOnRequest(t *testing.T) {
	term, file := open(t)
	term.Press("C-s") // what comes from here on is undone apart
	// A model that is still being loaded has none.
	term.Insist("menu with the model's answer", func() { term.Press("C-x") }, func(s editortest.Screen) bool {
		return s.Contains("s.mu.Lock() …") // the first line stands for all
	})
	term.Press("Tab")
	term.WaitForText("quarry, granite4.1:3b") // beside the menu, with the code
	term.Press("Enter")
	normal(term)
	save(term, file, shelf+editortest.Take)
	term.Press("u")
	save(term, file, shelf+"func (s *Shelf) Take(name string, n int) bool {\n\t\n}\n")
}

func TestMenuWhileTyping(t *testing.T) {
	term, file := open(t)
	term.Type("s.mu.Lo")
	screen := term.Insist("menu with the model's answer", func() { term.Press("BSpace", "o") }, func(s editortest.Screen) bool {
		return s.Contains("Lock() text") || s.Contains("Lock() … text")
	})
	term.Press("Tab", "Enter")
	normal(term)
	if screen.Contains("Lock() …") {
		// Helix asks a moment after a key, from wherever the cursor is by then. On a busy machine that was the empty line, and what
		// the model wrote there, the whole body, serves what is typed into it.
		save(term, file, shelf+editortest.Take)
		return
	}
	save(term, file, shelf+"func (s *Shelf) Take(name string, n int) bool {\n\ts.mu.Lock()\n}\n")
}

// normal leaves insert mode, once the screen shows it: the screen before the keys that led there has the other mode. The first Escape may only
// close a menu, and a key that comes with one is taken for Alt and that key, so none is pressed in vain.
func normal(term *editortest.Terminal) {
	term.WaitForText("INS ")
	term.Insist("normal mode", func() {
		if term.Screen().Contains("INS ") {
			term.Press("Escape")
		}
	}, func(s editortest.Screen) bool { return s.Contains("NOR ") })
}
