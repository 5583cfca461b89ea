package model

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	firstBatch = 8
	// Ollama embeds the texts of a request one after the other, and a request that is cut off
	// gives nothing. Larger batches save little and lose more.
	largestBatch = 16
)

// Embedder turns texts into vectors with an embedding model on the same server as the Runtime
// that made it. It is safe for concurrent use. It ends when the Runtime is closed.
type Embedder struct {
	backend
	model string
	host  *Runtime

	mu          sync.Mutex // guards all below
	loading     *loading   // nil if none is under way
	loadedUntil time.Time  // when the server may drop the model from memory
	weights     string     // the model's, as of known
	known       time.Time  // zero if never
	dim         int        // of the last vectors, 0 before the first
	queries     []query    // the latest, the oldest first
}

// query is a text and its vector, made with these weights.
type query struct {
	text, weights string
	vector        []float32
}

const (
	// keptQueries is how many query vectors are kept. A user repeats a query, or types on and
	// deletes again.
	keptQueries = 64
	// weightsFor is how long quarry assumes that the model has the same weights.
	weightsFor = time.Minute
)

type loading struct {
	done chan struct{}
	err  error // valid when done is closed
}

// NewEmbedder is an Embedder that asks the same server for another model. It needs no Start,
// because a server without the completion model can still embed.
func (rt *Runtime) NewEmbedder(model string) *Embedder {
	return &Embedder{backend: rt.embedder(model), model: model, host: rt}
}

// Model is the embedding model's name as it was configured.
func (e *Embedder) Model() string { return e.model }

// Version says which weights the model has, because another model may get its name; "" if the
// server does not say. It is asked again after a minute.
func (e *Embedder) Version(ctx context.Context) (string, error) {
	e.mu.Lock()
	weights, known := e.weights, e.known
	e.mu.Unlock()
	if !known.IsZero() && e.host.opt.Clock.Now().Sub(known) < weightsFor {
		return weights, nil
	}
	if _, err := e.inspect(ctx); err != nil {
		return "", err
	}
	weights, err := e.backend.weights(ctx)
	if err != nil {
		return "", err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.weights, e.known = weights, e.host.opt.Clock.Now()
	return weights, nil
}

// Embed answers a vector of length 1 for each text, all of one dimension. It is background
// work: it pauses while a completion, an answer or a query runs. The vector of a text is nil
// if the text is blank or the model refuses it. If a text is longer than the model's context,
// only its beginning is embedded. With an error come the vectors made before it; the error
// says what to do, and may be ErrModelMissing.
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	todo := make([]int, 0, len(texts)) // indexes into texts
	for i, text := range texts {
		if strings.TrimSpace(text) != "" {
			todo = append(todo, i)
		}
	}
	size := firstBatch
	for len(todo) > 0 {
		if err := e.ensureLoaded(ctx); err != nil {
			return vectors, err
		}
		batch := todo[:min(size, len(todo))]
		some, err := e.inBackground(ctx, pick(texts, batch))
		switch {
		case err == errYielded:
			size = max(1, size/2)
		case isRefusal(err) && len(batch) > 1:
			size = 1 // to find out which text is refused
		case isRefusal(err):
			// The text is at fault only if the model embeds another one.
			if _, proof := e.inBackground(ctx, []string{"func main() {}"}); proof == errYielded {
				continue
			} else if proof != nil {
				return vectors, err
			}
			e.host.log.Warn("the embedding model refuses a text", "bytes", len(texts[batch[0]]), "error", err)
			todo = todo[1:]
		case err != nil:
			return vectors, err
		default:
			for i, v := range some {
				vectors[batch[i]] = v
			}
			todo = todo[len(batch):]
			size = min(2*size, largestBatch)
		}
	}
	return vectors, nil
}

// EmbedQuery answers the vector of a text that a user waits for. The caller must not change
// it, because the latest vectors are kept.
func (e *Embedder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("nothing to embed: the text is blank")
	}
	if v := e.recall(text); v != nil {
		return v, nil
	}
	e.host.limiter.enter(typing)
	defer e.host.limiter.leave(typing)
	if err := e.ensureLoaded(ctx); err != nil {
		return nil, err
	}
	vectors, err := e.ask(ctx, []string{text})
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.queries = append(e.queries, query{text, e.weights, vectors[0]})
	if len(e.queries) > keptQueries {
		e.queries = slices.Delete(e.queries, 0, 1)
	}
	return vectors[0], nil
}

// recall is the vector of a recent query, nil if there is none.
func (e *Embedder) recall(text string) []float32 {
	e.mu.Lock()
	defer e.mu.Unlock()
	i := slices.IndexFunc(e.queries, func(q query) bool { return q.text == text && q.weights == e.weights })
	if i < 0 {
		return nil
	}
	q := e.queries[i]
	e.queries = append(slices.Delete(e.queries, i, i+1), q)
	return q.vector
}

