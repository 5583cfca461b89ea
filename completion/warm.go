package completion

import (
	"context"
	"math"
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
		n, err := e.gen.Generate(ctx, prompt[:next], 1, nil, 0, func(string, float64) bool { return true })
		if err != nil {
			return err
		}
		e.meter.learn(rawTokens(prompt[:next]), n)
		shared = next
		e.hasRead(prompt[:next])
	}
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
