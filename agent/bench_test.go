package agent

import (
	"encoding/json"
	"path/filepath"
	"testing"
)

// What a call costs in quarry's own repository, and how many bytes it answers.
func BenchmarkCall(b *testing.B) {
	root, err := filepath.Abs("..")
	if err != nil {
		b.Fatal(err)
	}
	box := NewToolbox(Parts{Workspace: openWorkspace(b, root)})
	for _, c := range []struct{ name, args string }{
		{"read_file", `{"path":"agent/staging.go","start_line":1,"end_line":100}`},
		{"list_files", `{"glob":"agent/**"}`},
		{"search_text", `{"query":"confirmation_token","limit":10}`},
		{"search_symbols", `{"name":"Staging.Redeem"}`},
		{"get_symbol_definition", `{"symbol_id":"agent/staging.go#Staging.Redeem"}`},
		{"get_references", `{"symbol_id":"agent/staging.go#Staging.Redeem"}`},
		{"get_diagnostics", `{"path":"agent/staging.go"}`},
		{"retrieve_context", `{"query":"how are confirmation tokens minted and redeemed","current_path":"lsp/tools.go","language":"go"}`},
		{"codebase_search", `{"query":"cut an answer at the end of a line"}`},
		{"search_docs", `{"query":"which settings may a workspace not choose"}`},
		{"find_similar", `{"code":"s.mu.Lock()\ndefer s.mu.Unlock()\nreturn slices.Clone(w.folders)"}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			size := 0
			for b.Loop() {
				e := box.Call(b.Context(), c.name, json.RawMessage(c.args))
				if !e.OK {
					b.Fatal(e)
				}
				size = len(e.String())
			}
			b.ReportMetric(float64(size), "answer-bytes")
		})
	}
}
