// Package rerank puts the first results of a search into the order that a model
// judges them to answer the query. What a model said is kept for a while; a model
// that is busy, absent or slow leaves the order as it was.
package rerank

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"sync"
	"time"

	"quarry/index/mask"
)

// Judge says how well passages answer a query.
type Judge interface {
	// Name identifies the model; scores of different names are never mixed.
	Name() string
	// Judge calls each with the index of a passage and its score, higher for a better
	// answer, for as many as it can before ctx is done.
	Judge(ctx context.Context, query string, passages []string, each func(i int, score float64)) error
}

// ErrBusy says that a model has something better to do.
var ErrBusy = errors.New("the model is busy")

// First is how many results are judged.
const First = 10

const (
	// kept is how long a score is good.
	kept = 5 * time.Minute
	// most bounds the scores that are kept.
	most = 2048
	// patience is how long a search waits for its results to be judged.
	patience = 5 * time.Second
)

// Reranker asks a Judge and remembers. It is safe for concurrent use.
type Reranker struct {
	judge Judge
	now   func() time.Time

	mu    sync.Mutex
	known map[question]score // guarded by mu
}

// question is what a score answers.
type question struct {
	model   string
	query   string
	passage [sha256.Size]byte
}

type score struct {
	value float64
	until time.Time
}

// New makes a Reranker.
func New(judge Judge) *Reranker {
	return &Reranker{judge: judge, now: time.Now, known: map[question]score{}}
}

// Rank answers the places of passages, the best first, and the score of each by its
// old place. Equal scores keep their order. It fails unless all passages were judged
// in time; those that were are remembered.
func (r *Reranker) Rank(ctx context.Context, query string, passages []string) (order []int, scores []float64, err error) {
	query = mask.Text(query) // the passages are of the index, where they are masked
	scores = make([]float64, len(passages))
	name := r.judge.Name()
	keys := make([]question, len(passages))
	var todo []int
	for i, p := range passages {
		keys[i] = question{name, query, sha256.Sum256([]byte(p))}
		var ok bool
		if scores[i], ok = r.recall(keys[i]); !ok {
			todo = append(todo, i)
		}
	}
	if len(todo) > 0 {
		ask := make([]string, len(todo))
		for n, i := range todo {
			ask[n] = passages[i]
		}
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		judged := 0
		err := r.judge.Judge(ctx, query, ask, func(n int, value float64) {
			judged++
			scores[todo[n]] = value
			r.remember(keys[todo[n]], value)
		})
		if err == nil && judged < len(todo) {
			err = ctx.Err()
		}
		if err != nil {
			return nil, nil, err
		}
	}
	order = make([]int, len(passages))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return order, scores, nil
}

func (r *Reranker) recall(q question) (float64, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, ok := r.known[q]
	return s.value, ok && r.now().Before(s.until)
}

func (r *Reranker) remember(q question, value float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	if len(r.known) >= most {
		for old, s := range r.known {
			if !now.Before(s.until) {
				delete(r.known, old)
			}
		}
		if len(r.known) >= most {
			clear(r.known)
		}
	}
	r.known[q] = score{value, now.Add(kept)}
}
