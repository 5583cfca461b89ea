//go:build unix

package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Beside a server that was stopped the commands do not say that there is nothing, or that all
// is well, once a file is not indexed: they name the process, and what to do.
func TestCommandsBesideAStoppedWriter(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	root, state := t.TempDir(), t.TempDir()
	file := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file("a.go", "package barn\n\n// Harvest collects ripe apples.\nfunc Harvest() {}\n")
	quarry := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, "quarry", append(args, "--workspace", root, "--state-dir", state, "--ollama", noOllama)...)
		cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
		return cmd
	}
	run := func(args ...string) (out, errs string, code int) {
		var o, e bytes.Buffer
		cmd := quarry(args...)
		cmd.Stdout, cmd.Stderr = &o, &e
		_ = cmd.Run() // the code says it
		return o.String(), e.String(), cmd.ProcessState.ExitCode()
	}
	if _, errs, code := run("index"); code != 0 {
		t.Fatal(errs)
	}
	server := quarry("mcp")
	in, err := server.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	server.Stdout, server.Stderr = io.Discard, io.Discard
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`+"\n"+`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = server.Process.Kill()
		_ = server.Wait() // it was killed; that is no news
		in.Close()
	}()
	says := func(want string) {
		t.Helper()
		for {
			out, _, _ := run("status")
			if strings.Contains(out, want) {
				return
			}
			if ctx.Err() != nil {
				t.Fatalf("status does not say %q:\n%s", want, out)
			}
		}
	}
	says("a running quarry keeps it current")
	for name := ""; name == ""; { // as readers know it
		if ctx.Err() != nil {
			t.Fatal("the server has no name")
		}
		files, err := filepath.Glob(filepath.Join(state, "index", "*", "writer"))
		if err != nil {
			t.Fatal(err)
		}
		if len(files) == 1 {
			text, _ := os.ReadFile(files[0])
			name = string(text)
		}
	}
	if err := server.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	says("but is not responding. Resume or stop it")
	if out, errs, code := run("search", "Harvest"); code != 0 || !strings.Contains(out, "a.go") || errs != "" {
		t.Errorf("though nothing differs: exit code %d\n%s%s", code, out, errs)
	}

	file("late.go", "package barn\n\n// Winnow cleans the grain.\nfunc Winnow() {}\n")
	const named, stale = "but is not responding. Resume or stop it", "files new 1"
	for _, c := range []struct {
		args []string
		code int
	}{
		{[]string{"index"}, 1}, {[]string{"search", "Winnow"}, 1}, {[]string{"search", `"cleans the grain"`}, 1}, {[]string{"search", "Harvest"}, 0}, {[]string{"status"}, 0},
	} {
		out, errs, code := run(c.args...)
		if all := out + errs; code != c.code || !strings.Contains(all, named) || !strings.Contains(all, stale) {
			t.Errorf("%q: exit code %d\n%s", c.args, code, all)
		}
	}
}
