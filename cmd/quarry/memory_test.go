package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"quarry/cmd/internal/engines"
	"quarry/cmd/internal/usage"
	"quarry/lsp"
	"quarry/lsp/headless"
	"quarry/model/modeltest"
)

// lastNote is the status that the editor was told of last.
func lastNote(t *testing.T, e *headless.Editor) (n lsp.StatusNote) {
	t.Helper()
	list := e.Statuses()
	if len(list) == 0 {
		return n
	}
	if err := json.Unmarshal(list[len(list)-1], &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// M7: near the budget quarry and its models do with less, step by step and in sight; ghost text
// goes on, and a larger budget brings everything back. The process itself is nothing beside a
// hundred gigabytes.
func TestStepsNearTheBudget(t *testing.T) {
	for _, test := range []struct {
		name            string
		bytes, perToken int64
		steps, numCtx   int
	}{
		{"half the context is enough", 60e9, 10e6, 2, 2048},
		{"nothing is enough", 110e9, 1e6, 4, 2048},
		{"all fits", 10e9, 1e6, 0, 4096},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("QUARRY_MEMORY_BUDGET_MB", "")
			state := t.TempDir()
			t.Run("server", func(t *testing.T) { // it has ended behind it
				takes := modeltest.Model{Name: "granite4.1:3b", Bytes: test.bytes, BytesPerToken: test.perToken}
				nearTheBudget(t, state, takes, test.steps, test.numCtx)
			})
			dir, err := engines.StatsDir(state)
			if err != nil {
				t.Fatal(err)
			}
			days, err := usage.Read(dir, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			n := usage.Total(days)
			var events []string
			for _, event := range n.Events {
				if event.Kind == "memory" {
					events = append(events, event.What)
				}
			}
			switch {
			case n.Models < test.bytes || n.Resident <= 0:
				t.Errorf("statistics: %+v", n)
			case test.steps == 0 && len(events) > 0:
				t.Errorf("events %q", events)
			case test.steps > 0 && (len(events) <= test.steps || !strings.HasSuffix(events[len(events)-1], "all is done again")):
				t.Errorf("events %q", events)
			}
		})
	}
}

func nearTheBudget(t *testing.T, state string, takes modeltest.Model, steps, numCtx int) {
	const small, large = `{"memory.budgetMB": 100000, "embedding.model": "letters"}`, `{"memory.budgetMB": 900000, "embedding.model": "letters"}`
	path := userSettings(t, small)
	fake := modeltest.NewServer(t)
	fake.SetModels(takes, modeltest.Model{Name: "letters", Bytes: 1e9})
	fake.ScriptEmbed(countLetters)
	fake.Script(func(modeltest.Request) modeltest.Answer {
		return modeltest.Answer{Pieces: []string{"sum(values)", "\n"}}
	})
	ctx, e := serveEditor(t, "neovim", t.TempDir(), "--ollama", fake.URL, "--state-dir", state)
	reaches := func(steps int) (n lsp.StatusNote) {
		t.Helper()
		err := e.Await(ctx, func() bool {
			n = lastNote(t, e)
			return n.Model.State == lsp.ModelReady && len(n.Savings) == steps
		})
		if err != nil {
			t.Fatalf("%d steps are not reached: %+v", steps, n)
		}
		return n
	}
	n := reaches(steps)
	for _, v := range n.Savings {
		if v.Kind != "memory" || v.Undo == "" || !strings.Contains(n.Detail, v.What) || !strings.Contains(n.Detail, "memory.budgetMB") {
			t.Errorf("%+v in\n%s", v, n.Detail)
		}
	}
	b, err := e.Open("a.py", "python", "def mean(values):\n    return ")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Seek("return "); err != nil {
		t.Fatal(err)
	}
	if err := e.Complete(ctx, b, true); err != nil {
		t.Fatal(err)
	}
	prompts := fake.Prompts()
	if last := prompts[len(prompts)-1]; last.NumCtx() != numCtx || b.Ghost == nil {
		t.Errorf("ghost text %+v with a context of %d", b.Ghost, last.NumCtx())
	}
	var st lsp.Status
	for st.Memory.ModelBytes == 0 { // where there is nothing to save, nobody says when memory was looked at first
		if err := e.Call(ctx, lsp.MethodStatus, nil, &st); err != nil {
			t.Fatal(err)
		}
	}
	if m := st.Memory; m.Step != steps || m.BudgetBytes != 100e9 || m.ModelBytes < uint64(takes.Bytes) || m.ResidentBytes == 0 {
		t.Errorf("status: %+v", m)
	}
	if err := os.WriteFile(path, []byte(large), 0o600); err != nil {
		t.Fatal(err)
	}
	reaches(0)
}
