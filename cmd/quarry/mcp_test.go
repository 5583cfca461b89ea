package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quarry/cmd/internal/cli"
	"quarry/index/systest"
	"quarry/index/visible"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// serveMCP runs `quarry mcp` for a folder with these files and connects to it. call
// answers what a tool says; the command has ended well after the test.
func serveMCP(t *testing.T, files map[string]string) (client *sdk.ClientSession, call func(name string, args map[string]any) string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return connectMCP(t, sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil), "", "--workspace", dir)
}

// connectMCP runs `quarry mcp` with these arguments and connects a client that speaks a version
// of the protocol, "" for its newest.
func connectMCP(t *testing.T, with *sdk.Client, version string, args ...string) (client *sdk.ClientSession, call func(name string, args map[string]any) string) {
	t.Helper()
	t.Setenv("QUARRY_STATE_DIR", t.TempDir())
	return connectAgent(t, with, version, args...)
}

// connectAgent is connectMCP with the folder for state that the test has.
func connectAgent(t *testing.T, with *sdk.Client, version string, args ...string) (client *sdk.ClientSession, call func(name string, args map[string]any) string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, append([]string{"mcp", "--ollama", noOllama}, args...), in, out, io.Discard)
		out.Close()
	}()
	client, err := with.Connect(ctx, &sdk.IOTransport{Reader: fromServer, Writer: toServer}, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		defer cancel()
		if err := client.Close(); err != nil {
			t.Error(err)
		}
		if code := <-ended; code != 0 {
			t.Errorf("exit code %d", code)
		}
	})
	return client, func(name string, args map[string]any) string {
		t.Helper()
		r, err := client.CallTool(ctx, &sdk.CallToolParams{Name: name, Arguments: args})
		if err != nil {
			t.Fatal(err)
		}
		return r.Content[0].(*sdk.TextContent).Text
	}
}

// An agent connects to `quarry mcp`, which serves before the first index is done
// and ends with its input.
func TestMCPCommand(t *testing.T) {
	client, call := serveMCP(t, map[string]string{"a.go": "package a\n\nfunc Harvest() {}\n", ".env": "KEY=tomato-soup\n"})
	if info := client.InitializeResult().ServerInfo; info.Name != "quarry" || info.Version != cli.Version() {
		t.Errorf("server %+v", info)
	}
	if got := call("read_file", map[string]any{"path": "a.go", "start_line": 3, "end_line": 3}); !strings.Contains(got, "func Harvest") {
		t.Errorf("read: %s", got)
	}
	if got := call("read_file", map[string]any{"path": ".env", "start_line": 1, "end_line": 1}); strings.Contains(got, "tomato") || !strings.Contains(got, "permission_denied") {
		t.Errorf("a secret: %s", got)
	}
}

// Y2: an agent's model, and who looks over its shoulder, see each character that a file
// or its name hides, and who decodes the answer has it as it is.
func TestAgentsSeeWhatIsHidden(t *testing.T) {
	systest.NeedNames(t)
	const line = "\tif admin { // \u202e } \u2066 begin admins only\u200b\U000e0041 \x1b[2J"
	text := "package a\n\n// Harvest " + hostile + "\nfunc Harvest(admin bool) {\n" + line + "\n\t\tHarvest(false)\n\t}\n}\n"
	name := "harvest\u202e" + strings.ReplaceAll(hostile, "/", "|") + ".go"
	_, call := serveMCP(t, map[string]string{"a.go": text, name: text, "b.md": "# Harvest " + hostile + "\n\nharvest\n"})
	diff := "--- a/a.go\n+++ b/a.go\n@@ -4,3 +4,3 @@\n func Harvest(admin bool) {\n" + " " + line + "\n-\t\tHarvest(false)\n+\t\tHarvest(true)\n"
	shown := 0
	for tool, args := range map[string]map[string]any{
		"read_file": {"path": "a.go"}, "list_files": {}, "search_text": {"query": "Harvest"}, "search_regex": {"pattern": "admin"}, "search_symbols": {"query": "Harvest"},
		"codebase_search": {"query": "how to harvest"}, "search_code": {"query": "harvest"}, "search_docs": {"query": "harvest"}, "retrieve_context": {"query": "what does Harvest do"},
		"find_similar": {"code": text}, "get_outline": {"path": name}, "get_symbol_definition": {"symbol_id": "a.go#Harvest"}, "get_references": {"symbol_id": "a.go#Harvest"},
		"get_callers": {"symbol_id": "a.go#Harvest"}, "get_callees": {"symbol_id": "a.go#Harvest"}, "get_implementations": {"symbol_id": hostile},
		"get_impact": {"symbol_id": "a.go#Harvest"}, "repo_overview": {}, "rename_symbol": {"symbol_id": "a.go#Harvest", "new_name": "Reap"},
		"get_diagnostics": {"path": name}, "apply_unified_diff": {"diff": diff}, "apply_text_edits": {"path": hostile, "edits": []any{}}, hostile: {},
	} {
		answer := ""
		if tool != hostile { // that one the protocol's own part refuses
			answer = call(tool, args)
		}
		if i := strings.IndexFunc(answer, visible.Hidden); i >= 0 {
			t.Errorf("%s hides %q", tool, answer[max(0, i-40):min(len(answer), i+40)])
		}
		if strings.Contains(answer, `\u202e`) {
			shown++
		}
		if tool == "apply_unified_diff" {
			var e struct{ Data struct{ Diff string } }
			if err := json.Unmarshal([]byte(answer), &e); err != nil || !strings.Contains(e.Data.Diff, " "+line+"\n-\t\tHarvest(false)\n+\t\tHarvest(true)\n") {
				t.Errorf("the diff does not fit the file, %v: %s", err, answer)
			}
		}
	}
	if shown < 12 {
		t.Errorf("what is hidden stands in %d answers: the test shows little", shown)
	}
	evil := strings.Replace(diff, "Harvest(true)", "Harvest(true) // \u2067", 1)
	if got := call("apply_unified_diff", map[string]any{"diff": evil}); !strings.Contains(got, "it adds U+2067, which nobody sees") {
		t.Errorf("a change that hides something: %s", got)
	}
}
