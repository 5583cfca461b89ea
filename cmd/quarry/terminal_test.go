package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/cmd/internal/cli"
	"quarry/cmd/internal/cli/clitest"
	"quarry/cmd/internal/engines"
	"quarry/index/systest"
	"quarry/model/modeltest"
)

const hostile = clitest.Hostile

// Y2: nothing of a repository, a model, a model server or a file of the user's steers the
// terminal, whatever command prints it.
func TestNoCommandPrintsWhatSteersTheTerminal(t *testing.T) {
	systest.NeedNames(t)
	root := t.TempDir()
	name := "retry" + clitest.HostileName + ".go"
	for file, text := range map[string]string{
		".git/HEAD": "ref: refs/heads/main\n",
		name:        "package a\n\n// Retry retries. " + strings.ReplaceAll(hostile, "\r", "") + "\nfunc Retry() {}\n",
		"b.py":      "class Retry" + "\u200b:\n    '''" + hostile + "'''\n    def retry\u202e(self):\n        return 1\n",
		"c.md":      "# Retry " + hostile + "\n\nretry retry\n",
		"d.go":      "package a\n\nfunc d() {\n\tRetry(\n}\n",
		// What is left out, by a name.
		"x" + clitest.HostileName + ".png": "",
		// What quarry setup would write into.
		"CLAUDE.md": "# " + hostile + "\n",
		"m.gguf":    "GGUF" + hostile,
	} {
		writeText(t, filepath.Join(root, filepath.FromSlash(file)), text)
	}
	server := modeltest.NewServer(t)
	server.Script(func(r modeltest.Request) modeltest.Answer {
		if strings.Contains(r.Prompt, "<|start_of_role|>") {
			return modeltest.Answer{Pieces: []string{"It retries d.go:3-4. ", hostile, " d.go:3-4\n\n- d.go:3-4 " + hostile}}
		}
		return modeltest.Answer{Pieces: []string{"1", hostile, ")\n"}}
	})
	evil := hostileOllama(t)
	t.Setenv("HOME", t.TempDir())
	clitest.UserConfig(t, t.TempDir())
	t.Setenv("QUARRY_STATE_DIR", t.TempDir())
	t.Setenv("OLLAMA_HOST", server.URL)
	t.Chdir(root)
	catalogue, err := json.Marshal(map[string]any{"version": 1, "models": []map[string]any{
		{"name": "a" + hostile, "use": "completion", "licence": hostile, "about": hostile, "digest": hostile, "memory": 1},
		{"name": "b" + hostile, "use": "search", "url": "http://127.0.0.1:1/" + hostile, "sha256": hostile, "download": 1},
	}})
	if err != nil {
		t.Fatal(err)
	}
	writeText(t, engines.CataloguePath(), string(catalogue))
	for _, config := range []string{".claude.json", ".codex/config.toml", ".config/zed/settings.json"} {
		writeText(t, filepath.Join(os.Getenv("HOME"), config), "{ "+hostile)
	}

	with := func(url string, args ...string) []string { return append(args, "--ollama", url) }
	clitest.NothingSteers(t, (&app{&cli.Env{}}).root(), run, 3, [][]string{
		{"index"}, {"status"}, {"search", "retry"}, {"search", "--mode", "symbols", "Retry"}, {"search", "retry", hostile}, {"search", "kind:" + hostile},
		{"search", "--format", "vimgrep", "retry"}, {"search", "--format", "quickfix", "retry"}, {"search", "--format", "sarif", "retry"}, {"search", "--format", hostile, "retry"}, {"search", "lines:all retry"},
		{"search", "--similar", name + ":3-4"}, {"search", "panic: " + hostile + "\n\tat Retry (" + name + ":3)"},
		{"man", "d.go/" + hostile}, {"complete", "d.go:4:8"}, {"complete", "--show-prompt", "d.go:4:8"}, {"complete", name + ":9:9"},
		{"complete", name + ":4:16"}, {"ask", "how does it retry"}, {"ask", "--trace", "--about", name + ":3-4", "how"}, {"explain", "d.go:4"}, {"explain", "--message", hostile, name + ":4"},
		{"report"}, {"report", "--outline", "--prompt", "c.md"}, {"report", "--prompt", hostile}, {"report", "--repo", hostile}, {"report", "--json"}, {"stats"}, {"stats", "--json"}, {"doctor"}, {"doctor", "--model", hostile}, {"demo", hostile}, {"demo"}, {hostile}, {"search", "--" + hostile}, {"--workspace", root + hostile, "status"}, {"version"}, {"help", hostile},
		{"--log-level", "debug", "search", "retry"}, {"--log-level", hostile, "status"}, {"--ollama", hostile, "status"}, {"lsp", "--" + hostile}, {"lsp", "--listen", hostile}, {"mcp", hostile}, {"serve", hostile}, {"serve", "--status"},
		{"serve", "--websocket", hostile}, {"serve", "pair", hostile}, {"serve", "devices"}, {"serve", "revoke", hostile}, {"serve", "join", hostile, hostile}, {"serve", "join", "127.0.0.1:1", hostile}, {"search", "--at", hostile, "retry"},
		{"model"}, {"model", "status"}, {"model", "list"}, {"model", "catalogue"}, {"model", "use", hostile}, {"model", "verify", hostile}, {"model", "pull", hostile}, {"model", "fetch", hostile},
		{"model", "pull"}, {"model", "pull", "b" + hostile}, {"model", "import", "m.gguf", hostile}, {"model", "import", hostile}, {"model", "rm", hostile, "--yes"}, {"model", "clean", "--yes"},
		with(evil, "model"), with(evil, "model", "list"), with(evil, "model", "status"), with(evil, "model", "use", "a"+hostile), with(evil, "model", "verify", "a"+hostile), with(evil, "model", "pull", "x", "--yes"),
		with(evil, "model", "import", "m.gguf", "x"), with(evil, "model", "rm", "a"+hostile, "--yes"), with(evil, "model", "rm", "a"+hostile), with(evil, "doctor"), with(evil, "complete", "d.go:4:8"),
		{"setup"}, {"setup", hostile}, {"setup", "nvim", "--print"}, {"setup", "claude", "--print"}, {"setup", "codex", "--print"}, {"setup", "zed", "--print"}, {"setup", "zed", "--undo"},
	})
}

// hostileOllama is a server that says nothing but hostile things, in every answer that an
// Ollama gives; it fails in words like that where it is asked to generate.
func hostileOllama(t *testing.T) (url string) {
	t.Helper()
	mux := http.NewServeMux()
	say := func(pattern string, v any) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(v) })
	}
	one := map[string]any{
		"name": "a" + hostile, "model": "a" + hostile, "digest": hostile + hostile, "size": -1, "size_vram": 7,
		"details": map[string]any{"family": hostile, "quantization_level": hostile},
	}
	say("GET /api/version", map[string]string{"version": hostile})
	say("GET /api/tags", map[string]any{"models": []any{one, one}})
	say("GET /api/ps", map[string]any{"models": []any{one}})
	say("POST /api/show", map[string]any{"details": one["details"], "template": hostile, "model_info": map[string]any{"general.architecture": hostile}, "capabilities": []string{hostile}})
	say("POST /api/pull", map[string]string{"error": "no " + hostile})
	say("DELETE /api/delete", map[string]string{"error": "no " + hostile})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		raw, _ := json.Marshal("no " + hostile) // a string always encodes
		fmt.Fprintf(w, `{"error":%s}`, raw)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

func writeText(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// writeAll writes files below a folder, named with slashes.
func writeAll(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		writeText(t, filepath.Join(root, filepath.FromSlash(name)), text)
	}
}
