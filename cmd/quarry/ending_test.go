package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"quarry/cmd/internal/cli"
	"quarry/lsp/headless"
)

// A server that is told to end says so at once, with its exit code, so that the process
// can be gone whatever is still at work; a command that starts one inside itself does not.
func TestServersSayThatTheyEnd(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	t.Setenv("QUARRY_STATE_DIR", t.TempDir())
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "a.go"), []byte("package a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	ended := func(in io.Reader, out io.Writer, args ...string) (codes []int, code int) {
		code = runProcess(ctx, append(args, "--ollama", noOllama, "--log-level", "error"), in, out, io.Discard, func(code int) { codes = append(codes, code) })
		return codes, code
	}
	if codes, code := ended(strings.NewReader(""), io.Discard, "lsp"); code != 1 || !slices.Equal(codes, []int{1}) {
		t.Errorf("at the end of input: %v, exit code %d", codes, code)
	}
	if codes, code := ended(strings.NewReader(""), io.Discard, "mcp", "--workspace", root); code != 0 || !slices.Equal(codes, []int{0}) {
		t.Errorf("mcp at the end of input: %v, exit code %d", codes, code)
	}
	if codes, code := ended(nil, io.Discard, "complete", "--workspace", root, filepath.Join(root, "a.go")+":1:1"); code != 0 || len(codes) > 0 {
		t.Errorf("a command: %v, exit code %d", codes, code)
	}

	client, server := net.Pipe()
	said := make(chan []int, 1)
	go func() {
		codes, _ := ended(server, server, "lsp")
		said <- codes
	}()
	profile, err := headless.LoadProfile("vscode")
	if err != nil {
		t.Fatal(err)
	}
	e, err := headless.Connect(ctx, client, headless.Options{Profile: profile, Root: root})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Quit(ctx); err != nil {
		t.Fatal(err)
	}
	if codes := <-said; !slices.Equal(codes, []int{0}) {
		t.Errorf("after exit: %v", codes)
	}
}

// A process that was told to end is gone though work goes on, with its exit code and well
// within the second that editors give it.
func TestEndsThoughWorkGoesOn(t *testing.T) {
	if os.Getenv("QUARRY_TEST_ENDS") != "" {
		endSoon(7)
		select {}
	}
	if endWithin > time.Second/2 {
		t.Errorf("work may go on for %v, and ends within a second only if nothing else takes half of it", endWithin)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestEndsThoughWorkGoesOn$")
	cmd.Env = append(os.Environ(), "QUARRY_TEST_ENDS=1")
	err := cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 7 {
		t.Errorf("it ended with %v, want exit code 7", err)
	}
}

// Ctrl-C ends a command with a shell's exit code for that, in plain words, as text and as JSON.
func TestStoppedCommandsSayThat(t *testing.T) {
	for _, args := range [][]string{{"index"}, {"search", "Harvest"}, {"search", "--json", "Harvest"}} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var out, errs bytes.Buffer
		code := run(ctx, append(args, "--workspace", barn(t), "--state-dir", t.TempDir(), "--ollama", noOllama), strings.NewReader(""), &out, &errs)
		said := errs.String() + out.String()
		if code != cli.ExitStopped || !strings.Contains(said, "stopped") || strings.Contains(said, "context") {
			t.Errorf("%v: exit code %d: %s", args, code, said)
		}
		if strings.Contains(strings.Join(args, " "), "--json") && !strings.Contains(out.String(), `"code": "stopped"`) {
			t.Errorf("%v: %s", args, &out)
		}
	}
}
