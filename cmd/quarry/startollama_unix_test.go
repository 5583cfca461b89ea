//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"quarry/lsp"
	"quarry/model/ollamatest"
)

// The command that a status note offers starts a real Ollama at the configured address,
// which outlives quarry.
func TestStartOllama(t *testing.T) {
	bin, dir := t.TempDir(), t.TempDir()
	pid := filepath.Join(dir, "pid")
	script := fmt.Sprintf("#!/bin/sh\necho $$ >%s\nOLLAMA_MODELS=%s exec %s \"$@\"\n", pid, dir, ollamatest.Binary(t))
	if err := os.WriteFile(filepath.Join(bin, "ollama"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		raw, err := os.ReadFile(pid)
		if err != nil {
			t.Fatal("Ollama was not started")
		}
		id, err := strconv.Atoi(strings.TrimSpace(string(raw)))
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(id, syscall.SIGKILL); err != nil {
			t.Errorf("Ollama ended with quarry: %v", err)
		}
	})

	ctx, e := serveEditor(t, "neovim", t.TempDir(), "--ollama", url, "--state-dir", t.TempDir())
	offered := func(title string) (found lsp.Remedy) {
		t.Helper()
		err := e.Await(ctx, func() bool {
			all := e.Statuses()
			var note lsp.StatusNote
			if len(all) == 0 || json.Unmarshal(all[len(all)-1], &note) != nil {
				return false
			}
			at := slices.IndexFunc(note.Remedies, func(r lsp.Remedy) bool { return r.Title == title })
			if at >= 0 {
				found = note.Remedies[at]
			}
			return at >= 0
		})
		if err != nil {
			t.Fatalf("%q is not offered: %v", title, err)
		}
		return found
	}
	if err := e.Call(ctx, "workspace/executeCommand", offered("Start Ollama"), nil); err != nil {
		t.Fatal(err)
	}
	offered("Pull granite4.1:3b (2.1 GB)") // it answers, and has no model
}
