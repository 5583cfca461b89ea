package ollamatest

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
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
	"time"
)

// Registry serves one model at a time as Ollama's library does, from this machine.
type Registry struct {
	*httptest.Server
	// Model is the model's name, behind the server's address.
	Model string

	mu       sync.Mutex
	manifest []byte            // guarded by mu
	blobs    map[string][]byte // by digest; guarded by mu
	dying    int               // how many answers with weights are still broken off; guarded by mu
	slow     <-chan struct{}   // holds the second half of weights until it is closed, nil for at once; guarded by mu
}

// NewRegistry serves nothing yet; it ends with the test.
func NewRegistry(t testing.TB) *Registry {
	t.Helper()
	s := &Registry{}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	s.Model = strings.TrimPrefix(s.URL, "http://") + "/library/tiny:latest"
	return s
}

// Offer makes the registry serve the model of a file. spoil, if not nil, changes the weights after
// their sum is in the manifest.
func (s *Registry) Offer(t testing.TB, file string, spoil func(weights []byte) []byte) {
	t.Helper()
	weights, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	config := []byte(`{"model_format":"gguf","model_family":"granite","model_families":["granite"],"model_type":"1M","file_type":"F16"}`)
	blobs := map[string][]byte{}
	layer := func(kind string, content []byte) map[string]any {
		digest := fmt.Sprintf("sha256:%x", sha256.Sum256(content))
		blobs[digest] = content
		return map[string]any{"mediaType": kind, "digest": digest, "size": len(content)}
	}
	manifest, err := json.Marshal(map[string]any{
		"schemaVersion": 2, "mediaType": "application/vnd.docker.distribution.manifest.v2+json",
		"config": layer("application/vnd.docker.container.image.v1+json", config),
		"layers": []any{layer("application/vnd.ollama.image.model", weights)},
	})
	if err != nil {
		t.Fatal(err)
	}
	for digest, content := range blobs {
		if len(content) == len(weights) && spoil != nil {
			blobs[digest] = spoil(bytes.Clone(content))
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.manifest, s.blobs = manifest, blobs
}

// BreakOff ends the next n answers with weights behind their first thousand bytes.
func (s *Registry) BreakOff(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dying = n
}

// Hold keeps the second half of weights back from now on, until release is called.
func (s *Registry) Hold() (release func()) {
	c := make(chan struct{})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slow = c
	return sync.OnceFunc(func() { close(c) })
}

// halved sends the rest of an answer when it is released.
type halved struct {
	http.ResponseWriter
	left          int // bytes to send before
	release, gone <-chan struct{}
}

func (h *halved) Write(b []byte) (n int, err error) {
	if h.release != nil {
		if n, err = h.ResponseWriter.Write(b[:min(h.left, len(b))]); err != nil {
			return n, err
		}
		if h.left -= n; h.left > 0 {
			return n, nil
		}
		h.ResponseWriter.(http.Flusher).Flush()
		select {
		case <-h.release:
			h.release = nil
		case <-h.gone:
			return n, http.ErrAbortHandler
		}
	}
	rest, err := h.ResponseWriter.Write(b[n:])
	return n + rest, err
}

// ServeHTTP implements http.Handler.
func (s *Registry) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	kind, name := filepath.Base(filepath.Dir(r.URL.Path)), filepath.Base(r.URL.Path)
	s.mu.Lock()
	content, ok := s.blobs[name]
	weights := r.Method == http.MethodGet && kind == "elsewhere" && len(content) > 1000
	dies := weights && s.dying > 0
	if dies {
		s.dying--
	}
	var slow <-chan struct{}
	if weights {
		slow = s.slow
	}
	if kind == "manifests" {
		content, ok = s.manifest, true
	}
	s.mu.Unlock()
	switch {
	case !ok:
		http.NotFound(w, r)
		return
	case kind == "blobs": // which other machines serve: Ollama wants it so
		_, port, _ := strings.Cut(r.Host, ":")
		http.Redirect(w, r, "http://localhost:"+port+"/elsewhere/"+name, http.StatusTemporaryRedirect)
		return
	case dies:
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		w.WriteHeader(http.StatusPartialContent)
		_, _ = w.Write(content[:1000])
		panic(http.ErrAbortHandler)
	case slow != nil:
		from := 0
		_, _ = fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &from) // of a whole file it is 0
		w = &halved{ResponseWriter: w, left: max(0, len(content)/2-from), release: slow, gone: r.Context().Done()}
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

// Insecure stands before an Ollama and lets it pull over plain HTTP, which quarry itself never
// asks for. It ends with the test.
func Insecure(t testing.TB, ollama string) *httptest.Server {
	t.Helper()
	to, err := url.Parse(ollama)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.FlushInterval = -1
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The proxy would break off an answer that begins before it has seen the end of the body: its
		// own server closes that then.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // who is gone wants no answer
		}
		if r.URL.Path == "/api/pull" {
			var req map[string]any
			if err := json.Unmarshal(body, &req); err != nil {
				t.Error(err)
			}
			req["insecure"], req["model"] = true, fmt.Sprint("http://", req["model"])
			if body, err = json.Marshal(req); err != nil {
				t.Error(err)
			}
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server
}
