package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gofrs/flock"

	"quarry/cmd/internal/cli"
	"quarry/model/modeltest"
)

// Without a model a question is answered by the nearest places.
func TestAskWithoutAModel(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"shelf.go": "package shop\n\n// Reserve takes n items off the shelf.\nfunc Reserve(n int) bool {\n\treturn n > 0\n}\n",
		"till.go":  "package shop\n\nfunc Pay() {}\n",
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, e := serveEditor(t, "neovim", root, "--ollama", noOllama, "--state-dir", t.TempDir())
	var answer struct {
		Text      string
		Unfounded bool
		Citations []struct {
			Path      string
			StartLine int `json:"start_line"`
		}
	}
	// Asked at once, while the folder is being indexed.
	if err := e.Call(ctx, "quarry/ask", map[string]any{"question": "where are items reserved?"}, &answer); err != nil {
		t.Fatal(err)
	}
	if answer.Unfounded || len(answer.Citations) == 0 || answer.Citations[0].Path != "shelf.go" ||
		!strings.Contains(answer.Text, "does not answer") || !strings.Contains(answer.Text, "- shelf.go:") {
		t.Errorf("%+v", answer)
	}
}

// So is one that a model goes away over, before its watcher knows: between two questions, or before it has said a word.
func TestAskOfAModelThatGoes(t *testing.T) {
	fake := modeltest.NewServer(t)
	answers := func(a modeltest.Answer) {
		fake.Script(func(r modeltest.Request) modeltest.Answer {
			if r.NumPredict() <= 1 { // the prompt is only read
				return modeltest.Answer{}
			}
			return a
		})
	}
	answers(modeltest.Answer{Pieces: []string{"Apples are collected in barn/a.go:1-3."}})
	ctx, e := serveEditor(t, "neovim", barn(t), "--ollama", fake.URL, "--state-dir", t.TempDir())
	asked := func() (answer struct{ Text string }) {
		t.Helper()
		if err := e.Call(ctx, "quarry/ask", map[string]any{"question": "where are apples collected?"}, &answer); err != nil {
			t.Fatal(err)
		}
		return answer
	}
	if got := asked(); !strings.HasPrefix(got.Text, "Apples are collected") {
		t.Fatalf("%q", got.Text)
	}
	answers(modeltest.Answer{Disconnect: true})
	if got := asked(); !strings.HasPrefix(got.Text, "No model can answer now: Ollama broke off") || !strings.Contains(got.Text, "- barn/a.go:") {
		t.Errorf("%q", got.Text)
	}
	fake.Stop() // which a request may find out as the end of a connection
	if got := asked(); !strings.HasPrefix(got.Text, "No model can answer now: Ollama ") || !strings.Contains(got.Text, "- barn/a.go:") {
		t.Errorf("%q", got.Text)
	}
}

// The command line answers so, too.
func TestAskCommandWithoutAModel(t *testing.T) {
	t.Chdir(barn(t))
	run := func(args ...string) string {
		code, out, errs := quarry(t, append(args, "--ollama", noOllama)...)
		if code != cli.ExitOK {
			t.Fatalf("exit code %d: %s", code, errs)
		}
		return out
	}
	if got := run("ask", "where are apples collected?"); !strings.Contains(got, "No model can answer now: ") || !strings.Contains(got, "- barn/a.go:") {
		t.Errorf("%q", got)
	}
	var answer askOutput
	if err := json.Unmarshal([]byte(run("ask", "--json", "where are apples collected?")), &answer); err != nil {
		t.Fatal(err)
	}
	if answer.Stop != "" || answer.Steps == nil || len(answer.Citations) == 0 || len(answer.Backend) == 0 {
		t.Errorf("%+v", answer)
	}
}

