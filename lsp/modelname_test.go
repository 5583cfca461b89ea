package lsp_test

import (
	"runtime"
	"strings"
	"testing"

	names "github.com/ollama/ollama/types/model"

	"quarry/lsp"
)

// Ollama takes the name that a file's model gets.
func TestModelNameOf(t *testing.T) {
	files := map[string]string{
		"/downloads/My Model (v1).gguf": "my-model-v1", "Granite-4.0_Micro.Q4_K_M.gguf": "granite-4.0_micro.q4_k_m", "ours.gguf": "ours",
		".gguf": "model", "模型.gguf": "model", "..x.gguf": "x", strings.Repeat("x", 79) + "-yy.gguf": strings.Repeat("x", 79),
	}
	if runtime.GOOS != "windows" { // where it is on drive a
		files["a:b.gguf"] = "a-b"
	}
	for file, want := range files {
		name := lsp.ModelNameOf(file)
		if name != want || !names.ParseName(name).IsValid() {
			t.Errorf("%s: %q, want %q", file, name, want)
		}
	}
}
