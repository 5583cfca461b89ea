package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"strings"
	"testing"

	"quarry/lsp/lsptest"
)

// TestListen serves one editor after the other over TCP until it is told to end.
func TestListen(t *testing.T) {
	t.Setenv("QUARRY_STATE_DIR", t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, stderr := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, []string{"lsp", "--listen", "127.0.0.1:0", "--ollama", "127.0.0.1:1", "--log-level", "error"}, strings.NewReader(""), io.Discard, stderr)
		stderr.Close()
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, out)
	_, address, ok := strings.Cut(strings.TrimSpace(line), "listening on ")
	if !ok {
		t.Fatalf("said %q, want where it listens", line)
	}
	profile, err := lsptest.LoadProfile("neovim")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		e, err := lsptest.Connect(ctx, conn, lsptest.Options{Profile: profile, Root: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		if e.ServerInfo.Name != "quarry" {
			t.Errorf("server %q", e.ServerInfo.Name)
		}
		if _, err := e.Quit(ctx); err != nil {
			t.Error(err)
		}
	}
	cancel()
	if got := <-code; got != exitOK {
		t.Errorf("exit code %d after being told to end, want 0", got)
	}
}
