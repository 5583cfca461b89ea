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
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"quarry/cmd/internal/cli/clitest"
	"quarry/index"
	"quarry/index/snapshot"
	"quarry/lsp/headless"
	"quarry/model/modeltest"
	"quarry/retrieval"
)

// firstCalls are the kinds of answers that need the workspace, and what each has in the barn.
// What is read from the disk needs no index.
var firstCalls = []struct {
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
	{"get_impact", map[string]any{"symbol_id": "barn/a.go#Harvest"}, "barn/b.go#Store"},
	{"repo_overview", map[string]any{}, `"files":4`},
	{"repo_overview", map[string]any{"path": "barn"}, `"files":2`},
	{"rename_symbol", map[string]any{"symbol_id": "barn/a.go#Harvest", "new_name": "Reap"}, "Reap(1)"},
	{"search_regex", map[string]any{"pattern": "ripe a.ples"}, "barn/a.go"},
	{"quarry/search.hybrid", map[string]any{"query": "ripe apples"}, "barn/a.go"},
	{"quarry/search.lexical", map[string]any{"query": "ripe apples"}, "barn/a.go"},
	{"quarry/similar", map[string]any{"code": "func Store() { Harvest(1) }"}, "barn/b.go"},
	{"quarry/similar", map[string]any{"code": "return n // of ripe apples"}, "barn/a.go"},
	{"quarry/ask", map[string]any{"question": "what collects ripe apples?"}, "barn/a.go"},
}

// ofTheDisk are the tools that ask no index.
var ofTheDisk = []string{"read_file", "get_diagnostics"}

// The first call of a session finds what is there, or says that it does not know yet,
// whatever it finds of the index. It never says that there is nothing.
func TestFirstCall(t *testing.T) {
	for state, spoil := range map[string]func(t *testing.T, database string){
		"absent": func(t *testing.T, database string) {
			if err := os.RemoveAll(filepath.Dir(database)); err != nil {
				t.Fatal(err)
			}
		},
		"present":    func(*testing.T, string) {},
		"half-built": func(t *testing.T, database string) { forgetScan(t, database) },
		"of a newer quarry": func(t *testing.T, database string) {
			db, err := sql.Open("sqlite3", database)
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
			addTools(t, root)
			for _, c := range firstCalls {
				for over, speak := range map[string]func(*testing.T, string, string) func(string, map[string]any) string{"MCP": overMCP, "LSP": overLSP} {
					if strings.Contains(c.tool, "/") && over == "MCP" || c.tool == "rename_symbol" && over == "LSP" {
						continue // a method of the language server; what asks a user, who is not there
					}
					t.Run(c.tool+" over "+over, func(t *testing.T) { // at whose end the session ends
						stateDir := t.TempDir()
						spoil(t, indexBarn(t, root, stateDir))
						session := speak(t, root, stateDir)
						for {
							got := session(c.tool, c.args)
							if strings.Contains(got, `"not_ready"`) {
								continue // the deadline of the session ends this
							}
							if strings.Contains(got, `"incomplete"`) && !strings.Contains(got, c.want) {
								continue // the answer says that it lacks something
							}
							if !strings.Contains(got, c.want) || !strings.Contains(got, `"backend"`) {
								t.Error(got)
							}
							break
						}
					})
				}
			}
		})
	}
}

// Where nobody goes on with a half-built index, each answer says what it lacks, or that it is
// not ready: with how many of the files are done.
func TestFirstCallOfAPartOfTheIndex(t *testing.T) {
	root, stateDir := barn(t), t.TempDir()
	addTools(t, root)
	database := indexBarn(t, root, stateDir)
	forgetScan(t, database)
	other := flock.New(filepath.Join(filepath.Dir(database), "lock")) // of a process that does nothing
	if held, err := other.TryLock(); !held || err != nil {
		t.Fatal(held, err)
	}
	defer other.Close()
	var waiting sync.WaitGroup
	for over, speak := range map[string]func(*testing.T, string, string) func(string, map[string]any) string{"MCP": overMCP, "LSP": overLSP} {
		session := speak(t, root, stateDir)
		for _, c := range firstCalls { // at once, as each waits
			if strings.Contains(c.tool, "/") && over == "MCP" || slices.Contains(ofTheDisk, c.tool) {
				continue
			}
			waiting.Go(func() {
				got := session(c.tool, c.args)
				said := strings.Contains(got, `"incomplete":{`) || strings.Contains(got, `"not_ready"`)
				if !said || !strings.Contains(got, `"files_done":3`) {
					t.Errorf("%s over %s: %s", c.tool, over, got)
				}
			})
		}
		if over == "MCP" {
			continue
		}
		waiting.Go(func() {
			got := ""
			for got == "" || strings.Contains(got, `"opening"`) {
				got = session("quarry/index.status", nil)
			}
			for _, want := range []string{`"whole":false`, `"files":3`, `"writer":"other"`} {
				if !strings.Contains(got, want) {
					t.Errorf("status lacks %s: %s", want, got)
				}
			}
		})
	}
	waiting.Wait()
}

