package eval

import (
	"context"
	"math"
	"strings"
	"sync"

	"quarry/completion"
)

// Answers is a model whose answers are kept in a file. It serves one evaluation at a
// time.
type Answers struct {
	*Kept[recorded]
	model string
	// upstream answers what the file does not know, nil if nobody does: then the
	// prompts that lack an answer are written to the file wanted.
	upstream completion.Generator
	tokens   int

	mu   sync.Mutex
	last string // guarded by mu
}

// recorded is one line of the file; of lines with one key the last holds. An answer is
// in pieces, one a token, as far as it was wanted and at least to the end of its first
// line with text.
type recorded struct {
	Key string `json:"key"`
	// Cut: nobody wanted more, and the model had not ended.
	Cut      bool      `json:"cut,omitempty"`
	Prompt   string    `json:"prompt,omitempty"`
	Pieces   []string  `json:"pieces"`
	Logprobs []float64 `json:"logprobs,omitempty"`
	Tokens   int       `json:"prompt_tokens,omitempty"`
}

// ID implements the answers of Kept.
func (r recorded) ID() string { return r.Key }

// OpenAnswers opens or makes the file of a model's answers of at most tokens
// tokens. upstream may be nil.
func OpenAnswers(file, model string, tokens int, upstream completion.Generator) (*Answers, error) {
	kept, err := OpenKept[recorded](file)
	if err != nil {
		return nil, err
	}
	return &Answers{Kept: kept, model: model, upstream: upstream, tokens: tokens}, nil
}

func (a *Answers) key(prompt string) string { return KeyOf(a.model, a.tokens, prompt) }

// Model is the model that answers.
func (a *Answers) Model() string { return a.model }

// Ready is nil: a prompt without an answer is an error of its own.
func (a *Answers) Ready() error { return nil }

// Generate answers from the file, or has the model answer and keeps that. It counts no
// tokens: with counts an engine learns how long its prompts may be, and each hole's
// prompt would depend on the answers before it.
func (a *Answers) Generate(ctx context.Context, prompt string, maxTokens int, stop []string, sample int, emit func(string, float64) bool) (int, error) {
	if maxTokens == 1 {
		return 0, nil // a prompt is read ahead, nobody looks at the answer
	}
	key := a.key(prompt)
	r, ok := a.Answer(key)
	a.mu.Lock()
	a.last = prompt
	a.mu.Unlock()
	for i, piece := range r.Pieces {
		logprob := math.NaN()
		if i < len(r.Logprobs) {
			logprob = r.Logprobs[i]
		}
		if !emit(piece, logprob) {
			return 0, nil
		}
	}
	if ok && !r.Cut {
		return 0, nil
	}
	// Nobody asked this yet, or only for less than is wanted now.
	if a.upstream == nil {
		a.Lacks(key, map[string]any{"key": key, "prompt": prompt, "tokens": a.tokens})
		return 0, ErrNoAnswer
	}
	known := len(r.Pieces)
	r = recorded{Key: key}
	var whole strings.Builder
	wanted := true
	n, err := a.upstream.Generate(context.WithoutCancel(ctx), prompt, a.tokens, stop, sample, func(piece string, logprob float64) bool {
		r.Pieces = append(r.Pieces, piece)
		if !math.IsNaN(logprob) {
			r.Logprobs = append(r.Logprobs, max(logprob, -1e9))
		}
		whole.WriteString(piece)
		if len(r.Pieces) > known {
			wanted = wanted && emit(piece, logprob)
		}
		r.Cut = !wanted && strings.Contains(strings.TrimLeft(whole.String(), " \t\r\n"), "\n")
		return !r.Cut
	})
	if err != nil {
		return n, err
	}
	r.Tokens = n
	return 0, a.Keep(r)
}

// lastPrompt is the prompt asked last.
func (a *Answers) lastPrompt() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.last
}
