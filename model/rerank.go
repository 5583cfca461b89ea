package model

import (
	"context"
	"fmt"
	"net/http"
)

// Reranker asks a cross-encoder how well texts answer a query, by the route /v1/rerank
// as the llama.cpp server and vLLM have it. It is safe for concurrent use.
type Reranker struct{ server *openAI }

// RerankerOptions say where a cross-encoder is. The rule of Options.AllowRemote holds.
type RerankerOptions struct {
	URL, APIKey, Model string
	KeyFrom            func(ctx context.Context, refused string) (string, error)
	AllowRemote        bool
	// OnElsewhere and OnSent are those of Options.
	OnElsewhere, OnSent func(model, host string)
}

// NewReranker fails only on an address that may not be used.
func NewReranker(opt RerankerOptions) (*Reranker, error) {
	endpoint, err := ParseEndpoint(opt.URL, opt.AllowRemote)
	if err != nil {
		return nil, err
	}
	return &Reranker{newOpenAI(Options{APIKey: opt.APIKey, KeyFrom: opt.KeyFrom, Model: opt.Model, AllowRemote: opt.AllowRemote, OnElsewhere: opt.OnElsewhere, OnSent: opt.OnSent}, endpoint, newHTTPClient(endpoint))}, nil
}

// Name is the model's.
func (r *Reranker) Name() string { return r.server.model }

// Judge calls each with the index of a text and its relevance. A higher relevance means a
// better answer, on the model's own scale.
func (r *Reranker) Judge(ctx context.Context, query string, texts []string, each func(i int, score float64)) error {
	var answer struct {
		origin
		Results []struct {
			Index *int     `json:"index"`
			Score *float64 `json:"relevance_score"`
		} `json:"results"`
	}
	body := map[string]any{"model": r.server.model, "query": query, "documents": texts, "top_n": len(texts)}
	if err := r.server.call(ctx, http.MethodPost, "v1/rerank", body, &answer); err != nil {
		return err
	}
	if err := r.server.guard.lookForGood(answer.origin); err != nil {
		return err
	}
	judged := make([]bool, len(texts))
	for _, a := range answer.Results {
		if a.Index == nil || a.Score == nil || *a.Index < 0 || *a.Index >= len(texts) || judged[*a.Index] {
			return r.server.failed("its answer is not a list with one relevance_score for each document")
		}
		judged[*a.Index] = true
	}
	if len(answer.Results) != len(texts) {
		return r.server.failed(fmt.Sprintf("it judged %d of %d documents", len(answer.Results), len(texts)))
	}
	for _, a := range answer.Results {
		each(*a.Index, *a.Score)
	}
	return nil
}

// Idle reports whether the model is there and no request waits for it.
func (rt *Runtime) Idle() bool {
	if rt.Ready() != nil || rt.converses() {
		return false
	}
	rt.limiter.mu.Lock()
	defer rt.limiter.mu.Unlock()
	return !rt.limiter.above(indexing)
}
