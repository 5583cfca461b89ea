package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"quarry/agent"
	"quarry/agent/mcp"
	"quarry/diagnostics/patch"
	"quarry/retrieval/workspace"
)

const source = "package a\n\nfunc Harvest() {}\n"

// one is a project that nothing has to be closed of.
type one struct{ *agent.Toolbox }

func (one) Close() error { return nil }

// serving are options that serve one folder.
func serving(tools *agent.Toolbox, dir string) mcp.Options {
	return mcp.Options{
		Version: "test", Definitions: tools.AllDefinitions(), Folders: []string{dir},
		Open: func([]string) (mcp.Project, error) { return one{tools}, nil },
	}
}

// connect starts a server over a small workspace and a client of the SDK's.
func connect(t *testing.T) (c *sdk.ClientSession, dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{"a.go": source, ".env": "KEY=tomato-soup"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w := workspace.New(workspace.Options{StateDir: t.TempDir()})
	w.SetRoots([]string{dir})
	t.Cleanup(w.Close)
	if err := w.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	staging := agent.NewStaging(func() string { return dir }, time.Now)
	tools := agent.NewToolbox(agent.Parts{Workspace: w, Patcher: patch.New(w), Staging: staging})
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mcp.Serve(ctx, serving(tools, dir), in, out) }()
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		cancel()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("the server ended with %v", err)
		}
	})
	return c, dir
}

func call(t *testing.T, c *sdk.ClientSession, name string, args map[string]any) (text string, failed bool) {
	t.Helper()
	r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Content) != 1 {
		t.Fatalf("%d parts", len(r.Content))
	}
	return r.Content[0].(*sdk.TextContent).Text, r.IsError
}

func TestToolsOverMCP(t *testing.T) {
	c, dir := connect(t)
	list, err := c.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) != 22 {
		t.Fatalf("%d tools, %v", len(list.Tools), err)
	}
	for _, tool := range list.Tools {
		if tool.Description == "" || tool.InputSchema == nil || !tool.Annotations.ReadOnlyHint {
			t.Errorf("%+v", tool)
		}
	}
	text, failed := call(t, c, "read_file", map[string]any{"path": "a.go", "start_line": 3, "end_line": 3})
	if failed || !strings.Contains(text, `"text":"func Harvest() {}\n"`) {
		t.Errorf("read: %t %s", failed, text)
	}
	if text, failed := call(t, c, "read_file", map[string]any{"path": ".env", "start_line": 1, "end_line": 3}); !failed || strings.Contains(text, "tomato") || !strings.Contains(text, "permission_denied") {
		t.Errorf("a secret: %t %s", failed, text)
	}
	if text, failed := call(t, c, "read_file", nil); !failed || !strings.Contains(text, "path is missing") {
		t.Errorf("no arguments: %t %s", failed, text)
	}

	// A change comes back as a diff; with a token that the model made up, too, it
	// stays one.
	edits := map[string]any{"path": "a.go", "edits": []any{map[string]any{"start_line": 3, "start_col": 16, "end_line": 3, "end_col": 16, "replacement": " reap() "}}}
	text, failed = call(t, c, "apply_text_edits", edits)
	var e struct {
		OK    bool
		Data  struct{ Diff string }
		Error struct{ Code agent.Code }
	}
	if err := json.Unmarshal([]byte(text), &e); err != nil || failed || e.OK || e.Error.Code != agent.RequiresConfirmation || !strings.Contains(e.Data.Diff, "+func Harvest() { reap() }") {
		t.Errorf("a change: %t %s, %v", failed, text, err)
	}
	// However the file is named, the diff names it as git apply takes it.
	for _, name := range []string{"a.go", "./a.go", filepath.Join(dir, "a.go")} {
		edits["path"] = name
		if text, _ := call(t, c, "apply_text_edits", edits); !strings.Contains(text, `"diff":"--- a/a.go\n+++ b/a.go\n@@`) {
			t.Errorf("a change of %s: %s", name, text)
		}
	}
	const hunk = "@@ -3 +3 @@\n-func Harvest() {}\n+func Harvest() { reap() }\n"
	absolute := filepath.ToSlash(filepath.Join(dir, "a.go"))
	for _, name := range []string{"a.go", "./a.go", "x/../a.go", absolute, "a/" + absolute, filepath.ToSlash(filepath.Join(filepath.Base(dir), "a.go"))} {
		diff := map[string]any{"diff": "--- " + name + "\n+++ " + strings.Replace(name, "a//", "b//", 1) + "\n" + hunk}
		if text, _ := call(t, c, "apply_unified_diff", diff); !strings.Contains(text, `"diff":"--- a/a.go\n+++ b/a.go\n@@`) {
			t.Errorf("a diff of %s: %s", name, text)
		}
	}
	for _, name := range []string{"b.go", "./b.go", filepath.ToSlash(filepath.Join(dir, "b.go"))} {
		diff := map[string]any{"diff": "--- /dev/null\n+++ " + name + "\n@@ -0,0 +1 @@\n+package a\n"}
		if text, _ := call(t, c, "apply_unified_diff", diff); !strings.Contains(text, `"diff":"--- /dev/null\n+++ b/b.go\n@@`) {
			t.Errorf("a new file %s: %s", name, text)
		}
	}
	edits["confirmation_token"] = "TOKEN"
	if text, failed := call(t, c, "apply_text_edits", edits); !failed || !strings.Contains(text, "permission_denied") {
		t.Errorf("with a token: %t %s", failed, text)
	}
	if disk, err := os.ReadFile(filepath.Join(dir, "a.go")); err != nil || string(disk) != source {
		t.Errorf("a.go is now %q, %v", disk, err)
	}
}

