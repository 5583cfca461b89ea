package model_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"quarry/model"
	"quarry/model/ollamatest"
)

// cloud stands in for Ollama's, and keeps what it is sent.
type cloud struct {
	mu   sync.Mutex
	sent []string // guarded by mu
}

func (c *cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	c.sent = append(c.sent, r.URL.Path+" "+string(body))
	c.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	answer := `{"model":"m","response":"x","done":true,"done_reason":"stop","embeddings":[[1,0]],"details":{},"model_info":{},"capabilities":["completion"]}`
	_, _ = io.WriteString(w, answer) // who has gone away reads nothing
}

func (c *cloud) all() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.sent...)
}

// Y4 against real servers: 0.18.0 sends what is asked of such a name to its cloud, a
// stand-in here, and gets nothing of quarry's to send; the pinned version neither.
func TestRealOllamaGetsNothingForItsCloud(t *testing.T) {
	for version, run := range map[string]func(testing.TB) *ollamatest.Server{
		"pinned": ollamatest.StartEmpty,
		"0.18.0": func(t testing.TB) *ollamatest.Server { return ollamatest.StartVersion(t, "0.18.0") },
	} {
		t.Run(version, func(t *testing.T) {
			var far cloud
			server := httptest.NewServer(&far)
			defer server.Close()
			t.Setenv("OLLAMA_CLOUD_BASE_URL", server.URL)
			s := run(t)
			const names = "gpt-oss:120b:cloud qwen3-coder:480b-cloud kimi-k2:cloud"
			for _, name := range strings.Fields(names) {
				opt := options(s.URL)
				opt.Model = name
				o := start(t, opt)
				if err := o.WaitReady(soon(t)); !errors.Is(err, model.ErrRefused) {
					t.Errorf("%s: %v", name, err)
				}
				if _, _, err := collect(soon(t), o, fim("canary", ""), 5); !errors.Is(err, model.ErrRefused) {
					t.Errorf("Generate of %s: %v", name, err)
				}
				if _, err := o.NewEmbedder(name).Embed(soon(t), []string{"canary"}); !errors.Is(err, model.ErrRefused) {
					t.Errorf("Embed of %s: %v", name, err)
				}
			}
			if sent := far.all(); len(sent) > 0 {
				t.Errorf("the cloud got %q", sent)
			}
			if version == "pinned" {
				return
			}
			// Who asks all the same gets the cloud's answer: the test shows something.
			for i, path := range []string{"/api/generate", "/api/embed", "/api/show"} {
				body := `{"model":"gpt-oss:120b:cloud","prompt":"canary","input":["canary"]}`
				resp, err := http.Post(s.URL+path, "application/json", strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				resp.Body.Close()
				if sent := far.all(); len(sent) != i+1 || !strings.HasPrefix(sent[i], path+" ") {
					t.Errorf("asked by hand at %s, the stand-in has got %q", path, sent)
				}
			}
		})
	}
}

// A pointer to another machine's model is no name of the cloud's. Ollama says so in its own interface
// alone: what is asked under /v1 goes there, and the answer does not tell.
func TestRealOllamaGetsNothingForAPointer(t *testing.T) {
	var far cloud
	server := httptest.NewServer(&far)
	defer server.Close()
	t.Setenv("OLLAMA_REMOTES", "127.0.0.1") // where its models may be; ollama.com otherwise
	s := ollamatest.StartEmpty(t)
	post := func(path, body string) string {
		t.Helper()
		resp, err := http.Post(s.URL+path, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		answer, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s, %s, %v", path, resp.Status, answer, err)
		}
		return string(answer)
	}
	post("/api/create", `{"model":"mine","from":"gpt-oss:120b","remote_host":"`+server.URL+`"}`)
	for _, api := range []model.API{model.OllamaAPI, model.OpenAIAPI} {
		opt := options(s.URL)
		opt.API, opt.Model = api, "mine"
		o := start(t, opt)
		if err := o.WaitReady(soon(t)); !errors.Is(err, model.ErrRefused) || !strings.Contains(err.Error(), server.URL) {
			t.Errorf("%s: %v", api, err)
		}
		if _, _, err := collect(soon(t), o, fim("canary", ""), 5); !errors.Is(err, model.ErrRefused) {
			t.Errorf("Generate over %s: %v", api, err)
		}
		if _, err := o.NewEmbedder("mine").Embed(soon(t), []string{"canary"}); !errors.Is(err, model.ErrRefused) {
			t.Errorf("Embed over %s: %v", api, err)
		}
	}
	if sent := far.all(); len(sent) > 0 {
		t.Errorf("the other machine got %q", sent)
	}
	answer := post("/v1/completions", `{"model":"mine","prompt":"canary","stream":true}`)
	if sent := far.all(); len(sent) != 1 || !strings.Contains(sent[0], "canary") || strings.Contains(answer, "remote") {
		t.Errorf("asked by hand, the other machine has got %q, and the answer says %s", sent, answer)
	}
}