// Listed is nil if the server has the model. It loads nothing.
func (e *Embedder) Listed(ctx context.Context) error {
	_, err := e.inspect(ctx)
	return err
}

// Check looks whether texts can be embedded.
func (e *Embedder) Check(ctx context.Context) []Finding {
	f := Finding{Name: "embedding model"}
	begin := time.Now()
	var v []float32
	embed := func(ctx context.Context, _ func()) (err error) {
		v, err = e.EmbedQuery(e.host.own(ctx), "func main() {}")
		return err
	}
	var err error
	if loads(e.backend) {
		err = embed(ctx, nil)
	} else {
		err = e.host.unlessSilent(ctx, embed)
	}
	var p *problem
	switch err = e.host.inWords(err); {
	case errors.As(err, &p):
		f.Detail, f.Fix = p.what, p.fix
	case err != nil:
		f.Detail = err.Error()
	default:
		f.OK, f.Detail = true, fmt.Sprintf("%s, %d dimensions, %v a text", e.model, len(v), time.Since(begin).Round(time.Millisecond))
	}
	return []Finding{f}
}

func (e *Embedder) inBackground(ctx context.Context, texts []string) (vectors [][]float32, err error) {
	err = e.host.limiter.yielding(ctx, indexing, func(ctx context.Context) (err error) {
		begin := e.host.opt.Clock.Now()
		if vectors, err = e.ask(ctx, texts); err == nil {
			e.host.limiter.took(e.host.opt.Clock.Now().Sub(begin) / time.Duration(len(texts)))
		}
		return err
	})
	return vectors, err
}

// ask embeds texts in one request.
func (e *Embedder) ask(ctx context.Context, texts []string) ([][]float32, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.host.ctx, cancel)()
	vectors, err := e.embed(ctx, texts)
	if err != nil {
		if ctx.Err() == nil {
			e.used(false)
		}
		return nil, err
	}
	e.used(true)
	if len(vectors) != len(texts) {
		return nil, &problem{kind: ErrServer, what: fmt.Sprintf("%s gave %d vectors for %d texts", e.model, len(vectors), len(texts)), fix: "choose another embedding model"}
	}
	for _, v := range vectors {
		if len(v) == 0 || len(v) != len(vectors[0]) || !normalize(v) {
			return nil, &problem{kind: ErrServer, what: e.model + " does not embed", fix: "choose another model: its vector has length 0"}
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(vectors) > 0 {
		if dim := len(vectors[0]); dim != e.dim {
			e.dim, e.known = dim, time.Time{} // the weights have changed
		}
	}
	return vectors, nil
}

// normalize scales v to length 1, which older servers leave to the client. It reports false
// for a vector of length 0.
func normalize(v []float32) bool {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if !(sum > 0) || math.IsInf(sum, 0) {
		return false
	}
	if scale := 1 / math.Sqrt(sum); math.Abs(scale-1) > 1e-5 {
		for i := range v {
			v[i] = float32(float64(v[i]) * scale)
		}
	}
	return true
}

// isRefusal reports whether an error may be about the texts rather than about the server.
func isRefusal(err error) bool { return errors.Is(err, ErrServer) || errors.Is(err, ErrTooLong) }

// ensureLoaded has the model in memory. The load belongs to no request: work that is cut off
// would throw it away.
func (e *Embedder) ensureLoaded(ctx context.Context) error {
	e.mu.Lock()
	if e.host.opt.Clock.Now().Before(e.loadedUntil) {
		e.mu.Unlock()
		return nil
	}
	l := e.loading
	if l == nil {
		l = &loading{done: make(chan struct{})}
		if !e.host.spawn(func() { e.load(l) }) {
			e.mu.Unlock()
			return context.Canceled
		}
		e.loading = l
	}
	e.mu.Unlock()
	select {
	case <-l.done:
		return l.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (e *Embedder) load(l *loading) {
	ctx, cancel := context.WithTimeout(e.host.ctx, maxLoad)
	defer cancel()
	_, err := e.inspect(ctx)
	if err == nil {
		_, err = e.embed(e.host.own(ctx), nil)
	}
	l.err = err
	e.used(err == nil)
	e.mu.Lock()
	e.loading = nil
	e.mu.Unlock()
	close(l.done)
}

// used notes until when the server keeps the model in memory.
func (e *Embedder) used(ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.loadedUntil = time.Time{}
	if keep := e.host.opt.KeepAlive; ok {
		if keep < 0 {
			keep = 24 * time.Hour
		}
		e.loadedUntil = e.host.opt.Clock.Now().Add(keep * 9 / 10)
	}
}

func pick(texts []string, indexes []int) []string {
	some := make([]string, len(indexes))
	for i, at := range indexes {
		some[i] = texts[at]
	}
	return some
}
