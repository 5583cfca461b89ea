package model_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"quarry/model/ollamatest"
)

// These hold what the Ollama that quarry is built for does with the work it was
// given before: it is kept, and what is cancelled ends.

func TestRealPromptCache(t *testing.T) {
	s := ollamatest.Start(t)
	o := ready(t, options(s.URL))
	ctx := soon(t)
	evaluate := func(prompt string) (n int) { // each has another length, and none that of what was asked before
		t.Helper()
		_, tokens, err := collect(ctx, o, prompt, 1)
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "the log tells of the prompt", func() (ok bool) { n, ok = s.Evaluated(tokens); return ok })
		return n
	}
	text := strings.Repeat("func f(x int) { g(x) }\n", 60)
	cold := evaluate(fim(text, "return\n"))
	grown := evaluate(fim(text, "return\n") + "x :=")
	m := o.Metrics().Last
	if m.SharedBytes != m.PromptBytes-len("x :=") {
		t.Errorf("the prompts share %d of %d bytes", m.SharedBytes, m.PromptBytes)
	}
	moved := evaluate(fim(text[1:], "return\n"))
	t.Logf("of %d tokens were read: cold %d, grown at the end %d, start moved %d", m.PromptTokens, cold, grown, moved)
	if tokens := m.PromptTokens; cold < tokens-10 || grown > 10 || moved < tokens-10 {
		t.Errorf("of %d tokens were read: cold %d, grown at the end %d, start moved %d; want all, a few, all", tokens, cold, grown, moved)
	}
}

// The model is one that is slow enough to tell work from none. Times are compared
// within one run, and again in another before they count, because a busy machine
// may stop for a moment. Ollama itself may get stuck after a cancel (stuck.go; 5 of
// 150 were, bench/model.md); the runtime then has the model loaded anew, and there
// is nothing to measure.
func TestRealCancelFreesTheModel(t *testing.T) {
	var problems []string
	for range 4 {
		var unstuck int
		if problems, unstuck = cancelReal(t); len(problems) == 0 && unstuck == 0 {
			return
		}
		t.Logf("once more: Ollama got stuck %d times and was repaired; %q", unstuck, problems)
	}
	t.Errorf("four times in a row; the last time: %q", problems)
}

// cancelReal cancels requests to a real Ollama; what it answers counts only if
// Ollama did not get stuck meanwhile.
func cancelReal(t *testing.T) (problems []string, unstuck int) {
	problem := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	s := ollamatest.StartEmpty(t)
	s.Create(ollamatest.DefaultModel, ollamatest.Slow)
	o := ready(t, options(s.URL))

	// Cancelled while tokens flow: the next one starts at once.
	ctx, cancel := context.WithCancel(t.Context())
	whole := time.Now()
	if _, _, err := collect(soon(t), o, fim("a", "b"), 400); err != nil {
		t.Fatal(err)
	}
	full := time.Since(whole)
	if _, err := o.Generate(ctx, fim("a", "b"), 400, nil, 0, func(string, float64) bool { cancel(); return true }); !errors.Is(err, context.Canceled) {
		t.Fatalf("cancelled: %v", err)
	}
	begin := time.Now()
	if _, _, err := collect(soon(t), o, fim("a", "b"), 1); err != nil {
		t.Fatal(err)
	}
	took := time.Since(begin)
	t.Logf("400 tokens take %v; the next answer came %v after the cancel", full, took)
	if took > full/3 {
		problem("the next answer came %v after the cancel, the whole one takes %v", took, full)
	}

	// Cancelled while the prompt is read: Generate returns at once, and the next
	// one pays for the rest, but the work is kept.
	long := strings.Repeat("func f(x int) { g(x) }\n", 75)
	ctx, cancel = context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	begin = time.Now()
	_, _, err := collect(ctx, o, fim(long, ""), 5)
	returned := time.Since(begin)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Skipf("the machine reads the prompt in %v: too fast to cancel", returned)
	}
	if _, _, err := collect(soon(t), o, fim(long, "")+"x", 1); err != nil {
		t.Fatal(err)
	}
	next := time.Since(begin)
	t.Logf("Generate returned after %v, the next answer came after %v", returned, next)
	if returned > next/2 {
		problem("Generate returned after %v, when the model was free after %v", returned, next)
	}
	unstuck = o.Metrics().Unstuck
	if n := s.Loads(); unstuck == 0 && n != 1 {
		t.Errorf("a cancel made Ollama load the model again: %d loads", n)
	}
	return problems, unstuck
}

func TestRealCancelWhileLoading(t *testing.T) {
	s := ollamatest.StartEmpty(t)
	s.Create(ollamatest.DefaultModel, ollamatest.Slow)
	o := ready(t, options(s.URL))
	s.Kill()
	s.Restart() // unnoticed: the next request makes it load the model
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := collect(ctx, o, fim("a", "b"), 3); err == nil {
		t.Skip("the model was loaded within 50 ms: nothing to cancel")
	}
	if _, _, err := collect(soon(t), o, fim("a", "b"), 3); err != nil {
		t.Errorf("the next request: %v", err)
	}
	// One that got stuck after the cancel was repaired by another load.
	want := 2 + o.Metrics().Unstuck
	if loads, aborted := s.Loads(), s.AbortedLoads(); loads != want || aborted != 0 {
		t.Errorf("loaded %d times, %d of them thrown away; want %d and 0", loads, aborted, want)
	}
}
