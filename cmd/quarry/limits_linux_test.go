package main

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"quarry/lsp/headless"
)

// A login node may allow a process 1.5 GB of addresses and 64 open files: the index is
// made, searched and served all the same.
func TestWithinTheLimitsOfALoginNode(t *testing.T) {
	limitsAreItsOwn(t)
	root, state := t.TempDir(), t.TempDir()
	files := map[string]string{
		"barn/a.go": "package barn\n\n// Harvest collects ripe apples.\nfunc Harvest(n int) int {\n\treturn n\n}\n",
		"b.py":      "def store():\n    return 1\n",
	}
	addCrates(files, 600, 60)
	files["large/all.go"] = "package large\n" + crates(0, 4000) // no parse of it fits
	writeAll(t, root, files)
	limited := func(args ...string) *exec.Cmd { return onLoginNode(t, append(args, "--state-dir", state)...) }
	for _, test := range []struct{ args, want string }{
		{"index", "603 files"}, {"search Harvest", "barn/a.go"}, {"search Crate599", "f599.go"}, {"search Crate3999", "large/all.go"}, {"complete barn/a.go:5:9", "return"}, {"status", "up to date"},
	} {
		cmd := limited(append(strings.Fields(test.args), "--workspace", root)...)
		cmd.Dir = root
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), test.want) {
			t.Fatalf("%s: %v\n%s", test.args, err, out)
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

// A tree that is too large for what a login node allows is read as far as it goes, quarry says
// so in words, and what helps; nothing is lost, so that a process which may have more goes on
// from there.
func TestTooLargeForALoginNode(t *testing.T) {
	limitsAreItsOwn(t)
	root, state := t.TempDir(), t.TempDir()
	files := map[string]string{}
	addCrates(files, 5000, 150)
	writeAll(t, root, files)
	out, err := onLoginNode(t, "index", "--workspace", root, "--state-dir", state).CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(string(out), "quarry: `ulimit -v` allows too little memory (1464 MB): raise it") || strings.Contains(string(out), "goroutine") {
		t.Fatalf("index: %v\n%.2000s", err, out)
	}
	out, err = onLoginNode(t, "search", "--workspace", root, "--state-dir", state, "Crate7").CombinedOutput()
	if err != nil && !errors.As(err, &exit) || !strings.Contains(string(out), "quarry: ") || strings.Contains(string(out), "goroutine") {
		t.Errorf("search: %v\n%.2000s", err, out)
	}
	var found, errs strings.Builder
	if code := run(t.Context(), []string{"index", "--workspace", root, "--state-dir", state, "--ollama", noOllama}, nil, &found, &errs); code != 0 || !strings.Contains(found.String(), "5,000 files") {
		t.Errorf("where more is allowed: exit code %d: %s%s", code, found.String(), errs.String())
	}
	found.Reset()
	if code := run(t.Context(), []string{"search", "--workspace", root, "--state-dir", state, "Crate4999"}, nil, &found, &errs); code != 0 || !strings.Contains(found.String(), "f4999.go") {
		t.Errorf("where more is allowed: exit code %d: %s%s", code, found.String(), errs.String())
	}
}

// onLoginNode is quarry where a process may have 1.5 GB of addresses and 64 open files.
func onLoginNode(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	quarry, err := exec.LookPath("quarry") // that testscript.Main makes of this binary
	if err != nil {
		t.Fatal(err)
	}
	args = append(args, "--ollama", noOllama)
	return exec.CommandContext(t.Context(), "sh", append([]string{"-c", `ulimit -v 1500000 && ulimit -n 64 && exec "$0" "$@"`, quarry}, args...)...)
}

// addCrates adds n files of so many lines.
func addCrates(files map[string]string, n, lines int) {
	for i := range n {
		files[fmt.Sprintf("d%02d/f%d.go", i%40, i)] = fmt.Sprintf("package d%02d\n", i%40) + crates(i, i+1) + filler(i, lines)
	}
}

// crates declares one type with its method for each number.
func crates(from, to int) string {
	var b strings.Builder
	for i := range to - from {
		fmt.Fprintf(&b, "\n// Crate%d holds %d apples.\ntype Crate%d struct{ count int }\n\nfunc (c *Crate%d) add(n int) { c.count += n }\n", from+i, i, from+i, from+i)
	}
	return b.String()
}

// filler is lines of code with words of their own.
func filler(i, lines int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\nfunc fill%d() {\n", i)
	for n := range lines {
		fmt.Fprintf(&b, "\tif weight%d := measure%d(crate%d, %d); weight%d > limit%d { report%d(weight%d, \"box %d of row %d\") }\n", n, i, n, i, n, i%97, n%13, n, n, i)
	}
	b.WriteString("}\n")
	return b.String()
}
