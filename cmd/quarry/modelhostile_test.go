package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"quarry/cmd/internal/engines"
)

// A model server that names models of any length fills no screen with them.
func TestModelListOfAHostileServer(t *testing.T) {
	userSettings(t, "{}")
	models := []map[string]any{{"name": strings.Repeat("x", 400_000)}}
	for n := range 2000 {
		models = append(models, map[string]any{"name": fmt.Sprint("m", n), "details": map[string]any{"quantization_level": strings.Repeat("q", 100)}})
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		list := models
		if r.URL.Path == "/api/ps" {
			list = nil
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"models": list})
	}))
	defer server.Close()
	code, out, errs := answering(t, "", "model", "list", "--ollama", server.URL)
	if code != 0 || len(out) > 2<<20 || !strings.Contains(out, "xxx…") || !strings.Contains(out, "m1999") {
		t.Errorf("exit code %d, %d bytes are printed, %s", code, len(out), errs)
	}
}

// A catalogue may come from somewhere else: what it must not name is refused, and nothing
// is asked of anybody.
func TestHostileCatalogues(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer server.Close()
	userSettings(t, "{}")
	sum := strings.Repeat("0", 64)
	entry := func(more string) string {
		return `{"version": 1, "models": [{"name": "evil", "use": "completion", "download": 1, ` + more + `}]}`
	}
	for _, tt := range []struct{ text, says string }{
		{`{"version": 1, "models": [{"name": "evil:cloud", "use": "completion"}]}`, "runs on other machines"},
		{`{"version": 1, "models": [{"name": "evil:Cloud ", "use": "completion"}]}`, "runs on other machines"},
		{entry(`"url": "http://models.example/x", "sha256": "` + sum + `"`), "over https"},
		{entry(`"url": "file:///etc/passwd", "sha256": "` + sum + `"`), "over https"},
		{entry(`"url": "http://127.0.0.1.models.example/x", "sha256": "` + sum + `"`), "over https"},
		{entry(`"url": "` + server.URL + `", "sha256": "../../../.bashrc"`), "64 small"},
		{entry(`"url": "` + server.URL + `"`), "wants the sha256"},
		{strings.Repeat("[", 1<<20), "no catalogue"},
		{strings.Repeat(" ", 2<<20), "more than quarry reads"},
	} {
		if err := os.WriteFile(engines.CataloguePath(), []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		name := "evil"
		for _, cloud := range []string{"evil:cloud", "evil:Cloud "} {
			if strings.Contains(tt.text, `"`+cloud+`"`) {
				name = cloud
			}
		}
		code, _, errs := answering(t, "", "model", "pull", name, "--yes", "--ollama", server.URL, "--state-dir", t.TempDir())
		if code != 1 || !strings.Contains(errs, tt.says) {
			t.Errorf("%.200s: exit code %d, %s", tt.text, code, errs)
		}
	}
	if asked > 0 {
		t.Errorf("%d requests were made", asked)
	}
}
