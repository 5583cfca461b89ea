package retrieval_test

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"testing"

	"quarry/retrieval"
	"quarry/retrieval/eval"
)

var (
	ablationRepos       = flag.String("repos", "", "repos.json of the corpus to ablate on")
	ablationAnnotations = flag.String("annotations", "", "folder of its questions")
	ablationCorpus      = flag.String("corpus", "", "folder of its checkouts")
	ablationVectors     = flag.String("vectors", "", "file of vectors that quarry-eval retrieval --vectors made of it")
)

// TestAblation prints what each signal is worth as tables for
// bench/retrieval.md, and fails if the whole is worse than the plain lexical
// score it is built on.
func TestAblation(t *testing.T) {
	if *ablationCorpus == "" {
		t.Skip("no -corpus: go test ./retrieval -run TestAblation -v -corpus DIR -repos FILE -annotations DIR")
	}
	ctx := context.Background()
	repos, err := eval.Corpus{Repositories: *ablationRepos, Annotations: *ablationAnnotations, Checkouts: *ablationCorpus}.Load(ctx)
	if err != nil {
		t.Fatal(err)
	}
	indexes := make([]*retrieval.Index, len(repos))
	for i := range repos {
		indexes[i] = repos[i].Index()
	}
	ask := func(indexes []*retrieval.Index, fusion retrieval.Fusion) eval.Report {
		var all []eval.Outcome
		for i := range repos {
			o, err := repos[i].Ask(ctx, indexes[i], eval.Way{Fusion: fusion})
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, o...)
		}
		return eval.Summarize(all)
	}
	full := ask(indexes, retrieval.FusionLinear)
	line := func(what string, r eval.Report) {
		c := eval.Compare(full, r)
		t.Logf("| %s | %.3f | %.3f | %.3f | %.3f | %+.4f (%+.4f to %+.4f) |", what, r.Overall.NDCG,
			r.Categories["semantic"].NDCG, r.Categories["architecture"].NDCG, r.Categories["symbol"].NDCG, c.Difference, c.Low, c.High)
	}
	line("all", full)

	t.Log("steps, without lowering any file:")
	plain := make([]*retrieval.Index, len(indexes))
	for i := range indexes {
		plain[i] = retrieval.WithoutClass(indexes[i], "")
	}
	var first eval.Report
	for n := 1; n <= len(retrieval.SignalNames)-4; n++ {
		undo := retrieval.KeepSignals(func(_ retrieval.Class, s string) bool { return slices.Contains(retrieval.SignalNames[:n], s) })
		r := ask(plain, retrieval.FusionLinear)
		undo()
		line("+ "+retrieval.SignalNames[n-1], r)
		if n == 1 {
			first = r
		}
	}
	t.Log("without one:")
	for _, name := range retrieval.SignalNames[:len(retrieval.SignalNames)-2] {
		undo := retrieval.KeepSignals(func(_ retrieval.Class, s string) bool { return s != name })
		line("- "+name, ask(indexes, retrieval.FusionLinear))
		undo()
	}
	for _, name := range retrieval.ClassNames {
		without := make([]*retrieval.Index, len(indexes))
		for i := range indexes {
			without[i] = retrieval.WithoutClass(indexes[i], name)
		}
		line("- lowering: "+name, ask(without, retrieval.FusionLinear))
	}
	line("reciprocal ranks, k=60", ask(indexes, retrieval.FusionRank))
	if full.Overall.NDCG <= first.Overall.NDCG {
		t.Errorf("all signals give %.3f, the best chunk alone %.3f", full.Overall.NDCG, first.Overall.NDCG)
	}
}

// TestMeaningWeights prints what meaning adds by its weights as tables for
// bench/vectors.md, and fails if the committed ones add nothing.
func TestMeaningWeights(t *testing.T) {
	if *ablationCorpus == "" || *ablationVectors == "" {
		t.Skip("no -corpus and -vectors: go test ./retrieval -run TestMeaningWeights -v -vectors FILE -corpus DIR -repos FILE -annotations DIR")
	}
	ctx := context.Background()
	repos, err := eval.Corpus{Repositories: *ablationRepos, Annotations: *ablationAnnotations, Checkouts: *ablationCorpus}.Load(ctx)
	if err != nil {
		t.Fatal(err)
	}
	v, err := eval.OpenVectors(*ablationVectors, "", nil, func(s string) { t.Log(s) })
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	indexes := make([]*retrieval.Index, len(repos))
	for i := range repos {
		indexes[i] = repos[i].Index()
		if err := v.Embed(ctx, &repos[i]); err != nil {
			t.Fatal(err)
		}
	}
	ask := func(way eval.Way) eval.Report {
		var all []eval.Outcome
		for i := range repos {
			o, err := repos[i].Ask(ctx, indexes[i], way)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, o...)
		}
		return eval.Summarize(all)
	}
	line := func(what string, before, r eval.Report) eval.Interval {
		c := eval.Compare(before, r)
		halves := ""
		if r.Halves != nil {
			halves = fmt.Sprintf(" %.3f | %.3f |", r.Halves["open"].NDCG, r.Halves["held"].NDCG)
		}
		t.Logf("| %s | %.4f | %.3f | %.3f | %.3f |%s %+.4f (%+.4f to %+.4f) |", what, r.Overall.NDCG,
			r.Categories["semantic"].NDCG, r.Categories["architecture"].NDCG, r.Categories["symbol"].NDCG, halves, c.Difference, c.Low, c.High)
		return c
	}
	words := ask(eval.Way{Signals: retrieval.SignalsLexical})
	line("words alone", words, words)
	line("meaning alone", words, ask(eval.Way{Signals: retrieval.SignalsSemantic}))
	hybrid := ask(eval.Way{})
	if c := line("both, as committed", words, hybrid); c.Difference <= 0 {
		t.Errorf("meaning adds %+.4f: it should be off", c.Difference)
	}
	for _, w := range []float32{0, .4, .8, 1.2, 1.6, 2, 2.4, 3.2} {
		for _, place := range []float32{.5, 1, 2} {
			undo := retrieval.WeighSemantic(w, place)
			line(fmt.Sprintf("file %.1f, place %.1f", w, place), words, ask(eval.Way{}))
			undo()
		}
	}
	ranks := ask(eval.Way{Signals: retrieval.SignalsLexical, Fusion: retrieval.FusionRank})
	line("reciprocal ranks, words alone", words, ranks)
	line("reciprocal ranks, both", ranks, ask(eval.Way{Fusion: retrieval.FusionRank}))
}
