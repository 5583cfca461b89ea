package engines

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"quarry/lsp/settings"
	"quarry/model/catalogue"
	"quarry/model/ollamatest"
)

// Where Ollama's models lie is what a model of its own says; where it has none quarry guesses, and says so.
func TestOllamasDisk(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	guess := t.TempDir()
	t.Setenv("OLLAMA_MODELS", guess)
	server := ollamatest.StartEmpty(t)
	s := settings.Default()
	s.Ollama.URL = server.URL
	m, err := NewModels(s, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	m.free = func(string) (int64, bool) { return 1e9, true }
	e := catalogue.Entry{Name: "big:9b", Download: 5e9}
	if err := m.room(t.Context(), e); err == nil || !strings.Contains(err.Error(), guess+", which quarry only guesses") || !strings.Contains(err.Error(), "set OLLAMA_MODELS here") {
		t.Errorf("%v", err)
	}
	server.Create("tiny", ollamatest.Tiny)
	if err := m.room(t.Context(), e); err == nil || strings.Contains(err.Error(), "guess") || !strings.Contains(err.Error(), filepath.Join("models", "blobs")+" has 1.0 GB left") {
		t.Errorf("%v", err)
	}
	if err := m.room(t.Context(), catalogue.Entry{Download: 5e8}); err != nil {
		t.Error(err)
	}
	m.settings.Ollama.URL, m.settings.Ollama.AllowRemote = "http://models.example.invalid", true
	if err := m.room(context.Background(), e); err != nil {
		t.Errorf("another machine's disk: %v", err)
	}
}
