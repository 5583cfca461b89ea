package live

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"quarry/index"
	"quarry/retrieval"
	"quarry/retrieval/dense"
)

// topics is a model that knows two topics: a text is about one if it has a word of
// it.
type topics struct {
	fail func() error
}

func (m *topics) Version(context.Context) (string, error) { return "1", nil }

func (m *topics) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	if m.fail != nil {
		return nil, m.fail()
	}
	v := []float32{.1, .1, .1}
	for i, words := range [][]string{{"animal", "zebra", "giraffe"}, {"vehicle", "lorry", "tram"}} {
		for _, w := range words {
			if strings.Contains(text, w) {
				v[i] = 1
			}
		}
	}
	length := float32(math.Sqrt(float64(v[0]*v[0] + v[1]*v[1] + v[2]*v[2])))
	return []float32{v[0] / length, v[1] / length, v[2] / length}, nil
}

func (m *topics) Embed(ctx context.Context, texts []string) (list [][]float32, err error) {
	for _, t := range texts {
		v, err := m.EmbedQuery(ctx, t)
		if err != nil {
			return list, err
		}
		list = append(list, v)
	}
	return list, nil
}

// What the workspace holds is found by meaning, when there is one, and by words
// always.
func TestFindByMeaning(t *testing.T) {
	source, w, _ := open(t, map[string]string{
		"zoo/herd.go":    "package zoo\n\n// Herd is zebras.\ntype Herd struct{}\n",
		"depot/fleet.go": "package depot\n\n// Fleet is trams.\ntype Fleet struct{}\n",
		"notes.md":       "# Notes\n\nNothing of the kind.\n",
	})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := errors.Join(source.Settle(ctx), w.CatchUp(ctx)); err != nil {
		t.Fatal(err)
	}
	memory := dense.NewMemory(time.Minute)
	find := func(w *Workspace, signals retrieval.Signals, query string) (retrieval.Answer, error) {
		return w.Find(ctx, memory, retrieval.Request{Query: retrieval.Parse(query, time.Now()), Signals: signals})
	}
	if a, err := find(w, "", "notes of the animal kind"); err != nil || a.Results[0].Path != "notes.md" || slices.Contains(a.Backend, retrieval.BackendVectors) {
		t.Errorf("without a model: %+v, %v", a, err)
	}
	a, err := find(w, retrieval.SignalsSemantic, "a collection of types")
	if err != nil || len(a.Results) == 0 || !slices.Equal(a.Backend, []string{retrieval.BackendLexicon}) {
		t.Errorf("by meaning alone, without a model: %+v, %v", a, err)
	}

	model := &topics{}
	source.Embedding().SetEmbedders(index.Embedders{Model: "topics", Of: func(string) index.Embedder { return model }})
	if err := source.Embedding().Settle(ctx); err != nil {
		t.Fatal(err)
	}
	for _, signals := range []retrieval.Signals{retrieval.SignalsAll, retrieval.SignalsSemantic} {
		a, err := find(w, signals, "which animal is kept")
		if err != nil || len(a.Results) == 0 || a.Results[0].Path != "zoo/herd.go" || !slices.Contains(a.Backend, retrieval.BackendVectors) {
			t.Errorf("%s: %+v, %v", signals, a, err)
		}
	}
	if a, err := find(w, retrieval.SignalsLexical, "which animal is kept"); err != nil || slices.Contains(a.Backend, retrieval.BackendVectors) || len(a.Results) > 0 {
		t.Errorf("by words alone: %+v, %v", a, err)
	}

	// Full text that cannot be read leaves the meaning.
	cold := &Workspace{Search: w.Search, source: source, semantic: w.semantic, ready: make(chan struct{}), rest: time.NewTimer(restAfter)}
	if err := source.Store().Close(); err != nil {
		t.Fatal(err)
	}
	if a, err := find(cold, "", "which animal is kept"); err != nil || len(a.Results) == 0 || a.Results[0].Path != "zoo/herd.go" || !slices.Equal(a.Backend, []string{retrieval.BackendVectors}) {
		t.Errorf("without full text: %+v, %v", a, err)
	}

	// A model that is gone leaves the words.
	gone := errors.New("connection refused")
	model.fail = func() error { return gone }
	if a, err := find(w, "", "notes of the other kind"); err != nil || a.Results[0].Path != "notes.md" || slices.Contains(a.Backend, retrieval.BackendVectors) {
		t.Errorf("without its model: %+v, %v", a, err)
	}
	if _, err := find(w, retrieval.SignalsSemantic, "the other kind"); !errors.Is(err, gone) {
		t.Errorf("by meaning alone, without its model: %v", err)
	}
}
