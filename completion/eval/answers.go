package eval

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"

	"quarry/completion"
)

// Answers is a model whose answers are kept in a file, one JSON document a line:
// an evaluation that broke off goes on where it was, and what one machine answered
// another can judge. It serves one evaluation at a time.
type Answers struct {
	model string
	// upstream answers what the file does not know, nil if nobody does: then the
	// prompts that lack an answer are written to the file wanted.
	upstream completion.Generator
	tokens   int
	file     *os.File

	mu sync.Mutex
	// Guarded by mu.
	known   map[string]recorded
	missing map[string]bool
	last    string
}

// recorded is one line of the file. An answer is in pieces, one a token, as far as it
// was wanted and at least to the end of its first line with text.
type recorded struct {
	Key      string    `json:"key"`
	Prompt   string    `json:"prompt,omitempty"`
	Pieces   []string  `json:"pieces"`
	Logprobs []float64 `json:"logprobs,omitempty"`
	Tokens   int       `json:"prompt_tokens,omitempty"`
}

// errNoAnswer: the file has no answer to a prompt, and there is no model to ask.
var errNoAnswer = errors.New("the file of answers lacks this prompt's")

// OpenAnswers opens or makes the file of a model's answers of at most tokens
// tokens. upstream may be nil.
func OpenAnswers(file, model string, tokens int, upstream completion.Generator) (*Answers, error) {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the answers: %w", err)
	}
	a := &Answers{model: model, upstream: upstream, tokens: tokens, file: f, known: map[string]recorded{}, missing: map[string]bool{}}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var r recorded
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			continue // the last line of a run that was killed
		}
		a.known[r.Key] = r
	}
	if err := lines.Err(); err != nil {
		f.Close()
		return nil, fmt.Errorf("read the answers %s: %w", file, err)
	}
	return a, nil
}

// Close closes the file.
func (a *Answers) Close() error { return a.file.Close() }

// Missing is how many prompts had no answer.
func (a *Answers) Missing() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.missing)
}

// WriteMissing writes the prompts that had no answer, one JSON document a line with
// key and prompt, for a machine that can answer them.
func (a *Answers) WriteMissing(file string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(f)
	enc.SetEscapeHTML(false)
	for prompt := range a.missing {
		if err := enc.Encode(map[string]any{"key": a.key(prompt), "prompt": prompt, "tokens": a.tokens}); err != nil {
			f.Close()
			return err
		}
	}
	return f.Close()
}

func (a *Answers) key(prompt string) string {
	sum := sha256.Sum256([]byte(fmt.Sprint(a.model, "\x00", a.tokens, "\x00", prompt)))
	return hex.EncodeToString(sum[:12])
}

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
	a.mu.Lock()
	r, ok := a.known[key]
	a.last = prompt
	a.mu.Unlock()
	if !ok {
		if a.upstream == nil {
			a.mu.Lock()
			a.missing[prompt] = true
			a.mu.Unlock()
			return 0, errNoAnswer
		}
		r = recorded{Key: key}
		var whole strings.Builder
		wanted := true
		n, err := a.upstream.Generate(context.WithoutCancel(ctx), prompt, a.tokens, stop, sample, func(piece string, logprob float64) bool {
			r.Pieces = append(r.Pieces, piece)
			if !math.IsNaN(logprob) {
				r.Logprobs = append(r.Logprobs, max(logprob, -1e9))
			}
			whole.WriteString(piece)
			wanted = wanted && emit(piece, logprob)
			return wanted || !strings.Contains(strings.TrimLeft(whole.String(), " \t\r\n"), "\n")
		})
		if err != nil {
			return n, err
		}
		r.Tokens = n
		line, err := json.Marshal(r)
		if err != nil {
			return 0, err
		}
		a.mu.Lock()
		_, err = a.file.Write(append(line, '\n'))
		a.known[key] = r
		a.mu.Unlock()
		if err != nil {
			return 0, fmt.Errorf("keep an answer: %w", err)
		}
		return 0, nil
	}
	for i, piece := range r.Pieces {
		logprob := math.NaN()
		if i < len(r.Logprobs) {
			logprob = r.Logprobs[i]
		}
		if !emit(piece, logprob) {
			break
		}
	}
	return 0, nil
}

// lastPrompt is the prompt asked last.
func (a *Answers) lastPrompt() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.last
}
