package eval

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/retrieval"
)

// letters is a model that embeds a text as how often it has some letters.
type letters struct {
	asked int
	fail  error
}

func (m *letters) Embed(_ context.Context, texts []string) ([][]float32, error) {
	m.asked += len(texts)
	var list [][]float32
	for _, t := range texts {
		v := []float32{float32(strings.Count(t, "z")), float32(strings.Count(t, "q")), .1}
		list = append(list, v)
	}
	return list, m.fail
}

func TestVectors(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"tiny/a.go":   "package a\n\n// Zizz zuzz.\nfunc Zizz() {}\n",
		"tiny/b.go":   "package a\n\n// Quick.\nfunc Quick() { qqq() }\n",
		"repos.json":  `[{"name":"tiny","language":"go"}]`,
		"q/tiny.json": `[{"query":"zzz zz of things","relevant":["a.go"],"category":"semantic"},{"query":"qq qqqq of it","relevant":["b.go"],"category":"semantic"}]`,
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	corpus := Corpus{Repositories: filepath.Join(dir, "repos.json"), Annotations: filepath.Join(dir, "q"), Checkouts: dir}
	file := filepath.Join(dir, "vectors.dat")
	run := func(by Embedder, way Way) (Report, error) {
		v, err := OpenVectors(file, "letters", by, func(s string) { t.Log(s) })
		if err != nil {
			return Report{}, err
		}
		r, err := corpus.Run(t.Context(), v, way)
		return r, errors.Join(err, v.Close())
	}
	if _, err := run(nil, Way{}); err == nil {
		t.Error("no file and no model")
	}
	m := &letters{fail: errors.New("gone")}
	if _, err := run(m, Way{}); !errors.Is(err, m.fail) {
		t.Errorf("a model that is gone: %v", err)
	}
	m = &letters{}
	r, err := run(m, Way{Signals: retrieval.SignalsSemantic})
	if err != nil || r.Overall.NDCG != 1 || m.asked != 5 { // one to know the dimension
		t.Errorf("by meaning alone: %.3f after %d texts, %v", r.Overall.NDCG, m.asked, err)
	}
	if r, err := run(nil, Way{}); err != nil || r.Overall.NDCG != 1 {
		t.Errorf("with kept vectors: %.3f, %v", r.Overall.NDCG, err)
	}
	if r, err := run(nil, Way{Signals: retrieval.SignalsLexical}); err != nil || r.Overall.NDCG != 0 {
		t.Errorf("by words alone: %.3f, %v", r.Overall.NDCG, err)
	}
	if _, err := OpenVectors(file, "another", nil, nil); err == nil || !strings.Contains(err.Error(), "letters") {
		t.Errorf("vectors of another model: %v", err)
	}
}
