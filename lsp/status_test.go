package lsp_test

import (
	"strings"
	"testing"

	"quarry/lsp"
)

// quarry/status says what the server does; quarry/metrics has its numbers as text.
func TestStatus(t *testing.T) {
	e, _ := indexedEditor(t, "vscode")
	var st lsp.Status
	if err := e.Call(t.Context(), lsp.MethodStatus, nil, &st); err != nil {
		t.Fatal(err)
	}
	if st.Version != "test" || st.UptimeSeconds <= 0 || st.Memory.HeapBytes == 0 || st.Model.Sent != 3 || st.Completion.Shown != 2 {
		t.Errorf("%+v", st)
	}
	if len(st.Index) != 1 || st.Index[0].Root == "" {
		t.Errorf("indexes: %+v", st.Index)
	}
	var numbers struct{ Text string }
	if err := e.Call(t.Context(), lsp.MethodMetrics, nil, &numbers); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\nquarry_completion_shown 2\n", "\nquarry_model_sent 3\n", "\nquarry_model_remote 0\n", "\nquarry_index_files{root=\"", "\nquarry_memory_heap_bytes "} {
		if !strings.Contains("\n"+numbers.Text, want) {
			t.Errorf("no line %q in\n%s", strings.TrimSpace(want), numbers.Text)
		}
	}
	for line := range strings.Lines(numbers.Text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), " "); !ok || !strings.HasPrefix(name, "quarry_") || value == "" {
			t.Errorf("line %q", line)
		}
	}
}
