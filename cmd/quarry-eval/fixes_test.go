package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry/cmd/internal/cli"
	"quarry/cmd/internal/cli/clitest"
	"quarry/diagnostics/eval"
	"quarry/index/systest"
)

// fixesOf runs `quarry-eval fixes` over the Go tree of package eval's own suite.
func fixesOf(t *testing.T, args ...string) (code int, report eval.Report, complaints string) {
	t.Helper()
	systest.NeedProgram(t, "go")
	suite := filepath.Join("..", "..", "diagnostics", "eval", "testdata")
	clitest.UserConfig(t, t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("OLLAMA_HOST", "http://127.0.0.1:1")
	var out, stderr bytes.Buffer
	args = append([]string{"fixes", "--suite", suite, "--corpus", filepath.Join(suite, "trees"), "--only", "go", "--json"}, args...)
	code = run(t.Context(), args, strings.NewReader(""), &out, &stderr)
	if code == cli.ExitOK {
		if err := json.Unmarshal(out.Bytes(), &report); err != nil {
			t.Fatalf("%v: %s", err, out.String())
		}
	}
	return code, report, stderr.String()
}

// The problems of a compiler, given to the engines that an editor asks: a model that
// takes the breakage back is right, one that deletes the line is not.
func TestFixesThroughTheEngines(t *testing.T) {
	for _, form := range []string{"diff", "replace", "whole"} {
		if code, r, complaints := fixesOf(t, "--script", "known", "--form", form); code != cli.ExitOK || r.Scores["all"].Fixed != 2 || r.Scores["all"].Breakages != 2 {
			t.Errorf("known, %s: %d, %+v\n%s", form, code, r, complaints)
		}
	}
	if code, r, complaints := fixesOf(t, "--script", "deleting"); code != cli.ExitOK || r.Scores["all"].Fixed != 0 || r.Scores["all"].Kept != 0 {
		t.Errorf("deleting: %d, %+v\n%s", code, r, complaints)
	}
	if code, r, complaints := fixesOf(t, "--script", "silent"); code != cli.ExitOK || r.Scores["all"].Proposed != 0 || r.Scores["all"].Failed != 0 {
		t.Errorf("silent: %d, %+v\n%s", code, r, complaints)
	}
	if code, r, _ := fixesOf(t, "--script", "known", "--explain"); code != cli.ExitOK || r.Scores["all"].Explained != 2 {
		t.Errorf("explained: %d, %+v", code, r)
	}
}

// Two runs ask the same, each form in its own words: else no answer could be kept.
func TestFixesAskTheSame(t *testing.T) {
	dir := t.TempDir()
	asked := func(name string, args ...string) (conversations []string) {
		file := filepath.Join(dir, name)
		code, r, complaints := fixesOf(t, append(args, "--answers", filepath.Join(dir, "answers"), "--missing", file)...)
		if code != cli.ExitOK || len(r.Outcomes) != 0 {
			t.Fatalf("%d, %+v: %s", code, r, complaints)
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		conversations = strings.Split(strings.TrimSpace(string(raw)), "\n")
		slices.Sort(conversations)
		return conversations
	}
	first, again, replace := asked("1"), asked("2"), asked("3", "--form", "replace")
	if len(first) != 2 || !slices.Equal(first, again) {
		t.Errorf("asked\n%s\nthen\n%s", strings.Join(first, "\n"), strings.Join(again, "\n"))
	}
	if slices.Equal(first, replace) || !strings.Contains(replace[0], "SEARCH") {
		t.Error("another form is asked for in the same words")
	}
}

func TestFixesUsage(t *testing.T) {
	for _, args := range [][]string{{}, {"--script", "wise"}, {"--script", "known", "--form", "prose"}} {
		if code, _, complaints := fixesOf(t, args...); code != cli.ExitUsage {
			t.Errorf("%q: %d, %s", args, code, complaints)
		}
	}
	if code, _, complaints := fixesOf(t, "--script", "known", "--suite", t.TempDir()); code != cli.ExitFailed || !strings.Contains(complaints, "suite.json") {
		t.Errorf("no suite: %d, %s", code, complaints)
	}
}
