package lsp_test

import (
	"encoding/json"
	"os"
	"runtime"
	"strings"
	"testing"

	"quarry/lsp/document"
	"quarry/lsp/headless"

	"go.lsp.dev/uri"
)

func TestAcceptingBeginsTheNextCompletion(t *testing.T) {
	c := &core{}
	e := edit(t, "neovim", c)
	b := open(t, e, "a.go", "go", "é😀\n\n")
	b.Cursor = len("é😀")
	complete(t, e, b)
	if err := e.Accept(b); err != nil {
		t.Fatal(err)
	}
	prefetched := func() int {
		c.mu.Lock()
		defer c.mu.Unlock()
		return len(c.prefetched)
	}
	for ctx := soon(t); prefetched() == 0; {
		if ctx.Err() != nil {
			t.Fatal("nothing was computed ahead")
		}
		complete(t, e, b) // a round trip
	}
	if got := c.prefetched[0]; got.Offset != b.Cursor || got.Text != "é😀ghost\n\n" {
		t.Errorf("computed ahead at byte %d of %q, want %d of %q", got.Offset, got.Text, b.Cursor, b.Text.String())
	}
}

func TestCommands(t *testing.T) {
	e := edit(t, "vscode", &core{})
	ctx := soon(t)
	run := func(command string, args ...any) error {
		return e.Call(ctx, "workspace/executeCommand", map[string]any{"command": command, "arguments": args}, nil)
	}
	var announced struct{ Commands []string }
	if err := json.Unmarshal(e.Capabilities["executeCommandProvider"], &announced); err != nil {
		t.Fatal(err)
	}
	wantCode(t, "no document", run("quarry.explainCompletion"), -32602)
	wantCode(t, "unknown command", run("quarry.nonsense"), -32602)
	wantCode(t, "wrong argument", run("quarry.accepted", "x"), -32602)
	b := open(t, e, "a.go", "go", "")
	for _, name := range announced.Commands {
		for _, args := range [][]any{nil, {b.URI}} {
			if err := run(name, args...); err != nil && !(name == "quarry.accepted" && args != nil) {
				t.Errorf("%s %v: %v", name, args, err)
			}
		}
	}
}

// P11: the best way to show a text that the client has.
func TestExplanationIsShownAsTheClientCan(t *testing.T) {
	for _, tt := range []struct{ name, capabilities, want string }{
		{"virtual document", `{"window":{"showDocument":{"support":true}},"workspace":{"textDocumentContent":{}}}`, "quarry:/completion.md"},
		{"virtual document by an extension", `{"window":{"showDocument":{"support":true}},"experimental":{"quarry":{"documents":true}}}`, "quarry:/completion.md"},
		{"file", `{"window":{"showDocument":{"support":true}}}`, "file:///"},
		{"message", `{}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := edit(t, "vscode", &core{}, func(o *headless.Options) { o.Profile.Capabilities = json.RawMessage(tt.capabilities) })
			b := open(t, e, "a.go", "go", "")
			complete(t, e, b)
			for n := range 2 {
				if err := e.Call(soon(t), "workspace/executeCommand", map[string]any{"command": "quarry.explainCompletion"}, nil); err != nil {
					t.Fatal(err)
				}
				// Of two that are asked for at once the newer alone need be seen.
				if err := e.Await(soon(t), func() bool { return len(e.Shown())+len(e.Documents()) > n }); err != nil {
					t.Fatal(err)
				}
			}
			var text string
			if tt.want == "" {
				text = e.Shown()[0]
			} else {
				u := e.Documents()[0]
				if !strings.HasPrefix(u, tt.want) {
					t.Fatalf("shown as %s, want %s", u, tt.want)
				}
				text = content(t, e, u)
			}
			if !strings.Contains(text, "# Last completion") || !strings.Contains(text, "By test") {
				t.Errorf("shown:\n%s", text)
			}
		})
	}
}

// content is the text of a document the server had shown.
func content(t *testing.T, e *headless.Editor, u string) string {
	t.Helper()
	if strings.HasPrefix(u, "file://") {
		path := document.Path(uri.URI(u))
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o400 && runtime.GOOS != "windows" { // which has no modes
			t.Errorf("the file's mode is %v; want one that only they may read, and nobody change", info.Mode())
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	var result struct{ Text string }
	if err := e.Call(soon(t), "workspace/textDocumentContent", map[string]any{"uri": u}, &result); err != nil {
		t.Fatal(err)
	}
	wantCode(t, "unknown virtual document", e.Call(soon(t), "workspace/textDocumentContent", map[string]any{"uri": "quarry:/none"}, nil), -32602)
	return result.Text
}
