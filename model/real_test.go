package model_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"quarry/completion"
	"quarry/model"
	"quarry/model/ollamatest"
)

var _ completion.Generator = (*model.Runtime)(nil)

func TestRealOllama(t *testing.T) {
	s := ollamatest.Start(t)
	o := ready(t, options(s.URL))
	ctx := soon(t)

	t.Run("tokens come one by one with their probability", func(t *testing.T) {
		pieces, given := 0, 0
		n, err := o.Generate(ctx, fim("func add(", ")"), 20, nil, 0, func(piece string, lp float64) bool {
			pieces++
			if !math.IsNaN(lp) && lp <= 0 {
				given++
			}
			return true
		})
		if err != nil || pieces < 18 || given != pieces {
			t.Errorf("%d pieces, %d with a log-probability, %v; want about 20 of each", pieces, given, err)
		}
		if want := 3 + len("func add()"); n > want || n < want-2 {
			t.Errorf("%d prompt tokens, want at most %d: raw tags are one each", n, want)
		}
	})
	t.Run("the same seed gives the same answer, another sample another", func(t *testing.T) {
		ask := func(sample int) string {
			var b strings.Builder
			if _, err := o.Generate(ctx, fim("a", "b"), 30, nil, sample, func(p string, _ float64) bool { b.WriteString(p); return true }); err != nil {
				t.Fatal(err)
			}
			return b.String()
		}
		first := ask(0)
		if again := ask(0); again != first {
			t.Errorf("sample 0 gives %q, then %q", first, again)
		}
		if other := ask(3); other == first {
			t.Errorf("sample 3 gives what sample 0 gives: %q", other)
		}
	})
	t.Run("a stop string is cut", func(t *testing.T) {
		whole, _, err := collect(ctx, o, fim("x", "y"), 40)
		if err != nil || len(whole) < 30 {
			t.Fatalf("%q, %v", whole, err)
		}
		stop := whole[10:12]
		cut, _, err := collect(ctx, o, fim("x", "y"), 40, stop)
		if want, _, _ := strings.Cut(whole, stop); err != nil || cut != want {
			t.Errorf("stopped at %q: %q, %v; want %q", stop, cut, err, want)
		}
	})
	t.Run("no limit means the preset's", func(t *testing.T) {
		pieces := 0
		if _, err := o.Generate(ctx, fim("p", "q"), 0, nil, 0, func(string, float64) bool { pieces++; return pieces < 1000 }); err != nil {
			t.Fatal(err)
		}
		if limit := model.FIMPreset.MaxTokens; pieces > limit {
			t.Errorf("%d pieces, want at most %d", pieces, limit)
		}
	})
	t.Run("too long is an error that says so and leaves the model ready", func(t *testing.T) {
		_, _, err := collect(ctx, o, fim(strings.Repeat("word ", 1000), ""), 5)
		if !errors.Is(err, model.ErrTooLong) || !strings.Contains(err.Error(), "2048 tokens") {
			t.Errorf("got %v", err)
		}
		if _, _, err := collect(ctx, o, fim("a", "b"), 5); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
	t.Run("a full context ends the answer and keeps the prompt", func(t *testing.T) {
		pieces := 0
		n, err := o.Generate(ctx, fim(strings.Repeat("w", 2000), ""), 300, nil, 0, func(string, float64) bool { pieces++; return true })
		if room := 2048 - 2003; err != nil || n != 2003 || pieces < room-5 || pieces > room+1 {
			t.Errorf("%d prompt tokens and %d of room give %d pieces, %v", n, room, pieces, err)
		}
	})
	t.Run("the model is loaded once", func(t *testing.T) {
		for range 3 {
			if _, _, err := collect(ctx, o, fim("again", ""), 3); err != nil {
				t.Fatal(err)
			}
		}
		if n := s.Loads(); n != 1 {
			t.Errorf("%d loads", n)
		}
		m := s.Loaded()
		if len(m) != 1 || m[0].ContextLength != 2048 {
			t.Fatalf("in memory: %+v", m)
		}
		if left := time.Until(m[0].ExpiresAt); left < 25*time.Minute || left > 31*time.Minute {
			t.Errorf("kept in memory for %v, want 30 minutes", left)
		}
	})
}

func TestRealKillAndRestart(t *testing.T) {
	s := ollamatest.Start(t)
	seen := newStates()
	opt := options(s.URL)
	opt.OnChange = seen.add
	o := ready(t, opt)

	killed := false
	_, err := o.Generate(soon(t), fim("a", "b"), 2000, nil, 0, func(string, float64) bool {
		if !killed {
			killed = true
			s.Kill()
		}
		return true
	})
	if err == nil {
		t.Error("killed in the middle of an answer, and no error")
	}
	n := len(seen.phases())
	down := seen.wait(t, n-1, model.Unreachable)
	if !strings.Contains(down.Err.Error(), "ollama serve") {
		t.Errorf("the user reads %q", down.Err)
	}
	if _, _, err := collect(soon(t), o, fim("a", ""), 3); !errors.Is(err, model.ErrUnreachable) {
		t.Errorf("asked while it is down: %v", err)
	}
	n = len(seen.phases())
	s.Restart()
	seen.wait(t, n, model.Ready)
	if _, _, err := collect(soon(t), o, fim("a", ""), 3); err != nil {
		t.Errorf("after the restart: %v", err)
	}
}

func TestRealSpecialTokens(t *testing.T) {
	s := ollamatest.StartEmpty(t)
	says := [2]string{"<|filename|>", "<|fim_prefix|>"} // fim_pad would end the answer
	s.Create(ollamatest.DefaultModel, ollamatest.Shape{Layers: 1, Embedding: 64, FFN: 64, Context: 2048, Says: says})
	o := ready(t, options(s.URL))
	text, _, err := collect(soon(t), o, fim("a", "b"), 6)
	if err != nil || strings.Count(text, says[0])+strings.Count(text, says[1]) != 6 {
		t.Errorf("special tokens arrive as %q, %v; want them as text", text, err)
	}
	if text, _, err := collect(soon(t), o, fim("a", "b"), 6, says[0], says[1]); err != nil || text != "" {
		t.Errorf("with the tokens as stop strings: %q, %v", text, err)
	}
}

func TestRealModelThatRepeatsItself(t *testing.T) {
	s := ollamatest.StartEmpty(t)
	says := [2]string{"t", "Ġt"} // equal once trimmed, which is how Ollama compares
	s.Create(ollamatest.DefaultModel, ollamatest.Shape{Layers: 1, Embedding: 64, FFN: 64, Context: 2048, Says: says})
	o := ready(t, options(s.URL))
	pieces := 0
	_, err := o.Generate(soon(t), fim("a", "b"), 500, nil, 0, func(string, float64) bool { pieces++; return true })
	if err != nil || pieces < 30 || pieces > 40 {
		t.Errorf("%d pieces, %v; want Ollama to stop the loop after about 31, and no error", pieces, err)
	}
}
