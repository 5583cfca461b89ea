package lsptest_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"quarry/index/systest"
	"quarry/lsp"
	"quarry/lsp/headless"
	"quarry/model/ollamatest"
)

// TestRealOllama types against a real Ollama with a generated Granite. Its
// weights are random, so nothing is asked of the words, and everything of the
// rest: that it is the model that answers, that what arrives is clean text, that
// dying and coming back of the server is lived through.
func TestRealOllama(t *testing.T) {
	systest.NotEmulated(t, "the server is built with the race detector, which qemu's addresses are not for")
	ollama := ollamatest.Start(t)
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	profile, err := headless.LoadProfile("neovim")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	stderr := newLog()
	cmd := exec.Command(path, "lsp", "--log-level=info", "--ollama="+ollama.URL)
	cmd.Stderr = stderr
	cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+t.TempDir(), "XDG_STATE_HOME="+t.TempDir(), "GORACE=atexit_sleep_ms=0")
	e, err := headless.StartProcess(ctx, cmd, headless.Options{Profile: profile, Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if err := stderr.await(ctx, "phase=ready"); err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	b, err := e.Open("main.go", "go", "package main\n\nfunc main() {\n\t\n}\n")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Seek("{\n\t"); err != nil {
		t.Fatal(err)
	}
	engine := func() lsp.Explanation {
		t.Helper()
		var why lsp.Explanation
		if err := e.Call(ctx, lsp.MethodExplainCompletion, map[string]any{"textDocument": map[string]any{"uri": b.URI}}, &why); err != nil {
			t.Fatal(err)
		}
		return why
	}
	// fromModel types until the model has answered.
	fromModel := func() {
		t.Helper()
		for i := 0; ; i++ {
			if err := e.Replace(b, b.Cursor, b.Cursor, string(rune('a'+i%26))); err != nil {
				t.Fatal(err)
			}
			if err := e.Complete(ctx, b, true); err != nil {
				t.Fatalf("%v\n%s", err, stderr)
			}
			why := engine()
			if why.Engine == "granite4.1:3b" {
				if !strings.Contains(why.Prompt.Text, "<|fim_middle|>") || why.Prompt.Tokens == 0 {
					t.Errorf("prompt of %d tokens: %q", why.Prompt.Tokens, why.Prompt.Text)
				}
				break
			}
			if ctx.Err() != nil {
				t.Fatalf("the model never answered; the last note is %q\n%s", why.Note, stderr)
			}
		}
		if g := b.Ghost; g != nil {
			if strings.Contains(g.InsertText, "<|") || !utf8.ValidString(g.InsertText) {
				t.Errorf("ghost text %q", g.InsertText)
			}
		}
	}
	fromModel()

	stderr.forget()
	ollama.Kill()
	// What is typed might be what the model said before; below the cursor it makes
	// another prompt in any case.
	below, _ := b.Text.LineBounds(b.Text.LineCount() - 1)
	if err := e.Replace(b, below, below, "// z\n"); err != nil {
		t.Fatal(err)
	}
	if err := b.Seek("{\n\t"); err != nil {
		t.Fatal(err)
	}
	if err := e.Complete(ctx, b, true); err != nil {
		t.Fatal(err)
	}
	if why := engine(); why.Engine == "granite4.1:3b" && why.Note == "" {
		t.Errorf("a killed Ollama answered: %+v", why)
	}
	if err := stderr.await(ctx, "phase=unreachable"); err != nil {
		t.Fatalf("nobody noticed that Ollama is gone: %v\n%s", err, stderr)
	}
	stderr.forget()
	ollama.Restart()
	if err := stderr.await(ctx, "phase=ready"); err != nil {
		t.Fatalf("the model did not come back: %v\n%s", err, stderr)
	}
	fromModel()
	if shown := e.Shown(); len(shown) > 1 {
		t.Errorf("the user was told more than once: %q", shown)
	}
	if code, err := e.Quit(ctx); code != 0 || err != nil {
		t.Errorf("quit: %d, %v", code, err)
	}
}
