package engines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/lsp/settings"
	"quarry/model/catalogue"
	"quarry/model/ollamatest"
)

// emptyConfig has settings and the user's catalogue of models read from an empty folder, on each
// system by its own variable.
func emptyConfig(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	t.Setenv("AppData", dir)
}

// Where Ollama's models lie is what a model of its own says; where it has none quarry guesses, and says so.
func TestOllamasDisk(t *testing.T) {
	emptyConfig(t)
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

// A disk that is full says so before an import or, where that is not known, by Ollama's own word, and nothing is left of it.
func TestImportOnAFullDisk(t *testing.T) {
	emptyConfig(t)
	server := ollamatest.StartEmpty(t)
	t.Setenv("OLLAMA_MODELS", server.Models())
	to, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	full := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // who is gone wants no answer
		}
		if r.URL.Path == "/api/create" {
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprint(w, `{"error": "write /models/blobs/sha256-1: no space left on device"}`)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	}))
	defer full.Close()
	s := settings.Default()
	s.Ollama.URL = full.URL
	m, err := NewModels(s, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "tiny.gguf")
	if err := ollamatest.WriteGranite(file, ollamatest.Tiny); err != nil {
		t.Fatal(err)
	}
	tried := func(string) error { t.Error("it is tried"); return nil }
	left := func() []os.DirEntry {
		t.Helper()
		files, err := os.ReadDir(filepath.Join(server.Models(), "blobs"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		return files
	}
	_, err = m.Import(t.Context(), file, "tiny", func(int64, int64) {}, tried)
	if err == nil || !strings.Contains(err.Error(), "Ollama's disk is full: make room, or set OLLAMA_MODELS for Ollama to another disk") || len(left()) != 0 {
		t.Errorf("%v, and %v is left", err, left())
	}
	m.free = func(string) (int64, bool) { return 1000, true }
	_, err = m.Import(t.Context(), file, "tiny", func(int64, int64) {}, tried)
	if err == nil || !strings.HasPrefix(err.Error(), "make room, or set OLLAMA_MODELS") || len(left()) != 0 {
		t.Errorf("%v, and %v is left", err, left())
	}
}

// Of two imports of one name at once the second is told to wait: both would be tried under one name.
func TestImportsAtOnce(t *testing.T) {
	emptyConfig(t)
	s := settings.Default()
	s.Ollama.URL = ollamatest.StartEmpty(t).URL
	state, file := t.TempDir(), filepath.Join(t.TempDir(), "tiny.gguf")
	if err := ollamatest.WriteGranite(file, ollamatest.Tiny); err != nil {
		t.Fatal(err)
	}
	take := func(name string, try func(string) error) error {
		m, err := NewModels(s, state)
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Import(t.Context(), file, name, func(int64, int64) {}, try)
		return err
	}
	taken := func(string) error { return nil }
	err := take("tiny:1b", func(string) error {
		if err := take("Tiny:1B", taken); err == nil || !strings.HasPrefix(err.Error(), "try again later: another quarry process is importing Tiny:1B") {
			t.Errorf("the same name: %v", err)
		}
		return take("other", taken)
	})
	if err != nil {
		t.Error(err)
	}
	if err := take("tiny:1b", taken); err != nil {
		t.Errorf("once more: %v", err)
	}
	err = filepath.WalkDir(filepath.Join(state, "models"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			t.Errorf("%s is left behind", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
