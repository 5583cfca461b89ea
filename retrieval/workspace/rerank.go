package workspace

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"quarry/retrieval"
	"quarry/retrieval/rerank"
)

// BackendReranker is what an Answer's Backend has when a model put the first results
// into order.
const BackendReranker = "reranker"

// SetReranker says who judges the first results of searches in words, nil for nobody.
func (w *Workspace) SetReranker(r *rerank.Reranker) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reranker = r
}

// rerank puts the first results into the order that the reranker judges, if there is
// one and it answers. Only searches in words by all signals are judged: names have
// their declaration, and who asks for one signal wants its order. It fails only when
// ctx is done.
func (w *Workspace) rerank(ctx context.Context, req *retrieval.Request, a *Answer) error {
	w.mu.Lock()
	r := w.reranker
	w.mu.Unlock()
	plain := req.Signals == "" || req.Signals == retrieval.SignalsAll
	if r == nil || len(a.Results) < 2 || !plain || !req.WantsSemantic() || req.Query.Mode == retrieval.ModeRecent {
		return nil
	}
	first := a.Results[:min(rerank.First, len(a.Results))]
	passages := make([]string, len(first))
	for i, result := range first {
		text, err := w.Text(filepath.Join(result.Root, filepath.FromSlash(result.Path)))
		if err != nil {
			continue // it went since; by its path alone it will not come first
		}
		lines := strings.SplitAfter(text, "\n")
		from, to := min(result.StartLine, len(lines)), min(result.EndLine, len(lines))
		passages[i] = strings.Join(lines[max(from, 1)-1:to], "")
	}
	for i := range passages {
		passages[i] = first[i].Path + "\n" + passages[i]
	}
	order, scores, err := r.Rank(ctx, req.Query.Text, passages)
	if err != nil {
		if ctx.Err() == nil {
			w.opts.Log.Info("the results are in the order of the search", "reranker", err)
		}
		return ctx.Err()
	}
	judged := make([]Result, len(first))
	for to, from := range order {
		judged[to] = first[from]
		// The scores of the search stay a falling row.
		judged[to].Score = first[to].Score
		judged[to].Reasons = append([]string{fmt.Sprintf("judged %.2g by the reranker", scores[from])}, judged[to].Reasons...)
	}
	copy(first, judged)
	a.Backend = append(a.Backend, BackendReranker)
	return nil
}
