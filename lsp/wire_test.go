package lsp_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"quarry/completion"
	"quarry/lsp/headless"
)

func send(t *testing.T, e *headless.Editor, format string, args ...any) {
	t.Helper()
	if err := e.SendBytes(headless.Frame(fmt.Appendf(nil, format, args...))); err != nil {
		t.Fatal(err)
	}
}

// Of two requests of one id under way the second is refused and the first goes on.
func TestAnIDThatIsInUse(t *testing.T) {
	asked, release := make(chan struct{}, 2), make(chan struct{})
	c := &core{complete: func(_ context.Context, req completion.Request) (completion.Result, error) {
		asked <- struct{}{}
		<-release
		return ghost(req, "ghost"), nil
	}}
	e := edit(t, "vscode", c)
	b := open(t, e, "a.go", "go", "package a\n")
	request := fmt.Sprintf(`{"jsonrpc":"2.0","id":"twice","method":"textDocument/inlineCompletion","params":{"textDocument":{"uri":%q},`+
		`"position":{"line":0,"character":0},"context":{"triggerKind":1}}}`, b.URI)
	send(t, e, "%s", request)
	<-asked
	send(t, e, "%s", request)
	if err := e.AwaitOrphan(soon(t), `"twice"`); err != nil {
		t.Fatal(err)
	}
	first := e.Orphans()[0]
	if first.Error == nil || first.Error.Code != -32600 || !strings.Contains(first.Error.Message, "twice") {
		t.Errorf("the second was answered %+v", first)
	}
	close(release)
	for len(e.Orphans()) < 2 { // each answer wakes who awaits one
		if err := e.AwaitOrphan(soon(t), `"twice"`); err != nil {
			t.Fatal("the first was not answered")
		}
	}
	if last := e.Orphans()[1]; last.Error != nil || !strings.Contains(string(last.Result), "ghost") {
		t.Errorf("the first was answered %+v", last)
	}
	// The id is free again.
	send(t, e, "%s", request)
	<-asked
}

// Requests sent as notifications are dropped; shutdown, too.
func TestRequestsWithoutAnID(t *testing.T) {
	e := edit(t, "vscode", &core{})
	b := open(t, e, "a.go", "go", "package a\n")
	for _, method := range []string{"shutdown", "initialize", "textDocument/hover", "quarry/index.rebuild"} {
		send(t, e, `{"jsonrpc":"2.0","method":%q,"params":{}}`, method)
	}
	if got := complete(t, e, b); got != "ghost" {
		t.Errorf("afterwards there was %q", got)
	}
}

// file://localhost/x is file:///x, and answers name documents as the client does.
func TestLocalhostURIs(t *testing.T) {
	seen := make(chan completion.Request, 9)
	c := &core{complete: func(_ context.Context, req completion.Request) (completion.Result, error) {
		seen <- req
		return ghost(req, "ghost"), nil
	}}
	e := edit(t, "vscode", c)
	plain := headless.FileURI(filepath.Join(t.TempDir(), "a.go"))
	local := strings.Replace(plain, "file:///", "file://localhost/", 1)
	ask := func(uri string) completion.Request {
		t.Helper()
		if err := e.Call(soon(t), "textDocument/inlineCompletion", map[string]any{
			"textDocument": map[string]any{"uri": uri}, "position": map[string]any{"line": 0, "character": 0}, "context": map[string]any{"triggerKind": 1},
		}, nil); err != nil {
			t.Fatal(err)
		}
		select {
		case req := <-seen:
			return req
		default:
			t.Fatalf("%s is not open", uri)
			return completion.Request{}
		}
	}
	const text = "file://localhost/in/a/text \"uri\":\"file://localhost/too\"\n"
	if err := e.Notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": local, "languageId": "go", "version": 1, "text": text}}); err != nil {
		t.Fatal(err)
	}
	one, other := ask(local), ask(plain)
	if one.Key != other.Key || strings.Contains(one.Key, "localhost") {
		t.Errorf("two documents: %s and %s", one.Key, other.Key)
	}
	if one.Text != text {
		t.Errorf("the text became %q", one.Text)
	}
}
