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

	mu sync.Mutex
	// Guarded by mu.
	last string
	// looking: nothing is answered, the prompts are wanted alone. instead is asked in
	// place of the prompt of a server, whose answer has to begin with tail; healed is
	// whether it did.
	looking       bool
	instead, tail string
	healed        bool
	// lacking: an answer was asked for that the file does not know, since choose.
	lacking bool
	// choice is what a new answer is kept with, for who reads the file: the key tells
	// prompts apart anyway.
	choice string
}

// recorded is one line of the file; of lines with one key the last holds. An answer is
// in pieces, one a token, as far as it was wanted and at least to the end of its first
// line with text.
type recorded struct {
	Key string `json:"key"`
	// Cut: nobody wanted more, and the model had not ended.
	Cut bool `json:"cut,omitempty"`
	// Choice is what the prompt differs in from a server's.
	Choice   string    `json:"choice,omitempty"`
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
	a.mu.Lock()
	a.last = prompt
	looking, instead, tail := a.looking, a.instead, a.tail
	a.mu.Unlock()
	if looking {
		return 0, ErrNoAnswer
	}
	if tail != "" {
		healed, err := a.heal(ctx, instead, tail, prompt, stop, emit)
		a.mu.Lock()
		a.healed = healed
		a.mu.Unlock()
		return 0, err
	}
	if instead != "" {
		prompt = instead
	}
	return a.generate(ctx, prompt, stop, sample, emit)
}

// look sets whether prompts are wanted alone.
func (a *Answers) look(alone bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.looking = alone
}

// choose sets what is asked in place of the next prompts, "" for the prompts themselves.
func (a *Answers) choose(instead, tail, choice string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.instead, a.tail, a.choice, a.healed, a.lacking = instead, tail, choice, false, false
}

// lacked is whether an answer was asked for that nobody knows.
func (a *Answers) lacked() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.lacking
}

// told is whether the last answer began with the tail that was cut off its prompt, and how
// long a chosen prompt is, 0 for a server's.
func (a *Answers) told() (healed bool, tokens int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.instead != "" {
		tokens = completion.EstimateTokens(a.instead)
	}
	return a.healed, tokens
}

func (a *Answers) generate(ctx context.Context, prompt string, stop []string, sample int, emit func(string, float64) bool) (int, error) {
	key := a.key(prompt)
	r, ok := a.Answer(key)
	a.mu.Lock()
	choice := a.choice
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
		a.mu.Lock()
		a.lacking = true
		a.mu.Unlock()
		a.Lacks(key, map[string]any{"key": key, "prompt": prompt, "tokens": a.tokens})
		return 0, ErrNoAnswer
	}
	known := len(r.Pieces)
	r = recorded{Key: key, Choice: choice}
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
