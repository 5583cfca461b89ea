// Package clitest helps to test the commands of quarry and of quarry-eval.
package clitest

import (
	"io"
	"log/slog"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"quarry/cmd/internal/cli"
	"quarry/cmd/internal/engines"
)

// Core makes the engines of a command over a folder, asking the model at url; they
// are closed with the test.
func Core(t testing.TB, url, folder string) *engines.Core {
	t.Helper()
	UserConfig(t, t.TempDir())
	for name, value := range map[string]string{"XDG_STATE_HOME": t.TempDir(), "LocalAppData": t.TempDir(), "OLLAMA_HOST": url} {
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

// UserConfig has quarry look for the user's settings in dir until the test ends, on every system.
func UserConfig(t testing.TB, dir string) {
	t.Helper()
	t.Setenv("XDG_CONFIG_HOME", dir)
	t.Setenv("AppData", dir) // Windows
	if runtime.GOOS == "darwin" {
		t.Setenv("HOME", dir)
	}
}
