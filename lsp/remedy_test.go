package lsp_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"quarry/lsp"
	"quarry/lsp/headless"
)

// The model that the user chooses completes until the server ends, through changes of the other
// settings, but not past a later word of the user's own file; or it is kept, once it has been tried.
func TestUseAnotherModel(t *testing.T) {
	models := []lsp.InstalledModel{{Name: "granite4.1:3b"}, {Name: "one"}, {Name: "two:latest"}, {Name: "blind"}, {Name: "letters", Embeds: true}}
	const which = "Which model shall be used? One that completes code must know fill-in-the-middle. one, two:latest, blind, letters"
	const forTwo, forOne = "Complete code with two:latest until quarry ends, or from now on?", "Complete code with one until quarry ends, or from now on?"
	for _, test := range []struct {
		name             string
		args             []string
		asked, answers   []string
		result, says     string
		model            string // that completes then
		done             []string
		changed, changes string // what the user's file says later, and the model then
		off              bool   // the editor's settings ask no model
	}{
		{
			name: "until the end", asked: []string{which, forTwo}, answers: []string{"two:latest", "Until quarry ends"}, result: "two:latest",
			says: "two:latest completes code until quarry ends; choose it again to keep it", model: "two:latest", changed: "one", changes: "one",
		},
		{
			name: "from now on", asked: []string{which, forOne}, answers: []string{"one", "From now on"}, result: "kept",
			says: "one completes code from now on; ", model: "one", done: []string{"keep one"}, changed: "blind", changes: "blind",
		},
		{
			name: "named", args: []string{"two"}, asked: []string{forTwo}, answers: []string{"From now on"}, result: "kept",
			says: "two:latest completes code from now on; ", model: "two:latest", done: []string{"keep two:latest"},
		},
		{name: "no", args: []string{"two"}, asked: []string{forTwo}, answers: []string{"Cancel"}, result: "not used", model: "granite4.1:3b"},
		{name: "no answer", asked: []string{which}, answers: []string{""}, result: "none chosen", model: "granite4.1:3b"},
		{
			name: "does not work", args: []string{"blind"}, asked: []string{"Complete code with blind"}, answers: []string{"From now on"}, result: "failed",
			says: "blind is not used: the model failed its trial", model: "granite4.1:3b",
		},
		{
			name: "for search", args: []string{"letters"}, asked: []string{"Search with letters from now on?"}, answers: []string{"From now on"}, result: "kept",
			says: " from now on; ", model: "granite4.1:3b", done: []string{"keep letters"},
		},
		{
			name: "from now on, while no model is asked", off: true, args: []string{"one"}, asked: []string{forOne}, answers: []string{"From now on"}, result: "kept",
			says: "your settings name one, but `ollama.enabled` is false, so quarry does not ask yet: set that to true in your settings", model: "one", done: []string{"keep one"},
		},
		{
			name: "until the end, while no model is asked", off: true, args: []string{"one"}, asked: []string{forOne}, answers: []string{"Until quarry ends"}, result: "one",
			says: "one is chosen, but `ollama.enabled` is false, so quarry does not ask yet: set that to true in your settings", model: "one",
		},
		{name: "none such", args: []string{"three"}, result: "failed", says: "Ollama has no model three", model: "granite4.1:3b"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := &core{models: models}
			e := edit(t, "neovim", c)
			ctx := soon(t)
			if test.off {
				if err := e.Configure(map[string]any{"ollama": map[string]any{"enabled": false}}); err != nil {
					t.Fatal(err)
				}
				for c.lastSettings().Ollama.Enabled && ctx.Err() == nil {
					// the server asks for the settings
				}
			}
			runs(t, e, lsp.CommandUse, test.args...)
			for i, answer := range test.answers {
				attend(t, e, func(question string, choices []string) string {
					if said := question + " " + strings.Join(choices, ", "); !strings.HasPrefix(said, "quarry: "+test.asked[i]) {
						t.Errorf("asked %q, want %q", said, test.asked[i])
					}
					return answer
				})
			}
			ended(t, e, test.result)
			if test.says != "" && !slices.ContainsFunc(e.Shown(), func(m string) bool { return strings.Contains(m, test.says) }) {
				t.Errorf("said %q, want %q", e.Shown(), test.says)
			}
			completes := func(tokens int, model string) {
				t.Helper()
				if err := e.Configure(map[string]any{"ollama": map[string]any{"enabled": !test.off}, "completion": map[string]any{"maxTokens": tokens}}); err != nil {
					t.Fatal(err)
				}
				for c.lastSettings().Completion.MaxTokens != tokens && ctx.Err() == nil {
					// the server asks for the settings
				}
				if got := c.lastSettings().Model; got != model {
					t.Errorf("the model is %q, want %q", got, model)
				}
			}
			completes(33, test.model)
			if !slices.Equal(c.doneTo(), test.done) {
				t.Errorf("done %q, want %q", c.doneTo(), test.done)
			}
			if test.changed != "" {
				c.names(test.changed)
				completes(34, test.changes)
			}
		})
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
	saying := func(text string) int {
		return slices.IndexFunc(e.Progressed(), func(p headless.Progress) bool { return strings.Contains(string(p.Value), text) })
	}
	says := func(text string) func() bool { return func() bool { return saying(text) >= 0 } }
	if err := e.Await(ctx, says("1.0 of 2.0 GB")); err != nil {
		t.Fatal(err)
	}
	if err := e.Notify("window/workDoneProgress/cancel", map[string]any{"token": e.Progressed()[saying("1.0 of 2.0 GB")].Token}); err != nil {
		t.Fatal(err)
	}
	if err := e.Await(ctx, says("cancelled")); err != nil {
		t.Fatal(err)
	}
	runs(t, e, lsp.CommandCancel) // of a paused one
	for _, left := range []string{"quarry: 13 MB are kept: pull again", "quarry: 12 MB are kept: pull again"} {
		if err := e.Await(ctx, func() bool { return slices.Contains(e.Shown(), left) }); err != nil {
			t.Errorf("%q is not said: %q", left, e.Shown())
		}
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
