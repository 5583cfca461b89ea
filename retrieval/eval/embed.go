package eval

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"

	"quarry/index/embedtext"
	"quarry/index/vectors"
	"quarry/retrieval"
	"quarry/retrieval/vector"
)

// Embedder turns texts into vectors; index.Embedder is one.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// Vectors are the vectors of an evaluation's chunks and questions, kept in a file from
// run to run: embedding takes longer than all else.
type Vectors struct {
	file     *vectors.File
	model    string
	by       Embedder
	progress func(string)
}

// OpenVectors opens the file, or makes one if there is none. by embeds what is missing;
// nil makes that an error. tell is told how far it is.
func OpenVectors(path, model string, by Embedder, progress func(string)) (*Vectors, error) {
	v := &Vectors{model: model, by: by, progress: progress}
	file, err := vectors.Open(path)
	switch {
	case err == nil && file.Model != model && model != "":
		return nil, errors.Join(fmt.Errorf("%s holds vectors of %s, not of %s: name another file", path, file.Model, model), file.Close())
	case err == nil:
		v.file = file
		return v, nil
	case !errors.Is(err, os.ErrNotExist) || by == nil:
		return nil, err
	}
	dim, err := by.Embed(context.Background(), []string{"how many dimensions"})
	if err != nil {
		return nil, err
	}
	v.file, err = vectors.Create(path, model, len(dim[0]))
	return v, err
}

// Close closes the file.
func (v *Vectors) Close() error { return v.file.Close() }

// keyOfText is where the vector of a text is kept.
func keyOfText(text string) vectors.Key {
	sum := sha256.Sum256([]byte(text))
	return vectors.Key(sum[:16])
}

// embedBatch is how many texts are embedded before they are written.
const embedBatch = 64

// need embeds the texts that have no vector.
func (v *Vectors) need(ctx context.Context, what string, texts []string) error {
	met := map[vectors.Key]bool{}
	var missing []string
	for _, t := range texts {
		k := keyOfText(t)
		if _, ok := v.file.Slot(k); !ok && !met[k] {
			met[k] = true
			missing = append(missing, t)
		}
	}
	if len(missing) > 0 && v.by == nil {
		return fmt.Errorf("%s: %d texts have no vector: name a model that embeds them", what, len(missing))
	}
	for at := 0; at < len(missing); at += embedBatch {
		v.progress(fmt.Sprintf("%s: %d of %d texts embedded", what, at, len(missing)))
		part := missing[at:min(at+embedBatch, len(missing))]
		list, err := v.by.Embed(ctx, part)
		if err != nil {
			return err
		}
		keys := make([]vectors.Key, len(part))
		for i, t := range part {
			if list[i] == nil {
				return fmt.Errorf("%s: %s refuses a text of %d bytes", what, v.model, len(t))
			}
			keys[i] = keyOfText(t)
		}
		if _, err := v.file.Append(keys, list); err != nil {
			return err
		}
	}
	return nil
}

// chunkVectors are a repository's chunks by the key that retrieval knows them by.
type chunkVectors struct {
	rows vector.Rows
	keys []retrieval.Key
	row  map[retrieval.Key]int
}

// Embed gives a repository's chunks and questions vectors. As in an index, a text that
// stands in several places has the vector of the first.
func (v *Vectors) Embed(ctx context.Context, l *Loaded) error {
	prefixes := embedtext.PrefixesOf(v.file.Model)
	var texts []string
	s := &chunkVectors{row: map[retrieval.Key]int{}, rows: vector.Rows{Dim: v.file.Dim, Stride: v.file.Dim}}
	for _, d := range l.Documents {
		for i, c := range d.Syntax.Chunks {
			if _, ok := s.row[c.Hash]; !ok {
				s.row[c.Hash] = len(s.keys)
				s.keys = append(s.keys, c.Hash)
				texts = append(texts, prefixes.Begin(embedtext.Document, embedtext.Text(d.Path, d.Syntax, i, d.Text)))
			}
		}
	}
	var queries []string
	for _, q := range l.Questions {
		queries = append(queries, prefixes.Begin(embedtext.Query, textOf(q.Query)))
	}
	if err := v.need(ctx, l.Repository.Name, append(queries, texts...)); err != nil {
		return err
	}
	set := v.file.Set()
	defer set.Release()
	at := func(text string) []float32 {
		slot, _ := set.Slot(keyOfText(text))
		return append([]float32(nil), set.Row(slot)...)
	}
	for _, t := range texts {
		s.rows.Data = append(s.rows.Data, at(t)...)
	}
	l.embeddedQueries = map[string]retrieval.SemanticQuery{}
	for i, q := range l.Questions {
		l.embeddedQueries[q.Query] = embeddedQuery{s, at(queries[i])}
	}
	return nil
}

// Embedded is what the model says of a question, nil if none was asked.
func (l *Loaded) Embedded(query string) retrieval.SemanticQuery { return l.embeddedQueries[query] }

// embeddedQuery is a question among chunkVectors; it compares exactly.
type embeddedQuery struct {
	*chunkVectors
	query []float32
}

func (m embeddedQuery) Nearest(k int, among []retrieval.Key) []retrieval.Near {
	var hits []vector.Hit
	if among == nil {
		hits = vector.Nearest(m.rows, nil, m.query, k)
	} else {
		var rows []int
		for _, key := range among {
			if row, ok := m.row[key]; ok {
				rows = append(rows, row)
			}
		}
		hits = vector.NearestOf(m.rows, m.query, k, rows)
	}
	near := make([]retrieval.Near, len(hits))
	for i, h := range hits {
		near[i] = retrieval.Near{Key: m.keys[h.Row], Cosine: h.Score}
	}
	return near
}

func (m embeddedQuery) Cosine(key retrieval.Key) (float32, bool) {
	row, ok := m.row[key]
	if !ok {
		return 0, false
	}
	return vector.Cosine(m.rows.At(row), m.query), true
}
