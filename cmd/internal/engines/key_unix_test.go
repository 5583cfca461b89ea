//go:build !windows && !darwin

package engines

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/lsp/settings"
	"quarry/model"
)

// The key of a server comes from the system's key store, asked for its host, once it is needed;
// a store that has none is told to the user with what to do.
func TestKeyStore(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	store := func(script string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "secret-tool"), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	sent := make(chan string, 16)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent <- r.Header.Get("Authorization")
		http.Error(w, `{"error":"no"}`, http.StatusForbidden)
	}))
	defer server.Close()
	s := settings.Default()
	s.Ollama.API, s.Ollama.URL, s.Ollama.KeyStore = "openai", server.URL, true
	check := func() string {
		t.Helper()
		runtime, err := model.New(ModelOptions(s))
		if err != nil {
			t.Fatal(err)
		}
		defer runtime.Close()
		return runtime.Check(t.Context())[0].Detail
	}
	log := filepath.Join(dir, "asked")
	store(`echo "$@" >> ` + log + "\necho s3cret\n")
	check()
	if got := <-sent; got != "Bearer s3cret" {
		t.Errorf("sent %q", got)
	}
	if asked, err := os.ReadFile(log); err != nil || string(asked) != "lookup service quarry username 127.0.0.1\n" {
		t.Errorf("asked %q, %v", asked, err)
	}
	store("exit 1\n")
	if said := check(); !strings.Contains(said, "secret-tool store --label quarry service quarry username 127.0.0.1") {
		t.Errorf("without a key: %s", said)
	}
	if len(sent) != 0 {
		t.Error("asked without a key")
	}
	s.Ollama.APIKey = "mine"
	check()
	if got := <-sent; got != "Bearer mine" {
		t.Errorf("the settings' own key: sent %q", got)
	}
}

// A key that the server refuses is read from the store again: the one in its place is used without a restart.
func TestReplacedKeyInTheStore(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	file, asked := filepath.Join(dir, "key"), filepath.Join(dir, "asked")
	if err := os.WriteFile(filepath.Join(dir, "secret-tool"), []byte("#!/bin/sh\necho x >> "+asked+"\ncat "+file+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	put := func(key string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(key+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	wants := "k1"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+wants {
			http.Error(w, `{"error":"no"}`, http.StatusUnauthorized)
			return
		}
		_, _ = w.Write([]byte(`{"data": [{"id": "team"}]}`))
	}))
	defer server.Close()
	s := settings.Default()
	s.Ollama.API, s.Ollama.URL, s.Ollama.KeyStore, s.Model = "openai", server.URL, true, "team"
	runtime, err := model.New(ModelOptions(s))
	if err != nil {
		t.Fatal(err)
	}
	defer runtime.Close()
	refused := func() bool {
		t.Helper()
		said := ""
		for _, f := range runtime.Check(t.Context()) {
			said += f.Detail + ": " + f.Fix + "\n"
		}
		t.Log(said)
		return strings.Contains(said, "refuses the API key: put the key it expects into the system key store")
	}
	put("k1")
	for range 2 {
		if refused() {
			t.Error("the first key is refused")
		}
	}
	if raw, err := os.ReadFile(asked); err != nil || len(raw) != len("x\n") {
		t.Errorf("the store was asked %q, %v", raw, err)
	}
	wants = "k2"
	if !refused() {
		t.Error("the old key is not refused")
	}
	put("k2")
	if refused() {
		t.Error("the new key is not read")
	}
}
