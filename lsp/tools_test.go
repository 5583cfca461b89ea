package lsp_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/lsp/headless"
)

// toolAnswer is the result of quarry/tools.call.
type toolAnswer struct {
	OK    bool
	Data  json.RawMessage
	Error *struct{ Code, Message string }
	Meta  struct {
		Truncated bool
		Bytes     int
		Warnings  []string
	}
}

func callTool(t *testing.T, e *headless.Editor, name string, args any) (a toolAnswer) {
	t.Helper()
	if err := e.Call(soon(t), "quarry/tools.call", map[string]any{"name": name, "arguments": args}, &a); err != nil {
		t.Fatal(err)
	}
	return a
}

func TestToolsForTheEditorsModels(t *testing.T) {
	root := func(o *headless.Options) {
		keep(t, o, "a.go", "package a\n\nfunc Harvest() {}\n")
		keep(t, o, ".env", "KEY=secret\n")
	}
	e := edit(t, "vscode", &core{indexed: true}, root)
	var list []struct{ Function struct{ Name string } }
	if err := e.Call(soon(t), "quarry/tools.list", nil, &list); err != nil || len(list) != 22 || list[0].Function.Name != "read_file" {
		t.Fatalf("tools: %+v, %v", list, err)
	}
	a := callTool(t, e, "read_file", map[string]any{"path": "a.go", "start_line": 3, "end_line": 3})
	if want := `{"path":"a.go","start_line":3,"end_line":3,"total_lines":3,"text":"func Harvest() {}\n"}`; !a.OK || compact(t, a.Data) != compact(t, []byte(want)) {
		t.Errorf("read: %+v %s", a, a.Data)
	}
	if a := callTool(t, e, "read_file", map[string]any{"path": ".env", "start_line": 1, "end_line": 1}); a.OK || a.Error.Code != "permission_denied" {
		t.Errorf("a secret: %+v %s", a, a.Data)
	}
	if a := callTool(t, e, "read_file", nil); a.OK || a.Error.Code != "invalid_arguments" {
		t.Errorf("no arguments: %+v", a)
	}
	wantCode(t, "no name", e.Call(soon(t), "quarry/tools.call", map[string]any{}, nil), -32602)
}

// A change by a tool is put to the user in each client's own way, and made only
// if they agree.
func TestToolsChangeNothingUnasked(t *testing.T) {
	const before, after = "package a\n\nfunc Harvest() {}\n", "package a\n\nfunc Harvest() { reap() }\n"
	diff := map[string]any{"diff": "--- a/a.go\n+++ b/a.go\n@@ -1,3 +1,3 @@\n package a\n \n-func Harvest() {}\n+func Harvest() { reap() }\n"}
	for _, profile := range []string{"vscode", "neovim", "helix"} {
		for answer, yes := range map[string]bool{"yes": true, "no": false} {
			t.Run(profile+" "+answer, func(t *testing.T) {
				var dir string
				e := edit(t, profile, &core{indexed: true}, func(o *headless.Options) { dir = o.Root; keep(t, o, "a.go", before) })
				b := open(t, e, "a.go", "go", before)
				p, err := e.Start("quarry/tools.call", map[string]any{"name": "apply_unified_diff", "arguments": diff})
				if err != nil {
					t.Fatal(err)
				}
				if yes {
					agree(t, e)
				} else {
					attend(t, e, headless.RejectPrompt)
				}
				var a toolAnswer
				if err := p.Wait(&a); err != nil {
					t.Fatal(err)
				}
				text := before
				if yes {
					text = after
				}
				if a.OK != yes || !yes && a.Error.Code != "permission_denied" {
					t.Errorf("answered %+v %s", a, a.Data)
				}
				if b.Text.String() != text {
					t.Errorf("the document is\n%s", b.Text.String())
				}
				if disk, err := os.ReadFile(filepath.Join(dir, "a.go")); err != nil || string(disk) != before {
					t.Errorf("the server wrote a file: %q, %v", disk, err)
				}
			})
		}
	}
}

