package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"quarry/lsp/headless"
	"quarry/model/modeltest"
)

// Y4: a repository's editor settings choose no model, of the cloud or another. The
// server behaves as Ollama 0.18.0 does, which has every model of the cloud.
func TestWorkspaceSettingsChooseNoModel(t *testing.T) {
	for name, configuration := range map[string]any{
		"model of the cloud":           map[string]any{"model": "qwen3-coder:480b-cloud"},
		"in Ollama's other form":       map[string]any{"model": "gpt-oss:120b:cloud"},
		"embedding model of the cloud": map[string]any{"embedding": map[string]any{"model": "qwen3-embedding:cloud"}},
		"flat":                         map[string]any{"quarry.model": "a:cloud", "quarry.embedding.model": "b:cloud"},
		"local model":                  map[string]any{"model": "other:7b", "embedding": map[string]any{"model": "other-embedding"}},
		"permission":                   map[string]any{"model": "a:cloud", "ollama": map[string]any{"allowRemote": true}},
	} {
		t.Run(name, func(t *testing.T) {
			s := modeltest.NewServer(t)
			s.SetCloud()
			s.SetModels(modeltest.Model{Name: "granite4.1:3b"}, modeltest.Model{Name: "granite-embedding:30m"}, modeltest.Model{Name: "other:7b"}, modeltest.Model{Name: "other-embedding"})
			s.Script(func(modeltest.Request) modeltest.Answer { return modeltest.Answer{Pieces: []string{"1"}} })
			s.ScriptEmbed(countLetters)
			root := t.TempDir()
			if err := os.WriteFile(filepath.Join(root, "a.go"), []byte("package a\n\nvar canary = \n"), 0o644); err != nil {
				t.Fatal(err)
			}
			profile, err := headless.LoadProfile("neovim")
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("quarry", "lsp", "--log-level=error", "--ollama="+s.URL)
			cmd.Env = append(os.Environ(), "QUARRY_STATE_DIR="+t.TempDir(), "XDG_CONFIG_HOME="+t.TempDir(), "GORACE=atexit_sleep_ms=0")
			e, err := headless.StartProcess(t.Context(), cmd, headless.Options{
				Profile: profile, Root: root, InitializationOptions: configuration, Configuration: configuration,
			})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Kill() // after Quit it has ended
			b, err := e.Open("a.go", "go", "package a\n\nvar canary = \n")
			if err != nil {
				t.Fatal(err)
			}
			if err := b.Seek("canary = "); err != nil {
				t.Fatal(err)
			}
			// The user's own models see the code, both of them.
			sees := func(model string) bool {
				return slices.ContainsFunc(s.Requests(), func(r modeltest.Request) bool {
					return r.Model == model && strings.Contains(string(r.Body), "canary")
				})
			}
			tick := time.NewTicker(50 * time.Millisecond)
			defer tick.Stop()
			for ; !sees("granite4.1:3b"); <-tick.C {
				if err := e.Complete(t.Context(), b, true); err != nil {
					t.Fatal(err)
				}
			}
			for !sees("granite-embedding:30m") {
				<-tick.C
			}
			if shown := strings.Join(e.Shown(), "\n"); !strings.Contains(shown, "settings.json") {
				t.Errorf("the user reads %q, want where the model is set", shown)
			}
			if _, err := e.Quit(t.Context()); err != nil {
				t.Error(err)
			}
			for _, r := range s.Requests() {
				if !strings.HasPrefix(r.Model, "granite") {
					t.Errorf("%s asks %s: %s", r.Path, r.Model, r.Body)
				}
			}
		})
	}
}

// No command of quarry model brings a model of another machine into use: by its name, by
// what the server says of it, or by what only its answers say.
func TestModelCommandsChooseNoCloud(t *testing.T) {
	server := modeltest.NewServer(t)
	server.SetCloud()
	const pointed, sly = "pointed", "sly"
	server.SetModels(modeltest.Model{Name: "granite4.1:3b"}, modeltest.Model{Name: "big:cloud"},
		modeltest.Model{Name: pointed, RemoteHost: "https://ollama.example"}, modeltest.Model{Name: sly, RemoteHost: "https://ollama.example", Secretly: true})
	const before = `{"model": "granite4.1:3b"}`
	path := userSettings(t, before)
	file := filepath.Join(t.TempDir(), "x.gguf")
	if err := os.WriteFile(file, []byte("GGUF"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"big:cloud", "qwen3-coder:480b-cloud", "gpt-oss:120b-CLOUD", " x : cloud ", pointed, sly} {
		for _, args := range [][]string{{"use", name}, {"pull", name, "--yes"}, {"verify", name}, {"import", file, name}} {
			if args[0] == "import" && (name == pointed || name == sly) {
				continue // a model of one's own may have any name that means this machine
			}
			code, out, errs := answering(t, "", append([]string{"model", "--ollama", server.URL}, args...)...)
			if code == 0 {
				t.Errorf("quarry model %q: %s%s", args, out, errs)
			}
		}
	}
	if raw, err := os.ReadFile(path); err != nil || string(raw) != before {
		t.Errorf("the settings are %s, %v", raw, err)
	}
	for _, r := range server.Requests() {
		// What only an answer can say, a word of the check-up's has to find out.
		if r.Model != sly && (r.Path == "/api/pull" && r.Model != pointed || r.Prompt != "") {
			t.Errorf("%s was asked of %q: %s", r.Path, r.Model, r.Body)
		}
	}
}