// Y13: an agent is told, in words for the user, that a change is one that a program
// runs by itself; an ordinary change is not called dangerous.
func TestDangerousChangesAreNamed(t *testing.T) {
	c, _ := connect(t)
	create := func(name string) string {
		return "--- /dev/null\n+++ b/" + name + "\n@@ -0,0 +1 @@\n+x: 1\n"
	}
	for _, tt := range []struct{ diff, want string }{
		{create(".vscode/tasks.json"), "Careful, .vscode/tasks.json: your editor may execute this file's contents"},
		{create(".github/workflows/x.yml"), "Careful, .github/workflows/x.yml: your CI executes this file's contents"},
		{create(".husky/pre-commit"), "Careful, .husky/pre-commit: git or a shell executes this file's contents"},
		{create("AGENTS.md") + create("b.yml"), "Careful, AGENTS.md: an assistant may follow or execute this file's contents"},
		{create(".gitattributes"), "Careful, .gitattributes: it decides what git does with your files"},
		{create("b.yml"), ""},
	} {
		text, failed := call(t, c, "apply_unified_diff", map[string]any{"diff": tt.diff})
		var e struct {
			Error struct {
				Code    agent.Code
				Message string
			}
		}
		if err := json.Unmarshal([]byte(text), &e); err != nil || failed || e.Error.Code != agent.RequiresConfirmation {
			t.Fatalf("%s: %t %s, %v", tt.diff, failed, text, err)
		}
		if got := strings.Contains(e.Error.Message, "Careful"); got != (tt.want != "") || !strings.Contains(e.Error.Message, tt.want) {
			t.Errorf("%s is answered: %s", tt.diff, e.Error.Message)
		}
	}
}

// What is no message is answered with an error, and the session goes on.
func TestLinesThatAreNoMessages(t *testing.T) {
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- mcp.Serve(t.Context(), serving(agent.NewToolbox(agent.Parts{}), "/nowhere"), in, out)
		out.Close()
	}()
	answers := bufio.NewReader(fromServer)
	for _, c := range []struct{ line, want string }{
		{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, `"id":1,"result"`},
		{`{"jsonrpc":"2.0","method":"notifications/initialized"}`, ""},
		{"hello", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,`},
		{`{"jsonrpc":"2.0","id":2,"method":"tools/li`, `"id":null,"error":{"code":-32700,`},
		{"", ""},
		{"\xff\x00", `"code":-32700`},
		{`{"id":3,"method":"tools/list"}`, `"id":3,"error":{"code":-32600,`},
		{`{"jsonrpc":"2.0","id":{},"method":"tools/list"}`, `"id":null,"error":{"code":-32600,`},
		{`{"jsonrpc":"2.0","id":4,"method":5}`, `"id":4,"error":{"code":-32600,`},
		{`[{"jsonrpc":"2.0","id":5,"method":"ping"}]`, `"code":-32600`},
		{"5", `"code":-32600`},
		{`{"jsonrpc":"2.0","id":6,"method":"x","params":"` + strings.Repeat("y", 9<<20) + `"}`, `"code":-32700,"message":"the message is longer`},
		{`{"jsonrpc":"2.0","id":77,"result":{}}`, ""}, // nobody asked
		{`{"jsonrpc":"2.0","id":7,"method":"no/such"}`, `"id":7,"error":{"code":-32601`},
		{`{"jsonrpc":"2.0","id":8,"method":"tools/call","params":"x"}`, `"id":8,"error"`},
		{`{"jsonrpc":"2.0","id":"9","method":"ping"}` + "\r", `"id":"9","result"`},
	} {
		if _, err := io.WriteString(toServer, c.line+"\n"); err != nil {
			t.Fatalf("%.60q ended the session: %v, %v", c.line, err, <-ended)
		}
		if c.want == "" {
			continue
		}
		if got, err := answers.ReadString('\n'); err != nil || !strings.Contains(got, c.want) {
			t.Fatalf("%.60q is answered %q, %v", c.line, got, err)
		}
	}
	toServer.Close()
	if err := <-ended; err != nil {
		t.Errorf("ended with %v", err)
	}
}

// stumbling is a project whose first call panics.
type stumbling struct {
	one
	stumbled bool
}

func (s *stumbling) Call(ctx context.Context, name string, args json.RawMessage) agent.Envelope {
	if !s.stumbled {
		s.stumbled = true
		panic("a stone")
	}
	return s.one.Call(ctx, name, args)
}

// A tool that panics is an error of that call: the agent keeps its server, and the log the reason.
func TestAPanicEndsOneCall(t *testing.T) {
	tools := agent.NewToolbox(agent.Parts{Workspace: workspace.New(workspace.Options{})})
	project := &stumbling{one: one{tools}}
	opts := serving(tools, t.TempDir())
	opts.Open = func([]string) (mcp.Project, error) { return project, nil }
	var log strings.Builder
	opts.Log = slog.New(slog.NewTextHandler(&log, nil))
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- mcp.Serve(context.Background(), opts, in, out) }()
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if text, failed := call(t, c, "list_files", nil); !failed || !strings.Contains(text, "internal_error") || !strings.Contains(text, "list_files failed: a stone; go on with another tool") {
		t.Error(text)
	}
	if text, _ := call(t, c, "list_files", map[string]any{"glob": "["}); strings.Contains(text, "a stone") {
		t.Error(text)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if !strings.Contains(log.String(), "a stone") || !strings.Contains(log.String(), "mcp_test.go") {
		t.Error(log.String())
	}
}
