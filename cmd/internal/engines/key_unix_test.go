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
