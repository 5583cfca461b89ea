package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quarry/cmd/internal/cli"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// An agent connects to `quarry mcp`, which serves before the first index is done
// and ends with its input.
func TestMCPCommand(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.go": "package a\n\nfunc Harvest() {}\n", ".env": "KEY=tomato-soup\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("QUARRY_STATE_DIR", t.TempDir())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"mcp", "--workspace", dir, "--ollama", noOllama}, in, out, io.Discard)
		out.Close()
	}()
	client, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).
		Connect(ctx, &sdk.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if info := client.InitializeResult().ServerInfo; info.Name != "quarry" || info.Version != cli.Version() {
		t.Errorf("server %+v", info)
	}
	call := func(name string, args map[string]any) string {
		t.Helper()
		r, err := client.CallTool(ctx, &sdk.CallToolParams{Name: name, Arguments: args})
		if err != nil {
			t.Fatal(err)
		}
		return r.Content[0].(*sdk.TextContent).Text
	}
	if got := call("read_file", map[string]any{"path": "a.go", "start_line": 3, "end_line": 3}); !strings.Contains(got, "func Harvest") {
		t.Errorf("read: %s", got)
	}
	if got := call("read_file", map[string]any{"path": ".env", "start_line": 1, "end_line": 1}); strings.Contains(got, "tomato") || !strings.Contains(got, "permission_denied") {
		t.Errorf("a secret: %s", got)
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	if code := <-ended; code != 0 {
		t.Errorf("exit code %d", code)
	}
}
