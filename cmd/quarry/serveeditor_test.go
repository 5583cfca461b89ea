package main

import (
	"context"
	"io"
	"net"
	"testing"
	"time"

	"quarry/cmd/internal/cli"
	"quarry/lsp/headless"
)

// serveEditor starts `quarry lsp` with more arguments and connects the headless editor
// of a profile to it over a pipe. Both end with the test, at the latest after a minute,
// when ctx ends.
func serveEditor(t *testing.T, profile, root string, args ...string) (ctx context.Context, e *headless.Editor) {
	t.Helper()
	as, err := headless.LoadProfile(profile)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	t.Cleanup(cancel)
	client, server := net.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, append([]string{"lsp", "--log-level", "error"}, args...), server, server, io.Discard)
		server.Close()
	}()
	if e, err = headless.Connect(ctx, client, headless.Options{Profile: as, Root: root}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := e.Quit(ctx); err != nil {
			t.Error(err)
		}
		if code := <-ended; code != cli.ExitOK {
			t.Errorf("exit code %d", code)
		}
	})
	return ctx, e
}
