package retrieval

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// fused scores candidates with the given signals, in their order.
func fused(fusion Fusion, signals []weights, roles []role) []float32 {
	sr := &search{sc: new(scratch), snap: newSnapshot(nil, nil, &graph{}, 0)}
	for i, s := range signals {
		sr.sc.candidates = append(sr.sc.candidates, candidate{
			meta: &file{path: fmt.Sprintf("f%02d", i)}, node: -1, signals: s, role: roles[i],
		})
	}
	if fusion == FusionRank {
		sr.fuseRanks(&textWeights)
	} else {
		sr.fuse(&textWeights)
	}
	out := make([]float32, len(signals))
	for i := range out {
		out[i] = sr.sc.candidates[i].score
	}
	return out
}

func drawSignals(t *rapid.T) ([]weights, []role) {
	n := rapid.IntRange(1, 12).Draw(t, "candidates")
	signals, roles := make([]weights, n), make([]role, n)
	for i := range signals {
		for k := range signals[i] {
			signals[i][k] = rapid.SampledFrom([]float32{0, 0, .25, .5, 1}).Draw(t, "signal")
		}
		roles[i] = rapid.SampledFrom([]role{0, 0, roleTest, roleDoc | roleExample}).Draw(t, "role")
	}
	return signals, roles
}

// More of a signal never lowers a file, and never raises another.
func TestFusionIsMonotonic(t *testing.T) {
	for _, fusion := range []Fusion{FusionLinear, FusionRank} {
		t.Run(string(fusion), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				signals, roles := drawSignals(t)
				before := fused(fusion, signals, roles)
				i := rapid.IntRange(0, len(signals)-1).Draw(t, "which")
				k := rapid.IntRange(0, int(numSignals)-1).Draw(t, "signal to raise")
				raised := slices.Clone(signals)
				raised[i][k] += .3
				after := fused(fusion, raised, roles)
				if after[i] < before[i] {
					t.Fatalf("raising signal %d of %d lowered it from %v to %v", k, i, before[i], after[i])
				}
				for o := range after {
					if o != i && after[o] > before[o] {
						t.Fatalf("raising signal %d of %d raised %d from %v to %v", k, i, o, before[o], after[o])
					}
				}
			})
		})
	}
}

// The order in which candidates were found decides nothing, and equal signals
// score equally.
func TestFusionIgnoresOrder(t *testing.T) {
	for _, fusion := range []Fusion{FusionLinear, FusionRank} {
		t.Run(string(fusion), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				signals, roles := drawSignals(t)
				signals, roles = append(signals, signals[0]), append(roles, roles[0])
				scores := fused(fusion, signals, roles)
				if scores[0] != scores[len(scores)-1] {
					t.Fatalf("equal candidates score %v and %v", scores[0], scores[len(scores)-1])
				}
				slices.Reverse(signals)
				slices.Reverse(roles)
				reversed := fused(fusion, signals, roles)
				slices.Reverse(reversed)
				if !slices.Equal(scores, reversed) {
					t.Fatalf("scores %v, found in reverse %v", scores, reversed)
				}
				for i, s := range scores {
					if full := fullScore(&textWeights, fusion); s < 0 || s > full {
						t.Fatalf("score %v of candidate %d is not within 0 and %v", s, i, full)
					}
				}
			})
		})
	}
}
