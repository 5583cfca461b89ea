package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"quarry/model/ollamatest"
)

// recorder stands before an Ollama and keeps what its runners are given to read, which quarry sends as it is. Answers end after
// a few tokens: random weights have no end of their own.
type recorder struct {
	*httptest.Server
	mu   sync.Mutex
	read []string // prompts; guarded by mu
}

func record(t *testing.T, ollama string) *recorder {
	t.Helper()
	to, err := url.Parse(ollama)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.FlushInterval = -1
	r := &recorder{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return // who is gone wants no answer
		}
		var asked map[string]any
		if req.URL.Path == "/api/generate" && json.Unmarshal(body, &asked) == nil && asked["raw"] == true {
			r.mu.Lock()
			r.read = append(r.read, asked["prompt"].(string))
			r.mu.Unlock()
			if options := asked["options"].(map[string]any); options["num_predict"] != nil {
				options["num_predict"] = min(4, options["num_predict"].(float64))
			}
			if body, err = json.Marshal(asked); err != nil {
				t.Error(err)
			}
		}
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		proxy.ServeHTTP(w, req)
	}))
	t.Cleanup(r.Close)
	return r
}

// take is what runners were given since the last call.
func (r *recorder) take() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := strings.Join(r.read, "\x00")
	r.read = nil
	return all
}

// A model that comes as a file, by import or from a catalogue, is spoken to with a system's turn and roles; of one that
// cannot be, its trial says so, and so does who asks it.
func TestModelsOfFilesChat(t *testing.T) {
	server := ollamatest.StartEmpty(t)
	spy := record(t, server.URL)
	userSettings(t, `{"embedding.enabled": false}`)
	dir, root := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "shelf.py"), []byte("class Shelf:\n    def fill(self, books):\n        self.books = books\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	quarry := func(args ...string) (int, string) {
		t.Helper()
		code, out, errs := answering(t, "", append(args, "--ollama", spy.URL, "--state-dir", t.TempDir())...)
		return code, strings.Join(strings.Fields(out+errs), " ")
	}
	chatty, mute := filepath.Join(dir, "chatty.gguf"), filepath.Join(dir, "mute.gguf")
	writeModel(t, chatty, ollamatest.Tiny)
	silent := ollamatest.Tiny
	silent.Base = true
	writeModel(t, mute, silent)

	code, out := quarry("model", "import", chatty, "chatty:1m")
	if code != 0 || !strings.Contains(out, "ok chat a system prompt, roles and tools") {
		t.Fatalf("exit code %d: %s", code, out)
	}
	code, out = quarry("model", "import", mute, "mute:1m")
	if code != 0 || !strings.Contains(out, "ok chat ghost text only: it has no chat template") {
		t.Errorf("exit code %d: %s", code, out)
	}
	for _, ask := range [][]string{{"ask", "Where is a shelf filled?", "--workspace", root}, {"explain", filepath.Join(root, "shelf.py") + ":2", "--message", "no attribute fill", "--workspace", root}} {
		spy.take()
		if code, out := quarry(append(ask, "--model", "chatty:1m")...); code != 0 && !strings.Contains(out, "Not in the evidence") {
			t.Errorf("%v: exit code %d: %s", ask, code, out)
		}
		read := spy.take()
		system := strings.Index(read, "<|start_of_role|>system<|end_of_role|>")
		user := strings.Index(read, "<|start_of_role|>user<|end_of_role|>")
		if system < 0 || user < system || !strings.Contains(read, "<|start_of_role|>assistant<|end_of_role|>") {
			t.Errorf("%v: the runner reads %q", ask, read)
		}
	}
	for _, ask := range [][]string{{"ask", "Where is a shelf filled?", "--workspace", root}, {"explain", filepath.Join(root, "shelf.py") + ":2", "--message", "no attribute fill", "--workspace", root}} {
		const warning = "mute:1m has no chat template, and is for ghost text only: for questions and explanations choose another model"
		if _, out := quarry(append(ask, "--model", "mute:1m")...); strings.Count(out, warning) != 1 {
			t.Errorf("%v: %s", ask, out)
		}
		if _, out := quarry(append(ask, "--model", "chatty:1m")...); strings.Contains(out, "chat template") {
			t.Errorf("%v: %s", ask, out)
		}
	}
	code, out = quarry("doctor", "--model", "mute:1m", "--workspace", root)
	if code != 0 || !strings.Contains(out, "chat ghost text only: it has no chat template, so that questions reach it without roles and a system prompt → for questions and explanations choose another model") {
		t.Errorf("exit code %d: %s", code, out)
	}
}
