package engines

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"quarry/lsp/settings"
)

func TestRerankerBySettings(t *testing.T) {
	s := settings.Default()
	if r, err := reranker(nil, s, nil, nil); r != nil || err != nil {
		t.Errorf("by default: %v, %v", r, err)
	}
	s.Reranker.By = "model"
	if r, err := reranker(nil, s, nil, nil); r != nil || err != nil {
		t.Errorf("without a model: %v, %v", r, err)
	}
	s.Reranker.By = "endpoint"
	for url, want := range map[string]string{"": "reranker.url", "http://models.example": "allowRemote", "http://127.0.0.1:8080": ""} {
		s.Reranker.URL = url
		r, err := reranker(nil, s, nil, nil)
		if want == "" && (r == nil || err != nil) || want != "" && (r != nil || err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, %v", url, r, err)
		}
	}
}

// The key of the model's server goes to a reranker there, however the two addresses are written, and to none elsewhere.
func TestRerankerHasTheKeyOfItsServer(t *testing.T) {
	sent := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/api/show") {
			http.NotFound(w, r) // it is no Ollama, which is asked that first
			return
		}
		sent <- r.URL.Path + " " + r.Header.Get("Authorization")
		fmt.Fprint(w, `{"results": [{"index": 0, "relevance_score": 0.5}]}`)
	}))
	defer server.Close()
	s := settings.Default()
	s.Reranker.By, s.Ollama.API, s.Ollama.APIKey = "endpoint", "openai", "s3cret"
	for _, test := range []struct{ model, reranker, want string }{
		{"", "", "/v1/rerank Bearer s3cret"},
		{"/v1", "", "/v1/rerank Bearer s3cret"},
		{"/v1/", "/", "/v1/rerank Bearer s3cret"},
		{"", "/v1", "/v1/rerank Bearer s3cret"},
		{"/one/v1", "/one", "/one/v1/rerank Bearer s3cret"},
		{"/one/v1", "/two/v1", "/two/v1/rerank "},
	} {
		s.Ollama.URL, s.Reranker.URL = server.URL+test.model, server.URL+test.reranker
		if _, err := TryReranker(t.Context(), s, &Elsewhere{}); err != nil {
			t.Errorf("%+v: %v", test, err)
		}
		if got := <-sent; got != test.want {
			t.Errorf("%+v: sent %q", test, got)
		}
	}
	s.Ollama.URL, s.Reranker.URL = "http://127.0.0.1:9", server.URL
	if _, err := TryReranker(t.Context(), s, &Elsewhere{}); err != nil {
		t.Error(err)
	}
	if got := <-sent; got != "/v1/rerank " {
		t.Errorf("another server: sent %q", got)
	}
}
