// Package clitest helps to test the commands of quarry and of quarry-eval.
package clitest

import (
	"io"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"quarry/cmd/internal/cli"
	"quarry/cmd/internal/engines"
)

// Core makes the engines of a command over a folder, asking the model at url; they
// are closed with the test.
func Core(t testing.TB, url, folder string) *engines.Core {
	t.Helper()
	for name, value := range map[string]string{"XDG_CONFIG_HOME": t.TempDir(), "XDG_STATE_HOME": t.TempDir(), "OLLAMA_HOST": url} {
		t.Setenv(name, value)
	}
	root, err := filepath.Abs(folder)
	if err != nil {
		t.Fatal(err)
	}
	env := &cli.Env{Stdout: cli.NewTerminal(io.Discard), Stderr: cli.NewTerminal(io.Discard), Log: slog.New(slog.DiscardHandler), Wait: time.Minute}
	c := env.Core(root)
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}
