package retrieval

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"quarry/index/fault"
	"quarry/index/syntax"
)

// SimilarRequest asks for code like a piece of code.
type SimilarRequest struct {
	Code string
	// Path and its lines are where the code is from, which is no answer; "" if it is
	// from nowhere.
	Path               string
	StartLine, EndLine int
	Filter             Filter
	// Limit is the most results, 10 if 0.
	Limit int
	// Semantic compares Code by an embedding model, nil if there is none.
	Semantic SemanticQuery
}

// likePool is how many chunks each way of comparing names.
const likePool = 100

// likeChunk is a chunk that resembles the code.
type likeChunk struct {
	chunk uint32
	// words is the chunk's rank by shared terms, semantic that by cosine, from 1; 0
	// if it is not among the first.
	words, semantic int
	cosine          float32
	score           float32
}

// FindSimilar answers the chunks of code most like a piece of code, each a result of
// its own. Shared rare terms and, if there is a model, the cosine each give an order;
// reciprocal ranks join them, so that chunks without a vector, or without a word in
// common, keep their place.
func (s *Snapshot) FindSimilar(req SimilarRequest) Answer {
	defer s.look()
	defer s.release(fault.Expect())
	sr := &search{snap: s, req: &Request{Query: Query{Filter: req.Filter}}}
	sr.applyFilters()
	wanted := func(chunk uint32) bool {
		n, local := s.segmentOfChunk(chunk)
		c := &s.segments[n].chunks[local]
		f := &s.segments[n].files[c.file]
		itself := f.path == req.Path && int(c.startLine) <= req.EndLine && req.StartLine <= int(c.endLine)
		return s.segments[n].contentOf(c) == syntax.ContentCode && !itself && sr.keeps(s.fileOfChunk(chunk)) && sr.keepsChunk(chunk)
	}
	found := map[uint32]*likeChunk{}
	at := func(chunk uint32) *likeChunk {
		if found[chunk] == nil {
			found[chunk] = &likeChunk{chunk: chunk}
		}
		return found[chunk]
	}
	answer := Answer{Results: []Result{}, Backend: []string{"lexical"}, Class: ClassText}
	var shared []scored
	s.sharingTerms(req.Code, func(chunk uint32, share float32) {
		if wanted(chunk) {
			shared = append(shared, scored{chunk, share})
		}
	})
	sortScored(shared, s.orderChunks)
	for i, x := range shared[:min(likePool, len(shared))] {
		at(x.doc).words = i + 1
		if req.Semantic != nil {
			_, ok := req.Semantic.Cosine(s.keyOf(x.doc))
			sr.unembedded = sr.unembedded || !ok
		}
	}
	full := float32(1)
	if req.Semantic != nil {
		if near := sr.nearest(req.Semantic); len(near) > 0 {
			spoke := BackendVectors
			if sr.unembedded {
				spoke = BackendSomeVectors
			}
			answer.Backend = append(answer.Backend, spoke)
			full = 2
			rank := 0
			for _, n := range near {
				s.withKey(n.Key, func(chunk uint32) {
					if wanted(chunk) && rank < likePool {
						rank++
						x := at(chunk)
						x.semantic, x.cosine = rank, n.Cosine
					}
				})
			}
		}
	}
	order := make([]*likeChunk, 0, len(found))
	for _, x := range found {
		for _, rank := range []int{x.words, x.semantic} {
			if rank > 0 {
				x.score += rankConstant / float32(rankConstant-1+rank)
			}
		}
		x.score /= full
		order = append(order, x)
	}
	slices.SortFunc(order, func(a, b *likeChunk) int {
		return cmp.Or(cmp.Compare(b.score, a.score), s.orderChunks(a.chunk, b.chunk))
	})
	answer.Total = len(order)
	limit := req.Limit
	if limit <= 0 {
		limit = defaultLimit
	}
	for _, x := range order[:min(limit, len(order))] {
		p := sr.location(x.chunk, (*search).keptDef)
		r := Result{
			Path: s.file(s.fileOfChunk(x.chunk)).path, StartLine: p.StartLine, EndLine: p.EndLine, Symbol: p.Symbol, Kind: p.Kind,
			Score: unit(x.score), Reasons: []string{}, More: []Location{},
		}
		if x.semantic > 0 {
			r.Reasons = append(r.Reasons, fmt.Sprintf("close in meaning (cosine %.2f)", x.cosine))
		}
		if x.words > 0 {
			r.Reasons = append(r.Reasons, "shares "+strings.Join(s.sharedTerms(req.Code, x.chunk), ", "))
		}
		answer.Results = append(answer.Results, r)
	}
	runtime.KeepAlive(s)
	return answer
}

// sharedTerms are the rarest terms that a text and a chunk have in common, four at
// most.
func (s *Snapshot) sharedTerms(text string, chunk uint32) []string {
	n, local := s.segmentOfChunk(chunk)
	var out []string
	for _, t := range s.rarest(text) {
		if chunks := s.segments[n].text.list(t.term); chunks.has(local) {
			if out = append(out, t.term); len(out) == 4 {
				break
			}
		}
	}
	return out
}
