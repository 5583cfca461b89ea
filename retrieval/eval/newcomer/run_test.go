package newcomer

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/retrieval"
	"quarry/retrieval/eval"
)

// tides is an embedding model that knows two meanings.
type tides struct{}

func (tides) Embed(_ context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, t := range texts {
		if vectors[i] = []float32{0, 1}; strings.Contains(t, "water") || strings.Contains(t, "ebb") {
			vectors[i] = []float32{1, 0}
		}
	}
	return vectors, nil
}

// Questions are asked with the vectors of a model where there are some.
func TestRunWithVectors(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"ebb.go": "package ebb\n\nfunc ebb() {}\n", "quay.go": "package ebb\n\nfunc quay() {}\n"} {
		if err := os.MkdirAll(filepath.Join(dir, "broot"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "broot", name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	set := Set{
		Repositories: []Repository{{Name: "broot", Language: "go"}},
		Questions: map[string][]Question{"broot": {{
			ID: "broot-water", Kind: "behaviour", Text: "when does the water sink", Answers: []eval.Span{{Path: "ebb.go", StartLine: 1, EndLine: 3}},
		}}},
	}
	v, err := eval.OpenVectors(filepath.Join(dir, "vectors.dat"), "tides", tides{}, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	for _, c := range []struct {
		vectors *eval.Vectors
		signals retrieval.Signals
		want    float64
	}{{v, retrieval.SignalsAll, 1}, {v, retrieval.SignalsLexical, 0}, {nil, retrieval.SignalsLexical, 0}} {
		r, err := set.Run(t.Context(), Options{Corpus: dir, Half: Fit, Vectors: c.vectors, Way: eval.Way{Signals: c.signals}})
		if err != nil || r.Overall.Questions.File1 != c.want {
			t.Errorf("vectors %t, %s: %+v, %v", c.vectors != nil, c.signals, r.Overall.Questions, err)
		}
	}
}
