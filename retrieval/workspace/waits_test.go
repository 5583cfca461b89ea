package workspace

import (
	"testing"
	"time"
)

// A question waits once, not once for each look: five seconds of patience are five, although
// nothing is found; and what has a name is looked for long before.
func TestLooksShareThePatience(t *testing.T) {
	const patience = 5 * time.Second
	w := New(Options{WaitLimit: patience})
	defer w.Close()
	asked := time.Now()
	for _, opened := range []time.Time{asked, asked.Add(-time.Hour), asked.Add(time.Second)} {
		for _, n := range []need{needFiles, needNames, needNear, needSymbols, needWords} {
			for i, how := range w.looks(n, asked) {
				if end, most := how.end(opened, false), max(0, opened.Sub(asked))+patience; end.Sub(asked) > most {
					t.Errorf("look %d of %d waits until %v after the question, opened %v after it", i, n, end.Sub(asked), opened.Sub(asked))
				}
			}
		}
	}
	for _, n := range []need{needNames, needNear} {
		if first := w.looks(n, asked)[0].end(asked, false); first.Sub(asked) > patience/4 {
			t.Errorf("a name is first looked for after %v", first.Sub(asked))
		}
	}
}
