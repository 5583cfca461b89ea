package engines

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/lsp"
	"quarry/lsp/settings"
	"quarry/model/modeltest"
)

// In an editor, too, what is there serves although what has to be fetched does not come.
func TestSetupUsesFirstWhatIsThere(t *testing.T) {
	emptyConfig(t)
	path := settings.UserFilePath()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	fake := modeltest.NewServer(t)
	fake.SetModels(modeltest.Model{Name: "granite-embedding:30m"})
	fake.HoldPulls(make(chan struct{}))
	s := settings.Default()
	s.Ollama.URL, s.Memory.BudgetMB = fake.URL, 16_000
	messages := &told{}
	c := New(lsp.Start{
		Settings: s, Notify: messages.notify, Job: func(string, func()) lsp.Job { return saying{&[]string{}} }, Changed: func() {},
	}, Options{StateDir: t.TempDir(), Log: slog.New(slog.DiscardHandler)})
	defer c.Close()
	ctx, cancel := context.WithCancel(t.Context())
	_, err := c.SetupModel(ctx, func(string) bool { return true }, func(string, int64, int64) { cancel() })
	raw, _ := os.ReadFile(path) // what is not there says so below
	if err == nil || !strings.Contains(string(raw), "granite-embedding:30m") {
		t.Errorf("%v; the settings are %s", err, raw)
	}
}

// An editor's first remedy is not the model that is known to complete nothing, and what it sets up works.
func TestSetupLeavesWhatCompletesNothing(t *testing.T) {
	emptyConfig(t)
	path := settings.UserFilePath()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	fake := modeltest.NewServer(t)
	fake.SetModels(modeltest.Model{Name: "llama3:8b", NoFIM: true}, modeltest.Model{Name: "qwen2.5-coder:1.5b"})
	s := settings.Default()
	s.Ollama.URL, s.Memory.BudgetMB, s.Model, s.Embedding.Enabled = fake.URL, 64_000, "llama3:8b", false
	changed := make(chan struct{}, 1)
	messages := &told{}
	c := New(lsp.Start{
		Settings: s, Notify: messages.notify, Job: func(string, func()) lsp.Job { return saying{&[]string{}} },
		Changed: func() {
			select {
			case changed <- struct{}{}:
			default:
			}
		},
	}, Options{StateDir: t.TempDir(), Log: slog.New(slog.DiscardHandler)})
	defer c.Close()
	for {
		note := c.StatusNote(t.Context())
		if len(note.Remedies) > 0 && note.Remedies[0].Command == lsp.CommandSetup {
			if title := note.Remedies[0].Title; title != "Set up qwen2.5-coder:1.5b, which Ollama has" {
				t.Error(title)
			}
			break
		}
		select {
		case <-changed:
		case <-t.Context().Done():
			t.Fatalf("no remedy: %+v", note)
		}
	}
	does, err := c.SetupModel(t.Context(), func(string) bool { return true }, func(string, int64, int64) {})
	raw, _ := os.ReadFile(path) // what is not there says so below
	if err != nil || !strings.Contains(does, "qwen2.5-coder:1.5b completes code") || !strings.Contains(string(raw), "qwen2.5-coder:1.5b") {
		t.Errorf("%q, %v; the settings are %s", does, err, raw)
	}
}

// What an editor sets up while no model is asked is said not to be asked yet.
func TestSetupWhileNoModelIsAsked(t *testing.T) {
	emptyConfig(t)
	if err := os.MkdirAll(filepath.Dir(settings.UserFilePath()), 0o700); err != nil {
		t.Fatal(err)
	}
	fake := modeltest.NewServer(t)
	fake.SetModels(modeltest.Model{Name: "granite4.1:3b"})
	s := settings.WithProfile("model-free")
	s.Profile, s.Ollama.URL, s.Memory.BudgetMB, s.Embedding.Enabled = "model-free", fake.URL, 64_000, false
	messages := &told{}
	c := New(lsp.Start{
		Settings: s, Notify: messages.notify, Job: func(string, func()) lsp.Job { return saying{&[]string{}} }, Changed: func() {},
	}, Options{StateDir: t.TempDir(), Log: slog.New(slog.DiscardHandler)})
	defer c.Close()
	does, err := c.SetupModel(t.Context(), func(string) bool { return true }, func(string, int64, int64) {})
	const want = "your settings name granite4.1:3b, but `ollama.enabled` is false (profile model-free), so quarry does not ask yet: set that to true in your settings"
	if err != nil || does != want {
		t.Errorf("%q, %v, want %q", does, err, want)
	}
}

// On an Ollama without models there is one recommendation, that of `quarry setup model` with its reason, in the message and in the
// status; a model that the user has named is the one to fetch.
func TestOneRecommendation(t *testing.T) {
	emptyConfig(t)
	for _, test := range []struct{ model, message, reason string }{
		{
			"granite4.1:3b", "Ollama has no model granite4.1:3b: run `quarry setup model`. qwen2.5-coder:1.5b suits this machine: it takes about 2.0 GB",
			"Ollama has no model granite4.1:3b: run `quarry setup model`. qwen2.5-coder:1.5b suits this machine: it takes about 2.0 GB",
		},
		{
			"own:1b", "Ollama has no model own:1b: run `quarry model pull own:1b`. Until then, ",
			"Ollama has no model own:1b: run `quarry model pull own:1b`. qwen2.5-coder:1.5b suits this machine: ",
		},
	} {
		fake := modeltest.NewServer(t)
		fake.SetModels()
		s := settings.Default()
		s.Ollama.URL, s.Memory.BudgetMB, s.Model, s.Embedding.Enabled = fake.URL, 3_000, test.model, false
		changed := make(chan struct{}, 1)
		messages := &told{}
		c := New(lsp.Start{
			Settings: s, Job: func(string, func()) lsp.Job { return saying{&[]string{}} },
			Notify: func(severity lsp.Severity, key, message string) {
				messages.notify(severity, key, message)
				select {
				case changed <- struct{}{}:
				default:
				}
			},
		}, Options{StateDir: t.TempDir(), Log: slog.New(slog.DiscardHandler)})
		for messages.about("Ollama has no model") == 0 {
			select {
			case <-changed:
			case <-t.Context().Done():
				t.Fatalf("nothing was said of %s", test.model)
			}
		}
		if messages.about(test.message) != 1 {
			t.Errorf("said %q, want %q", messages.list, test.message)
		}
		if reason := c.StatusNote(t.Context()).Model.Reason; !strings.HasPrefix(reason, test.reason) {
			t.Errorf("the status says %q, want %q", reason, test.reason)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}
