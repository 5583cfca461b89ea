package retrieval

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"quarry/index/syntax"
)

// What each class of query is scored by. A weight that becomes 0, or a signal that
// gets one, is a change of ranking that no other test may see: the questions of
// TestGate, and those of the benchmarks, do not need each of them.
var counted = map[string]struct {
	weights *weights
	signals []signal
}{
	"text": {&textWeights, []signal{sigBest, sigSum, sigMetadata, sigNameRecall, sigNamePrecision, sigDirRecall,
		sigDefinition, sigWord, sigRank, sigNeighbour, sigLiteral, sigMessage, sigLocality, sigVector}},
	"symbol":   {&symbolWeights, []signal{sigBest, sigSum, sigDefinition, sigNamePrecision, sigLiteral, sigLocality}},
	"semantic": {&semanticWeights, []signal{sigVector}},
	"browse":   {&browseWeights, []signal{sigRank, sigLocality}},
}

func TestEveryWeightCounts(t *testing.T) {
	for k, name := range SignalNames {
		if name == "" {
			t.Errorf("signal %d has no name in SignalNames", k)
		}
	}
	for class, want := range counted {
		for k := range numSignals {
			for _, fusion := range []Fusion{FusionLinear, FusionRank} {
				if k == sigNeighbour && fusion == FusionRank {
					continue // it is a share of the linear score
				}
				t.Run(fmt.Sprintf("%s/%s/%s", class, SignalNames[k], fusion), func(t *testing.T) {
					with, without := scoresFor(k, want.weights, fusion)
					if counts := slices.Contains(want.signals, k); counts != (with > without) {
						t.Errorf("a file with the signal scores %v, one without it %v; it counts: want %v", with, without, counts)
					}
					// And this test notices where its weight becomes 0.
					zero := *want.weights
					zero[k] = 0
					if with, without := scoresFor(k, &zero, fusion); with > without {
						t.Errorf("with a weight of 0 it still counts: %v, %v", with, without)
					}
				})
			}
		}
	}
}

// scoresFor are the scores of two files that all signals but one speak for alike.
func scoresFor(k signal, w *weights, fusion Fusion) (with, without float32) {
	// The third file is the neighbour of the first or, where another signal is
	// looked at, of nobody.
	g := &graph{starts: []uint32{0, 0, 0, 0}}
	if k == sigNeighbour {
		g = &graph{starts: []uint32{0, 1, 1, 2}, targets: []uint32{2, 0}, weights: []float32{1, 1}}
	}
	sr := &search{sc: new(scratch), snap: newSnapshot(nil, nil, g, 0)}
	for n := range 3 {
		c := candidate{meta: &file{path: fmt.Sprint(n)}, node: int32(n)}
		for other := range numSignals {
			if other != k && other != sigNeighbour {
				c.signals[other] = .5
			}
		}
		sr.sc.candidates = append(sr.sc.candidates, c)
		sr.sc.nodes = append(sr.sc.nodes, int32(n)+1)
	}
	if k != sigNeighbour {
		sr.sc.candidates[0].signals[k] = .5
	}
	if fusion == FusionRank {
		sr.fuseRanks(w)
	} else {
		sr.fuse(w)
	}
	return sr.sc.candidates[0].score, sr.sc.candidates[1].score
}

// A file that says a pasted message comes before one whose text, name and declarations have
// all of its words, and one that says half of it behind.
func TestMessagesOutweighWords(t *testing.T) {
	first := func(said float32) bool {
		sr := &search{sc: new(scratch), snap: newSnapshot(nil, nil, &graph{starts: []uint32{0}}, 0)}
		sr.sc.candidates = []candidate{{meta: &file{path: "a"}, node: -1}, {meta: &file{path: "b"}, node: -1}}
		sr.sc.nodes = []int32{0, 0}
		sr.sc.candidates[0].signals[sigMessage] = said
		for _, k := range []signal{sigBest, sigSum, sigMetadata, sigNameRecall, sigNamePrecision, sigDefinition, sigWord} {
			sr.sc.candidates[1].signals[k] = 1
		}
		sr.fuse(&textWeights)
		return sr.sc.candidates[0].score > sr.sc.candidates[1].score
	}
	if !first(1) {
		t.Error("who says the whole message does not come first")
	}
	if first(.5) {
		t.Error("who says half of the message comes first")
	}
}

