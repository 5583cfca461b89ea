package completion

import (
	"context"
	"math"
	"time"
)

// A backend reads a prompt without looking up: cancelling does not free it
// before the end. So a prompt that is mostly new goes there in steps, each a
// longer beginning of it; a request that is cancelled in between has lost
// nothing, because what was read stays read, and the next one waits for one
// step at most.
const warmStep = 512 // raw tokens

// warm has the backend read all but the last step of prompt, as far as the
// last prompt does not share it.
func (e *Engine) warm(ctx context.Context, prompt string) error {
	e.mu.Lock()
	shared := commonPrefix(e.read, prompt)
	e.mu.Unlock()
	for {
		rest := prompt[shared:]
		if rawTokens(rest) < 2*warmStep {
			e.hasRead(prompt)
			return nil
		}
		// Whole lines tokenise the same whatever follows them.
		next := shared + stepEnd(rest)
		begin := time.Now()
		n, err := e.gen.Generate(ctx, prompt[:next], 1, nil, 0, func(string, float64) bool { return true })
		if err != nil {
			return err
		}
		e.tookToRead(rawTokens(prompt[shared:next]), time.Since(begin))
		e.meter.learn(rawTokens(prompt[:next]), n)
		shared = next
		e.hasRead(prompt[:next])
	}
}

// contextTimeout is how long a backend may take to read the code of other
// places. They are read anew each time the user goes to another file; where a
// full budget takes longer than this, less of it serves better.
const contextTimeout = 4 * time.Second

// affordable lowers the budget for code of other places to what the backend has
// shown to read in time.
func (e *Engine) affordable(l limits) limits {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.readRate > 0 {
		l.snippets = min(l.snippets, int(e.readRate*contextTimeout.Seconds()))
	}
	return l
}

// tookToRead notes how long a step took. One that waited for other work looks
// slow, so the rate falls slowly and rises at once.
func (e *Engine) tookToRead(raw int, took time.Duration) {
	if took <= 0 {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	rate := float64(raw) / took.Seconds()
	if e.readRate > 0 {
		rate = max(rate, 0.8*e.readRate)
	}
	e.readRate = rate
}

func (e *Engine) hasRead(prompt string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.read = prompt
}

// stepEnd is the end of the last whole line within a step, or within two if
// a line is that long.
func stepEnd(s string) int {
	end, used := 0, 0
	for i := 0; i < len(s) && used < warmStep; {
		next := i + 1
		for next < len(s) && s[next-1] != '\n' && next-i < math.MaxInt16 {
			next++
		}
		used += rawTokens(s[i:next])
		if used <= warmStep || end == 0 {
			end = next
		}
		i = next
	}
	return runeStart(s, end)
}
