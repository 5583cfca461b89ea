package loop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/agent"
	"quarry/agent/loop"
	"quarry/agent/toolcall"
)

type places = []agent.Citation

// reading is what a model has read that was answered data, by a loop that shows it
// at most so many bytes of results; text is the result.
func reading(t *testing.T, m *model, bytes int, failed bool, data string) (seen *loop.Evidence, text string) {
	t.Helper()
	b := &box{answer: func(context.Context, string, json.RawMessage) agent.Envelope {
		e := agent.Envelope{OK: !failed, Data: json.RawMessage(data)}
		if failed {
			e.Error = &agent.Failure{Code: agent.NotFound, Message: "no"}
		}
		return e
	}}
	tk := task()
	tk.Limits.Bytes = bytes
	tk.First = []toolcall.Call{{Name: "find", Arguments: json.RawMessage(`{}`)}}
	tk.Evidence = loop.NewEvidence(agent.Citation{Path: "q.go", StartLine: 1, EndLine: 3})
	if _, err := loop.New(m, b).Run(t.Context(), tk); err != nil {
		t.Fatal(err)
	}
	return tk.Evidence, m.asked[len(m.asked)-1].Messages[3].Text
}

func TestEvidence(t *testing.T) {
	quoted := places{{Path: "q.go", StartLine: 1, EndLine: 3}}
	for name, c := range map[string]struct {
		data          string
		fails         bool
		shown, pieces places
		text          string
	}{
		"snippets": {
			data:   `{"snippets":[{"at":"a.go:3-4","why":"x","text":"x\ny\n"},{"at":"b.go:4","text":"z"}]}`,
			shown:  places{{Path: "a.go", StartLine: 3, EndLine: 4}, {Path: "b.go", StartLine: 4, EndLine: 4}},
			pieces: places{{Path: "a.go", StartLine: 3, EndLine: 4}, {Path: "b.go", StartLine: 4, EndLine: 4}},
			text:   "a.go:3-4\n3| x\n4| y\n\nb.go:4-4\n4| z\n",
		},
		"a file": {
			data:   `{"path":"a.go","start_line":2,"end_line":3,"total_lines":90,"text":"x\ny\n"}`,
			shown:  places{{Path: "a.go", StartLine: 2, EndLine: 3}},
			pieces: places{{Path: "a.go", StartLine: 2, EndLine: 3}},
			text:   "a.go:2-3\n2| x\n3| y\n",
		},
		"a declaration whose end is left out": {
			data:   `{"symbol_id":"1","at":"a.go:2-90","symbol":"F","text":"x\ny\n"}`,
			shown:  places{{Path: "a.go", StartLine: 2, EndLine: 3}},
			pieces: places{{Path: "a.go", StartLine: 2, EndLine: 3}},
			text:   "a.go:2-90 F\n2| x\n3| y\n",
		},
		"symbols are named with their lines": {
			data:  `{"symbols":[{"symbol_id":"1","at":"a.go:7-8","signature":"func F()"},{"symbol_id":"2","at":"a.go:9-9"}],"total":2}`,
			shown: places{{Path: "a.go", StartLine: 7, EndLine: 8}, {Path: "a.go", StartLine: 9, EndLine: 9}},
			text:  "symbols:\n{\"symbol_id\":\"1\",\"at\":\"a.go:7-8\",\"signature\":\"func F()\"}\n{\"symbol_id\":\"2\",\"at\":\"a.go:9-9\"}\ntotal: 2\n",
		},
		"single lines": {
			data:  `{"matches":[{"path":"a.go","lines":["7: x: 1","19: y"]},{"path":"b.go","lines":[]}],"total_files":1}`,
			shown: places{{Path: "a.go", StartLine: 7, EndLine: 7}, {Path: "a.go", StartLine: 19, EndLine: 19}},
			text:  "matches:\na.go\n7: x: 1\n19: y\nb.go\ntotal_files: 1\n",
		},
		"files are named without lines": {data: `{"files":["a.go"],"total":1}`, text: "files:\n\"a.go\"\ntotal: 1\n"},
		"counts are of no line":         {data: `{"files":[{"path":"a.go","errors":1}]}`, text: "files:\n{\"path\":\"a.go\",\"errors\":1}\n"},
		"what failed shows nothing": {data: `{"at":"a.go:3-9","text":"x"}`, fails: true,
			text: "{\"ok\":false,\"data\":{\"at\":\"a.go:3-9\",\"text\":\"x\"},\"error\":{\"code\":\"not_found\",\"message\":\"no\"},\"meta\":{\"truncated\":false,\"bytes\":0,\"warnings\":[]}}\n"},
		"nothing found": {data: `{"snippets":[]}`,
			text: "{\"ok\":true,\"data\":{\"snippets\":[]},\"error\":null,\"meta\":{\"truncated\":false,\"bytes\":0,\"warnings\":[]}}\n"},
	} {
		seen, text := reading(t, &model{answers: []string{"done"}}, 10_000, c.fails, c.data)
		if diff := cmp.Diff(append(quoted, c.shown...), seen.Shown()); diff != "" {
			t.Errorf("%s: shown:\n%s", name, diff)
		}
		if diff := cmp.Diff(c.pieces, seen.Pieces()); diff != "" {
			t.Errorf("%s: pieces:\n%s", name, diff)
		}
		if diff := cmp.Diff("<tool_result id=\"call_1\" name=\"find\">\n"+c.text+"</tool_result>", text); diff != "" {
			t.Errorf("%s: the model reads:\n%s", name, diff)
		}
	}
}

