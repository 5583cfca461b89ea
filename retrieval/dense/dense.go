// Package dense searches a workspace's chunks by their vectors: it
// follows the vectors of an index, keeps what searches by them need, and turns
// queries into questions that package retrieval asks of them.
package dense

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"quarry/index"
	"quarry/index/embedtext"
	"quarry/index/vectors"
	"quarry/retrieval"
	"quarry/retrieval/vector"
)

// Source is an index whose chunks are embedded; index.Index is one.
type Source interface {
	// Vectors answers the vectors to search, nil if there are none. The caller
	// releases them.
	Vectors() *vectors.Set
	// VectorsChanged is closed when Vectors would answer others.
	VectorsChanged() <-chan struct{}
	// EmbedQuery answers the vector of a text by the model that made set.
	EmbedQuery(ctx context.Context, set *vectors.Set, input embedtext.InputType, text string) ([]float32, error)
	// VectorsDamaged is told that set could not be read.
	VectorsDamaged(set *vectors.Set, err error)
}

// Index keeps the binary codes of a source's vectors current. It is safe for concurrent
// use.
type Index struct {
	source Source
	codes  atomic.Pointer[codes]
	cancel context.CancelFunc
	done   sync.WaitGroup // the following goroutine
}

// codes belong to the vectors of one file.
type codes struct {
	epoch uint64
	*vector.Codes
}

// Follow starts to follow a source. The caller closes the Index before it.
func Follow(source Source) *Index {
	ctx, cancel := context.WithCancel(context.Background())
	s := &Index{source: source, cancel: cancel}
	s.codes.Store(&codes{})
	s.done.Go(func() { s.follow(ctx) })
	return s
}

// Close stops following and waits until nothing of it runs. Questions asked before
// stay good.
func (s *Index) Close() {
	s.cancel()
	s.done.Wait()
}

func (s *Index) follow(ctx context.Context) {
	for {
		changed := s.source.VectorsChanged() // before looking, so that nothing is missed
		s.look()
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// look codes what is new. Vectors of another file start over; meanwhile searches
// compare them exactly.
func (s *Index) look() {
	set := s.source.Vectors()
	if set == nil {
		s.codes.Store(&codes{})
		return
	}
	defer set.Release()
	old := s.codes.Load()
	if old.epoch != set.Epoch {
		old = &codes{}
	}
	next := &codes{}
	if err := vectors.Guard(func() { next = &codes{set.Epoch, old.Extend(rowsOf(set))} }); err != nil {
		s.source.VectorsDamaged(set, err)
	}
	s.codes.Store(next)
}

func rowsOf(set *vectors.Set) vector.Rows {
	return vector.Rows{Data: set.Data, Dim: set.Dim, Stride: set.Stride}
}

// Empty answers whether there are no vectors to ask.
func (s *Index) Empty() bool {
	set := s.source.Vectors()
	if set == nil {
		return true
	}
	set.Release()
	return false
}

// Question is a query, embedded, with the vectors to compare it with. It implements
// retrieval.SemanticQuery and is not safe for concurrent use. Once the vectors cannot be read
// it knows of none, and it knows of no vector that another program wrote over; either is
// told to the source, which mends its file.
type Question struct {
	source  Source
	set     *vectors.Set
	codes   *vector.Codes
	query   []float32
	damaged bool
}

// Ask embeds a text, by memory if it can, and answers the question it puts to the
// vectors there are now. The caller releases it. It fails with index.ErrNoVectors if
// there are none, or none that the model of today can be compared with.
func (s *Index) Ask(ctx context.Context, m *Memory, input embedtext.InputType, text string) (*Question, error) {
	set := s.source.Vectors()
	if set == nil {
		return nil, index.ErrNoVectors
	}
	query, err := m.embed(ctx, s.source, set, input, text)
	if err != nil {
		set.Release()
		return nil, err
	}
	if len(query) != set.Dim { // the model has changed, the vectors not yet
		set.Release()
		return nil, index.ErrNoVectors
	}
	q := &Question{source: s.source, set: set, query: query}
	if codes := s.codes.Load(); codes.epoch == set.Epoch {
		q.codes = codes.Codes
	}
	return q, nil
}

// Release ends the use of a Question.
func (q *Question) Release() { q.set.Release() }

// read calls f, which reads the vectors, and answers whether it could.
func (q *Question) read(f func()) bool {
	if q.damaged {
		return false
	}
	if err := vectors.Guard(f); err != nil {
		q.damaged = true
		q.source.VectorsDamaged(q.set, err)
	}
	return !q.damaged
}

// Nearest implements retrieval.SemanticQuery.
func (q *Question) Nearest(k int, among []retrieval.Key) (near []retrieval.Near) {
	q.read(func() { near = q.nearest(k, among) })
	return near
}

func (q *Question) nearest(k int, among []retrieval.Key) []retrieval.Near {
	var hits []vector.Hit
	if among != nil {
		slots := make([]int, 0, len(among))
		for _, key := range among {
			if slot, ok := q.set.Slot(key); ok {
				slots = append(slots, slot)
			}
		}
		slices.Sort(slots)
		hits = vector.NearestOf(rowsOf(q.set), q.query, k, slices.Compact(slots))
	} else {
		hits = vector.Nearest(rowsOf(q.set), q.codes, q.query, k)
	}
	near := make([]retrieval.Near, 0, len(hits))
	for _, h := range hits {
		// A row that its key does not lead to was never whole or has been replaced.
		if q.sound(h.Row) && (among != nil || q.set.Live(h.Row)) {
			near = append(near, retrieval.Near{Key: retrieval.Key(q.set.Key(h.Row)), Cosine: h.Score})
		}
	}
	return near
}

// Cosine implements retrieval.SemanticQuery.
func (q *Question) Cosine(key retrieval.Key) (cosine float32, ok bool) {
	slot, ok := q.set.Slot(key)
	if !ok {
		return 0, false
	}
	readable := q.read(func() {
		if ok = q.sound(slot); ok {
			cosine = vector.Cosine(q.set.Row(slot), q.query)
		}
	})
	return cosine, ok && readable
}

// sound answers whether the vector at a slot is what was once written there.
func (q *Question) sound(slot int) bool {
	if !q.set.Damaged(slot) {
		return true
	}
	q.source.VectorsDamaged(q.set, fmt.Errorf("%w: the row at slot %d was overwritten", vectors.ErrDamaged, slot))
	return false
}
