package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"quarry/agent/eval"
	"quarry/cmd/internal/cli"
)

func TestAgentsCommand(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	writeText(t, at("trees/tiny/retry.go"), "package tiny\n\n// Retry does it again after a growing pause.\nfunc Retry(f func() error) error { return f() }\n")
	writeText(t, at("tasks.json"), `{"repositories": [{"name": "tiny", "language": "go", "half": "fit"}],
		"tasks": [{"id": "again", "repository": "tiny", "kind": "find", "question": "What is done again after a pause?", "places": [{"at": "retry.go:3-4", "has": "return f()"}]}]}`)
	args := []string{"agents", "--tasks", at("tasks.json"), "--corpus", at("trees")}
	with := func(more ...string) []string { return append(args[:len(args):len(args)], more...) }

	code, out, errs := evaluate(t, with("--json")...)
	var got eval.Report
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != cli.ExitOK {
		t.Fatalf("exit %d, %v: %s", code, err, errs)
	}
	if len(got.Pairs) != 1 || !got.Pairs[0].Quarry.Found || !got.Pairs[0].Ripgrep.Found {
		t.Errorf("report = %s", out)
	}
	code, out, _ = evaluate(t, with("--half", "fit", "--steps")...)
	if code != cli.ExitOK || !strings.Contains(out, "| find | 1 |") || !strings.Contains(out, "retrieve_context") {
		t.Errorf("exit %d, printed:\n%s", code, out)
	}
	if code, out, errs := evaluate(t, with("--half", "all")...); code != cli.ExitUsage || out != "" || !strings.Contains(errs, "neither fit nor held") {
		t.Errorf("exit %d, printed %q, said %q", code, out, errs)
	}
	if code, _, errs := evaluate(t, with("--corpus", dir)...); code != cli.ExitFailed || !strings.Contains(errs, "testdata/holes/fetch.sh") {
		t.Errorf("no tree: exit %d, %q", code, errs)
	}
}
