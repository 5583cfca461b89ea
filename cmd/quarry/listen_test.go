package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"quarry/cmd/internal/cli"
	"quarry/lsp/headless"
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
	lines := bufio.NewReader(out)
	said := func(after string) string {
		line, err := lines.ReadString('\n')
		_, what, ok := strings.Cut(strings.TrimSpace(line), after)
		if err != nil || !ok {
			t.Fatalf("said %q, %v, want what is after %q", line, err, after)
		}
		return what
	}
	address, token := said("listening on "), said("must have the line ")
	go io.Copy(io.Discard, lines)
	// Who does not know the token, which is another one each time, gets nothing.
	for _, header := range []string{"", "Authorization: Bearer guess\r\n"} {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "%s%s", header, headless.Frame([]byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}`)))
		if answer, _ := io.ReadAll(conn); len(answer) > 0 { // it may be reset
			t.Errorf("without the token it answers %s", answer)
		}
		conn.Close()
	}
	profile, err := headless.LoadProfile("neovim")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "%s\r\n", token) // the first line of the first header
		e, err := headless.Connect(ctx, conn, headless.Options{Profile: profile, Root: t.TempDir()})
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
	if got := <-code; got != cli.ExitOK {
		t.Errorf("exit code %d after being told to end, want 0", got)
	}
}
