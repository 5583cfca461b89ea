package live

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"quarry/index"
	"quarry/index/embedtext"
	"quarry/index/store"
	"quarry/index/syntax"
	"quarry/retrieval"
	"quarry/retrieval/dense"
)

// Find answers a request, by the vectors of memory's model too if the chunks are
// embedded; by the lexicon if they are not. A search by semantics alone fails if the
// model does not answer. It answers from memory;
// before all of the index was read once, or while memory holds nothing at all, from
// the full-text table on disk, whose answers are plainer and slower but complete. If
// that cannot be read, what is in memory answers semantically.
func (w *Workspace) Find(ctx context.Context, memory *dense.Memory, req retrieval.Request) (answer retrieval.Answer, err error) {
	w.rest.Reset(restAfter)
	w.steady(func() { answer, err = w.find(ctx, memory, req) })
	return answer, err
}

func (w *Workspace) find(ctx context.Context, memory *dense.Memory, req retrieval.Request) (retrieval.Answer, error) {
	if req.Signals == retrieval.SignalsSemantic || !w.semantic.Empty() && req.WantsSemantic() {
		q, err := w.semantic.Ask(ctx, memory, embedtext.Query, req.Query.Text)
		switch {
		case err == nil:
			defer q.Release()
			req.Semantic = q
		case req.Signals == retrieval.SignalsSemantic && !errors.Is(err, index.ErrNoVectors):
			return retrieval.Answer{}, err
		}
	}
	if req.Signals == retrieval.SignalsSemantic {
		return w.Search.Search(ctx, req)
	}
	// An index that was empty at the start may have been filled since.
	if w.IsReady() && w.Search.Current().Files() > 0 {
		return w.Search.Search(ctx, req)
	}
	answer, err := w.fullText(ctx, req)
	if err != nil && ctx.Err() == nil && req.Semantic != nil {
		req.Signals = retrieval.SignalsSemantic
		return w.Search.Search(ctx, req)
	}
	return answer, err
}

// Declared finds declarations by name: in memory, or while that does not hold all of
// the index, on disk.
func (w *Workspace) Declared(ctx context.Context, name string, kinds []syntax.Kind, limit int) (found []retrieval.Declaration, err error) {
	w.steady(func() { found, err = w.declared(ctx, name, kinds, limit) })
	return found, err
}

func (w *Workspace) declared(ctx context.Context, name string, kinds []syntax.Kind, limit int) ([]retrieval.Declaration, error) {
	behind := w.Behind(ctx) // asked first: what is known by then is what was looked at
	found := w.Search.Current().Declared(name, kinds, limit)
	if len(found) > 0 && w.IsReady() || !behind {
		return found, nil
	}
	last, key := retrieval.NameKey(name)
	if key == "" {
		return found, nil
	}
	named, err := w.source.Store().Named(ctx, last, key, namedOnDisk)
	if err != nil {
		return nil, err
	}
	all := make([]retrieval.Declaration, len(named))
	for i, n := range named {
		all[i] = retrieval.Declaration{Path: n.Path, Name: n.Name, Container: n.Container, Kind: n.Kind}
	}
	if onDisk := retrieval.Nearest(name, kinds, all, limit); len(onDisk) > 0 {
		return onDisk, nil
	}
	return found, nil
}

// namedOnDisk is how many declarations are looked at that are found on disk.
const namedOnDisk = 1000

// IsReady answers whether all that the index held at the start is in memory.
func (w *Workspace) IsReady() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.ready:
		return true
	default:
		return false
	}
}

// fullTextChunks is how many chunks the full-text table is asked for.
const fullTextChunks = 200

// columns weigh the full-text table's columns as the postings in memory do.
var columns = store.Columns{Body: 1, Comment: 1, Names: 3, Stem: 2, Dirs: 1}

