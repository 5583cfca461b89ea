package retrieval

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// fused scores candidates with the given signals, in their order.
func fused(fusion Fusion, signals []weights, classes []fileClass) []float32 {
	sr := &search{sc: new(scratch), snap: newSnapshot(nil, nil, &graph{}, 0)}
	for i, s := range signals {
		sr.sc.candidates = append(sr.sc.candidates, candidate{
			meta: &file{path: fmt.Sprintf("f%02d", i)}, node: -1, signals: s, class: classes[i],
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

func drawSignals(t *rapid.T) ([]weights, []fileClass) {
	n := rapid.IntRange(1, 12).Draw(t, "candidates")
	signals, classes := make([]weights, n), make([]fileClass, n)
	for i := range signals {
		for k := range signals[i] {
			signals[i][k] = rapid.SampledFrom([]float32{0, 0, .25, .5, 1}).Draw(t, "signal")
		}
		classes[i] = rapid.SampledFrom([]fileClass{0, 0, classTest, classDoc | classExample}).Draw(t, "class")
	}
	return signals, classes
}

// More of a signal never lowers a file, and never raises another.
func TestFusionIsMonotonic(t *testing.T) {
	for _, fusion := range []Fusion{FusionLinear, FusionRank} {
		t.Run(string(fusion), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				signals, classes := drawSignals(t)
				before := fused(fusion, signals, classes)
				i := rapid.IntRange(0, len(signals)-1).Draw(t, "which")
				k := rapid.IntRange(0, int(numSignals)-1).Draw(t, "signal to raise")
				raised := slices.Clone(signals)
				raised[i][k] += .3
				after := fused(fusion, raised, classes)
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
				signals, classes := drawSignals(t)
				signals, classes = append(signals, signals[0]), append(classes, classes[0])
				scores := fused(fusion, signals, classes)
				if scores[0] != scores[len(scores)-1] {
					t.Fatalf("equal candidates score %v and %v", scores[0], scores[len(scores)-1])
				}
				slices.Reverse(signals)
				slices.Reverse(classes)
				reversed := fused(fusion, signals, classes)
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
