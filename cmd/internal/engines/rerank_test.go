package engines

import (
	"strings"
	"testing"

	"quarry/lsp/settings"
)

func TestRerankerBySettings(t *testing.T) {
	s := settings.Default()
	if r, err := reranker(nil, s, nil); r != nil || err != nil {
		t.Errorf("by default: %v, %v", r, err)
	}
	s.Reranker.By = "model"
	if r, err := reranker(nil, s, nil); r != nil || err != nil {
		t.Errorf("without a model: %v, %v", r, err)
	}
	s.Reranker.By = "endpoint"
	for url, want := range map[string]string{"": "reranker.url", "http://models.example": "allowRemote", "http://127.0.0.1:8080": ""} {
		s.Reranker.URL = url
		r, err := reranker(nil, s, nil)
		if want == "" && (r == nil || err != nil) || want != "" && (r != nil || err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, %v", url, r, err)
		}
	}
}
