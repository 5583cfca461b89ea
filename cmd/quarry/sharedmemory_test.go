package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quarry/lsp"
	"quarry/lsp/headless"
	"quarry/model/modeltest"
	"quarry/model/ollamatest"
)

// anotherEditor is an editor with a server of its own process, whose budget is in megabytes.
func anotherEditor(ctx context.Context, t *testing.T, budget int, state, url string) *headless.Editor {
	t.Helper()
	profile, err := headless.LoadProfile("neovim")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("quarry", "lsp", "--state-dir", state, "--ollama", url)
	cmd.Env = append(os.Environ(), fmt.Sprintf("QUARRY_MEMORY_BUDGET_MB=%d", budget))
	e, err := headless.StartProcess(ctx, cmd, headless.Options{Profile: profile, Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// does waits until an editor's server does without so many things.
func does(ctx context.Context, t *testing.T, e *headless.Editor, without int) (n lsp.StatusNote) {
	t.Helper()
	if err := e.Await(ctx, func() bool {
		n = lastNote(t, e)
		return n.Model.State == lsp.ModelReady && len(n.Savings) == without
	}); err != nil {
		t.Fatalf("%d things are not done without: %+v", without, n)
	}
	return n
}

// The quarrys of a user share one budget: what one does without all do who ask the same server, from their start on, and
// commands that ask once, too; so the model is never loaded in another way. When the one that had to has ended, all is done again.
func TestQuarrysShareABudget(t *testing.T) {
	fake := modeltest.NewServer(t)
	fake.SetModels(modeltest.Model{Name: "granite4.1:3b", Bytes: 60e9, BytesPerToken: 10e6}, modeltest.Model{Name: "letters", Bytes: 1e9})
	fake.ScriptEmbed(countLetters)
	fake.Script(func(modeltest.Request) modeltest.Answer {
		return modeltest.Answer{Pieces: []string{"sum(values)", "\n"}}
	})
	settings := userSettings(t, `{"embedding.model": "letters"}`)
	state := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tight := anotherEditor(ctx, t, 100_000, state, fake.URL)
	does(ctx, t, tight, 2)
	before := len(fake.Requests())
	roomy := anotherEditor(ctx, t, 900_000, state, fake.URL)
	n := does(ctx, t, roomy, 2)
	const says = "2 quarry processes and their models come near the 100.0 GB that they may take together"
	if n.Savings[1].Why != says {
		t.Errorf("it says %q, want %q", n.Savings[1].Why, says)
	}
	file := filepath.Join(t.TempDir(), "a.py")
	if err := os.WriteFile(file, []byte("def mean(values):\n    return \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("QUARRY_MEMORY_BUDGET_MB", "900000")
	if code, out, errs := answering(t, "", "complete", file+":2:12", "--ollama", fake.URL, "--state-dir", state); code != 0 || !strings.Contains(out, "sum(values)") {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	if code, out, _ := answering(t, "", "status", "--workspace", filepath.Dir(file), "--ollama", fake.URL, "--state-dir", state); code != 0 || !strings.Contains(out, "memory now: 2 quarry processes have ") {
		t.Errorf("exit code %d: %s", code, out)
	}
	asked := 0
	for _, r := range fake.Requests()[before:] {
		if r.Path == "/api/generate" {
			if asked++; r.NumCtx() != 2048 {
				t.Errorf("a request with a context of %d", r.NumCtx())
			}
		}
	}
	if asked < 2 {
		t.Errorf("%d requests", asked)
	}
	var st lsp.Status
	for st.Memory.OthersBytes == 0 { // until it looks again
		if err := os.WriteFile(settings, []byte(fmt.Sprintf(`{"embedding.model": "letters", "completion.maxTokens": %d}`, 100+time.Now().UnixNano()%100)), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := tight.Call(ctx, lsp.MethodStatus, nil, &st); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := tight.Quit(ctx); err != nil {
		t.Error(err)
	}
	b, err := roomy.Open("a.py", "python", "def mean(values):\n    return ")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Seek("return "); err != nil {
		t.Fatal(err)
	}
	if err := roomy.Complete(ctx, b, true); err != nil { // which notices that one has left
		t.Fatal(err)
	}
	does(ctx, t, roomy, 0)
	if _, err := roomy.Quit(ctx); err != nil {
		t.Error(err)
	}
}

// Doctor and a trial ask the model as the running quarrys do, name what those do without, and have a real Ollama load nothing
// anew. Once no quarry runs nothing is named.
func TestDoctorBesideAQuarryWithTooLittleRoom(t *testing.T) {
	server := ollamatest.Start(t)
	userSettings(t, `{"embedding.enabled": false}`)
	state := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	e := anotherEditor(ctx, t, 1, state, server.URL)
	does(ctx, t, e, 3) // all but embedding, which is off
	before := server.Loads()
	if code, out, errs := answering(t, "", "model", "verify", "--ollama", server.URL, "--state-dir", state); code != 0 || strings.Contains(out, "sharing") {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	code, _, found := doctor(t, "--ollama", server.URL, "--state-dir", state)
	const says = "one alternative instead of several; half the context window, and less code from other places in prompts; " +
		"models leave memory a minute after they were asked last: quarry and its models come near the 1 MB that they may take together"
	if f := found["savings"]; code != 0 || !f.OK || f.Detail != says || !strings.Contains(f.Fix, "memory.budgetMB") || found["memory"].Fix != "" {
		t.Errorf("exit code %d: %+v, %+v", code, f, found["memory"])
	}
	if f, ok := found["sharing"]; ok {
		t.Errorf("there is no other program: %+v", f)
	}
	if n := server.Loads(); n != before {
		t.Errorf("the model was loaded %d times more", n-before)
	}
	if list := server.Loaded(); len(list) != 1 || list[0].ContextLength != 2048 || time.Until(list[0].ExpiresAt) > time.Minute {
		t.Errorf("in memory is %+v", list)
	}
	if _, err := e.Quit(ctx); err != nil {
		t.Error(err)
	}
	if _, _, found := doctor(t, "--ollama", server.URL, "--state-dir", state); found["savings"].Detail != "" {
		t.Errorf("no quarry runs: %+v", found["savings"])
	}
}

// Two editors that type in turns have a real Ollama load the model for neither, although one of them has too little room.
func TestOneModelForTwoQuarrys(t *testing.T) {
	server := ollamatest.Start(t)
	userSettings(t, `{"embedding.enabled": false}`)
	state := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	editors := []*headless.Editor{anotherEditor(ctx, t, 1, state, server.URL)}
	does(ctx, t, editors[0], 3) // all but embedding, which is off
	before := server.Loads()
	editors = append(editors, anotherEditor(ctx, t, 900_000, state, server.URL))
	does(ctx, t, editors[1], 3)
	for turn := range 6 {
		e := editors[turn%2]
		b, err := e.Open(fmt.Sprintf("a%d.py", turn), "python", fmt.Sprintf("def mean%d(values):\n    return ", turn))
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Seek("return "); err != nil {
			t.Fatal(err)
		}
		if err := e.Complete(ctx, b, true); err != nil {
			t.Fatal(err)
		}
	}
	if n := server.Loads(); n != before {
		t.Errorf("the model was loaded %d times more", n-before)
	}
	if list := server.Loaded(); len(list) != 1 || list[0].ContextLength != 2048 || time.Until(list[0].ExpiresAt) > time.Minute {
		t.Errorf("in memory is %+v", list)
	}
	for _, e := range editors {
		if _, err := e.Quit(ctx); err != nil {
			t.Error(err)
		}
	}
}
