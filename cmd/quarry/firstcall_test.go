package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"quarry/index/snapshot"
	"quarry/retrieval"
)

// The first call of a session finds what is there, or says that it does not know yet,
// whatever it finds of the index. It never says that there is nothing.
func TestFirstCall(t *testing.T) {
	calls := []struct {
		tool string
		args map[string]any
		want string
	}{
		{"search_symbols", map[string]any{"name": "Harvest"}, "barn/a.go#Harvest"},
		{"get_symbol_definition", map[string]any{"symbol_id": "barn/a.go#Harvest"}, "collects ripe apples"},
		{"get_references", map[string]any{"symbol_id": "barn/a.go#Harvest"}, "barn/b.go:3"},
		{"get_outline", map[string]any{"path": "barn/a.go"}, "func Harvest"},
		{"get_callers", map[string]any{"symbol_id": "barn/a.go#Harvest"}, "barn/b.go#Store"},
		{"get_callees", map[string]any{"symbol_id": "barn/b.go#Store"}, "barn/a.go#Harvest"},
		{"get_implementations", map[string]any{"symbol_id": "tools.py#Tool"}, "tools.py#Rake"},
		{"search_text", map[string]any{"query": "ripe apples"}, "barn/a.go"},
		{"codebase_search", map[string]any{"query": "collect apples"}, "barn/a.go"},
		{"search_code", map[string]any{"query": "collect apples"}, "barn/a.go"},
		{"search_docs", map[string]any{"query": "frost"}, "notes.md"},
		{"retrieve_context", map[string]any{"query": "how are apples collected", "current_path": "", "language": ""}, "barn/a.go"},
		{"find_similar", map[string]any{"code": "func Store() { Harvest(1) }"}, "barn/b.go"},
		{"list_files", map[string]any{"glob": "**/*.go"}, "barn/a.go"},
		{"read_file", map[string]any{"path": "barn/a.go", "start_line": 1, "end_line": 5}, "func Harvest"},
		{"get_diagnostics", map[string]any{}, `"total":0`},
		{"search_regex", map[string]any{"pattern": "ripe a.ples"}, "barn/a.go"},
		{"quarry/search.hybrid", map[string]any{"query": "ripe apples"}, "barn/a.go"},
		{"quarry/search.lexical", map[string]any{"query": "ripe apples"}, "barn/a.go"},
	}
	for state, spoil := range map[string]func(t *testing.T, database string){
		"absent": func(t *testing.T, database string) {
			if err := os.RemoveAll(filepath.Dir(database)); err != nil {
				t.Fatal(err)
			}
		},
		"present":    func(*testing.T, string) {},
		"half-built": func(t *testing.T, database string) { forgetScan(t, database) },
		"of a newer quarry": func(t *testing.T, database string) {
			db, err := sql.Open("sqlite3", "file:"+database)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.Exec("PRAGMA user_version = 99"); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		},
		"with another quarry's snapshot": func(t *testing.T, database string) {
			if err := snapshot.Write(filepath.Join(filepath.Dir(database), "snapshot"), retrieval.StoredVersion+1, 1, slices.Values([][]byte{[]byte("another's")})); err != nil {
				t.Fatal(err)
			}
		},
		"with a damaged snapshot": func(t *testing.T, database string) {
			if err := os.Truncate(filepath.Join(filepath.Dir(database), "snapshot"), 5000); err != nil {
				t.Fatal(err)
			}
		},
		"damaged": func(t *testing.T, database string) {
			if err := os.WriteFile(database, []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(state, func(t *testing.T) {
			root := barn(t)
			if err := os.WriteFile(filepath.Join(root, "tools.py"), []byte("class Tool:\n    pass\n\n\nclass Rake(Tool):\n    pass\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			for _, c := range calls {
				for over, speak := range map[string]func(*testing.T, string, string) func(string, map[string]any) string{"MCP": overMCP, "LSP": overLSP} {
					if strings.Contains(c.tool, "/") && over == "MCP" {
						continue // a method of the language server
					}
					stateDir := t.TempDir()
					spoil(t, indexBarn(t, root, stateDir))
					session := speak(t, root, stateDir)
					for {
						got := session(c.tool, c.args)
						if strings.Contains(got, `"not_ready"`) {
							continue // the deadline of the session ends this
						}
						if !strings.Contains(got, c.want) || !strings.Contains(got, `"backend"`) {
							t.Errorf("%s over %s: %s", c.tool, over, got)
						}
						break
					}
				}
			}
		})
	}
}

// barn is a folder of three files.
func barn(t *testing.T) (root string) {
	t.Helper()
	root = t.TempDir()
	for name, text := range map[string]string{
		"barn/a.go": "package barn\n\n// Harvest collects ripe apples.\nfunc Harvest(n int) int {\n\treturn n\n}\n",
		"barn/b.go": "package barn\n\nfunc Store() { Harvest(1) }\n",
		"notes.md":  "# Frost\n\nNo apples in frost.\n",
	} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// indexBarn makes the index of a folder and answers its database.
func indexBarn(t *testing.T, root, stateDir string) (database string) {
	t.Helper()
	if code := run(t.Context(), []string{"index", "--workspace", root, "--state-dir", stateDir}, nil, io.Discard, io.Discard); code != 0 {
		t.Fatal("index", code)
	}
	found, err := filepath.Glob(filepath.Join(stateDir, "index", "*", "index.db"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	return found[0]
}

// overMCP starts `quarry mcp` and answers what calls a tool of it.
func overMCP(t *testing.T, root, stateDir string) func(tool string, args map[string]any) string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"mcp", "--workspace", root, "--state-dir", stateDir, "--ollama", noOllama}, in, out, io.Discard)
		out.Close()
	}()
	client, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).
		Connect(ctx, &sdk.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
		<-ended
		cancel()
	})
	return func(tool string, args map[string]any) string {
		r, err := client.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: args})
		if err != nil {
			t.Fatal(err)
		}
		return r.Content[0].(*sdk.TextContent).Text
	}
}

// overLSP starts `quarry lsp` and answers what calls a tool of it, or a method if the
// name has a slash.
func overLSP(t *testing.T, root, stateDir string) func(tool string, args map[string]any) string {
	ctx, e := serveEditor(t, "vscode", root, "--state-dir", stateDir, "--ollama", noOllama)
	return func(tool string, args map[string]any) string {
		method := tool
		var params any = args
		if !strings.Contains(tool, "/") {
			method, params = "quarry/tools.call", map[string]any{"name": tool, "arguments": args}
		}
		var got json.RawMessage
		if err := e.Call(ctx, method, params, &got); err != nil {
			if ctx.Err() != nil || !strings.Contains(err.Error(), "not ready") {
				t.Fatal(err)
			}
			return `"not_ready"`
		}
		return string(got)
	}
}

// forgetScan makes an index as one is that was killed during its first scan.
func forgetScan(t *testing.T, database string) {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+database+"?_foreign_keys=on")
	if err != nil {
		t.Fatal(err)
	}
	const id = "(SELECT id FROM files WHERE path = 'barn/a.go')"
	for _, statement := range []string{
		"DELETE FROM chunks WHERE id >> 20 = " + id, "DELETE FROM symbols WHERE id >> 20 = " + id,
		"DELETE FROM file_text WHERE rowid = " + id, "DELETE FROM text_due WHERE file_id = " + id,
		"DELETE FROM files WHERE id = " + id, "DELETE FROM meta WHERE key LIKE 'analyzer%'",
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
