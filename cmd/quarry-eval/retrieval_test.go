package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"quarry/cmd/internal/cli"
)

// corpusFolder is a workspace of two files, the questions and checkouts of
// an evaluation over it.
func corpusFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"corpus/tiny/router.go": "package tiny\n\n// Router matches paths in a radix tree.\ntype Router struct{}\n\n// Handle registers a handler.\nfunc (r *Router) Handle(p string) {}\n",
		"corpus/tiny/retry.go":  "package tiny\n\n// Retry calls f again after a growing pause.\nfunc Retry(f func() error) error { return f() }\n",
		"repos.json":            `[{"name":"tiny","language":"go","url":"","revision":"1","benchmark_root":null}]`,
		"questions/tiny.json": `[{"query":"Router","relevant":[{"path":"router.go","start_line":3,"end_line":4}],"category":"symbol"},
			{"query":"call again after a pause","relevant":["retry.go"],"category":"semantic"}]`,
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func evaluate(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

func TestRetrievalCommand(t *testing.T) {
	dir := corpusFolder(t)
	args := []string{"retrieval", "--annotations", filepath.Join(dir, "questions"), "--repos", filepath.Join(dir, "repos.json"), "--corpus", filepath.Join(dir, "corpus")}
	code, out, errs := evaluate(t, append(args, "--json", "--outcomes")...)
	if code != cli.ExitOK {
		t.Fatalf("exit %d: %s", code, errs)
	}
	var got struct {
		Overall struct {
			NDCG float64 `json:"ndcg10"`
			Hit1 float64 `json:"hit1"`
		} `json:"overall"`
		Categories map[string]any     `json:"categories"`
		Languages  map[string]any     `json:"languages"`
		Latency    map[string]float64 `json:"latency_ms"`
		Outcomes   []any              `json:"outcomes"`
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if got.Overall.NDCG != 1 || got.Overall.Hit1 != 1 || len(got.Categories) != 2 || len(got.Languages) != 1 || len(got.Outcomes) != 2 || got.Latency["p50"] <= 0 && runtime.GOOS != "windows" { // whose clock moves in steps
		t.Errorf("report = %s", out)
	}
	before := filepath.Join(dir, "before.json")
	if err := os.WriteFile(before, []byte(out), 0o644); err != nil {
		t.Fatal(err)
	}
	code, out, _ = evaluate(t, append(args, "--compare", before)...)
	if code != cli.ExitOK || !strings.Contains(out, "change +0.0000") || !strings.Contains(out, "span recall 1.000 of 1") {
		t.Errorf("exit %d, printed:\n%s", code, out)
	}
	args[len(args)-1] = dir
	if code, _, errs := evaluate(t, args...); code != cli.ExitFailed || !strings.Contains(errs, "not checked out") {
		t.Errorf("no checkout: exit %d, %q", code, errs)
	}
}
