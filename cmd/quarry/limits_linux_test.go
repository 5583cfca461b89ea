package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"quarry/lsp/headless"
)

// A login node may allow a process 1.5 GB of addresses and 64 open files: the index is
// made, searched and served all the same.
func TestWithinTheLimitsOfALoginNode(t *testing.T) {
	if larger > 1 {
		t.Skip("the race detector alone takes terabytes of addresses; `make memory` runs this without it")
	}
	root, state := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		"barn/a.go": "package barn\n\n// Harvest collects ripe apples.\nfunc Harvest(n int) int {\n\treturn n\n}\n",
		"b.py":      "def store():\n    return 1\n",
	} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	limited := func(args ...string) *exec.Cmd {
		quarry, err := exec.LookPath("quarry") // that testscript.Main makes of this binary
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, "--state-dir", state, "--ollama", noOllama)
		return exec.CommandContext(t.Context(), "sh", append([]string{"-c", `ulimit -v 1500000 && ulimit -n 64 && exec "$0" "$@"`, quarry}, args...)...)
	}
	for _, args := range [][]string{{"index"}, {"search", "Harvest"}} {
		out, err := limited(append(args, "--workspace", root)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", args, err, out)
		}
		if args[0] == "search" && !strings.Contains(string(out), "barn/a.go") {
			t.Errorf("search: %s", out)
		}
	}
	profile, err := headless.LoadProfile("vscode")
	if err != nil {
		t.Fatal(err)
	}
	e, err := headless.StartProcess(t.Context(), limited("lsp"), headless.Options{Profile: profile, Root: root})
	if err != nil {
		t.Fatal(err)
	}
	var found struct{ Results []struct{ Path string } }
	if err := e.Call(t.Context(), "quarry/search.hybrid", map[string]any{"query": "ripe apples"}, &found); err != nil || len(found.Results) == 0 {
		t.Errorf("the server: %+v, %v", found, err)
	}
	if code, err := e.Quit(t.Context()); code != 0 || err != nil {
		t.Errorf("exit code %d, %v", code, err)
	}
}
