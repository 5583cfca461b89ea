package lsp_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry/completion"
	"quarry/lsp"
	"quarry/lsp/headless"
)

// seen is a core that keeps what it is asked to complete.
func seen(c *core) <-chan completion.Request {
	asked := make(chan completion.Request, 100)
	c.complete = func(_ context.Context, req completion.Request) (completion.Result, error) {
		asked <- req
		return ghost(req, "ghost"), nil
	}
	return asked
}

// openURI opens a document that need not be a file.
func openURI(t *testing.T, e *headless.Editor, uri, content string) {
	t.Helper()
	if err := e.Notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{
		"uri": uri, "languageId": "plaintext", "version": 1, "text": content,
	}}); err != nil {
		t.Fatal(err)
	}
}

func askURI(t *testing.T, e *headless.Editor, method, uri string) string {
	t.Helper()
	var raw json.RawMessage
	if err := e.Call(soon(t), method, map[string]any{
		"textDocument": map[string]any{"uri": uri}, "position": map[string]any{"line": 0, "character": 0},
		"context": map[string]any{"triggerKind": 1},
	}, &raw); err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// Whatever an editor calls a secret, its text is in no prompt: neither when it is
// asked for nor beside another document.
func TestSecretsOfEveryScheme(t *testing.T) {
	const canary = "hunter2"
	secrets := []string{
		"untitled:/ws/.env", "untitled:.env", "untitled:%2Eenv", "untitled:///ws/id_rsa", "untitled:%2Fws%2F.env", "untitled:/C:/x/.env", `untitled:C%3A%5Cx%5C.env`,
		"git:/ws/.env?%7B%22path%22%3A%22%2Fws%2F.env%22%2C%22ref%22%3A%22~%22%7D", "fugitive:///ws/.git//0/.env", "vscode-notebook-cell:/ws/.env#W0",
		"vscode-vfs://github/x/.env", "oil:///ws/.env", "zipfile:///ws/a.zip::.env", "zipfile:/ws/a.zip%3A%3A.env", "http://x/.env",
		// What these schemes show is judged by no rules, so its name is no promise.
		"untitled:/ws/main.go", "git:/ws/main.go?x", "vscode-notebook-cell:/ws/n.ipynb#W0", "oil:///ws/",
	}
	for _, editor := range []string{"vscode", "helix"} {
		t.Run(editor, func(t *testing.T) {
			c := &core{}
			asked := seen(c)
			e := edit(t, editor, c)
			for _, u := range secrets {
				openURI(t, e, u, "PASSWORD="+canary)
				for _, method := range []string{"textDocument/inlineCompletion", "textDocument/completion"} {
					if got := askURI(t, e, method, u); strings.Contains(got, "ghost") {
						t.Errorf("%s in %s: %s", method, u, got)
					}
				}
			}
			select {
			case req := <-asked:
				t.Fatalf("the model was asked about %s", req.Key)
			default:
			}
			openURI(t, e, "untitled:Untitled-1", "x")
			if editor == "vscode" {
				askURI(t, e, "textDocument/inlineCompletion", "untitled:Untitled-1")
			} else {
				askURI(t, e, "textDocument/completion", "untitled:Untitled-1")
			}
			req := <-asked
			if req.Path != "Untitled-1" || len(req.Open) > 0 {
				t.Errorf("a new text is completed as %q beside %v", req.Path, req.Open)
			}
		})
	}
}

// A document outside every folder is completed, since the user opened it, but never
// enters a prompt of the workspace, and takes nothing of that into its own.
func TestDocumentsOutsideTheFolders(t *testing.T) {
	c := &core{indexed: true}
	asked := seen(c)
	e := edit(t, "vscode", c)
	outside := t.TempDir()
	at := func(name string) string { return headless.FileURI(filepath.Join(outside, name)) }
	openURI(t, e, at("one.go"), "package one")
	openURI(t, e, at("two.go"), "package two")
	openURI(t, e, at(".env"), "PASSWORD=hunter2")
	inside := open(t, e, "in.go", "go", "package in")
	open(t, e, "beside.go", "go", "package beside")
	openURI(t, e, "untitled:Untitled-1", "new")
	texts := func(uri string) string {
		t.Helper()
		askURI(t, e, "textDocument/inlineCompletion", uri)
		req := <-asked
		list := []string{req.Text}
		for _, d := range req.Open {
			list = append(list, d.Text)
		}
		slices.Sort(list[1:])
		return strings.Join(list, ", ")
	}
	for uri, want := range map[string]string{
		inside.URI: "package in, new, package beside", "untitled:Untitled-1": "new, package beside, package in",
		at("one.go"): "package one, package two",
	} {
		if got := texts(uri); got != want {
			t.Errorf("%s is completed with %q, want %q", uri, got, want)
		}
	}
	if got := askURI(t, e, "textDocument/inlineCompletion", at(".env")); strings.Contains(got, "ghost") {
		t.Errorf("a secret outside the folders is completed: %s", got)
	}
	if len(asked) > 0 {
		t.Error("the model was asked about a secret outside the folders")
	}
}

// A request that a newer one supersedes before the rules of its folder are known
// says nothing about its document.
func TestSupersededBeforeTheRulesAreKnown(t *testing.T) {
	waiting, known := make(chan struct{}, 1), make(chan struct{})
	c := &core{excluded: func(ctx context.Context) (bool, error) {
		waiting <- struct{}{}
		select {
		case <-known:
			return false, nil
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}}
	e := edit(t, "vscode", c)
	b := open(t, e, "a.go", "go", "")
	first, err := e.Start("textDocument/inlineCompletion", e.InlineParams(b, false))
	if err != nil {
		t.Fatal(err)
	}
	<-waiting
	second, err := e.Start("textDocument/inlineCompletion", e.InlineParams(b, false))
	if err != nil {
		t.Fatal(err)
	}
	<-waiting
	var raw json.RawMessage
	if err := first.Wait(&raw); err != nil || string(raw) != "null" {
		t.Errorf("superseded: %s, %v", raw, err)
	}
	close(known)
	if err := second.Wait(&raw); err != nil || !strings.Contains(string(raw), "ghost") {
		t.Errorf("the newer request: %s, %v", raw, err)
	}
	for _, line := range e.Logged() {
		if strings.Contains(line, "secret") {
			t.Errorf("logged: %s", line)
		}
	}
}

// What was explained in a document, and what its last ghost text came from, is not shown
// again once a rule leaves it out; nor is a prompt with code of another file that is.
func TestWhatIsLeftOutLaterIsNotShownAgain(t *testing.T) {
	next := make(chan bool, 3)
	c := explaining(slowly(next, "Nobody wrote foo. ", "Write it."))
	root := ""
	c.complete = func(_ context.Context, req completion.Request) (completion.Result, error) {
		res := ghost(req, "ghost")
		res.Prompt.Text = "func Secretly() {}"
		res.Prompt.Snippets = []completion.Snippet{{Root: root, Path: "other.go", StartLine: 1, EndLine: 1, Text: "func Secretly() {}"}}
		return res, nil
	}
	e := edit(t, "neovim", c, func(o *headless.Options) { root = o.Root })
	b := problemAt(t, e, "a.go")
	explain(t, e, b)
	for range cap(next) {
		next <- true
	}
	page(t, e, explainedInFile)
	complete(t, e, b)
	came := func() string {
		t.Helper()
		var raw json.RawMessage
		if err := e.Call(soon(t), lsp.MethodExplainCompletion, map[string]any{"textDocument": map[string]any{"uri": b.URI}}, &raw); err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	hover := func() string {
		t.Helper()
		text, err := e.Hover(soon(t), b, b.Cursor)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	shown := func() bool { return hover() != "" && strings.Contains(came(), "Secretly") }
	if err := e.Await(soon(t), shown); err != nil {
		t.Fatalf("hover %q, from %q", hover(), came())
	}
	for rule, hovers := range map[string]bool{"a.go": false, "other.go": true} {
		if err := os.WriteFile(filepath.Join(root, ".quarryignore"), []byte(rule+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if (hover() != "") != hovers || came() != "null" {
			t.Errorf("without %s: hover %q, from %q", rule, hover(), came())
		}
	}
}

// What only git's rules leave out need not be private: it is completed when the user opens
// it, and is in no prompt but its own, from the first request after the rule on.
func TestWhatGitLeavesOutIsInNoOtherPrompt(t *testing.T) {
	c := &core{indexed: true}
	asked := seen(c)
	root := ""
	e := edit(t, "vscode", c, func(o *headless.Options) { root = o.Root })
	main := open(t, e, "main.go", "go", "package main")
	left := open(t, e, "left.go", "go", "package left")
	beside := func(b *headless.Buffer) (list []string) {
		t.Helper()
		complete(t, e, b)
		for _, d := range (<-asked).Open {
			list = append(list, d.Text)
		}
		return list
	}
	if got := beside(main); !slices.Equal(got, []string{"package left"}) {
		t.Fatalf("beside main.go stand %q", got)
	}
	if err := os.WriteFile(filepath.Join(root, ".gitignore"), []byte("left.go\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := beside(main); len(got) > 0 {
		t.Errorf("beside main.go stand %q", got)
	}
	if got := beside(left); !slices.Equal(got, []string{"package main"}) {
		t.Errorf("beside left.go stand %q", got)
	}
}
