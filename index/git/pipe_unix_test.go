//go:build unix

package git

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A pipe in the place of what git reads would keep it for good.
func TestGitThatDoesNotAnswer(t *testing.T) {
	short := bounds{output: 1 << 20, patience: 200 * time.Millisecond}
	for _, name := range []string{"config", "HEAD", "index"} {
		t.Run(name, func(t *testing.T) {
			dir := repository(t, map[string]string{"a.go": "a\n"})
			r, err := Open(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, ".git", name)
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if err := syscall.Mkfifo(path, 0o600); err != nil {
				t.Fatal(err)
			}
			if r.bound = short; name != "index" { // which is not read yet
				r, err = open(t.Context(), dir, short)
			}
			if err == nil {
				_, err = r.Changed(t.Context())
			}
			if !errors.Is(err, errSilent) || errors.Is(err, ErrNone) || !strings.Contains(err.Error(), "git did not answer within 200ms") {
				t.Errorf("a pipe as .git/%s: %v", name, err)
			}
		})
	}
}

// What git started ends with it.
func TestGitEndsWithAllItStarted(t *testing.T) {
	dir := t.TempDir()
	script, pipe := filepath.Join(dir, "git"), filepath.Join(dir, "pipe")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n(echo ready; sleep 1000) >'"+pipe+"' &\nwait\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	asked := make(chan error, 1)
	go func() {
		r := &Repository{dir: dir, git: script, bound: bounds{output: 1 << 20, patience: time.Hour}}
		_, err := r.ask(ctx, nil, "status")
		asked <- err
	}()
	held, err := os.Open(pipe)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if _, err := io.ReadFull(held, make([]byte, len("ready\n"))); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-asked; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := io.ReadAll(held); err != nil { // it ends once nobody can write to it
		t.Error(err)
	}
}
