package lsp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"quarry/completion"
	"quarry/lsp/headless"
)

// Q3: every id is answered exactly once, whatever is cancelled.
func TestFlood(t *testing.T) {
	c := &core{complete: func(ctx context.Context, req completion.Request) (completion.Result, error) {
		if req.Offset%3 == 0 {
			<-ctx.Done()
			return completion.Result{}, ctx.Err()
		}
		return ghost(req, "x"), nil
	}}
	e := edit(t, "vscode", c)
	var buffers []*headless.Buffer
	for i := range 5 {
		buffers = append(buffers, open(t, e, fmt.Sprintf("f%d.go", i), "go", "package p\n"))
	}
	var pending []*headless.Pending
	for i := range 10_000 {
		b := buffers[i%len(buffers)]
		switch {
		case i%7 == 0:
			if err := e.Replace(b, b.Text.Len(), b.Text.Len(), "y"); err != nil {
				t.Fatal(err)
			}
		case i%101 == 0:
			p, err := e.Start("quarry/unknown", nil)
			if err != nil {
				t.Fatal(err)
			}
			pending = append(pending, p)
		default:
			p, err := e.Start("textDocument/inlineCompletion", map[string]any{
				"textDocument": map[string]any{"uri": b.URI},
				"position":     map[string]any{"line": 0, "character": i % 10},
				"context":      map[string]any{"triggerKind": 2},
			})
			if err != nil {
				t.Fatal(err)
			}
			pending = append(pending, p)
			if i%5 == 0 {
				if err := p.Cancel(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for _, b := range buffers { // release those that still block
		if err := e.Replace(b, 0, 0, "z"); err != nil {
			t.Fatal(err)
		}
	}
	for i, p := range pending {
		var wire *headless.ResponseError
		if err := p.Wait(nil); err != nil && !errors.As(err, &wire) {
			t.Fatalf("request %d of %d was not answered: %v", i, len(pending), err)
		}
	}
	if orphans := e.Orphans(); len(orphans) > 0 {
		t.Errorf("%d answers to no request, the first %+v", len(orphans), orphans[0])
	}
}

// A client that does not read must not stop the server from reading.
func TestClientThatDoesNotRead(t *testing.T) {
	client, exit := serve(t, &core{})
	frame := func(s string) {
		if _, err := client.Write(headless.Frame([]byte(s))); err != nil {
			t.Fatal(err)
		}
	}
	frame(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}`)
	for i := range 2000 { // far more than any pipe holds
		frame(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"quarry/unknown-%s"}`, i+2, strings.Repeat("x", 1000)))
	}
	frame(`{"jsonrpc":"2.0","method":"exit"}`)
	if code := <-exit; code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	if _, err := io.Copy(io.Discard, client); err != nil {
		t.Error(err)
	}
}
