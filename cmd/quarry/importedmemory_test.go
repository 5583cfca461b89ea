package main

import (
	"path/filepath"
	"testing"
	"time"

	"quarry/lsp"
	"quarry/model/ollamatest"
)

// The budget counts a model that came from a file, with a real Ollama, and no trial nor the version before stays beside it.
func TestImportedModelCounts(t *testing.T) {
	server := ollamatest.StartEmpty(t)
	state, files := t.TempDir(), t.TempDir()
	userSettings(t, `{"model": "mine:1b", "embedding.enabled": false}`)
	bring := func(file string, shape ollamatest.Shape) {
		t.Helper()
		path := filepath.Join(files, file)
		writeModel(t, path, shape)
		if code, out, errs := answering(t, "", "model", "import", path, "mine:1b", "--ollama", server.URL, "--state-dir", state); code != 0 {
			t.Fatalf("exit code %d:\n%s%s", code, out, errs)
		}
	}
	bring("first.gguf", ollamatest.Tiny)
	bring("second.gguf", ollamatest.Shape{Layers: 4, Embedding: 128, FFN: 256, Context: 4096})
	if list := server.Loaded(); len(list) != 0 {
		t.Errorf("what was tried and replaced is in memory: %+v", list)
	}
	ctx, e := serveEditor(t, "neovim", t.TempDir(), "--ollama", server.URL, "--state-dir", state)
	counts := func() uint64 { // once Ollama has loaded it
		t.Helper()
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			var st lsp.Status
			if err := e.Call(ctx, lsp.MethodStatus, nil, &st); err != nil {
				t.Fatal(err)
			}
			if list := server.Loaded(); len(list) == 1 && st.Memory.ModelBytes == uint64(list[0].Size) {
				return st.Memory.ModelBytes
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				t.Fatalf("%+v, and Ollama has in memory %+v", st.Memory, server.Loaded())
			}
		}
	}
	if got := counts(); got == 0 {
		t.Error("it counts nothing")
	}
}
