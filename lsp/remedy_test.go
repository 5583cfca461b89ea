package lsp_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"quarry/lsp"
	"quarry/lsp/headless"
)

// The model that the user chooses completes until the server ends, through changes of
// the settings.
func TestUseAnotherModel(t *testing.T) {
	c := &core{}
	e := edit(t, "neovim", c)
	ctx := soon(t)
	if err := e.Call(ctx, "workspace/executeCommand", map[string]any{"command": lsp.CommandUse}, nil); err != nil {
		t.Fatal(err)
	}
	attend(t, e, func(_ string, choices []string) string {
		if !slices.Equal(choices, []string{"one", "two"}) {
			t.Errorf("offered: %q", choices)
		}
		return "two"
	})
	if err := e.Await(ctx, func() bool {
		return slices.ContainsFunc(e.Shown(), func(m string) bool { return strings.Contains(m, "two completes code until quarry ends") })
	}); err != nil {
		t.Fatal(err)
	}
	if err := e.Configure(map[string]any{"completion": map[string]any{"maxTokens": 33}}); err != nil {
		t.Fatal(err)
	}
	for c.lastSettings().Completion.MaxTokens != 33 && ctx.Err() == nil {
		// the server asks for the settings
	}
	if got := c.lastSettings().Model; got != "two" {
		t.Errorf("the model is %q", got)
	}
}

// A download is shown with how far it is and ends when the user cancels it; what goes
// wrong is said.
func TestRemediesAreShown(t *testing.T) {
	e := edit(t, "neovim", &core{note: lsp.StatusNote{Remedies: []lsp.Remedy{{Command: lsp.CommandPull, Arguments: []string{"big:1b"}}}}})
	ctx := soon(t)
	if err := e.Call(ctx, "workspace/executeCommand", map[string]any{"command": lsp.CommandPull, "arguments": []string{"big:1b"}}, nil); err != nil {
		t.Fatal(err)
	}
	says := func(text string) func() bool {
		return func() bool {
			return slices.ContainsFunc(e.Progressed(), func(p headless.Progress) bool { return strings.Contains(string(p.Value), text) })
		}
	}
	if err := e.Await(ctx, says("1.0 of 2.0 GB")); err != nil {
		t.Fatal(err)
	}
	if err := e.Notify("window/workDoneProgress/cancel", map[string]any{"token": e.Progressed()[0].Token}); err != nil {
		t.Fatal(err)
	}
	if err := e.Await(ctx, says("cancelled")); err != nil {
		t.Fatal(err)
	}
	if err := e.Call(ctx, "workspace/executeCommand", map[string]any{"command": lsp.CommandStartOllama}, nil); err != nil {
		t.Fatal(err)
	}
	if err := e.Await(ctx, func() bool { return slices.Contains(e.Shown(), "quarry: Ollama is not installed") }); err != nil {
		t.Fatal(err)
	}
}

// A download that the user pauses says so, and setting up asks once.
func TestPauseAndSetup(t *testing.T) {
	c := &core{paused: make(chan bool), note: lsp.StatusNote{Remedies: []lsp.Remedy{{Command: lsp.CommandPull, Arguments: []string{"big:1b"}}}}}
	e := edit(t, "neovim", c)
	ctx := soon(t)
	run := func(command string, args ...string) {
		t.Helper()
		if err := e.Call(ctx, "workspace/executeCommand", map[string]any{"command": command, "arguments": args}, nil); err != nil {
			t.Fatal(err)
		}
	}
	run(lsp.CommandPull, "big:1b")
	run(lsp.CommandPause)
	ended(t, e, "paused")
	for _, answer := range []string{"Cancel", "Set up"} {
		run(lsp.CommandSetup)
		attend(t, e, func(question string, choices []string) string {
			if question != "quarry: Fetch one and use it? It fits." || !slices.Equal(choices, []string{"Cancel", "Set up"}) {
				t.Errorf("asked %q, %q", question, choices)
			}
			return answer
		})
		ended(t, e, map[string]string{"Cancel": "nothing was done", "Set up": "set up"}[answer])
	}
	if !slices.Contains(e.Shown(), "quarry: one completes code from now on") {
		t.Errorf("%q", e.Shown())
	}
}

// Y4: nothing is downloaded that the user has not chosen, whatever runs the command:
// another plugin, or a link in a page.
func TestAnotherModelIsDownloadedOnlyWithAYes(t *testing.T) {
	for _, answer := range []string{"", "Cancel", "Download"} {
		e := edit(t, "neovim", &core{note: lsp.StatusNote{Remedies: []lsp.Remedy{{Command: lsp.CommandPull, Arguments: []string{"big:1b"}}}}})
		ctx := soon(t)
		if err := e.Call(ctx, "workspace/executeCommand", map[string]any{"command": lsp.CommandPull, "arguments": []string{"evil.example/library/x\u202e"}}, nil); err != nil {
			t.Fatal(err)
		}
		attend(t, e, func(question string, choices []string) string {
			if !strings.Contains(question, `evil.example/library/x\u202e?`) || !slices.Equal(choices, []string{"Cancel", "Download"}) {
				t.Errorf("asked %q, %q", question, choices)
			}
			return answer
		})
		want := "not downloaded"
		if answer == "Download" {
			want = "1.0 of 2.0 GB"
		}
		err := e.Await(ctx, func() bool {
			return slices.ContainsFunc(e.Progressed(), func(p headless.Progress) bool { return strings.Contains(string(p.Value), want) })
		})
		if err != nil {
			t.Errorf("answered %q: %v, %s", answer, err, e.Progressed())
		}
		for _, p := range e.Progressed() {
			if answer != "Download" && strings.Contains(string(p.Value), "1.0 of 2.0 GB") {
				t.Errorf("answered %q, it is downloaded", answer)
			}
		}
	}
}

// An editor that shows no status and cannot cancel a job has commands for both, whether or not it shows progress.
func TestStatusAndStopByCommand(t *testing.T) {
	for _, capabilities := range []string{`{}`, `{"window":{"workDoneProgress":true}}`} {
		c := &core{note: lsp.StatusNote{
			Model:    lsp.NoteModel{Name: "big:1b", State: "none", Reason: "Ollama does not answer"},
			Remedies: []lsp.Remedy{{Title: "Pull big:1b", Command: lsp.CommandPull, Arguments: []string{"big:1b"}}},
		}}
		e := edit(t, "neovim", c, func(o *headless.Options) { o.Profile.Capabilities = json.RawMessage(capabilities) })
		ctx := soon(t)
		run := func(command string) {
			t.Helper()
			if err := e.Call(ctx, "workspace/executeCommand", map[string]any{"command": command}, nil); err != nil {
				t.Fatal(err)
			}
		}
		says := func(text string) {
			t.Helper()
			if err := e.Await(ctx, func() bool { return slices.Contains(e.Shown(), "quarry: "+text) }); err != nil {
				t.Fatalf("%v; shown: %q", err, e.Shown())
			}
		}
		run(lsp.CommandStop)
		says("nothing that you asked for is under way")
		run(lsp.CommandStatus)
		attend(t, e, func(message string, choices []string) string {
			if !strings.Contains(message, "Ollama does not answer") || !slices.Equal(choices, []string{"Close", "Pull big:1b"}) {
				t.Errorf("asked: %q %q", message, choices)
			}
			return choices[1]
		})
		for !slices.Contains(e.Shown(), "quarry: stopped") && ctx.Err() == nil {
			run(lsp.CommandStop) // once the download has begun
		}
		if capabilities != `{}` {
			ended(t, e, "cancelled")
		}
	}
}
