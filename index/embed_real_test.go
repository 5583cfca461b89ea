package index

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"quarry/index/embedtext"
	"quarry/index/store"
	"quarry/model"
	"quarry/model/ollamatest"
)

// checkReal fails if a chunk's vector is not what the embedder makes of its text.
func checkReal(t *testing.T, x *Index, e *model.Embedder, dim int) {
	t.Helper()
	set := x.embedding.Vectors()
	if set == nil {
		t.Fatal("no vectors")
	}
	defer set.Release()
	if set.Dim != dim {
		t.Fatalf("%d dimensions, want %d", set.Dim, dim)
	}
	_, err := x.Store().Load(t.Context(), nil, func(f *store.File) error {
		text, err := x.Text(f.Path)
		if err != nil {
			return err
		}
		for i, c := range f.Syntax.Chunks {
			slot, ok := set.Slot(c.Hash)
			if !ok {
				return fmt.Errorf("chunk %d of %s has no vector", i, f.Path)
			}
			want, err := e.EmbedQuery(t.Context(), embedtext.Text(f.Path, f.Syntax, i, text))
			if err != nil {
				return err
			}
			cosine := float32(0)
			for d, v := range set.Row(slot) {
				cosine += v * want[d]
			}
			if cosine < 0.999 {
				return fmt.Errorf("chunk %d of %s: cosine %v with its own text", i, f.Path, cosine)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The real Ollama, which goes away while it embeds, comes back, and has its model
// replaced by one of another dimension.
func TestRealOllama(t *testing.T) {
	s := ollamatest.StartEmpty(t)
	s.CreateBert("bert", ollamatest.TinyBert)
	server, err := model.New(model.Options{URL: s.URL, Model: "none"})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	e := server.NewEmbedder("bert")
	dir := t.TempDir()
	write(t, dir, project)
	x := start(t, Config{Dir: dir, Clock: hurried{time.Now()}})
	x.embedding.SetEmbedders(Embedders{Model: "bert", Of: func(string) Embedder { return e }})
	settleVectors(t, x)
	checkReal(t, x, e, ollamatest.TinyBert.Embedding)

	changed := x.embedding.VectorsChanged()
	many := map[string]string{}
	for n := range 400 {
		many[fmt.Sprintf("many/f%d.go", n)] = fmt.Sprintf("package many\n\n// F%d answers %d.\nfunc F%d() int { return %d }\n", n, n*n, n, n*n)
	}
	write(t, dir, many)
	x.Rescan()
	settle(t, x)
	<-changed // some are embedded
	s.Kill()
	until(t, "it is noticed", func() bool {
		st, err := x.Status(t.Context())
		return err == nil && st.Embedding.State == EmbeddingFailing
	})
	if err := x.embedding.Settle(t.Context()); !errors.Is(err, model.ErrUnreachable) {
		t.Errorf("while Ollama is away: %v", err)
	}
	st, err := x.Status(t.Context())
	if err != nil || st.Embedding.Embedded == 0 || st.Embedding.Embedded >= st.Embedding.Texts {
		t.Errorf("while Ollama is away: %+v, %v", st.Embedding, err)
	}
	s.Restart()
	settleVectors(t, x)
	checkReal(t, x, e, ollamatest.TinyBert.Embedding)

	other := ollamatest.TinyBert
	other.Embedding *= 2
	s.CreateBert("bert", other)
	write(t, dir, map[string]string{"late.go": "package m\n\nfunc late() {}\n"})
	x.Rescan()
	settleVectors(t, x)
	checkReal(t, x, e, other.Embedding)
}