// fullText ranks files by their best chunk in the full-text table. All filters apply;
// quoted texts are looked for in the files that have one of their words.
func (w *Workspace) fullText(ctx context.Context, req retrieval.Request) (retrieval.Answer, error) {
	start := time.Now()
	answer := retrieval.Answer{Results: []retrieval.Result{}, Backend: []string{"full text"}}
	terms := req.Query.Terms()
	if len(terms) == 0 {
		return answer, nil
	}
	s := w.source.Store()
	hits, err := s.MatchAny(ctx, terms, columns, fullTextChunks)
	if err != nil || len(hits) == 0 {
		return answer, err
	}
	limit := req.Limit
	if limit <= 0 {
		limit = 10
	}
	byFile := map[int64][]store.Hit{}
	var order []int64 // files by their best chunk
	for _, h := range hits {
		id := store.FileOf(h.Chunk)
		if byFile[id] == nil {
			order = append(order, id)
		}
		byFile[id] = append(byFile[id], h)
	}
	files := map[int64]*store.File{}
	if _, err := s.Load(ctx, slices.Sorted(slices.Values(order)), func(f *store.File) error {
		files[f.ID] = f
		return nil
	}); err != nil {
		return answer, err
	}
	for _, id := range order {
		f := files[id]
		if f == nil || !req.Query.Keeps(f.Path, f.Syntax.Language, time.Unix(0, f.ModTime)) || !declares(f.Syntax, req.Query.Symbols) {
			continue
		}
		if len(req.Query.Phrases) > 0 {
			if text, err := w.source.Text(f.Path); err != nil || !req.Query.Quotes(text) {
				continue
			}
		}
		r := result(f, byFile[id], hits[0].Score, terms, &req.Query.Filter)
		if r.StartLine == 0 {
			continue // no chunk has a declaration of the kind
		}
		answer.Total++
		if len(answer.Results) < limit {
			answer.Results = append(answer.Results, r)
		}
	}
	answer.Timings.Lexical = time.Since(start)
	answer.Timings.Total = answer.Timings.Lexical
	return answer, nil
}

// declares answers whether a file declares one of the names, which may have their
// container before them; every file does if there are none.
func declares(f *syntax.File, names []string) bool {
	return len(names) == 0 || slices.ContainsFunc(f.Symbols, func(sym syntax.Symbol) bool {
		return slices.ContainsFunc(names, func(name string) bool {
			words := strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune(".:#", r) })
			if len(words) == 0 || !strings.EqualFold(sym.Name, words[len(words)-1]) {
				return false
			}
			owner := sym.Container[strings.LastIndexByte(sym.Container, '.')+1:]
			return len(words) == 1 || strings.EqualFold(owner, words[len(words)-2])
		})
	})
}

func keepsKind(f *retrieval.Filter, kind syntax.Kind) bool {
	return (len(f.Kinds) == 0 || slices.Contains(f.Kinds, kind)) && !slices.Contains(f.NotKinds, kind)
}

// result shows a file at the best of its chunks that pass the filter's kinds, at no
// line if none does.
func result(f *store.File, hits []store.Hit, best float64, terms []string, filter *retrieval.Filter) retrieval.Result {
	r := retrieval.Result{Path: f.Path, More: []retrieval.Location{}, Reasons: []string{"text matches one of " + strings.Join(terms, ", ")}}
	for _, h := range hits {
		at := slices.Index(f.ChunkIDs, h.Chunk)
		if at < 0 {
			continue
		}
		c := &f.Syntax.Chunks[at]
		p := retrieval.Location{StartLine: int(c.Span.StartLine), EndLine: int(c.Span.EndLine), Score: max(0, min(1, h.Score/best))}
		for _, i := range c.Symbols {
			sym := &f.Syntax.Symbols[i]
			if !keepsKind(filter, sym.Kind) {
				continue
			}
			p.Symbol, p.Kind = sym.Name, sym.Kind
			if sym.Container != "" {
				p.Symbol = sym.Container + "." + sym.Name
			}
			if sym.Kind != syntax.KindModule {
				break // a package clause names a chunk only when nothing else does
			}
		}
		switch {
		case p.Symbol == "" && (len(filter.Kinds) > 0 || len(c.Symbols) > 0 && len(filter.NotKinds) > 0):
		case r.StartLine == 0:
			r.StartLine, r.EndLine, r.Symbol, r.Kind, r.Score = p.StartLine, p.EndLine, p.Symbol, p.Kind, p.Score
		case len(r.More) < 4:
			r.More = append(r.More, p)
		}
	}
	return r
}
