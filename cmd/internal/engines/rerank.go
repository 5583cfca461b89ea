package engines

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"quarry/lsp/settings"
	"quarry/model"
	"quarry/retrieval/rerank"
)

// reranker is who judges the results of searches by the settings, nil for nobody. An
// address that may not be used is an error that says what to do. elsewhere and sent are model.Options.OnElsewhere and
// OnSent.
func reranker(runtime *model.Runtime, s settings.Settings, elsewhere, sent func(name, host string)) (*rerank.Reranker, error) {
	switch s.Reranker.By {
	case "model":
		if runtime != nil {
			return rerank.New(rerank.ByModel(judge{runtime})), nil
		}
	case "endpoint":
		cross, err := crossEncoder(s, elsewhere, sent)
		if err != nil {
			return nil, err
		}
		return rerank.New(cross), nil
	}
	return nil, nil
}

// TryReranker has the cross-encoder of the settings judge a text and answers how it did, "" where they name none; known hears
// what its answer says of where it is.
func TryReranker(ctx context.Context, s settings.Settings, known *Elsewhere) (string, error) {
	if s.Reranker.By != "endpoint" {
		return "", nil
	}
	cross, err := crossEncoder(s, func(_, host string) { known.Note(byReranker, host) }, nil)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, rerankerPatience)
	defer cancel()
	begin := time.Now()
	if err := cross.Judge(ctx, "add two numbers", []string{"func add(a, b int) int { return a + b }"}, func(int, float64) {}); err != nil {
		return "", err
	}
	return fmt.Sprintf("judges a text in %v", time.Since(begin).Round(time.Millisecond)), nil
}

// rerankerPatience is how long a trial of a cross-encoder may take.
const rerankerPatience = 10 * time.Second

func crossEncoder(s settings.Settings, elsewhere, sent func(name, host string)) (*model.Reranker, error) {
	opt := model.RerankerOptions{URL: s.Reranker.URL, Model: s.Reranker.Model, AllowRemote: s.Ollama.AllowRemote, OnElsewhere: elsewhere, OnSent: sent}
	if opt.URL == "" {
		return nil, fmt.Errorf("set reranker.url in your user settings: it is empty, and reranker.by is \"endpoint\"")
	}
	if model.SameEndpoint(opt.URL, s.Ollama.URL) {
		opt.APIKey, opt.KeyFrom = s.Ollama.APIKey, keyOf(s)
	}
	cross, err := model.NewReranker(opt)
	if err != nil {
		return nil, fmt.Errorf("reranker.url: %w", err)
	}
	return cross, nil
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
