package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"quarry/lsp"
	"quarry/lsp/settings"
	"quarry/model/modeltest"
)

// What quarry/status says of a server that has completed with a model.
func TestStatusOfARunningServer(t *testing.T) {
	fake, err := modeltest.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(fake.Close)
	fake.Script(func(modeltest.Request) modeltest.Answer {
		return modeltest.Answer{Pieces: []string{"sum(values)", " / ", "len(values)", "\n"}}
	})
	ctx, e := serveEditor(t, "vscode", t.TempDir(), "--ollama", fake.URL, "--state-dir", t.TempDir())
	status := func() (st lsp.Status) {
		t.Helper()
		if err := e.Call(ctx, lsp.MethodStatus, nil, &st); err != nil {
			t.Fatal(err)
		}
		return st
	}
	for status().Model.Phase != "ready" {
		// The deadline of ctx ends this.
	}
	b, err := e.Open("a.py", "python", "def mean(values):\n    return ")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Seek("return "); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second is served from the first's answer
		if err := e.Complete(ctx, b, true); err != nil {
			t.Fatal(err)
		}
	}
	st := status()
	m, c := st.Model, st.Completion
	if m.Sent == 0 || m.FirstTokenP50 <= 0 || m.PromptTokens == 0 || m.PromptTokensReused > m.PromptTokens || m.Problem != "" || m.Remote || m.URL != fake.URL {
		t.Errorf("model: %+v", m)
	}
	if c.Requests != 2 || c.Model != 1 || c.Reused != 1 || c.Shown != 2 || c.AnswerP50 <= 0 {
		t.Errorf("ghost text: %+v", c)
	}
}

// offers is whether a note's remedies are these commands.
func offers(n lsp.StatusNote, commands ...string) bool {
	return slices.EqualFunc(n.Remedies, commands, func(r lsp.Remedy, command string) bool { return r.Command == command })
}

// What an editor is told of the model as it comes and goes.
func TestStatusNoteOfARunningServer(t *testing.T) {
	fake, err := modeltest.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(fake.Close)
	fake.Stop()
	ctx, e := serveEditor(t, "neovim", t.TempDir(), "--ollama", fake.URL, "--state-dir", t.TempDir())
	await := func(cond func(n lsp.StatusNote) bool) {
		t.Helper()
		var last lsp.StatusNote
		err := e.Await(ctx, func() bool {
			for _, raw := range e.Statuses() {
				last = lsp.StatusNote{}
				if err := json.Unmarshal(raw, &last); err != nil {
					t.Error(err)
				}
			}
			return last.Text != "" && cond(last)
		})
		if err != nil {
			t.Fatalf("%v; last %+v; shown %q", err, last, e.Shown())
		}
	}
	await(func(n lsp.StatusNote) bool {
		return n.Level == lsp.LevelWarning && n.Text == "no model" && n.ModelFree && n.Model.State == lsp.ModelNone &&
			strings.Contains(n.Model.Reason, "does not answer") && len(n.Remedies) > 0 && n.Work != nil
	})
	// A model that is missing can be had by the command that is offered, which says how far it is.
	fake.SetModels(modeltest.Model{Name: "other"})
	gate := make(chan struct{})
	fake.HoldPulls(gate)
	if err := fake.Restart(); err != nil {
		t.Fatal(err)
	}
	var remedy lsp.Remedy
	await(func(n lsp.StatusNote) bool {
		if !strings.Contains(n.Model.Reason, "has no model") || !strings.Contains(n.Model.Reason, "suits this machine: it ") {
			return false
		}
		var commands []string
		for _, r := range n.Remedies {
			if commands = append(commands, r.Command); r.Command == lsp.CommandPull {
				remedy = r
			}
		}
		return remedy.Title == "Pull granite4.1:3b (2.1 GB)" && slices.Equal(commands, []string{lsp.CommandSetup, lsp.CommandPull, lsp.CommandUse, lsp.CommandWithout})
	})
	if err := e.Call(ctx, "workspace/executeCommand", remedy, nil); err != nil {
		t.Fatal(err)
	}
	await(func(n lsp.StatusNote) bool {
		return n.Model.State == lsp.ModelLoading && n.Model.Percent != nil && *n.Model.Percent == 40 && n.Text == "granite4.1:3b 40%" && offers(n, lsp.CommandPause, lsp.CommandCancel)
	})
	// It is paused and goes on where it was; whoever cancels it is offered what helped before.
	do := func(command string) {
		t.Helper()
		if err := e.Call(ctx, "workspace/executeCommand", lsp.Remedy{Command: command, Arguments: []string{}}, nil); err != nil {
			t.Fatal(err)
		}
	}
	do(lsp.CommandPause)
	await(func(n lsp.StatusNote) bool {
		return n.Model.State == lsp.ModelNone && strings.Contains(n.Model.Reason, "the download of granite4.1:3b is paused at 40 %") && len(n.Remedies) > 0 && n.Remedies[0].Command == lsp.CommandPull
	})
	do(lsp.CommandResume)
	await(func(n lsp.StatusNote) bool { return offers(n, lsp.CommandPause, lsp.CommandCancel) })
	do(lsp.CommandPause)
	await(func(n lsp.StatusNote) bool { return strings.Contains(n.Model.Reason, "is paused at 40 %") })
	do(lsp.CommandCancel)
	await(func(n lsp.StatusNote) bool {
		return strings.Contains(n.Model.Reason, "has no model") && n.Remedies[0].Command == lsp.CommandSetup
	})
	do(lsp.CommandResume)
	if err := e.Await(ctx, func() bool {
		return slices.ContainsFunc(e.Shown(), func(m string) bool { return strings.Contains(m, "no download is paused") })
	}); err != nil {
		t.Fatalf("%v: %q", err, e.Shown())
	}
	// How far another one is says nothing of the model that is asked.
	if err := e.Call(ctx, "workspace/executeCommand", lsp.Remedy{Command: lsp.CommandPull, Arguments: []string{"qwen2.5-coder:1.5b"}}, nil); err != nil {
		t.Fatal(err)
	}
	if err := e.Attend(ctx, func(_ string, answers []string) string { return answers[len(answers)-1] }); err != nil {
		t.Fatal(err)
	}
	await(func(n lsp.StatusNote) bool {
		return n.Text == "qwen2.5-coder:1.5b 40%" && n.Model.Name == "granite4.1:3b" && n.Model.Download == "qwen2.5-coder:1.5b"
	})
	do(lsp.CommandCancel)
	await(func(n lsp.StatusNote) bool { return strings.Contains(n.Model.Reason, "has no model") })
	do(lsp.CommandPull)
	await(func(n lsp.StatusNote) bool { return offers(n, lsp.CommandPause, lsp.CommandCancel) })
	close(gate)
	await(func(n lsp.StatusNote) bool {
		return n.Level == lsp.LevelReady && n.Text == "granite4.1:3b" && !n.ModelFree && n.Model.Reason == "" && n.Model.Host == "" && len(n.Remedies) == 0
	})
}

