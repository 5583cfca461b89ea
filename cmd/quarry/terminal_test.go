package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"quarry/index/visible"
	"quarry/model/modeltest"
)

// hostile does to a terminal what text must not: it writes the clipboard, makes a
// link, sets the title, clears the screen, hides what follows, goes back over it,
// and turns its direction; in seven bits, in eight, and in Unicode.
const hostile = "\x1b]52;c;Y3VybCBldmls\x07\x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\\x1b]0;title\x07\x1b[2J\x1b[8m\b\b\x7f\r\u009b2J\u202e\u2066\u200b\U000e0041"

// Y2: nothing of a repository or a model steers the terminal, whatever command
// prints it.
func TestNoCommandPrintsWhatSteersTheTerminal(t *testing.T) {
	root := t.TempDir()
	name := "retry" + strings.ReplaceAll(hostile, "/", "|") + ".go"
	for file, text := range map[string]string{
		".git/HEAD": "ref: refs/heads/main\n",
		name:        "package a\n\n// Retry retries. " + strings.ReplaceAll(hostile, "\r", "") + "\nfunc Retry() {}\n",
		"b.py":      "class Retry" + "\u200b:\n    '''" + hostile + "'''\n    def retry\u202e(self):\n        return 1\n",
		"c.md":      "# Retry " + hostile + "\n\nretry retry\n",
		"d.go":      "package a\n\nfunc d() {\n\tRetry(\n}\n",
		// What is left out, by a name.
		"x" + strings.ReplaceAll(hostile, "/", "|") + ".png": "",
	} {
		path := filepath.Join(root, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	server := modeltest.NewServer(t)
	server.Script(func(r modeltest.Request) modeltest.Answer {
		if strings.Contains(r.Prompt, "<|start_of_role|>") {
			return modeltest.Answer{Pieces: []string{"It retries d.go:3-4. ", hostile, " d.go:3-4\n\n- d.go:3-4 " + hostile}}
		}
		return modeltest.Answer{Pieces: []string{"1", hostile, ")\n"}}
	})
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("QUARRY_STATE_DIR", t.TempDir())
	t.Setenv("OLLAMA_HOST", server.URL)
	t.Chdir(root)

	commands := [][]string{
		{"index"}, {"status"}, {"search", "retry"}, {"search", "--mode", "symbols", "Retry"}, {"search", "retry", hostile}, {"search", "kind:" + hostile},
		{"search", "--similar", name + ":3-4"}, {"complete", "d.go:4:8"}, {"complete", "--show-prompt", "d.go:4:8"}, {"complete", name + ":9:9"},
		{"complete", name + ":4:16"}, {"ask", "how does it retry"}, {"ask", "--trace", "--about", name + ":3-4", "how"}, {"explain", "d.go:4"}, {"explain", "--message", hostile, name + ":4"},
		{"doctor"}, {"doctor", "--model", hostile}, {"demo", hostile}, {hostile}, {"search", "--" + hostile}, {"--workspace", root + hostile, "status"}, {"version"}, {"help", hostile},
		{"--log-level", "debug", "search", "retry"}, {"--log-level", hostile, "status"}, {"--ollama", hostile, "status"},
		{"model"}, {"model", "use", hostile}, {"model", "fetch", hostile}, {"model", "remove", hostile}, {"setup"}, {"setup", hostile}, {"setup", "nvim", "--print"},
	}
	attempts, shown := 0, 0
	for _, args := range commands {
		for _, asJSON := range []bool{false, true} {
			if asJSON {
				args = append(args[:len(args):len(args)], "--json")
			}
			attempts++
			var out, stderr bytes.Buffer
			run(t.Context(), args, strings.NewReader(""), &out, &stderr)
			for what, text := range map[string]string{"output": out.String(), "error": stderr.String()} {
				if i := strings.IndexFunc(text, visible.Hidden); i >= 0 || !utf8.ValidString(text) {
					t.Errorf("quarry %q: the %s has %q", args, what, text[max(0, i-40):min(len(text), max(0, i)+40)])
				}
				if strings.Contains(text, "52;c;Y3Vyb") {
					shown++
				}
			}
			if dec := json.NewDecoder(&out); asJSON && !strings.Contains(args[0], "help") {
				for {
					var v any
					if err := dec.Decode(&v); err == io.EOF {
						break
					} else if err != nil {
						t.Errorf("quarry %q: %v", args, err)
						break
					}
				}
			}
		}
	}
	t.Logf("%d attempts, in %d of which the attack stands on the screen, made visible", attempts, shown)
	if shown < attempts/3 {
		t.Errorf("in only %d of %d attempts something hostile was printed: the test shows little", shown, attempts)
	}
}
