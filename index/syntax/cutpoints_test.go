package syntax

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestPeaksEqualSearch holds the trees against a look at every atom.
func TestCutPointsEqualSearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 2, 60).Draw(t, "text"), "")
		c := &chunker{src: []byte(text)}
		run := make([]atom, len(text))
		for i := range run {
			run[i] = atom{start: uint32(i), strength: uint8(rapid.IntRange(0, 1).Draw(t, "strength")), id: uint64(text[i])}
			if rapid.Bool().Draw(t, "equal") {
				run[i].more = 1
			}
		}
		p := c.newCutPoints(run, uint32(len(text)))
		low := rapid.IntRange(0, len(run)-2).Draw(t, "low")
		high := rapid.IntRange(low+2, len(run)).Draw(t, "high")
		want, middle := low+1, low+(high-low)/2
		for i := low + 2; i < high; i++ {
			order := p.compare(&run[i], &run[want])
			if order > 0 || order == 0 && max(i-middle, middle-i) < max(want-middle, middle-want) {
				want = i
			}
		}
		if got := p.strongest(low, high); got != want {
			t.Fatalf("strongest of %d to %d in %+v: %d, want %d", low, high, run, got, want)
		}
	})
}
