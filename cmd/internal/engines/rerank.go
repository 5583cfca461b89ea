package engines

import (
	"context"
	"encoding/json"
	"fmt"

	"quarry/lsp/settings"
	"quarry/model"
	"quarry/retrieval/rerank"
)

// reranker is who judges the results of searches by the settings, nil for nobody. An
// address that may not be used is an error that says what to do.
func reranker(runtime *model.Runtime, s settings.Settings) (*rerank.Reranker, error) {
	switch s.Reranker.By {
	case "model":
		if runtime != nil {
			return rerank.New(rerank.ByModel(judge{runtime})), nil
		}
	case "endpoint":
		opt := model.RerankerOptions{URL: s.Reranker.URL, Model: s.Reranker.Model, AllowRemote: s.Ollama.AllowRemote}
		if opt.URL == "" {
			return nil, fmt.Errorf("set reranker.url in your user settings: it is empty, and reranker.by is \"endpoint\"")
		}
		if opt.URL == s.Ollama.URL {
			opt.APIKey, opt.KeyFrom = s.Ollama.APIKey, keyOf(s)
		}
		cross, err := model.NewReranker(opt)
		if err != nil {
			return nil, fmt.Errorf("reranker.url: %w", err)
		}
		return rerank.New(cross), nil
	}
	return nil, nil
}

// judge is the model that completes code, as a judge of search results.
type judge struct{ *model.Runtime }

func (j judge) Name() string { return j.Model() }

// Answer implements rerank.Model.
func (j judge) Answer(ctx context.Context, prompt string, schema json.RawMessage) (string, error) {
	const scoreTokens = 16 // {"score": 10} in any model's tokens
	reply, err := j.Chat(ctx, model.Conversation{
		Messages: []model.Message{{Role: "user", Text: prompt}}, Format: schema, MaxTokens: scoreTokens,
	}, func(string) bool { return true })
	return reply.Text, err
}
