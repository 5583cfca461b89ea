package retrieval_test

import (
	"context"
	"flag"
	"slices"
	"testing"

	"quarry/retrieval"
	"quarry/retrieval/eval"
)

var (
	ablationRepos       = flag.String("repos", "", "repos.json of the corpus to ablate on")
	ablationAnnotations = flag.String("annotations", "", "folder of its questions")
	ablationCorpus      = flag.String("corpus", "", "folder of its checkouts")
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
			o, err := repos[i].Ask(ctx, indexes[i], fusion)
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
		plain[i] = retrieval.WithoutRole(indexes[i], "")
	}
	var first eval.Report
	for n := 1; n <= len(retrieval.SignalNames)-3; n++ {
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
	for _, name := range retrieval.RoleNames {
		without := make([]*retrieval.Index, len(indexes))
		for i := range indexes {
			without[i] = retrieval.WithoutRole(indexes[i], name)
		}
		line("- lowering: "+name, ask(without, retrieval.FusionLinear))
	}
	line("reciprocal ranks, k=60", ask(indexes, retrieval.FusionRank))
	if full.Overall.NDCG <= first.Overall.NDCG {
		t.Errorf("all signals give %.3f, the best chunk alone %.3f", full.Overall.NDCG, first.Overall.NDCG)
	}
}
