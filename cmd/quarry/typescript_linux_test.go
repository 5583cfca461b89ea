package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quarry/cmd/internal/cli"
)

// S2: the client in TypeScript, on the socket and as a device, against what is no good service, and
// against quarry serve; and its example, which docs/service.md shows.
func TestTypeScriptClient(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	script := typeScript(t, ctx)
	socket := serviceState(t)
	root := barn(t)
	must := func(name string, args ...string) string {
		t.Helper()
		cmd := script(name, args...)
		cmd.Env = append(os.Environ(), "QUARRY_SOCKET="+socket, "QUARRY_FOLDER="+root)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		return string(out)
	}
	must("client.test")
	must("device.test")

	if out, err := script("example", root, "apples").CombinedOutput(); err == nil || !strings.Contains(string(out), "no quarry serve runs: start one") {
		t.Errorf("the example without a service: %v\n%s", err, out)
	}
	service := started(t, ctx, nil, "--websocket", "127.0.0.1:0")
	defer func() { _ = service.Process.Kill() }() // unless it has ended
	if out := must("example", root, "Harvest"); !strings.Contains(out, "barn/a.go:1 Harvest\n") {
		t.Errorf("the example found\n%s", out)
	}
	must("service.test") // which ends it
	if err := service.Wait(); err != nil || service.ProcessState.ExitCode() != cli.ExitOK {
		t.Errorf("exit code %d: %v", service.ProcessState.ExitCode(), err)
	}
}

// typeScript answers how a file of the client is run: as it is compiled, and checked, where VS Code's
// extension has its compiler, otherwise by a Node that takes TypeScript. Where there is neither it skips.
func typeScript(t *testing.T, ctx context.Context) (script func(name string, args ...string) *exec.Cmd) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not here: install Node 22.6 or later")
	}
	folder, err := filepath.Abs(filepath.Join("..", "..", "lsp", "service", "client", "typescript"))
	if err != nil {
		t.Fatal(err)
	}
	compiler := filepath.Join("..", "..", "editors", "vscode", "node_modules", "typescript", "bin", "tsc")
	strip := "--experimental-strip-types"
	if _, err := os.Stat(compiler); err == nil {
		out := t.TempDir()
		writeText(t, filepath.Join(out, "package.json"), `{"type":"module"}`)
		if text, err := exec.CommandContext(ctx, node, compiler, "-p", folder, "--outDir", out).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		return func(name string, args ...string) *exec.Cmd {
			return exec.CommandContext(ctx, node, append([]string{filepath.Join(out, name+".js")}, args...)...)
		}
	}
	if err := exec.CommandContext(ctx, node, strip, "--version").Run(); err != nil {
		t.Skip("this node takes no TypeScript, and no compiler is in editors/vscode: `npm ci` there, or use Node 22.6 or later")
	}
	return func(name string, args ...string) *exec.Cmd {
		return exec.CommandContext(ctx, node, append([]string{"--no-warnings", strip, filepath.Join(folder, name+".ts")}, args...)...)
	}
}
