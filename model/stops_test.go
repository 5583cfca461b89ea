package model

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// However an answer is cut into pieces, what comes out is the text before its
// first stop string, or all of it.
func TestStopsHere(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		piece := rapid.StringMatching(`[ab<>]{0,6}`)
		stops := rapid.SliceOfN(rapid.StringMatching(`[ab<>]{1,4}`), 0, 4).Draw(rt, "stops")
		pieces := rapid.SliceOfN(piece, 0, 8).Draw(rt, "pieces")
		whole := strings.Join(pieces, "")
		want := whole
		for _, stop := range stops {
			if before, _, found := strings.Cut(whole, stop); found && len(before) < len(want) {
				want = before
			}
		}
		s, got, stopped := stopsHere{strings: stops}, "", false
		for _, p := range pieces {
			var out string
			if out, stopped = s.feed(p); out != "" {
				got += out
			}
			if stopped {
				break
			}
		}
		if got += s.rest(); got != want || stopped && want == whole {
			rt.Fatalf("of %q with stops %q: %q, stopped %v; want %q", pieces, stops, got, stopped, want)
		}
	})
}