// The workspace's own name says less than another word of the query, and more than nothing.
func TestProjectNameSaysLittle(t *testing.T) {
	found := func(project, query string) []string {
		ix := New(Options{Project: project})
		ix.Apply(changesOf([]Document{
			document("a/first.txt", strings.Repeat("The harbour is deep. ", 3)+"\n"),
			document("b/second.txt", "A ledger has "+strings.Repeat("lines of text and words of many kinds, ", 8)+"in it.\n"),
			document("c/third.txt", "Nothing of either kind is said here at all.\n"),
		}))
		return pathsOf(find(t, ix, query))
	}
	if got := found("", "harbour ledger"); len(got) != 2 || got[0] != "a/first.txt" {
		t.Fatalf("in another project found %q, want what says harbour twice first", got)
	}
	if got := found("harbour", "harbour ledger"); len(got) != 2 || got[0] != "b/second.txt" {
		t.Errorf("in the project of that name found %q, want the ledger first", got)
	}
	if got := found("harbour", "harbour"); len(got) == 0 || got[0] != "a/first.txt" {
		t.Errorf("its name alone finds %q", got)
	}
}

// The folder a file is in outweighs that another file has the word in its text.
func TestFoldersCount(t *testing.T) {
	code := "package x\n\n// Retry asks again when the limit is reached.\nfunc Retry() {}\n"
	ix := New(Options{})
	ix.Apply(changesOf([]Document{
		document("billing/retry.go", code),
		document("a/retry.go", code+"\n// Billing is billing.\nvar billing bool\n"),
		document("b/other.go", "package x\n\nfunc other() {}\n"),
	}))
	if got := pathsOf(find(t, ix, "retry limit of billing")); len(got) < 2 || got[0] != "billing/retry.go" {
		t.Errorf("found %q, want the file in the folder of that name first", got)
	}
}

// Where the only declaration of a name is a field, or a variable in passing, that is a
// weaker answer than a type is elsewhere: it is not made the full one because nothing
// is better here.
func TestWeakDeclarationStaysWeak(t *testing.T) {
	score := func(declaration string) float64 {
		ix := New(Options{})
		ix.Apply(changesOf([]Document{
			document("a/shapes.go", "package a\n\n"+declaration+"\n"),
			document("a/other.go", "package a\n\nfunc other() {}\n"),
		}))
		a := find(t, ix, "MarginWidth")
		if a.Class != ClassSymbol || len(a.Results) != 1 || a.Results[0].Symbol == "" {
			t.Fatalf("found %+v in %s", a.Results, declaration)
		}
		return a.Results[0].Score
	}
	asType, asField := score("type MarginWidth struct{}"), score("type box struct{ MarginWidth int }")
	if asField >= asType {
		t.Errorf("a field scores %.3f, a type %.3f", asField, asType)
	}
}

// Two words of a question may be one in the code, where nothing else says them.
func TestWordsWrittenAsOneCount(t *testing.T) {
	ix := New(Options{})
	ix.Apply(changesOf([]Document{
		document("a/one.go", "package a\n\n// The ratelimit is looked at here, before anything is sent.\nfunc send() {}\n"),
		document("a/two.go", "package a\n\n// The limit is looked at here, before anything is read.\nfunc read() {}\n"),
		document("b/other.go", "package b\n\nfunc other() {}\n"),
	}))
	if got := pathsOf(find(t, ix, "where is the rate limit checked")); len(got) == 0 || got[0] != "a/one.go" {
		t.Errorf("found %q, want the file that has ratelimit first", got)
	}
}

// A declaration whose name differs in case answers a name by half, even in a file that says
// the name more often than the one where it is spelt so.
func TestCaseOfADeclarationCounts(t *testing.T) {
	ix := New(Options{})
	ix.Apply(changesOf([]Document{
		document("a/first.go", "package a\n\ntype marginWidth struct{}\n\nvar left, right marginWidth\n\n// MarginWidth\n"),
		document("b/second.go", "package b\n\ntype MarginWidth struct{}\n\n// "+strings.Repeat("other words of this file ", 60)+"\n"),
		document("c/other.go", "package c\n\nfunc other() {}\n"),
	}))
	a := find(t, ix, "MarginWidth")
	if got := pathsOf(a); len(got) < 2 || got[0] != "b/second.go" {
		t.Errorf("found %q, want the declaration spelt so first", got)
	} else if other := a.Results[1]; !slices.Contains(other.Reasons, "declares struct marginWidth") {
		t.Errorf("the other case is no declaration of the name: %q", other.Reasons)
	}
}

// What a name is mostly asked for comes first: a type, then what can be called, then a value, a
// method, which has many namesakes, and a field; a name of anything else still counts for a little.
func TestKindsOfDeclarations(t *testing.T) {
	last, above := float32(2), syntax.Kind("")
	for _, k := range []syntax.Kind{syntax.KindClass, syntax.KindFunction, syntax.KindConst, syntax.KindMethod, syntax.KindField, syntax.KindSection} {
		v := definitionValue(k)
		if v <= 0 || v >= last {
			t.Errorf("a %s counts for %.2f, a %s for %.2f", k, v, above, last)
		}
		last, above = v, k
	}
}