// Only what stands in the prompt is evidence: neither lines that the budget had no
// room for, nor those given up for a prompt that was too long.
func TestLinesThatAreCutAreNoEvidence(t *testing.T) {
	var text strings.Builder
	for i := range 200 {
		fmt.Fprintf(&text, "a line of some words, %03d\n", i+1)
	}
	var symbols []string
	for i := range 60 {
		symbols = append(symbols, fmt.Sprintf(`{"symbol_id":"%d","at":"s.go:%d-%d","signature":"func F%d()"}`, i, 3*i+1, 3*i+2, i))
	}
	code, err := json.Marshal(map[string]any{"path": "a.go", "start_line": 1, "end_line": 200, "text": text.String()})
	if err != nil {
		t.Fatal(err)
	}
	long := func(m *model) func(int) error {
		return func(turn int) error {
			if len(m.asked[turn-1].Messages[3].Text) > 2000 {
				return fmt.Errorf("chat: %w", tooLong{})
			}
			return nil
		}
	}
	for name, c := range map[string]struct {
		data  string
		bytes int
		long  bool
	}{
		"code over the budget":         {string(code), 2000, false},
		"code of too long a prompt":    {string(code), 10_000, true},
		"symbols over the budget":      {`{"symbols":[` + strings.Join(symbols, ",") + `]}`, 2000, false},
		"symbols of too long a prompt": {`{"symbols":[` + strings.Join(symbols, ",") + `]}`, 10_000, true},
	} {
		m := &model{answers: []string{"done"}}
		if c.long {
			m.before = long(m)
		}
		seen, read := reading(t, m, c.bytes, false, c.data)
		if !strings.Contains(read, "bytes more]\n</tool_result>") {
			t.Errorf("%s: nothing was cut:\n%s", name, read)
		}
		shown := map[string]bool{}
		for _, place := range seen.Shown()[1:] {
			for n := place.StartLine; n <= place.EndLine; n++ {
				shown[fmt.Sprintf("%s:%d", place.Path, n)] = true
			}
		}
		if len(shown) < 20 {
			t.Errorf("%s: %d lines shown", name, len(shown))
		}
		for n := 1; n <= 200; n++ {
			stands := strings.Contains(read, fmt.Sprintf("\n%d| a line of some words, %03d\n", n, n))
			if shown[fmt.Sprintf("a.go:%d", n)] != stands {
				t.Errorf("%s: line %d stands in the prompt: %t", name, n, stands)
			}
			named := strings.Contains(read, fmt.Sprintf(`"at":"s.go:%d-%d","signature"`, n, n+1))
			if (n%3 == 1) && shown[fmt.Sprintf("s.go:%d", n)] != named {
				t.Errorf("%s: the symbol at line %d stands in the prompt: %t", name, n, named)
			}
		}
	}
}
