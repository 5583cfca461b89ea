package evidence_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/agent"
	"quarry/agent/evidence"
)

// tools answer with what they are called with.
type tools struct{}

func (tools) Call(_ context.Context, name string, args json.RawMessage) agent.Envelope {
	return agent.Envelope{OK: name != "fails", Data: args}
}

func TestShown(t *testing.T) {
	type places = []agent.Citation
	quoted := agent.Citation{Path: "q.go", StartLine: 1, EndLine: 3}
	for name, c := range map[string]struct {
		tool, data   string
		shown, spots places
	}{
		"snippets": {"retrieve_context", `{"snippets":[{"at":"a.go:3-9","text":"x"},{"at":"b.go:4","text":"y"}]}`,
			places{{Path: "a.go", StartLine: 3, EndLine: 9}, {Path: "b.go", StartLine: 4, EndLine: 4}},
			places{{Path: "a.go", StartLine: 3, EndLine: 9}, {Path: "b.go", StartLine: 4, EndLine: 4}}},
		"a file": {"read_file", `{"path":"a.go","start_line":2,"end_line":5,"total_lines":90,"text":"x"}`,
			places{{Path: "a.go", StartLine: 2, EndLine: 5}}, places{{Path: "a.go", StartLine: 2, EndLine: 5}}},
		"symbols are named with their lines": {"search_symbols", `{"symbols":[{"symbol_id":"1","kind":"function","at":"a.go:7-8","signature":"func F()"}]}`,
			places{{Path: "a.go", StartLine: 7, EndLine: 8}}, nil},
		"single lines": {"search_text", `{"matches":[{"path":"a.go","lines":["7: x: 1","19: y"]}],"total_files":1}`,
			places{{Path: "a.go", StartLine: 7, EndLine: 7}, {Path: "a.go", StartLine: 19, EndLine: 19}}, nil},
		"files are named without lines": {"list_files", `{"files":["a.go"],"total":1}`, nil, nil},
		"counts are of no line":         {"get_diagnostics", `{"files":[{"path":"a.go","errors":1}]}`, nil, nil},
		"what failed shows nothing":     {"fails", `{"at":"a.go:3-9","text":"x"}`, nil, nil},
	} {
		e := evidence.New(tools{}, quoted)
		e.Call(t.Context(), c.tool, json.RawMessage(c.data))
		if diff := cmp.Diff(append(places{quoted}, c.shown...), e.Shown()); diff != "" {
			t.Errorf("%s: shown:\n%s", name, diff)
		}
		if diff := cmp.Diff(c.spots, e.Spots); diff != "" {
			t.Errorf("%s: spots:\n%s", name, diff)
		}
	}
}
