package lsp_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/completion"
	"quarry/lsp/headless"
)

func TestClientsWithoutGhostTextGetCompletionItems(t *testing.T) {
	complete := func(_ context.Context, req completion.Request) (completion.Result, error) {
		return completion.Result{Engine: "m", Items: []completion.Item{
			{Text: "turn ${a}\n}", Start: req.Offset, End: req.Offset + 1, Engine: "m"},
			{Text: "return b", Start: req.Offset - 2, End: req.Offset, Engine: "m"},
		}}, nil
	}
	for _, tt := range []struct {
		client, newText, format string
	}{
		{"helix", "return ${a}\n}", "1"},
		{"Neovim", "return \\${a\\}\n\\}", "2"},
	} {
		e := edit(t, "helix", &core{complete: complete}, func(o *headless.Options) {
			o.Profile.ClientInfo = json.RawMessage(`{"name":"` + tt.client + `"}`)
		})
		if _, ok := e.Capabilities["completionProvider"]; !ok {
			t.Fatalf("%s: completion is not announced", tt.client)
		}
		b := open(t, e, "a.go", "go", "😀 re)\n")
		b.Cursor = len("😀 re")
		var got struct {
			IsIncomplete bool
			Items        []struct {
				Label, Detail, FilterText string
				Kind                      int
				InsertTextFormat          json.RawMessage
				Documentation             struct{ Value string }
				TextEdit                  struct {
					NewText string
					Range   json.RawMessage
				}
			}
		}
		params := map[string]any{"textDocument": map[string]any{"uri": b.URI}, "position": e.Range(b, b.Cursor, b.Cursor).(map[string]any)["start"]}
		if err := e.Call(soon(t), "textDocument/completion", params, &got); err != nil {
			t.Fatal(err)
		}
		if !got.IsIncomplete || len(got.Items) != 2 {
			t.Fatalf("%s: %+v", tt.client, got)
		}
		first := got.Items[0]
		for what, pair := range map[string][2]string{
			"label":         {"return ${a} …", first.Label},
			"detail":        {"quarry, m", first.Detail},
			"filterText":    {"re", first.FilterText},
			"format":        {tt.format, string(first.InsertTextFormat)},
			"documentation": {"```go\nturn ${a}\n}\n```", first.Documentation.Value},
			"newText":       {tt.newText, first.TextEdit.NewText},
			"range":         {`{"start":{"line":0,"character":5},"end":{"line":0,"character":8}}`, string(first.TextEdit.Range)},
			"second":        {"return b", got.Items[1].TextEdit.NewText},
			"second label":  {"return b", got.Items[1].Label},
		} {
			if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", tt.client, what, diff)
			}
		}
	}
}

func TestClientsWithGhostTextGetNoCompletionItems(t *testing.T) {
	e := edit(t, "vscode", &core{})
	if raw, ok := e.Capabilities["completionProvider"]; ok {
		t.Errorf("completion is announced: %s", raw)
	}
	b := open(t, e, "a.go", "go", "")
	var raw json.RawMessage
	err := e.Call(soon(t), "textDocument/completion", map[string]any{
		"textDocument": map[string]any{"uri": b.URI}, "position": map[string]any{"line": 0, "character": 0},
	}, &raw)
	if err != nil || string(raw) != "null" {
		t.Errorf("completion: %s, %v; want null", raw, err)
	}
}
