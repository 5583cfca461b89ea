package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quarry/cmd/internal/engines"
	"quarry/cmd/internal/usage"
)

// The trace of this machine and what was exported of it are told by the same figures.
func TestTrace(t *testing.T) {
	state := t.TempDir()
	eval := func(args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		if code := run(t.Context(), append([]string{"trace", "--state-dir", state}, args...), strings.NewReader(""), &out, &errs); code != 0 {
			t.Fatalf("exit code %d: %s", code, errs.String())
		}
		return out.String()
	}
	if got := eval(); got != "The trace has nothing yet.\n" {
		t.Error(got)
	}
	dir, err := engines.StatsDir(state)
	if err != nil {
		t.Fatal(err)
	}
	r := usage.New(dir, func(err error) { t.Error(err) })
	r.Keep(true)
	r.Trace().Keep(true)
	r.Trace().Shown(usage.ByEditor, usage.FormName, "Open", 1, []string{"/a", "/b"})
	r.Trace().Opened(usage.ByEditor, "/b")
	r.Shown("a.go", "go", "local", "Close", 0)
	r.Close()
	got := eval()
	for _, want := range []string{"name         editor  1        0      1       0           1    0     0      0.500  0.500", "word           local  1      0         1         0.000"} {
		if !strings.Contains(got, want) {
			t.Errorf("without %q:\n%s", want, got)
		}
	}
	list, err := usage.ReadTrace(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := usage.Export(&text, list); err != nil {
		t.Fatal(err)
	}
	exported := filepath.Join(t.TempDir(), "trace.jsonl")
	writeText(t, exported, text.String())
	if from := eval("--from", exported); from != got {
		t.Errorf("%s", from)
	}
	if from, here := eval("--from", exported, "--json"), eval("--json"); from != here || !strings.Contains(here, `"mrr":0.5,`) {
		t.Errorf("%s, %s", from, here)
	}
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"trace", "--from", filepath.Join(state, "nowhere")}, strings.NewReader(""), &out, &errs); code != 1 || !strings.Contains(errs.String(), "--from: ") {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
}
