package engines

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"quarry/completion"
	"quarry/lsp"
	"quarry/lsp/settings"
	"quarry/model"
	"quarry/model/modeltest"
)

// coreOf is a Core of these settings on a machine with enough of everything.
func coreOf(t *testing.T, s settings.Settings) (c *Core, messages *told) {
	t.Helper()
	messages = &told{}
	c = New(lsp.Start{
		Settings: s, Notify: messages.notify, Job: func(string, func()) lsp.Job { return saying{&[]string{}} }, Changed: func() {},
	}, Options{StateDir: t.TempDir(), Log: slog.New(slog.DiscardHandler), Machine: Machine{
		Resident: func() int64 { return 1e8 }, Free: func() int64 { return 9e9 }, OnBattery: func() bool { return false },
	}})
	t.Cleanup(func() { c.Close() })
	return c, messages
}

// until waits for what happens beside the test.
func until(t *testing.T, c *Core, what string, is func() bool) {
	t.Helper()
	limit := time.After(time.Minute)
	for !is() {
		select {
		case <-time.After(2 * time.Millisecond):
		case <-limit:
			t.Fatalf("%s: %+v", what, c.StatusNote(t.Context()))
		}
	}
}

// asks has a Core complete in a document of its own.
func asks(t *testing.T, c *Core, language, key string) {
	t.Helper()
	text := "def " + key + "_total(values):\n    return "
	if _, err := c.Complete(t.Context(), completion.Request{
		Key: key, Document: completion.Document{Path: key, Language: language, Text: text}, Offset: len(text), Manual: true,
	}); err != nil {
		t.Fatal(err)
	}
}

// What the server has done stays counted whatever the settings change: the counters of /metrics only rise.
func TestCountsOutliveASettingsChange(t *testing.T) {
	fake := modeltest.NewServer(t)
	fake.SetModels(modeltest.Model{Name: "tiny:a"}, modeltest.Model{Name: "tiny:b"})
	fake.Script(func(modeltest.Request) modeltest.Answer { return modeltest.Answer{Pieces: []string{"sum(", "values)"}} })
	s := settings.Default()
	s.Ollama.URL, s.Model, s.Embedding.Enabled = fake.URL, "tiny:a", false
	s.Completion.Models = map[string]string{"python": "tiny:b"}
	c, _ := coreOf(t, s)
	ready := func() {
		t.Helper()
		until(t, c, "ready", func() bool { return c.StatusNote(t.Context()).Model.State == lsp.ModelReady })
	}
	ready()
	asks(t, c, "go", "first")
	asks(t, c, "python", "second")
	asks(t, c, "go", "third")
	until(t, c, "the other is ready", func() bool {
		e := c.acquire()
		defer e.calls.Done()
		all := e.others.all()
		return len(all) == 1 && all[0].runtime.State().Phase == model.Ready
	})
	asks(t, c, "python", "fourth")
	was, ghost := c.EngineStatus()
	if ghost.Requests != 4 || ghost.Shown == 0 || ghost.Launched == 0 || was.Sent == 0 || was.PromptTokens == 0 {
		t.Fatalf("%+v, %+v", was, ghost)
	}
	rises := func(what string, requests int) {
		t.Helper()
		of, now := c.EngineStatus()
		if now.Requests != requests || now.Shown < ghost.Shown || now.Model < ghost.Model || now.Launched < ghost.Launched || of.Sent < was.Sent || of.PromptTokens < was.PromptTokens || of.PromptTokensReused < was.PromptTokensReused {
			t.Errorf("%s: %+v after %+v, %+v after %+v", what, of, was, now, ghost)
		}
		shown := 0
		for _, by := range now.By {
			shown += by.Shown
		}
		if shown != now.Shown {
			t.Errorf("%s: %d shown, by engines %d", what, now.Shown, shown)
		}
		was, ghost = of, now
	}
	change := func(what string, do func()) {
		t.Helper()
		do()
		if err := c.Configure(s); err != nil {
			t.Fatal(err)
		}
		rises(what+", at once", ghost.Requests)
		until(t, c, "closed", func() bool {
			c.mu.Lock()
			defer c.mu.Unlock()
			return len(c.leaving) == 0
		})
		rises(what+", closed", ghost.Requests)
	}
	change("another length", func() { s.Completion.MaxTokens = 31 })
	ready()
	asks(t, c, "go", "fifth")
	rises("asked again", 5)
	change("another model", func() { s.Model = "tiny:b" })
	change("no model", func() { s.Ollama.Enabled = false })
	asks(t, c, "go", "sixth")
	rises("without a model", 6)
	change("a model again", func() { s.Ollama.Enabled = true })
	if of, _ := c.EngineStatus(); !strings.HasPrefix(of.Name, "tiny:b") {
		t.Errorf("%+v", of)
	}
}
