package agent

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// A context has two pieces of a file at most, however many of it answer: others have
// something to say as well.
func TestContextOfOneFile(t *testing.T) {
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("package ferry\n")
	for n, verb := range []string{"Load", "Board", "Steer", "Anchor", "Unload", "Refuel"} {
		fmt.Fprintf(&b, "\n// %s a ferry in the harbour.\nfunc %s(ferry *Ferry) {\n%s}\n", verb, verb,
			strings.Repeat(fmt.Sprintf("\tferry.harbour.%s(%d, ferry)\n", strings.ToLower(verb), n), 40))
	}
	put(t, filepath.Join(dir, "ferry.go"), b.String())
	put(t, filepath.Join(dir, "pier.go"), "package ferry\n\n// Pier is where a ferry ties up in the harbour.\ntype Pier struct{}\n")
	tools := NewToolbox(Parts{Workspace: openWorkspace(t, dir)})
	e := tools.Call(t.Context(), "retrieve_context", json.RawMessage(`{"query":"what a ferry does in the harbour","current_path":"","language":"go","max_chunks":8}`))
	var got struct{ Snippets []snippet }
	if err := json.Unmarshal(e.Data, &got); err != nil {
		t.Fatalf("%v: %s", err, e)
	}
	of := map[string]int{}
	for _, s := range got.Snippets {
		path, _, _ := strings.Cut(s.At, ":")
		of[path]++
	}
	if of["ferry.go"] != 2 || of["pier.go"] != 1 {
		t.Errorf("pieces by file: %v, want 2 of ferry.go and 1 of pier.go", of)
	}
}
