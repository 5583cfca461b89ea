package engines

import (
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/cmd/internal/budget"
	"quarry/lsp/settings"
)

// What each step does without is in the settings that engines are made with, and never more
// than the user's own.
func TestSavings(t *testing.T) {
	for _, test := range []struct {
		name string
		saving
		set  func(*settings.Settings) // over the defaults
		want func(*settings.Settings) // over those
		says []string
	}{
		{"nothing", saving{}, nil, nil, nil},
		{
			"candidates", saving{step: budget.Candidates}, func(s *settings.Settings) { s.Completion.TwoRounds = true },
			func(s *settings.Settings) { s.Completion.Candidates, s.Completion.TwoRounds = 1, false }, []string{"one alternative"},
		},
		{
			"context", saving{step: budget.Context}, nil,
			func(s *settings.Settings) {
				s.Completion.Candidates, s.Ollama.ContextSize, s.Completion.ContextTokens = 1, 2048, 384
			}, []string{"one alternative", "half the context window"},
		},
		{
			"less context than that is left alone", saving{step: budget.Context},
			func(s *settings.Settings) { s.Ollama.ContextSize, s.Completion.ContextTokens = 1024, 128 },
			func(s *settings.Settings) { s.Completion.Candidates = 1 }, []string{"one alternative", "half the context window"},
		},
		{
			"embeddings", saving{step: budget.Embeddings}, func(s *settings.Settings) { s.Ollama.ContextSize = 16384 },
			func(s *settings.Settings) {
				s.Completion.Candidates, s.Ollama.ContextSize, s.Completion.ContextTokens, s.Embedding.Enabled = 1, 8192, 384, false
			}, []string{"one alternative", "half the context window", "built-in lexicon"},
		},
		{
			"unloaded", saving{step: budget.Unload}, func(s *settings.Settings) { s.Embedding.Enabled = false },
			func(s *settings.Settings) {
				s.Completion.Candidates, s.Ollama.ContextSize, s.Completion.ContextTokens = 1, 2048, 384
				s.Ollama.KeepAlive = settings.Duration(time.Minute)
			}, []string{"one alternative", "half the context window", "leave memory"},
		},
		{
			"a model that stays for ever", saving{step: budget.Unload}, func(s *settings.Settings) { s.Ollama.KeepAlive = -1 },
			func(s *settings.Settings) {
				s.Completion.Candidates, s.Ollama.ContextSize, s.Completion.ContextTokens, s.Embedding.Enabled = 1, 2048, 384, false
				s.Ollama.KeepAlive = settings.Duration(time.Minute)
			}, []string{"one alternative", "half the context window", "built-in lexicon", "leave memory"},
		},
		{
			"battery", saving{battery: true}, nil,
			func(s *settings.Settings) { s.Completion.Debounce = settings.Duration(500 * time.Millisecond) }, []string{"waits longer"},
		},
		{"battery, with no wait at all", saving{battery: true}, func(s *settings.Settings) { s.Completion.Debounce = -1 }, nil, []string{"waits longer"}},
		{
			"small device", saving{small: true}, nil,
			func(s *settings.Settings) {
				s.Ollama.ContextSize, s.Completion.ContextTokens, s.Embedding.Enabled = 2048, 384, false
			}, []string{"built-in lexicon"},
		},
	} {
		s := settings.Default()
		if test.set != nil {
			test.set(&s)
		}
		want := s
		if test.want != nil {
			test.want(&want)
		}
		if diff := cmp.Diff(want, test.less(s)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		says := test.words(1, 8e9, s)
		if len(says) != len(test.says) {
			t.Errorf("%s: says %+v", test.name, says)
			continue
		}
		for i, part := range test.says {
			if v := says[i]; !strings.Contains(v.What, part) || v.Why == "" || v.Undo == "" {
				t.Errorf("%s: says %+v, want %q", test.name, v, part)
			}
		}
	}
}

// Go's runtime frees memory from a quarter of the budget on, near the budget from what models leave
// of it, never below what a process needs; a user's own limit stays.
func TestMemoryLimitOfTheProcess(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	for _, test := range []struct {
		name            string
		budgetMB, ownMB int
		saving          saving
		models          int64
		environment     string
		want            int64 // 0: as it was
	}{
		{"a quarter of the budget", 8000, 0, saving{}, 3e9, "", 2e9},
		{"near it what models leave", 8000, 0, saving{step: budget.Context}, 7.2e9, "", 800e6},
		{"never more than the quarter", 8000, 0, saving{step: budget.Candidates}, 3e9, "", 2e9},
		{"never less than it needs", 1000, 0, saving{step: budget.Unload}, 3e9, "", leastOwn},
		{"the setting", 8000, 700, saving{}, 3e9, "", 700e6},
		{"the user's own", 8000, 0, saving{}, 3e9, "1GiB", 0},
		{"the setting over the user's own", 8000, 700, saving{}, 3e9, "1GiB", 700e6},
	} {
		t.Setenv("GOMEMLIMIT", test.environment)
		const was = 12345e6
		debug.SetMemoryLimit(was)
		s := settings.Default()
		s.Memory.BudgetMB, s.Index.MemoryMB = test.budgetMB, test.ownMB
		c := &Core{}
		c.limitMemory(s, test.saving, reading{Reading: budget.Reading{Completion: test.models}})
		want := test.want
		if want == 0 {
			want = was
		}
		if got := debug.SetMemoryLimit(-1); got != want {
			t.Errorf("%s: the limit is %d, want %d", test.name, got, want)
		}
	}
}

// A model takes its memory once, for however many languages it completes and in whichever way the settings write it.
func TestCompletionModels(t *testing.T) {
	s := settings.Settings{Model: "b:1b"}
	s.Completion.Models = map[string]string{"go": "c:1b", "java": "b:1b", "python": "library/B:1b", "rust": "a:1b", "sql": "a:1b"}
	if got, want := slices.Sorted(slices.Values(completionModels(s))), []string{"a:1b", "b:1b", "c:1b"}; !slices.Equal(got, want) {
		t.Errorf("%q are counted, want %q", got, want)
	}
}
