package retrieval

import (
	"cmp"
	"runtime"
	"slices"
	"sync"

	"quarry/index/fault"
	"quarry/index/syntax"
	"quarry/index/token"
)

// SimilarChunk is a chunk of code that resembles a text.
type SimilarChunk struct {
	Path, Language string
	// Lines are 1-based and inclusive.
	StartLine, EndLine int
	// Score is in 0..1: BM25 as a part of the most that any chunk could have.
	Score float64
}

const (
	// similarTerms is how many terms of a text are looked for, the rarest: common
	// ones cost most and tell least.
	similarTerms = 32
	// similarPostings bounds the work for a text of common terms only.
	similarPostings = 20_000
)

// Similar finds the k chunks of code most like a text, in other files than
// except, the best first. It compares the terms of single chunks and knows
// nothing of questions, files or names, unlike Search: what is asked for is the
// code to write next, not the file that answers.
func (s *Snapshot) Similar(text, except string, k int) []SimilarChunk {
	defer s.look()
	defer s.release(fault.Expect())
	var found []SimilarChunk
	least := 0.0
	best := func() {
		slices.SortFunc(found, func(a, b SimilarChunk) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Path, b.Path), cmp.Compare(a.StartLine, b.StartLine))
		})
		if len(found) >= k {
			found = found[:k]
			least = found[k-1].Score
		}
	}
	s.sharingTerms(text, func(chunk uint32, share float32) {
		score := float64(share)
		if score < least {
			return
		}
		n, local := s.segmentOfChunk(chunk)
		c := &s.segments[n].chunks[local]
		if f := &s.segments[n].files[c.file]; f.path != except {
			found = append(found, SimilarChunk{f.path, f.language, int(c.startLine), int(c.endLine), score})
		}
		// A buffer that is cut when it is full: thousands of chunks share a term,
		// and sorting them all would be most of the work.
		if len(found) >= 16*k {
			best()
		}
	})
	best()
	runtime.KeepAlive(s)
	return found
}

// termScores are the scores of a snapshot's chunks, 0 outside sharingTerms.
var termScores = sync.Pool{New: func() any { return new([]float32) }}

// sharingTerms visits the chunks of code that have rare terms of a text, in no
// order, with their BM25 as a share of the most there could be.
func (s *Snapshot) sharingTerms(text string, visit func(chunk uint32, share float32)) {
	kept := termScores.Get().(*[]float32)
	defer termScores.Put(kept)
	if len(*kept) < s.chunks {
		*kept = make([]float32, s.chunks)
	}
	scores := *kept
	var having []uint32 // the chunks with a score
	most, visited := float32(0), 0
	for _, t := range s.rarest(text) {
		if visited > similarPostings {
			break
		}
		most += t.idf * maxImpact
		for n, seg := range s.segments {
			chunks := seg.text.list(t.term)
			visited += s.liveChunksOf(n, chunks)
			base := s.chunkBase[n]
			for at := chunks.first(); at.next(); {
				if scores[base+at.doc] == 0 {
					having = append(having, base+at.doc)
				}
				scores[base+at.doc] += t.idf * impact(at.frequency, seg.text.norms[at.doc])
			}
		}
	}
	for _, chunk := range having {
		score := scores[chunk]
		scores[chunk] = 0
		n, local := s.segmentOfChunk(chunk)
		if c := &s.segments[n].chunks[local]; s.segments[n].contentOf(c) == syntax.ContentCode && !s.dead[n].has(int(c.file)) {
			visit(chunk, score/most)
		}
	}
}

type rareTerm struct {
	term string
	idf  float32
}

// rarest are the distinct terms of text that some chunk has, the rarest first,
// at most similarTerms.
func (s *Snapshot) rarest(text string) []rareTerm {
	var a token.Analyzer
	met := map[string]bool{}
	var terms []rareTerm
	a.Terms(text, func(term []byte) {
		if met[string(term)] {
			return
		}
		t := string(term)
		met[t] = true
		if df := s.documentFrequency(t); df > 0 {
			terms = append(terms, rareTerm{t, idf(df, s.liveChunks)})
		}
	})
	slices.SortFunc(terms, func(a, b rareTerm) int { return cmp.Or(cmp.Compare(b.idf, a.idf), cmp.Compare(a.term, b.term)) })
	return terms[:min(similarTerms, len(terms))]
}