// Who has Granite 4.0 and has named no model is offered it with one yes.
func TestTheGraniteBeforeIsOffered(t *testing.T) {
	fake := modeltest.NewServer(t)
	fake.SetModels(modeltest.Model{Name: "granite4:micro"})
	path := userSettings(t, `{"embedding": {"enabled": false}}`)
	ctx, e := serveEditor(t, "neovim", t.TempDir(), "--ollama", fake.URL, "--state-dir", t.TempDir())
	var last lsp.StatusNote
	await := func(cond func() bool) {
		t.Helper()
		if err := e.Await(ctx, func() bool {
			for _, raw := range e.Statuses() {
				last = lsp.StatusNote{}
				if err := json.Unmarshal(raw, &last); err != nil {
					t.Error(err)
				}
			}
			return cond()
		}); err != nil {
			t.Fatalf("%v; last %+v; shown %q", err, last, e.Shown())
		}
	}
	var use lsp.Remedy
	await(func() bool {
		for _, r := range last.Remedies {
			if r.Command == lsp.CommandSetup {
				use = r
			}
		}
		return strings.Contains(last.Model.Reason, "has no model granite4.1:3b") && use.Title == "Set up granite4:micro, which Ollama has"
	})
	if err := e.Call(ctx, "workspace/executeCommand", use, nil); err != nil {
		t.Fatal(err)
	}
	if err := e.Attend(ctx, func(_ string, answers []string) string { return answers[len(answers)-1] }); err != nil {
		t.Fatalf("%v; shown %q", err, e.Shown())
	}
	await(func() bool { return last.Level == lsp.LevelReady && last.Text == "granite4:micro" })
	if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), `"model": "granite4:micro"`) {
		t.Errorf("the settings are %q, %v", text, err)
	}
}

