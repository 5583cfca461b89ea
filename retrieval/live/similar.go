package live

import (
	"context"

	"quarry/index/embedtext"
	"quarry/retrieval"
	"quarry/retrieval/dense"
)

// FindSimilar answers the chunks of code most like a piece of code, semantically too if
// the chunks are embedded and memory's model answers.
func (w *Workspace) FindSimilar(ctx context.Context, memory *dense.Memory, req retrieval.SimilarRequest) (retrieval.Answer, error) {
	q, err := w.semantic.Ask(ctx, memory, embedtext.Document, req.Code)
	if err == nil {
		defer q.Release()
		req.Semantic = q
	}
	if ctx.Err() != nil {
		return retrieval.Answer{}, ctx.Err()
	}
	var answer retrieval.Answer
	w.steady(func() { answer = w.Search.Current().FindSimilar(req) })
	return answer, nil
}
