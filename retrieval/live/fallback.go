package live

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"quarry/index"
	"quarry/index/embedtext"
	"quarry/index/store"
	"quarry/index/syntax"
	"quarry/index/token"
	"quarry/retrieval"
	"quarry/retrieval/dense"
)

// Find answers a request, by the vectors of memory's model too if the chunks are
// embedded; by the lexicon if they are not. A search by semantics alone fails if the
// model does not answer. It answers from memory; before all of the index was read once, or
// while memory holds nothing at all, from the full-text table on disk, whose answers are
// plainer and slower but complete. Where that is not filled yet, memory answers with the
// part that it has, and Behind says so. If it cannot be read, what is in memory answers
// semantically.
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
	ready := w.IsReady() && w.Search.Current().Files() > 0
	only := req.OnlyDeclared()
	if ready && !(only && w.Behind(ctx)) {
		return w.Search.Search(ctx, req)
	}
	named, err := w.named(ctx, &req)
	if only || err != nil {
		return named, err
	}
	answer, filled, err := w.fullText(ctx, req)
	if !filled && err == nil {
		answer, err = w.Search.Search(ctx, req)
	}
	if err == nil {
		return first(named, answer, req.Limit), nil
	}
	if err != nil && ctx.Err() == nil && req.Semantic != nil {
		req.Signals = retrieval.SignalsSemantic
		return w.Search.Search(ctx, req)
	}
	return answer, err
}

// backendNames is what the Backend of an Answer has where the database was asked for
// declarations of a name.
const backendNames = "symbols"

// maxNamedFiles is how many files with a declaration of a name are answered from disk.
const maxNamedFiles = 50

// named finds the files that declare a name of the request, as the database has them: those that
// it asks for by name, or the one that it is. All filters apply.
func (w *Workspace) named(ctx context.Context, req *retrieval.Request) (retrieval.Answer, error) {
	start := time.Now()
	q := &req.Query
	answer := retrieval.Answer{Results: []retrieval.Result{}, Backend: []string{backendNames}, Class: retrieval.ClassSymbol}
	names, asked := q.Symbols, true
	if len(names) == 0 {
		names, asked = []string{q.Text}, false
	}
	limit := max(req.Limit, 10)
	met := map[string]bool{}
	for _, name := range names {
		last, key := retrieval.NameKey(name)
		if key == "" || !asked && strings.ContainsAny(q.Text, " \t\n") {
			continue
		}
		look := w.source.Store().NamedInAnyCase
		if !asked { // only as it is written: a word is many names in some case
			look = func(ctx context.Context, name string, limit int) ([]store.Named, error) {
				return w.source.Store().Named(ctx, name, "", limit)
			}
		}
		list, err := look(ctx, last, namedOnDisk)
		if err != nil {
			return answer, err
		}
		var all []retrieval.Declaration
		for _, n := range list {
			if asked || n.Kind != syntax.KindModule { // whose name each of its files may have
				all = append(all, retrieval.Declaration{Path: n.Path, Name: n.Name, Container: n.Container, Kind: n.Kind})
			}
		}
		for _, d := range retrieval.Nearest(name, q.Kinds, all, namedOnDisk) {
			if met[d.Path] {
				continue
			}
			met[d.Path] = true
			if len(met) > maxNamedFiles {
				break
			}
			f, err := w.source.Store().ByPath(ctx, d.Path)
			if err != nil {
				return answer, err
			}
			if f == nil || !q.Keeps(f.Path, f.Syntax.Language, time.Unix(0, f.ModTime)) {
				continue
			}
			if r, ok := declaring(f, name, &q.Filter); ok {
				answer.Results = append(answer.Results, r)
			}
		}
	}
	answer.Total = len(answer.Results)
	answer.Results = answer.Results[:min(limit, answer.Total)]
	answer.Timings.Lexical = time.Since(start)
	answer.Timings.Total = answer.Timings.Lexical
	return answer, nil
}