// What the user writes into their own file applies to a server that runs.
func TestSettingsFileIsFollowed(t *testing.T) {
	fake := modeltest.NewServer(t)
	fake.SetModels(modeltest.Model{Name: "granite4.1:3b"}, modeltest.Model{Name: "granite4:micro"})
	path := userSettings(t, `{"completion.maxTokens": "many"}`)
	ctx, e := serveEditor(t, "neovim", t.TempDir(), "--ollama", fake.URL, "--state-dir", t.TempDir())
	await := func(model string) {
		t.Helper()
		err := e.Await(ctx, func() bool {
			return slices.ContainsFunc(e.Statuses(), func(raw json.RawMessage) bool { return strings.Contains(string(raw), `"text":"`+model+`"`) })
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	await("granite4.1:3b")
	if err := settings.SetInFile(path, "model", "granite4:micro"); err != nil {
		t.Fatal(err)
	}
	await("granite4:micro")
}

// The budgets of prompts, and the profile that asks no model, apply to a server that runs.
func TestPromptsAndProfilesAreLive(t *testing.T) {
	fake := modeltest.NewServer(t)
	prompts := make(chan string, 100)
	fake.Script(func(r modeltest.Request) modeltest.Answer {
		if strings.Contains(r.Prompt, "line 400") {
			prompts <- r.Prompt
		}
		return modeltest.Answer{Pieces: []string{"total", "\n"}}
	})
	path := userSettings(t, "{}")
	ctx, e := serveEditor(t, "neovim", t.TempDir(), "--ollama", fake.URL, "--state-dir", t.TempDir())
	text := ""
	for n := range 401 {
		text += fmt.Sprintf("# line %d of a file that is long\n", n)
	}
	await := func(text string) lsp.StatusNote {
		t.Helper()
		var last lsp.StatusNote
		err := e.Await(ctx, func() bool {
			all := e.Statuses()
			return len(all) > 0 && json.Unmarshal(all[len(all)-1], &last) == nil && last.Text == text
		})
		if err != nil {
			t.Fatalf("%v; last %+v", err, last)
		}
		return last
	}
	// prompt is how long the prompt for a new document is, at the first time that is right.
	// While the model of new settings is looked at there is none.
	tried := 0
	prompt := func(right func(bytes int) bool) int {
		t.Helper()
		await("granite4.1:3b")
		for ; ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
			tried++
			last := fmt.Sprintf("of_%d = ", tried)
			b, err := e.Open(fmt.Sprintf("a%d.py", tried), "python", text+last)
			if err != nil {
				t.Fatal(err)
			}
			if err := b.Seek(last); err != nil {
				t.Fatal(err)
			}
			if err := e.Complete(ctx, b, true); err != nil {
				t.Fatal(err)
			}
			for more := true; more; {
				select {
				case p := <-prompts: // each candidate has one
					if strings.Contains(p, last) && right(len(p)) {
						return len(p)
					}
				default:
					more = false
				}
			}
		}
		t.Fatal("no prompt of that length came")
		return 0
	}
	usual := prompt(func(int) bool { return true })
	if err := settings.SetInFile(path, "completion.prefixTokens", 200); err != nil {
		t.Fatal(err)
	}
	prompt(func(bytes int) bool { return bytes <= usual/2 })
	if err := settings.SetInFile(path, "profile", "model-free"); err != nil {
		t.Fatal(err)
	}
	note := await("model-free")
	if note.Level != lsp.LevelReady || !note.Model.Off || !note.ModelFree || len(note.Remedies) != 0 || !strings.Contains(note.Detail, "as the settings want it") {
		t.Errorf("%+v", note)
	}
	code, out, _ := answering(t, "", "doctor", "--ollama", fake.URL)
	if code != 0 || !strings.Contains(out, "none is asked, since ollama.enabled is false") || strings.Contains(out, "advice") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	if err := settings.SetInFile(path, "profile", "default"); err != nil {
		t.Fatal(err)
	}
	await("granite4.1:3b")
}

// While the user's settings file cannot be read the status says so, at a glance, too, and no longer than that.
func TestStatusSaysThatTheSettingsAreBroken(t *testing.T) {
	fake := modeltest.NewServer(t)
	fake.SetModels(modeltest.Model{Name: "granite4.1:3b"})
	const good = `{"embedding.enabled": false}`
	path := userSettings(t, `{"embedding.enabled": false;}`)
	ctx, e := serveEditor(t, "neovim", t.TempDir(), "--ollama", fake.URL, "--state-dir", t.TempDir())
	says := func(broken bool) {
		t.Helper()
		var n lsp.StatusNote
		if err := e.Await(ctx, func() bool {
			n = lastNote(t, e)
			return n.Model.State == lsp.ModelReady && (n.Text == "settings") == broken && (len(n.Problems) > 0) == broken
		}); err != nil {
			t.Fatalf("%v: %+v", err, n)
		}
		if broken && (n.Level != lsp.LevelWarning || !strings.Contains(n.Detail, "ettings are not a JSON object: ") || !strings.Contains(n.Problems[0], filepath.Base(path))) {
			t.Errorf("%+v", n)
		}
	}
	says(true)
	for _, text := range []string{good, good[:5]} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		says(text != good)
	}
}
