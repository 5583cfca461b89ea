package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry/cmd/internal/cli/clitest"
	"quarry/lsp"
	"quarry/lsp/settings"
)

// An editor opened at home is told that nothing is indexed there and what to do; only
// the user's answer to a question, or the user's own settings, allow it.
func TestWideFolderInAnEditor(t *testing.T) {
	home := wideHome(t)
	ctx, e := serveEditor(t, "vscode", home, "--state-dir", t.TempDir(), "--ollama", noOllama)
	refused := func(text string) bool {
		return strings.Contains(text, home+" is not indexed unasked, since it is your home folder")
	}
	if err := e.Await(ctx, func() bool { return slices.ContainsFunc(e.Shown(), refused) }); err != nil {
		t.Fatalf("%v: %q", err, e.Shown())
	}
	search := func() (string, error) {
		var got json.RawMessage
		err := e.Call(ctx, "quarry/search.lexical", map[string]any{"query": "apples"}, &got)
		return string(got), err
	}
	if got, err := search(); err == nil || !refused(err.Error()) {
		t.Errorf("before: %s, %v", got, err)
	}

	// A workspace's settings reach quarry as the editor's do.
	if err := e.Configure(map[string]any{"index": map[string]any{"wideFolders": []string{"~", home}}}); err != nil {
		t.Fatal(err)
	}
	ignored := func(text string) bool { return strings.Contains(text, "index.wideFolders: not taken from the editor") }
	if err := e.Await(ctx, func() bool { return slices.ContainsFunc(e.Shown(), ignored) }); err != nil {
		t.Fatalf("%v: %q", err, e.Shown())
	}
	if got, err := search(); err == nil || !refused(err.Error()) {
		t.Errorf("with the workspace's settings: %s, %v", got, err)
	}

	// The status offers a command, which asks.
	var status struct{ Now lsp.StatusNote }
	if err := e.Call(ctx, "quarry/status", nil, &status); err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(status.Now.Remedies, func(r lsp.Remedy) bool { return r.Command == lsp.CommandIndex })
	if at < 0 || !slices.ContainsFunc(status.Now.Problems, refused) || !strings.Contains(status.Now.Detail, "not indexed unasked") {
		t.Fatalf("status: %+v", status.Now)
	}
	for _, answer := range []string{"", "Cancel", "Index it"} {
		r := status.Now.Remedies[at]
		if err := e.Call(ctx, "workspace/executeCommand", map[string]any{"command": r.Command, "arguments": r.Arguments}, nil); err != nil {
			t.Fatal(err)
		}
		err := e.Attend(ctx, func(question string, choices []string) string {
			if !strings.Contains(question, "Index "+home+"?") || !slices.Equal(choices, []string{"Cancel", "Index it"}) {
				t.Errorf("asked %q, %q", question, choices)
			}
			return answer
		})
		if err != nil {
			t.Fatal(err)
		}
		if answer == "Index it" {
			break
		}
		if got, err := search(); err == nil || !refused(err.Error()) {
			t.Errorf("after %q: %s, %v", answer, got, err)
		}
	}
	if err := e.Await(ctx, func() bool {
		return slices.ContainsFunc(e.Shown(), func(text string) bool { return strings.Contains(text, "is indexed from now on") })
	}); err != nil {
		t.Fatalf("%v: %q", err, e.Shown())
	}
	for {
		got, err := search()
		if err == nil {
			if !strings.Contains(got, "letter.md") {
				t.Errorf("afterwards: %s", got)
			}
			break
		}
		if ctx.Err() != nil {
			t.Fatal(err) // the settings are applied behind the message
		}
	}
	var file map[string][]string
	raw, err := os.ReadFile(settings.UserFilePath())
	if err := json.Unmarshal(raw, &file); err != nil || !slices.Equal(file["index.wideFolders"], []string{home}) {
		t.Errorf("settings: %s, %v", raw, err)
	}
	if err != nil {
		t.Error(err)
	}
}

// An agent at home is told the same by every tool that needs the index or reads files.
func TestWideFolderForAnAgent(t *testing.T) {
	home := wideHome(t)
	call := overMCP(t, home, t.TempDir())
	for tool, args := range map[string]map[string]any{
		"codebase_search": {"query": "apples"},
		"search_symbols":  {"name": "Apples"},
		"list_files":      {},
		"read_file":       {"path": "letter.md", "start_line": 1, "end_line": 2},
		"get_outline":     {"path": "letter.md"},
	} {
		if got := call(tool, args); !strings.Contains(got, "is not indexed unasked, since it is your home folder") || !strings.Contains(got, "not_ready") || strings.Contains(got, "# Apples") {
			t.Errorf("%s: %s", tool, got)
		}
	}
}

// wideHome is a home folder with a letter in it, and settings of its own.
func wideHome(t *testing.T) string {
	home := filepath.Join(t.TempDir(), "u")
	if err := os.MkdirAll(home, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "letter.md"), []byte("# Apples\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	clitest.UserConfig(t, t.TempDir())
	return home
}
