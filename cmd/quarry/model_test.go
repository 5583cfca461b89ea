package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/lsp/settings"
	"quarry/model/ollamatest"
)

// userSettings gives the test a settings file of its own and answers its path.
func userSettings(t *testing.T, text string) string {
	t.Helper()
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	path := settings.UserFilePath()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// answering runs a command with words on its standard input.
func answering(t *testing.T, input string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err strings.Builder
	code = run(t.Context(), args, strings.NewReader(input), &out, &err)
	return code, out.String(), err.String()
}

// The life of a model, as a user sees it, with a real Ollama: it comes from a file, is
// tried, chosen, listed and removed.
func TestModelCommands(t *testing.T) {
	server := ollamatest.StartEmpty(t)
	path := userSettings(t, `{"logLevel": "warn", "model": "granite4:micro"}`)
	at := func(args ...string) []string { return append([]string{"model", "--ollama", server.URL}, args...) }
	expect := func(code int, out string, wantCode int, words ...string) {
		t.Helper()
		for _, w := range words {
			if !strings.Contains(out, w) {
				t.Errorf("%q is not said in\n%s", w, out)
			}
		}
		if code != wantCode {
			t.Errorf("exit code %d, want %d:\n%s", code, wantCode, out)
		}
	}

	code, out, _ := answering(t, "", at()...)
	expect(code, out, 0, "granite4:micro, not installed", "→ quarry model pull granite4:micro")
	code, out, _ = answering(t, "", at("list")...)
	expect(code, out, 0, "Ollama has no models", "quarry model pull")

	file := filepath.Join(t.TempDir(), "Tiny.gguf")
	if err := ollamatest.WriteGranite(file, ollamatest.Tiny); err != nil {
		t.Fatal(err)
	}
	code, out, _ = answering(t, "", at("import", file)...)
	expect(code, out, 0, "tiny is the file with sha256:", "ok    digest", "fill in the middle", "→ quarry model use tiny")
	code, out, _ = answering(t, "", at("use", "tiny")...)
	expect(code, out, 0, "tiny completes code from now on", path)
	if raw, err := os.ReadFile(path); err != nil || string(raw) != `{"logLevel": "warn", "model": "tiny"}` {
		t.Errorf("the settings are %s, %v", raw, err)
	}
	code, out, _ = answering(t, "", at()...)
	expect(code, out, 0, "completion  tiny, in memory: ", "search", "→ quarry model pull granite-embedding:30m")
	code, out, _ = answering(t, "", at("list")...)
	expect(code, out, 0, "MODEL", "tiny:latest", "completion", "1 models")
	code, out, _ = answering(t, "", at("list", "--json")...)
	var list []modelOutput
	if err := json.Unmarshal([]byte(out), &list); err != nil || code != 0 || len(list) != 1 || list[0].Used != "completion" || list[0].Running == nil {
		t.Errorf("%v: %+v", err, list)
	}

	// What does not work is not written down, and what is not said yes to not done.
	server.Create("blind", ollamatest.Shape{Layers: 2, Embedding: 64, FFN: 128, Context: 8192, NoFIM: true})
	code, out, _ = answering(t, "", at("use", "blind")...)
	expect(code, out, 1, "FAIL  fill in the middle")
	code, _, errs := answering(t, "", at("use", "absent")...)
	expect(code, errs, 1, "Ollama has no model absent", "quarry model pull absent")
	if raw, err := os.ReadFile(path); err != nil || !strings.Contains(string(raw), `"tiny"`) {
		t.Errorf("the settings are %s, %v", raw, err)
	}
	code, _, errs = answering(t, "\n", at("rm", "tiny")...)
	expect(code, errs, 0, "quarry uses tiny:latest for completion. Delete tiny:latest", "[y/N]", "Nothing was done")
	code, _, errs = answering(t, "", at("rm", "tiny")...)
	expect(code, errs, 2, "nobody is there to answer: say --yes")
	code, out, _ = answering(t, "y\n", at("rm", "tiny")...)
	expect(code, out, 0, "tiny:latest is gone")
	code, _, errs = answering(t, "", at("verify")...)
	expect(code, errs, 1, "Ollama has no model tiny")
}

// The digest that a catalogue names is the one that counts.
func TestModelVerifyWantsTheCataloguesDigest(t *testing.T) {
	server := ollamatest.Start(t)
	userSettings(t, "{}")
	own := `{"version": 1, "models": [{"name": "granite4:micro", "use": "completion", "digest": "sha256:00ff"}]}`
	if err := os.WriteFile(cataloguePath(), []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, _ := answering(t, "", "model", "verify", "--ollama", server.URL)
	if code != 1 || !strings.Contains(out, "FAIL  digest") || !strings.Contains(out, "the catalogue wants sha256:00ff") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
}

// A newcomer is told which model suits the machine, and is asked before anything is
// fetched.
func TestModelPullProposesAndAsks(t *testing.T) {
	userSettings(t, "{}")
	code, out, errs := answering(t, "n\n", "model", "pull", "--ollama", "http://127.0.0.1:9")
	if code != 0 || out != "" || !strings.Contains(errs, "suits this machine: ") || !strings.Contains(errs, "B) and complete code with it? [y/N]") || !strings.Contains(errs, "Nothing was done") {
		t.Errorf("exit code %d:\n%s%s", code, out, errs)
	}
	code, _, errs = answering(t, "y\n", "model", "pull", "--ollama", "http://127.0.0.1:9")
	if code != 1 || !strings.Contains(errs, "Ollama does not answer") {
		t.Errorf("exit code %d:\n%s", code, errs)
	}
}
