package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"quarry/cmd/internal/cli"
	"quarry/cmd/internal/cli/clitest"
	"quarry/model/modeltest"
	"quarry/retrieval/eval/newcomer"
)

// newcomerFolder has a repository of each half, with questions and checkouts.
func newcomerFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	questions := func(name string) string {
		return strings.ReplaceAll(`[
			{"id":"NAME-again","kind":"behaviour","question":"what is done again after a pause?","answers":["retry.go:3-4"]},
			{"id":"NAME-router","kind":"symbol","question":"Router","answers":["router.go:3-4"]},
			{"id":"NAME-log","kind":"message","question":"2026-11-22 10:00:00 ERROR route not registered: /users","answers":["router.go:6-9"]}]`, "NAME", name)
	}
	commit := strings.Repeat("a", 40)
	for name, text := range map[string]string{
		"set/repositories.json": `[{"name":"broot","language":"go","github":"o/broot","commit":"` + commit + `"},
			{"name":"litestream","language":"go","github":"o/litestream","commit":"` + commit + `"}]`,
		"set/questions/broot.json":      questions("broot"),
		"set/questions/litestream.json": questions("litestream"),
	} {
		writeText(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	for _, name := range []string{"broot", "litestream"} {
		writeText(t, filepath.Join(dir, "trees", name, "retry.go"), "package tiny\n\n// Retry does it again after a growing pause.\nfunc Retry(f func() error) error { return f() }\n")
		writeText(t, filepath.Join(dir, "trees", name, "router.go"), `package tiny

// Router matches paths.
type Router struct{}

// Find answers the handler of a path.
func (r *Router) Find(p string) error {
	return fmt.Errorf("route not registered: %s", p)
}
`)
	}
	return dir
}

func writeText(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestNewcomerCommand(t *testing.T) {
	dir := newcomerFolder(t)
	args := []string{"newcomer", "--questions", filepath.Join(dir, "set"), "--corpus", filepath.Join(dir, "trees")}
	with := func(more ...string) []string { return append(args[:len(args):len(args)], more...) }

	code, out, errs := evaluate(t, with("--json")...)
	if code != cli.ExitOK {
		t.Fatalf("exit %d: %s", code, errs)
	}
	var got newcomer.Report
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if p := got.Overall; got.Asked != (newcomer.Counts{Repositories: 1, Questions: 2, Messages: 1}) || got.Set.Repositories != 2 ||
		p.Questions.File1 != 1 || p.Questions.Place1 != 1 || p.Messages.Place1 != 1 || len(got.Outcomes) != 3 {
		t.Errorf("report = %s", out)
	}
	if _, err := os.Stat(filepath.Join(dir, "trees", "broot", ".quarry")); err == nil {
		t.Error("the checkout was written to")
	}

	before := filepath.Join(dir, "before.json")
	writeText(t, before, out)
	code, out, _ = evaluate(t, with("--against", before, "--misses")...)
	if code != cli.ExitOK || !strings.Contains(out, "fit half: 1 repositories, 2 questions, 1 messages") || !strings.Contains(out, "file first             +0.000") {
		t.Errorf("exit %d, printed:\n%s", code, out)
	}

	code, out, errs = evaluate(t, with("--half", "held", "--json")...)
	var held newcomer.Report
	if err := json.Unmarshal([]byte(out), &held); err != nil || code != cli.ExitOK {
		t.Fatalf("exit %d, %v: %s", code, err, errs)
	}
	if held.Repositories["litestream"].Questions.File1 != 1 || strings.Contains(out, "litestream-again") {
		t.Errorf("the held half: %s", out)
	}

	for wrong, more := range map[string][]string{
		"question by question":           {"--half", "held", "--misses"},
		"asked as a whole":               {"--half", "held", "--only", "litestream"},
		"must be hybrid":                 {"--mode", "sideways"},
		"neither fit nor held":           {"--half", "all"},
		"is for the answers of --expand": {"--replay"},
		"the earlier run is":             {"--half", "held", "--against", before},
	} {
		if code, out, errs := evaluate(t, with(more...)...); code != cli.ExitUsage || out != "" || !strings.Contains(errs, wrong) {
			t.Errorf("%v: exit %d, printed %q, said %q", more, code, out, errs)
		}
	}
	if code, _, errs := evaluate(t, with("--corpus", dir)...); code != cli.ExitFailed || !strings.Contains(errs, "testdata/newcomer/fetch.sh") {
		t.Errorf("no checkout: exit %d, %q", code, errs)
	}
	writeText(t, filepath.Join(dir, "trees", "broot", ".git", "HEAD"), strings.Repeat("b", 40)+"\n")
	if code, _, errs := evaluate(t, args...); code != cli.ExitFailed || !strings.Contains(errs, "is at bbbb") {
		t.Errorf("another commit: exit %d, %q", code, errs)
	}
}

// A model's names for what a question asks about are searched with it, but for pasted messages; its answers are kept.
func TestNewcomerExpands(t *testing.T) {
	clitest.UserConfig(t, t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	server := modeltest.NewServer(t)
	server.SetModels(modeltest.Model{Name: "stand-in:1.5b"})
	t.Setenv("OLLAMA_HOST", server.URL)
	t.Setenv("QUARRY_MODEL", "stand-in:1.5b")
	var asked atomic.Int64
	server.Script(func(r modeltest.Request) modeltest.Answer {
		if !strings.Contains(r.Prompt, "The program is called broot and is written in go.") {
			return modeltest.Answer{Pieces: []string{" "}} // is it there?
		}
		asked.Add(1)
		return modeltest.Answer{Pieces: []string{"`Router`, `broot`", ", pause"}}
	})
	dir := newcomerFolder(t)
	answers := filepath.Join(t.TempDir(), "answers")
	args := []string{"newcomer", "--questions", filepath.Join(dir, "set"), "--corpus", filepath.Join(dir, "trees"), "--json", "--expand", answers}
	rank := func(out string) (places []int) {
		var got newcomer.Report
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatalf("%v in %s", err, out)
		}
		for _, o := range got.Outcomes {
			places = append(places, o.File)
		}
		return places
	}
	code, first, errs := evaluate(t, args...)
	// "Router" leads from the right place of the first question, and the model says nothing new of the second.
	if places := rank(first); code != cli.ExitOK || asked.Load() != 2 || !slices.Equal(places, []int{2, 1, 1}) {
		t.Fatalf("exit %d, asked %d times, files %v: %s", code, asked.Load(), places, errs)
	}
	if code, again, errs := evaluate(t, append(args, "--replay")...); code != cli.ExitOK || asked.Load() != 2 || !slices.Equal(rank(again), rank(first)) {
		t.Errorf("replayed: exit %d, asked %d times: %s", code, asked.Load(), errs)
	}
	if code, _, errs := evaluate(t, append(args, "--replay", "--expand", answers+"2")...); code != cli.ExitUsage || !strings.Contains(errs, "broot-again") {
		t.Errorf("without answers: exit %d: %s", code, errs)
	}
}