// The first status of a session never says that nothing is at work before all is known.
func TestFirstStatus(t *testing.T) {
	for state, spoil := range map[string]func(*testing.T, string){"absent": removeIndex, "present": func(*testing.T, string) {}, "half-built": forgetScan} {
		root, stateDir := barn(t), t.TempDir()
		spoil(t, indexBarn(t, root, stateDir))
		session := overLSP(t, root, stateDir)
		for {
			var list []index.Status
			if err := json.Unmarshal([]byte(session("quarry/index.status", nil)), &list); err != nil {
				t.Fatal(err)
			}
			if len(list) != 1 {
				t.Fatalf("%s: %d folders", state, len(list))
			}
			st := list[0]
			if st.Working != (len(st.Doing) > 0) {
				t.Errorf("%s: working %t, doing %q", state, st.Working, st.Doing)
			}
			if st.Working {
				continue // the deadline of the session ends this
			}
			if st.Files != 3 || !st.Whole || st.Learning {
				t.Errorf("%s: at rest with %d of 3 files: %+v", state, st.Files, st)
			}
			break
		}
		if got := session("quarry/search.lexical", map[string]any{"query": "ripe apples", "k": 1}); !strings.Contains(got, "barn/a.go") || strings.Contains(got, `"incomplete"`) {
			t.Errorf("%s, at rest: %s", state, got)
		}
	}
}

// The first ghost text may come too early to have the repository; it has it soon, whatever
// there was at the start.
func TestFirstCompletion(t *testing.T) {
	for state, spoil := range map[string]func(*testing.T, string){"absent": removeIndex, "present": func(*testing.T, string) {}, "half-built": forgetScan} {
		t.Run(state, func(t *testing.T) {
			root, stateDir := barn(t), t.TempDir()
			if err := os.WriteFile(filepath.Join(root, "barn", "c.go"), []byte("package barn\n\nfunc keep() {\n\tPickle(apples, vinegar, sugar)\n}\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			spoil(t, indexBarn(t, root, stateDir))
			ctx, e := serveEditor(t, "vscode", root, "--state-dir", stateDir, "--ollama", noOllama)
			const text = "package barn\n\nfunc more() {\n\tPickle(\n}\n"
			b, err := e.Open("barn/d.go", "go", text)
			if err != nil {
				t.Fatal(err)
			}
			b.Cursor = strings.Index(text, "Pickle(") + len("Pickle(")
			for b.Ghost == nil {
				if err := e.Complete(ctx, b, true); err != nil {
					t.Fatal(err) // the deadline of the session ends this
				}
			}
			if !strings.HasPrefix(b.Ghost.InsertText, "apples, vinegar, sugar)") {
				t.Errorf("%q", b.Ghost.InsertText)
			}
		})
	}
}

// The first search by meaning finds what is there, or says in words that it cannot.
func TestFirstSemanticSearch(t *testing.T) {
	server := modeltest.NewServer(t)
	server.SetModels(modeltest.Model{Name: "letters"})
	server.ScriptEmbed(countLetters)
	clitest.UserConfig(t, t.TempDir())
	for state, spoil := range map[string]func(*testing.T, string){"absent": removeIndex, "present": func(*testing.T, string) {}, "half-built": forgetScan} {
		t.Run(state, func(t *testing.T) {
			root, stateDir := barn(t), t.TempDir()
			flags := []string{"--state-dir", stateDir, "--ollama", server.URL, "--embedding-model", "letters"}
			if code := run(t.Context(), append([]string{"index", "--embed", "--workspace", root}, flags...), nil, io.Discard, io.Discard); code != 0 {
				t.Fatal("index", code)
			}
			found, err := filepath.Glob(filepath.Join(stateDir, "index", "*", "index.db"))
			if err != nil || len(found) != 1 {
				t.Fatal(found, err)
			}
			spoil(t, found[0])
			ctx, e := serveEditor(t, "vscode", root, flags...)
			for {
				var got json.RawMessage
				err := e.Call(ctx, "quarry/search.semantic", map[string]any{"query": "harvest collects ripe apples"}, &got)
				switch {
				case ctx.Err() != nil:
					t.Fatal(err)
				case err != nil && (strings.Contains(err.Error(), "not ready") || strings.Contains(err.Error(), "not available")):
					continue
				case err != nil:
					t.Fatal(err)
				}
				if !strings.Contains(string(got), "barn/a.go") && !strings.Contains(string(got), `"incomplete"`) {
					t.Errorf("%s", got)
				}
				if strings.Contains(string(got), "barn/a.go") {
					break
				}
			}
		})
	}
}

// addTools adds a fourth file to the barn.
func addTools(t *testing.T, root string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(root, "tools.py"), []byte("class Tool:\n    pass\n\n\nclass Rake(Tool):\n    pass\n"), 0o644); err != nil {
		t.Fatal(err)
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
			t.Error(err)
			return ""
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
			var refused *headless.ResponseError
			if ctx.Err() != nil || !errors.As(err, &refused) || !strings.Contains(err.Error(), "not ready") {
				t.Error(err)
				return ""
			}
			return string(refused.Data)
		}
		return string(got)
	}
}

// forgetScan makes an index as one is that was killed during its first scan.
func forgetScan(t *testing.T, database string) {
	t.Helper()
	db, err := sql.Open("sqlite3", database+"?_foreign_keys=on")
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
