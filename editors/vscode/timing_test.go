//go:build editors

package vscode_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/editors/editortest"
	"quarry/model/modeltest"
)

// TestLastKeyToGhostText prints the times that test/timing.mjs takes; how long they may be is for whoever runs it on a quiet machine
// to say: go test -v -tags "sqlite_fts5 editors" ./editors/vscode -run TestLastKeyToGhostText
func TestLastKeyToGhostText(t *testing.T) {
	const tries = 12
	known, rest := editortest.Places(tries)
	model := modeltest.NewServer(t)
	model.Script(func(r modeltest.Request) modeltest.Answer { return modeltest.Answer{Pieces: rest(r.Prompt)} })
	workspace := filepath.Join(t.TempDir(), "stock")
	file := filepath.Join(workspace, "shelf.go")
	editortest.WriteFile(t, file, editortest.Shelf)
	codeServer := made(t)
	t.Log(live(t, "timing.mjs", codeServer, start(t, codeServer, workspace, model.URL), fmt.Sprintf("QUARRY_TRIES=%d", tries)))
	if got, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(got), known) {
		t.Errorf("saved (%v):\n%s", err, got)
	}
}

// Typed through, ghost text is in every frame that the page draws. In how many it is while letters are taken back is printed.
func TestNoFrameWithoutGhostText(t *testing.T) {
	_, rest := editortest.Places(1)
	model := modeltest.NewServer(t)
	model.Script(func(r modeltest.Request) modeltest.Answer { return modeltest.Answer{Pieces: rest(r.Prompt)} })
	workspace := filepath.Join(t.TempDir(), "stock")
	editortest.WriteFile(t, filepath.Join(workspace, "shelf.go"), editortest.Shelf)
	codeServer := made(t)
	t.Log(live(t, "frames.mjs", codeServer, start(t, codeServer, workspace, model.URL)))
}
