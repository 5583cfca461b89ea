package retrieval

import "time"

// browseWeights are those of a query without words: what is nearest to the user, then
// what most of the others depend on.
var browseWeights = weights{sigRank: 1, sigLocality: 1}

// browses answers whether the query has filters alone: it asks for all that they leave.
func (sr *search) browses() bool {
	q := &sr.req.Query
	return textOf(q) == "" && len(q.Phrases) == 0 && q.Narrows() && sr.req.Signals != SignalsSemantic
}

// browse makes candidates of the files that the filters leave: the newest in ModeRecent
// and when a time is asked for, else those with the highest PageRank.
func (sr *search) browse() {
	s, sc, q := sr.snap, sr.sc, &sr.req.Query
	byTime := q.Mode == ModeRecent
	var newest time.Time
	for f := range uint32(s.files) {
		if byTime && sr.keeps(f) && s.file(f).modified.After(newest) {
			newest = s.file(f).modified
		}
	}
	for f := range uint32(s.files) {
		if !sr.keeps(f) {
			continue
		}
		if _, ok := sr.firstKept(f); !ok {
			continue
		}
		sr.browsed++
		m := s.file(f)
		worth := m.class.penalty(sr.query.wanted)
		switch node, ok := s.graph.node(m.path); {
		case byTime:
			worth = float32(1 / (1 + newest.Sub(m.modified).Seconds()))
		case ok:
			worth *= leastRank + s.graph.rank[node]
		default: // too new for the graph
			worth *= leastRank
		}
		sc.metadataScores[f] = worth
	}
	n := max(4*sr.req.Limit, metadataCandidates) // more than are shown, for locality and diversity
	for _, hit := range sc.top(sc.metadataScores, n, s.orderFiles, func(uint32) bool { return true }) {
		chunk, _ := sr.firstKept(hit.doc)
		c := sc.candidateOf(s, hit.doc)
		c.chunks[0], c.n = scored{doc: chunk}, 1
		c.signals[sigRank] = leastRank
		if c.node >= 0 {
			c.signals[sigRank] += s.graph.rank[c.node]
		}
	}
}

// leastRank is what a file that nothing depends on counts in a browse.
const leastRank = .001

// firstKept is the first chunk of a file that the filters keep.
func (sr *search) firstKept(f uint32) (chunk uint32, ok bool) {
	k := locate(sr.snap.fileBase, f)
	m, base := sr.snap.file(f), sr.snap.chunkBase[k]
	for c := m.firstChunk; c < m.endChunk; c++ {
		if sr.keepsChunk(base + c) {
			return base + c, true
		}
	}
	return 0, false
}