// declaring is a file at the first of its declarations of a name, with the next ones nested.
func declaring(f *store.File, name string, filter *retrieval.Filter) (r retrieval.Result, ok bool) {
	r = retrieval.Result{Path: f.Path, Score: 1, More: []retrieval.Location{}}
	for i := range f.Syntax.Symbols {
		sym := &f.Syntax.Symbols[i]
		if !keepsKind(filter, sym.Kind) || !isNamed(sym, []string{name}) {
			continue
		}
		p := retrieval.Location{StartLine: int(sym.Span.StartLine), EndLine: int(sym.Span.EndLine), Score: 1, Symbol: sym.Name, Kind: sym.Kind}
		if sym.Container != "" {
			p.Symbol = sym.Container + "." + sym.Name
		}
		switch {
		case !ok:
			ok = true
			r.StartLine, r.EndLine, r.Symbol, r.Kind = p.StartLine, p.EndLine, p.Symbol, p.Kind
			r.Reasons = []string{fmt.Sprintf("declares %s %s", p.Kind, p.Symbol)}
		case len(r.More) < 4:
			r.More = append(r.More, p)
		}
	}
	return r, ok
}

// first is an answer with the results of another one before its own.
func first(before, answer retrieval.Answer, limit int) retrieval.Answer {
	if len(before.Results) == 0 {
		return answer
	}
	list := before.Results
	for _, r := range answer.Results {
		if !slices.ContainsFunc(before.Results, func(b retrieval.Result) bool { return b.Path == r.Path }) {
			list = append(list, r)
		}
	}
	answer.Total = max(answer.Total, len(list))
	answer.Results = list[:min(len(list), cmp.Or(max(limit, 0), 10))]
	answer.Backend = append([]string{backendNames}, answer.Backend...)
	return answer
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

const (
	// fullTextFiles is how many files the full-text table is asked for, and readFiles how
	// many of those are read to find where in them the terms stand.
	fullTextFiles = 200
	readFiles     = 40
	loadFiles     = 20 // at once
	// dueFiles is how many files may be missing in the table: that many are read at a
	// question.
	dueFiles = 64
)

// fullText ranks files by the full-text table, reads the best and those that the table
// does not have yet, and ranks them by their best chunk. All filters apply. filled is false
// if more is missing in the table than can be read.
func (w *Workspace) fullText(ctx context.Context, req retrieval.Request) (answer retrieval.Answer, filled bool, err error) {
	start := time.Now()
	answer = retrieval.Answer{Results: []retrieval.Result{}, Backend: []string{"full text"}}
	terms := req.Query.Terms()
	if len(terms) == 0 {
		return answer, true, nil
	}
	s := w.source.Store()
	match, err := s.MatchAny(ctx, terms, fullTextFiles, dueFiles)
	if err != nil || len(match.Due) > dueFiles {
		return answer, err != nil, err
	}
	var ids []int64
	for _, d := range match.Due { // first, since nobody knows what is in them
		ids = append(ids, d.ID)
	}
	ids = append(ids, match.Files...)
	if len(ids) == 0 {
		return answer, true, nil
	}
	found := fullTextSearch{query: &req.Query, terms: terms, weights: match.Weights, text: w.source.Text}
	for group := range slices.Chunk(ids, loadFiles) {
		if found.read >= readFiles+len(match.Due) {
			break
		}
		if _, err := s.Load(ctx, group, func(f *store.File) error { found.look(f); return nil }); err != nil {
			return answer, true, err
		}
	}
	answer.Results, answer.Total = found.best(req.Limit)
	answer.Timings.Lexical = time.Since(start)
	answer.Timings.Total = answer.Timings.Lexical
	return answer, true, nil
}

// fullTextSearch is one question to files that may have an answer.
type fullTextSearch struct {
	query   *retrieval.Query
	terms   []string
	weights map[string]float64
	text    func(path string) (string, error)

	analyzer token.Analyzer
	buffer   []byte
	read     int
	files    []lookedAt
}

// lookedAt is a file with what its chunks have of the terms.
type lookedAt struct {
	*store.File
	chunks []chunkTerms
}

// chunkTerms is what a chunk has of the terms.
type chunkTerms struct {
	counts []float64 // by term, weighed by where it stands
	length float64   // in terms
}

// The places that a term may stand in are weighed as the postings in memory weigh them.
const (
	weightNames = 3
	weightStem  = 2
)

// look reads a file and counts the terms in its chunks.
func (s *fullTextSearch) look(f *store.File) {
	q := s.query
	if !q.Keeps(f.Path, f.Syntax.Language, time.Unix(0, f.ModTime)) || !declares(f.Syntax, q.Symbols) {
		return
	}
	s.read++
	text, err := s.text(f.Path)
	if err != nil || len(q.Phrases) > 0 && !q.Quotes(text) { // gone, or left out since it was indexed
		return
	}
	ofPath := chunkTerms{counts: make([]float64, len(s.terms))}
	stem, dirs := store.PathWords(f.Path)
	s.count(&ofPath, stem, weightStem)
	s.count(&ofPath, dirs, 1)
	looked := lookedAt{f, make([]chunkTerms, len(f.Syntax.Chunks))}
	for i := range f.Syntax.Chunks {
		c, t := &f.Syntax.Chunks[i], &looked.chunks[i]
		*t = chunkTerms{slices.Clone(ofPath.counts), ofPath.length}
		end := min(int(c.Span.End), len(text)) // it may have changed
		s.count(t, text[min(int(c.Span.Start), end):end], 1)
		for _, symbol := range c.Symbols {
			s.count(t, f.Syntax.Symbols[symbol].Name, weightNames)
		}
	}
	s.files = append(s.files, looked)
}

// count adds what a text has of the terms.
func (s *fullTextSearch) count(to *chunkTerms, text string, weight float64) {
	s.buffer = s.analyzer.AppendText(s.buffer[:0], text)
	for term := range bytes.FieldsSeq(s.buffer) {
		to.length++
		if s.weights[string(term)] > 0 {
			to.counts[slices.Index(s.terms, string(term))] += weight
		}
	}
}

// BM25's usual constants.
const (
	saturation = 1.2
	lengthPart = .75
)

// best answers the best results, their scores in proportion to the first one's, and how
// many there are.
func (s *fullTextSearch) best(limit int) ([]retrieval.Result, int) {
	chunks, length := 0., 0.
	for i := range s.files {
		for _, c := range s.files[i].chunks {
			chunks, length = chunks+1, length+c.length
		}
	}
	results := []retrieval.Result{}
	for i := range s.files {
		f := &s.files[i]
		var scored []scoredChunk
		for at, c := range f.chunks {
			score := 0.
			for k, n := range c.counts {
				score += s.weights[s.terms[k]] * n * (saturation + 1) / (n + saturation*(1-lengthPart+lengthPart*c.length*chunks/length))
			}
			if score > 0 {
				scored = append(scored, scoredChunk{at, score})
			}
		}
		slices.SortStableFunc(scored, func(a, b scoredChunk) int { return cmp.Compare(b.score, a.score) })
		if r := result(f.File, scored, s.terms, &s.query.Filter); r.StartLine > 0 {
			results = append(results, r)
		}
	}
	slices.SortStableFunc(results, func(a, b retrieval.Result) int { return cmp.Compare(b.Score, a.Score) })
	found := len(results)
	if limit <= 0 {
		limit = 10
	}
	results = results[:min(limit, found)]
	for i := len(results) - 1; i >= 0; i-- { // the first one last
		for j := range results[i].More {
			results[i].More[j].Score /= results[0].Score
		}
		results[i].Score /= results[0].Score
	}
	return results, found
}

// scoredChunk is one of a file's chunks.
type scoredChunk struct {
	at    int
	score float64
}

// declares answers whether a file declares one of the names, which may have their
// container before them; every file does if there are none.
func declares(f *syntax.File, names []string) bool {
	return len(names) == 0 || slices.ContainsFunc(f.Symbols, func(sym syntax.Symbol) bool { return isNamed(&sym, names) })
}

// isNamed answers whether a symbol has one of the names, perhaps with what it is declared in.
func isNamed(sym *syntax.Symbol, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		words := strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune(".:#", r) })
		if len(words) == 0 || !strings.EqualFold(sym.Name, words[len(words)-1]) {
			return false
		}
		owner := sym.Container[strings.LastIndexByte(sym.Container, '.')+1:]
		return len(words) == 1 || strings.EqualFold(owner, words[len(words)-2])
	})
}

func keepsKind(f *retrieval.Filter, kind syntax.Kind) bool {
	return (len(f.Kinds) == 0 || slices.Contains(f.Kinds, kind)) && !slices.Contains(f.NotKinds, kind)
}

// result shows a file at the best of its chunks that pass the filter's kinds, at no
// line if none does. The best chunk comes first.
func result(f *store.File, chunks []scoredChunk, terms []string, filter *retrieval.Filter) retrieval.Result {
	r := retrieval.Result{Path: f.Path, More: []retrieval.Location{}, Reasons: []string{"text matches one of " + strings.Join(terms, ", ")}}
	for _, scored := range chunks {
		c := &f.Syntax.Chunks[scored.at]
		p := retrieval.Location{StartLine: int(c.Span.StartLine), EndLine: int(c.Span.EndLine), Score: scored.score}
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