// Y13: a change of what an editor, a CI or git runs by itself is put to the user with
// the danger named, in every question about it.
func TestDangerousChangesAreNamed(t *testing.T) {
	for name, says := range map[string]string{
		".vscode/tasks.json":      "your editor may execute",
		".nvim.lua":               "your editor may execute",
		".github/workflows/x.yml": "your CI executes",
		".husky/pre-commit":       "git or a shell executes",
		".gitattributes":          "it decides what git does",
		"CLAUDE.md":               "an assistant may",
		"b.go":                    "",
	} {
		t.Run(name, func(t *testing.T) {
			e := edit(t, "helix", &core{indexed: true}, func(o *headless.Options) {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(o.Root, name)), 0o755); err != nil {
					t.Fatal(err)
				}
				keep(t, o, name, "before\n")
			})
			open(t, e, name, "plaintext", "before\n")
			p, err := e.Start("quarry/tools.call", map[string]any{"name": "apply_unified_diff", "arguments": map[string]any{
				"diff": "--- a/" + name + "\n+++ b/" + name + "\n@@ -1 +1 @@\n-before\n+after\n",
			}})
			if err != nil {
				t.Fatal(err)
			}
			questions := 0
			named := func(answer string) func(string, []string) string {
				return func(message string, _ []string) string {
					questions++
					if got := strings.Contains(message, "Careful, "+name+": "+says); got != (says != "") {
						t.Errorf("the user reads %q", message)
					}
					return answer
				}
			}
			attend(t, e, named(headless.Show))
			attend(t, e, func(message string, choices []string) string {
				if page, err := e.Page(); err != nil || strings.Contains(page, "Careful, "+name) != (says != "") {
					t.Errorf("the page says %q, %v", page, err)
				}
				return named(headless.Discard)(message, choices)
			})
			var a toolAnswer
			if err := p.Wait(&a); err != nil {
				t.Fatal(err)
			}
			if a.OK || questions != 2 {
				t.Errorf("answered %+v %s after %d questions", a, a.Data, questions)
			}
		})
	}
}

// A yes is for what the user was shown: what they type before they answer makes
// it worth nothing.
func TestToolsChangeOnlyWhatWasShown(t *testing.T) {
	const text = "package a\n\nfunc Harvest() {}\n"
	e := edit(t, "helix", &core{indexed: true}, func(o *headless.Options) { keep(t, o, "a.go", text) }) // there quarry asks
	b := open(t, e, "a.go", "go", text)
	p, err := e.Start("quarry/tools.call", map[string]any{"name": "apply_unified_diff", "arguments": map[string]any{
		"diff": "--- a/a.go\n+++ b/a.go\n@@ -3 +3 @@\n-func Harvest() {}\n+func Harvest() { reap() }\n",
	}})
	if err != nil {
		t.Fatal(err)
	}
	attend(t, e, headless.AcceptPrompt) // shows the change
	attend(t, e, func(string, []string) string {
		if err := e.Replace(b, 0, 0, "// news\n"); err != nil {
			t.Error(err)
		}
		return headless.Apply
	})
	var a toolAnswer
	if err := p.Wait(&a); err != nil {
		t.Fatal(err)
	}
	if a.OK || b.Text.String() != "// news\n"+text {
		t.Errorf("answered %+v, the document is %q", a, b.Text.String())
	}
}

// What a model makes up for a token confirms nothing, and asks nobody.
func TestToolsTakeNoToken(t *testing.T) {
	const text = "package a\n\nfunc Harvest() {}\n"
	e := edit(t, "vscode", &core{indexed: true}, func(o *headless.Options) { keep(t, o, "a.go", text) })
	b := open(t, e, "a.go", "go", text)
	a := callTool(t, e, "apply_text_edits", map[string]any{
		"path": "a.go", "confirmation_token": strings.Repeat("A", 26),
		"edits": []any{map[string]any{"start_line": 1, "start_col": 0, "end_line": 1, "end_col": 0, "replacement": "// x\n"}},
	})
	if a.OK || a.Error.Code != "permission_denied" || b.Text.String() != text || e.Waiting() != 0 {
		t.Errorf("answered %+v, %d questions, the document is %q", a, e.Waiting(), b.Text.String())
	}
}

// keep writes a file below the editor's root.
func keep(t *testing.T, o *headless.Options, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(o.Root, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func compact(t *testing.T, raw []byte) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
