package dense

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"quarry/index"
	"quarry/index/embedtext"
	"quarry/index/vectors"
	"quarry/retrieval"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const dim = 70

// source is vectors in a file and a model that embeds every query alike.
type source struct {
	vectors.Current
	t     *testing.T
	file  *vectors.File
	path  string
	embed func(ctx context.Context) ([]float32, error)
	asked []string

	damaged chan error
}

func (s *source) Vectors() *vectors.Set           { return s.Acquire() }
func (s *source) VectorsChanged() <-chan struct{} { return s.Changed() }
func (s *source) EmbedQuery(ctx context.Context, _ *vectors.Set, _ embedtext.InputType, text string) ([]float32, error) {
	s.asked = append(s.asked, text)
	return s.embed(ctx)
}

func (s *source) VectorsDamaged(_ *vectors.Set, err error) { s.damaged <- err }

func newSource(t *testing.T, query []float32) *source {
	s := &source{t: t, damaged: make(chan error, 8), embed: func(context.Context) ([]float32, error) { return query, nil }}
	s.replace()
	t.Cleanup(func() {
		s.Publish(nil)
		if err := s.file.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// replace begins a new file, as compaction does.
func (s *source) replace() {
	if s.file != nil {
		s.Publish(nil)
		if err := s.file.Close(); err != nil {
			s.t.Error(err)
		}
	}
	var err error
	s.path = filepath.Join(s.t.TempDir(), "v")
	if s.file, err = vectors.Create(s.path, "m", dim); err != nil {
		s.t.Fatal(err)
	}
}

func (s *source) add(keys []vectors.Key, list [][]float32) {
	s.t.Helper()
	if _, err := s.file.Append(keys, list); err != nil {
		s.t.Fatal(err)
	}
	s.Publish(s.file.Set())
}

// some are n vectors whose keys start with name.
func some(name byte, n int) (keys []vectors.Key, list [][]float32) {
	r := rand.New(rand.NewPCG(uint64(name), 1))
	for i := range n {
		v := make([]float32, dim)
		sum := 0.0
		for d := range v {
			v[d] = float32(r.NormFloat64())
			sum += float64(v[d]) * float64(v[d])
		}
		for d := range v {
			v[d] /= float32(math.Sqrt(sum))
		}
		keys, list = append(keys, vectors.Key{name, byte(i >> 16), byte(i >> 8), byte(i)}), append(list, v)
	}
	return keys, list
}

// coded waits until the codes of all vectors are there.
func coded(t *testing.T, s *Index, n int) {
	t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for s.codes.Load().Len() != n {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("%d codes, want %d", s.codes.Load().Len(), n)
		}
	}
}

func TestAsk(t *testing.T) {
	keys, list := some('a', 300)
	src := newSource(t, list[7])
	ix := Follow(src)
	defer ix.Close()
	memory := NewMemory(time.Minute)
	if _, err := ix.Ask(t.Context(), memory, embedtext.Query, "x"); !errors.Is(err, index.ErrNoVectors) || !ix.Empty() {
		t.Errorf("without vectors: %v", err)
	}
	src.add(keys[:200], list[:200])
	coded(t, ix, 200)
	before, err := ix.Ask(t.Context(), memory, embedtext.Query, "x")
	if err != nil {
		t.Fatal(err)
	}
	src.add(keys[200:], list[200:])
	coded(t, ix, 300)
	after, err := ix.Ask(t.Context(), memory, embedtext.Query, "x")
	if err != nil {
		t.Fatal(err)
	}
	defer after.Release()
	if len(src.asked) != 1 {
		t.Errorf("the model was asked for %q", src.asked)
	}
	for name, q := range map[string]*Question{"before": before, "after": after} {
		near := q.Nearest(3, nil)
		if len(near) != 3 || near[0].Key != retrieval.Key(keys[7]) || math.Abs(float64(near[0].Cosine-1)) > 1e-5 {
			t.Errorf("%s: nearest %v", name, near)
		}
		among := q.Nearest(3, []retrieval.Key{retrieval.Key(keys[5]), {9, 9}, retrieval.Key(keys[3]), retrieval.Key(keys[5])})
		if len(among) != 2 || among[0].Cosine < among[1].Cosine {
			t.Errorf("%s: among three, one of them without a vector: %v", name, among)
		}
		for _, n := range among {
			if c, ok := q.Cosine(n.Key); !ok || c != n.Cosine {
				t.Errorf("%s: cosine %v, nearest says %v", name, c, n.Cosine)
			}
		}
	}
	if _, ok := before.Cosine(retrieval.Key(keys[250])); ok {
		t.Error("a question sees vectors that came after it")
	}
	before.Release()

	memory.remember(remembered{"m", embedtext.Query, "short", list[7][:dim-1]})
	if q, err := ix.Ask(t.Context(), memory, embedtext.Query, "short"); err != nil {
		t.Errorf("a query remembered in another dimension is not asked anew: %v", err)
	} else {
		q.Release()
	}

	sound := src.embed
	src.embed = func(context.Context) ([]float32, error) { return list[7][:dim-1], nil }
	if q, err := ix.Ask(t.Context(), memory, embedtext.Query, "by the model of tomorrow"); !errors.Is(err, index.ErrNoVectors) {
		t.Errorf("a query of another dimension: %v, %v", q, err)
	}
	src.embed = sound

	// Another file has other vectors in the same slots.
	src.replace()
	others, more := some('b', 50)
	src.add(others, more)
	coded(t, ix, 50)
	q, err := ix.Ask(t.Context(), memory, embedtext.Query, "x")
	if err != nil {
		t.Fatal(err)
	}
	defer q.Release()
	if near := q.Nearest(50, nil); len(near) != 50 || slices.ContainsFunc(near, func(n retrieval.Near) bool { return n.Key[0] != 'b' }) {
		t.Errorf("after a new file: %v", near)
	}
}

// A model that does not answer holds up one search, not the next.
func TestAModelThatDoesNotAnswer(t *testing.T) {
	keys, list := some('a', 3)
	src := newSource(t, list[0])
	src.add(keys, list)
	ix := Follow(src)
	defer ix.Close()
	memory := NewMemory(time.Millisecond)
	now := time.Unix(0, 0)
	memory.now = func() time.Time { return now }
	answer := src.embed
	src.embed = func(ctx context.Context) ([]float32, error) { <-ctx.Done(); return nil, ctx.Err() }
	for range 2 {
		if _, err := ix.Ask(t.Context(), memory, embedtext.Query, "x"); !errors.Is(err, ErrBusy) {
			t.Errorf("error %v", err)
		}
	}
	if len(src.asked) != 1 {
		t.Errorf("asked %d times", len(src.asked))
	}
	// Whoever asks once waits for it all the same.
	src.embed = answer
	q, err := ix.Ask(WithPatience(t.Context(), time.Minute), memory, embedtext.Query, "z")
	if err != nil {
		t.Fatalf("with patience: %v", err)
	}
	q.Release()
	now = now.Add(rest)
	memory.patience = time.Minute
	if q, err = ix.Ask(t.Context(), memory, embedtext.Query, "x"); err != nil {
		t.Fatalf("after a rest: %v", err)
	}
	q.Release()

	// Whoever gives up is no sign of a busy model.
	ctx, cancel := context.WithCancel(t.Context())
	src.embed = func(ctx context.Context) ([]float32, error) { cancel(); <-ctx.Done(); return nil, ctx.Err() }
	if _, err := ix.Ask(ctx, memory, embedtext.Query, "y"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	src.embed = answer
	if q, err = ix.Ask(t.Context(), memory, embedtext.Query, "y"); err != nil {
		t.Fatal(err)
	}
	q.Release()
}

func TestMemoryKeepsTheLatest(t *testing.T) {
	m := NewMemory(time.Minute)
	name := func(i int) string { return string(rune('A' + i)) }
	for i := range memoryQueries {
		m.remember(remembered{"m", embedtext.Query, name(i), []float32{float32(i)}})
	}
	m.recall(&vectors.Set{Model: "m", Dim: 1}, embedtext.Query, name(0))
	m.remember(remembered{"m", embedtext.Query, "new", []float32{-1}})
	for text, want := range map[string]bool{name(0): true, name(1): false, name(2): true, "new": true} {
		if v, _ := m.recall(&vectors.Set{Model: "m", Dim: 1}, embedtext.Query, text); (v != nil) != want {
			t.Errorf("%q remembered: %v", text, v != nil)
		}
	}
	if v, _ := m.recall(&vectors.Set{Model: "another", Dim: 1}, embedtext.Query, name(0)); v != nil {
		t.Error("another model's vector")
	}
	if v, _ := m.recall(&vectors.Set{Model: "m", Dim: 1}, embedtext.Document, "new"); v != nil {
		t.Error("code has the vector of the question in the same words")
	}
	if len(m.known) != memoryQueries {
		t.Errorf("%d queries", len(m.known))
	}
	if v, _ := m.recall(&vectors.Set{Model: "m", Dim: 2}, embedtext.Query, "new"); v != nil {
		t.Error("a vector of the dimension that the model had before")
	}
	m.remember(remembered{"m", embedtext.Query, "new", []float32{1, 2}})
	if v, _ := m.recall(&vectors.Set{Model: "m", Dim: 2}, embedtext.Query, "new"); len(v) != 2 {
		t.Errorf("embedded anew: %v", v)
	}
}
