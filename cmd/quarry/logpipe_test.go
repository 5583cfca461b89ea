package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"quarry/cmd/internal/cli"
	"quarry/lsp/headless"
)

// Whoever reads gets every line, in order.
func TestLogPipeWritesAll(t *testing.T) {
	var out bytes.Buffer
	p := newLogPipe(&out)
	var want strings.Builder
	for i := range 1000 {
		line := fmt.Sprintf("line %d\n", i)
		want.WriteString(line)
		if n, err := io.WriteString(p, line); n != len(line) || err != nil {
			t.Fatal(n, err)
		}
	}
	p.Close()
	<-p.written // which Close does not wait for on a very slow machine
	if out.String() != want.String() {
		t.Errorf("%d bytes came out of %d", out.Len(), want.Len())
	}
}

// A log that nobody reads stops nobody, and says afterwards what is missing.
func TestLogPipeDropsWhatNobodyReads(t *testing.T) {
	r, w := io.Pipe()
	p := newLogPipe(w)
	for i := range 3 * keptLines {
		fmt.Fprintf(p, "line %d\n", i)
	}
	read := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(r)
		read <- string(text)
	}()
	p.Close()
	<-p.written
	w.Close()
	text := <-read
	if n := strings.Count(text, "\nline "); n < keptLines-1 || n > keptLines+1 || !strings.Contains(text, "lines of the log were dropped") {
		t.Errorf("%d lines: %.200q", n, text)
	}
}

// The server goes on although its client never reads standard error.
func TestServerWhoseLogNobodyReads(t *testing.T) {
	client, server := net.Pipe()
	unread, stderr := io.Pipe() // the first write to it blocks
	t.Cleanup(func() { unread.Close() })
	code := make(chan int, 1)
	go func() {
		code <- run(t.Context(), []string{"lsp", "--ollama", "127.0.0.1:1", "--state-dir", t.TempDir(), "--log-level", "debug"}, server, server, stderr)
		server.Close()
	}()
	profile, err := headless.LoadProfile("vscode")
	if err != nil {
		t.Fatal(err)
	}
	e, err := headless.Connect(t.Context(), client, headless.Options{Profile: profile, Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	b, err := e.Open("a.go", "go", "package a\n\nfunc f() {\n\tcount := 1\n\tcount := 1\n\tcou\n}\n")
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if err := e.Notify("quarry/unknown", map[string]any{}); err != nil {
			t.Fatal(err)
		}
		if err := e.Complete(t.Context(), b, true); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := e.Quit(t.Context()); err != nil {
		t.Error(err)
	}
	if got := <-code; got != cli.ExitOK {
		t.Errorf("exit code %d", got)
	}
}
