package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

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
			t.Fatalf("%v; last %+v", err, last)
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
		return remedy.Title == "Pull granite4:micro (2.1 GB)" && slices.Equal(commands, []string{lsp.CommandSetup, lsp.CommandPull, lsp.CommandUse, lsp.CommandWithout})
	})
	if err := e.Call(ctx, "workspace/executeCommand", remedy, nil); err != nil {
		t.Fatal(err)
	}
	await(func(n lsp.StatusNote) bool {
		return n.Model.State == lsp.ModelLoading && n.Model.Percent != nil && *n.Model.Percent == 40 && n.Text == "granite4:micro 40%" && offers(n, lsp.CommandPause, lsp.CommandCancel)
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
		return n.Model.State == lsp.ModelNone && strings.Contains(n.Model.Reason, "the download of granite4:micro is paused at 40 %") && len(n.Remedies) > 0 && n.Remedies[0].Command == lsp.CommandPull
	})
	do(lsp.CommandCancel)
	await(func(n lsp.StatusNote) bool {
		return strings.Contains(n.Model.Reason, "has no model") && n.Remedies[0].Command == lsp.CommandSetup
	})
	do(lsp.CommandPull)
	await(func(n lsp.StatusNote) bool { return offers(n, lsp.CommandPause, lsp.CommandCancel) })
	close(gate)
	await(func(n lsp.StatusNote) bool {
		return n.Level == lsp.LevelReady && n.Text == "granite4:micro" && !n.ModelFree && n.Model.Reason == "" && n.Model.Host == "" && len(n.Remedies) == 0
	})
}

// What the user writes into their own file applies to a server that runs.
func TestSettingsFileIsFollowed(t *testing.T) {
	fake := modeltest.NewServer(t)
	fake.SetModels(modeltest.Model{Name: "granite4:micro"}, modeltest.Model{Name: "granite4.1:3b"})
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
	await("granite4:micro")
	if err := settings.SetInFile(path, "model", "granite4.1:3b"); err != nil {
		t.Fatal(err)
	}
	await("granite4.1:3b")
}