// So is an explanation: by the nearest places, and by what declares the names on the problem's line. Where nothing is found it fails.
func TestExplainCommandWithoutAModel(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"shelf.go": "package shop\n\n// Reserve takes n items off the shelf.\nfunc Reserve(n int) bool {\n\treturn n > 0\n}\n",
		"till.go":  "package shop\n\nfunc pay() bool {\n\treturn Reserve(1, 2)\n}\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"explain", "--ollama", noOllama, "--wait", "1m", "--message", "too many arguments", "till.go:4"}
	code, out, errs := quarry(t, args...)
	if code != cli.ExitOK || !strings.Contains(out, "No model can answer now: ") || !strings.Contains(out, "Declarations of the names in the problem and its line:\n\n- shelf.go:3-6 `Reserve`\n") {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	var x explainOutput
	if code, out, errs = quarry(t, append(args, "--json")...); code != cli.ExitOK {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	if err := json.Unmarshal([]byte(out), &x); err != nil || x.Confidence != "" || len(x.Citations) == 0 || len(x.Backend) == 0 {
		t.Errorf("%+v (%v)", x, err)
	}
}

// Nothing is said not to be there while the first index is being made, whatever the model says.
func TestAskBeforeTheFirstIndex(t *testing.T) {
	root, stateDir := barn(t), t.TempDir()
	database := indexBarn(t, root, stateDir)
	forgetScan(t, database)
	other := flock.New(filepath.Join(filepath.Dir(database), "lock")) // another process has the index and does nothing
	if held, err := other.TryLock(); !held || err != nil {
		t.Fatal(held, err)
	}
	defer other.Close()
	fake := modeltest.NewServer(t)
	fake.Script(func(modeltest.Request) modeltest.Answer {
		return modeltest.Answer{Pieces: []string{"There is no walrus."}}
	})
	ctx, e := serveEditor(t, "neovim", root, "--ollama", fake.URL, "--state-dir", stateDir)
	var answer struct{ Text string }
	if err := e.Call(ctx, "quarry/ask", map[string]any{"question": "where is the walrus fed?"}, &answer); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(answer.Text, "Nothing was found yet: ") || !strings.Contains(answer.Text, "Ask again") {
		t.Errorf("%q", answer.Text)
	}
}

// In an editor, which shows what a question waits for, it waits until the index is whole, and then is answered.
func TestAskWaitsForTheFirstIndex(t *testing.T) {
	root, stateDir := barn(t), t.TempDir()
	database := indexBarn(t, root, stateDir)
	forgetScan(t, database)
	other := flock.New(filepath.Join(filepath.Dir(database), "lock")) // another process has the index, and ends later
	if held, err := other.TryLock(); !held || err != nil {
		t.Fatal(held, err)
	}
	defer other.Close()
	if err := os.WriteFile(filepath.Join(root, "walrus.go"), []byte("package barn\n\n// Feed feeds the walrus.\nfunc Feed() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	fake := modeltest.NewServer(t)
	fake.Script(func(modeltest.Request) modeltest.Answer {
		return modeltest.Answer{Pieces: []string{"The walrus is fed by Feed (walrus.go:3-4)."}}
	})
	ctx, e := serveEditor(t, "neovim", root, "--ollama", fake.URL, "--state-dir", stateDir)
	if err := e.Execute(ctx, "quarry.ask", "where is the walrus fed?"); err != nil {
		t.Fatal(err)
	}
	var said []string
	if err := e.Await(ctx, func() bool {
		said = nil
		for _, p := range e.Progressed() {
			said = append(said, string(p.Value))
		}
		return strings.Contains(strings.Join(said, "\n"), "waiting for the index")
	}); err != nil {
		t.Fatalf("%v: %q", err, said)
	}
	other.Close()
	var page string
	if err := e.Await(ctx, func() bool {
		page, _ = e.Page()
		return strings.Contains(page, "walrus.go:3-4")
	}); err != nil {
		t.Fatalf("%v: %s", err, page)
	}
	if strings.Contains(page, "Nothing was found yet") {
		t.Errorf("%s", page)
	}
}
