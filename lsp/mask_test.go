package lsp_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/agent"
	"quarry/index/mask"
	"quarry/lsp/headless"
)

const (
	realToken = "ghp_" + "q7Zp2LxV9sKd4TnB8wRf3MhY6cGj1EuA5oQi"
	realBody  = "q7Zp2LxV9sKd"
	tokenCode = "package a\n\nconst token = \"" + realToken + "\"\n\nfunc use() { foo() }\n"
)

// A token inside of source is in no prompt for completions, of its own document or
// beside another, nor in what a model is asked about it.
func TestTokensAreInNoPrompt(t *testing.T) {
	c := &core{}
	asked := seen(c)
	e := edit(t, "vscode", c)
	b := open(t, e, "a.go", "go", tokenCode)
	other := open(t, e, "b.go", "go", "package a\n")
	for _, b := range []*headless.Buffer{b, other} {
		complete(t, e, b)
		req := <-asked
		text := fmt.Sprintf("%+v", req)
		if strings.Contains(text, realBody) || !strings.Contains(text, "ghp_xxxx") {
			t.Errorf("asked with %s", text)
		}
	}
	// An entry of a menu that is a token goes into no prompt either; another does.
	for text, want := range map[string]bool{realToken: false, "token": true} {
		popup := map[string]any{"range": map[string]any{"start": map[string]int{"line": 0, "character": 9}, "end": map[string]int{"line": 0, "character": 9}}, "text": text}
		err := e.Call(t.Context(), "textDocument/inlineCompletion", map[string]any{
			"textDocument": map[string]any{"uri": other.URI}, "position": map[string]int{"line": 0, "character": 9},
			"context": map[string]any{"triggerKind": 1, "selectedCompletionInfo": popup},
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		select {
		case req := <-asked:
			if !want || req.Selected == nil || req.Selected.Text != text {
				t.Errorf("asked with %+v", req.Selected)
			}
		default:
			if want {
				t.Errorf("%q is not asked for", text)
			}
		}
	}
	// What the editor reports is what get_diagnostics answers with.
	at := strings.Index(tokenCode, "foo")
	b.Diagnostics = []headless.Diagnostic{{Start: at, End: at + 3, Severity: 2, Source: "compiler", Message: "undefined: foo, near " + realToken}}
	actions(t, e, b, at, at)
	if got := fmt.Sprintf("%+v", c.problems("")); strings.Contains(got, realBody) || !strings.Contains(got, "near ghp_xxxx") {
		t.Errorf("the diagnostics known are %s", got)
	}
	if got := mask.Text(tokenCode); strings.Count(got, "x") < 36 {
		t.Errorf("shown as %q", got)
	}
}

// A key in which somebody types is in no prompt, wherever the cursor stands, nor is one that stands
// in another document in base64.
func TestTypingInAKeyShowsNoneOfIt(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var body []string
	for range 9 {
		part := make([]byte, 48)
		for i := range part {
			part[i] = byte(r.Uint32())
		}
		body = append(body, base64.StdEncoding.EncodeToString(part))
	}
	label := "RSA PRIVATE " + "KEY-----"
	pem := "-----BEGIN " + label + "\n" + strings.Join(body, "\n") + "\n-----END " + label + "\n"
	code := "package a\n\nconst key = `" + pem + "`\n"
	c := &core{}
	asked := seen(c)
	e := edit(t, "vscode", c)
	b := open(t, e, "a.go", "go", code)
	config := open(t, e, "b.txt", "plaintext", "client-key-data: "+base64.StdEncoding.EncodeToString([]byte(pem))+"\n")
	for i, typed := range []string{"\n// half", "\n...\n", "x", "\n\nfunc f() {\n\t", "\n+", " "} {
		at := strings.Index(b.Text.String(), body[2*(i/2)+1]) + 64*(i%2)
		if err := e.Replace(b, at, at, typed); err != nil {
			t.Fatal(err)
		}
		for _, d := range []*headless.Buffer{b, config} {
			complete(t, e, d)
			text := fmt.Sprintf("%+v", <-asked)
			for _, line := range body {
				if strings.Contains(text, line) || strings.Contains(text, line[:24]) || strings.Contains(text, base64.StdEncoding.EncodeToString([]byte(pem))[300:330]) {
					t.Fatalf("%q typed: asked with %s", typed, text)
				}
			}
		}
	}
}

// A change to lines with a token, proposed by who has only seen them masked, leaves
// the token what it is: in an open document, and in a file that is not open.
func TestChangesKeepTokens(t *testing.T) {
	var sawText, sawMessage string
	propose := func(path func(d agent.Document) string) func(agent.Document) agent.Proposal {
		return func(d agent.Document) agent.Proposal {
			sawText = d.Text
			shown := mask.Text(tokenCode) // what any tool would have read
			line := shown[strings.Index(shown, "const token"):strings.Index(shown, "\n\nfunc")]
			p := replace(agent.Document{Path: path(d), Text: shown}, line, "// token logs in.\n"+line)
			return p
		}
	}
	want := strings.Replace(tokenCode, "const token", "// token logs in.\nconst token", 1)
	write := func(o *headless.Options) {
		if err := os.WriteFile(filepath.Join(o.Root, "closed.go"), []byte(tokenCode), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		file string
		path func(d agent.Document) string
	}{
		{"a.go", func(d agent.Document) string { return d.Path }},
		{"closed.go", func(d agent.Document) string { return filepath.Join(filepath.Dir(d.Path), "closed.go") }},
	} {
		t.Run(tt.file, func(t *testing.T) {
			c := fixing(propose(tt.path))
			fix := c.fix
			c.fix = func(ctx context.Context, p agent.Problem) (agent.Proposal, error) {
				sawMessage = p.Message
				return fix(ctx, p)
			}
			e := edit(t, "helix", c, write)
			b := open(t, e, "a.go", "go", tokenCode)
			at := strings.Index(tokenCode, "foo")
			b.Diagnostics = []headless.Diagnostic{{Start: at, End: at + 3, Severity: 2, Source: "compiler", Message: "undefined: foo, near " + realToken}}
			beginFix(t, e, b)
			attend(t, e, headless.AcceptPrompt)
			attend(t, e, headless.AcceptPrompt)
			attend(t, e, nil)
			got := e.Buffer(tt.file)
			if got == nil || got.Text.String() != want {
				t.Fatalf("%s is not %q: %+v; shown %q", tt.file, want, got, e.Shown())
			}
			if strings.Contains(sawText+sawMessage, realBody) || !strings.Contains(sawMessage, "undefined: foo, near ghp_xxx") {
				t.Errorf("the model saw %q in %q", sawMessage, sawText)
			}
			for _, message := range e.Shown() {
				if !strings.HasPrefix(message, "quarry: Applied, not saved; ") { // said of a file out of sight
					t.Errorf("shown: %q", message)
				}
			}
		})
	}
}
