package live

import (
	"context"

	"quarry/index/passage"
	"quarry/retrieval"
	"quarry/retrieval/dense"
)

// FindSimilar answers the chunks of code most like a piece of code, by meaning too if
// the chunks are embedded and memory's model answers.
func (w *Workspace) FindSimilar(ctx context.Context, memory *dense.Memory, req retrieval.Likeness) (retrieval.Answer, error) {
	q, err := w.space.Ask(ctx, memory, passage.Document, req.Code)
	if err == nil {
		defer q.Release()
		req.Meaning = q
	}
	if ctx.Err() != nil {
		return retrieval.Answer{}, ctx.Err()
	}
	return w.Search.Current().FindSimilar(req), nil
}
