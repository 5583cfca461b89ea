package retrieval

import (
	"cmp"
	"slices"
)

// scratch is the reusable working space of one search.
type scratch struct {
	chunkScores    []float32 // by chunk of the snapshot, zero between searches
	metadataScores []float32 // by file
	slots          []int32   // by file: its candidate's place plus 1, zero between searches
	candidates     []candidate
	nodes          []int32 // by node of the graph: its candidate's place plus 1
	heap           []scored
	order          []int32
}

// scored is a document with a score.
type scored struct {
	doc   uint32
	score float32
}

func (sc *scratch) fit(s *Snapshot) {
	sc.chunkScores = zeroed(sc.chunkScores, s.chunks)
	sc.metadataScores = zeroed(sc.metadataScores, s.files)
	if cap(sc.slots) < s.files {
		sc.slots = make([]int32, s.files)
	}
	sc.slots = sc.slots[:s.files]
	clear(sc.slots)
	if n := len(s.graph.rank); cap(sc.nodes) < n {
		sc.nodes = make([]int32, n)
	} else {
		sc.nodes = sc.nodes[:n]
		clear(sc.nodes)
	}
	sc.candidates = sc.candidates[:0]
}

func zeroed(v []float32, n int) []float32 {
	if cap(v) < n {
		return make([]float32, n)
	}
	v = v[:n]
	clear(v)
	return v
}

// documentFrequency counts the live chunks with a term over all segments.
func (s *Snapshot) documentFrequency(term string) int {
	n := 0
	for k, seg := range s.segments {
		n += s.liveChunksOf(k, seg.text.list(term))
	}
	return n
}

// accumulate adds the BM25 scores of the terms to chunks and file metadata. idfs are
// the terms' inverse document frequencies over chunks.
func (s *Snapshot) accumulate(sc *scratch, terms []queryTerm, idfs []float32) {
	for i, t := range terms {
		withTerm := 0
		for k, seg := range s.segments {
			withTerm += s.liveFilesOf(k, seg.metadata.list(t.text))
		}
		chunkWeight := t.weight * idfs[i]
		metadataWeight := t.weight * idf(withTerm, s.liveFiles)
		for k, seg := range s.segments {
			seg.text.score(t.text, chunkWeight, sc.chunkScores[s.chunkBase[k]:])
			seg.metadata.score(t.text, metadataWeight, sc.metadataScores[s.fileBase[k]:])
		}
	}
}

// score adds the BM25 weights of a term, each times weight, to the documents' scores.
func (p *postings) score(term string, weight float32, scores []float32) {
	of := p.list(term)
	of.score(weight, p.norms, scores[:len(p.norms)])
}

// top leaves the n best of scores in sc.heap, best first, ties by order, of
// those that keep allows. scores are read only.
func (sc *scratch) top(scores []float32, n int, order func(a, b uint32) int, keep func(doc uint32) bool) []scored {
	h := sc.heap[:0]
	least, last := float32(0), uint32(0)
	for d, v := range scores {
		if v < least || v == 0 || v == least && order(uint32(d), last) > 0 || !keep(uint32(d)) {
			continue
		}
		// A plain bounded buffer, halved when full: cheaper than a heap for
		// scores in no order.
		h = append(h, scored{uint32(d), v})
		if len(h) == 2*n {
			sortScored(h, order)
			h = h[:n]
			least, last = h[n-1].score, h[n-1].doc
		}
	}
	sortScored(h, order)
	if len(h) > n {
		h = h[:n]
	}
	sc.heap = h
	return h
}

func sortScored(h []scored, order func(a, b uint32) int) {
	slices.SortFunc(h, func(a, b scored) int {
		if c := cmp.Compare(b.score, a.score); c != 0 {
			return c
		}
		return order(a.doc, b.doc)
	})
}

// segmentOfChunk returns the segment of a chunk of the snapshot and its number
// there.
func (s *Snapshot) segmentOfChunk(c uint32) (k int, local uint32) {
	k = locate(s.chunkBase, c)
	return k, c - s.chunkBase[k]
}

func (s *Snapshot) file(f uint32) *file {
	k := locate(s.fileBase, f)
	return &s.segments[k].files[f-s.fileBase[k]]
}

// fileOfChunk returns the file of a chunk, both numbers of the snapshot.
func (s *Snapshot) fileOfChunk(c uint32) uint32 {
	k, local := s.segmentOfChunk(c)
	return s.fileBase[k] + s.segments[k].chunks[local].file
}

func (s *Snapshot) alive(f uint32) bool {
	k := locate(s.fileBase, f)
	return !s.dead[k].has(int(f - s.fileBase[k]))
}

// locate returns the last base that is at most n; segments without documents
// share a base with their successor, which is the one found.
func locate(bases []uint32, n uint32) int {
	if len(bases) == 1 || n < bases[1] {
		return 0
	}
	i, found := slices.BinarySearch(bases, n)
	if !found {
		return i - 1
	}
	for i+1 < len(bases) && bases[i+1] == n {
		i++
	}
	return i
}
