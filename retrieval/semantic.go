package retrieval

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
)

// Key stands for the code of a chunk, and its vector is kept by it:
// syntax.Chunk.Hash.
type Key = [16]byte

// SemanticQuery compares one query with chunks in the space of an embedding model.
type SemanticQuery interface {
	// Nearest answers the k chunks nearest to the query, the nearest first; of those
	// in among only, if it is not nil.
	Nearest(k int, among []Key) []Near
	// Cosine is a chunk's, false if it is not embedded.
	Cosine(Key) (cosine float32, ok bool)
}

// Near is a chunk with its cosine to the query.
type Near struct {
	Key    Key
	Cosine float32
}

const (
	// meantChunks is how many of the nearest chunks name candidates. The cosine of
	// the last of them counts as nothing, that of the first as all.
	meantChunks = 100
	// narrow is the part, as a divisor, of all chunks that the filters may leave for
	// the nearest to be looked for among those alone. With more, so many more of all
	// are asked for that enough are left.
	narrow = 8
)

// semantic takes in what an embedding model says, or where it knows no chunk the
// lexicon.
func (sr *search) semantic() {
	if !wantsSemantic(sr.req.Signals, &sr.query) {
		return
	}
	m := sr.req.Semantic
	var near []Near
	if m != nil {
		near = sr.nearest(m)
	}
	if len(near) == 0 {
		if m = sr.askLexicon(); m == nil {
			return
		}
		near = sr.nearest(m)
	}
	if len(near) == 0 {
		return
	}
	sr.meant = m
	sr.farthest, sr.closest = near[len(near)-1].Cosine, near[0].Cosine
	if len(near) < meantChunks {
		sr.farthest = min(0, sr.farthest)
	}
	if q, ok := m.(lexiconQuery); ok && sr.req.Signals != SignalsSemantic {
		floor, clear := q.standsOut()
		sr.farthest, sr.closest = max(sr.farthest, floor), max(sr.closest, clear)
	}
	for _, n := range near {
		if sr.share(n.Cosine) == 0 {
			break
		}
		sr.snap.withKey(n.Key, func(c uint32) {
			f := sr.snap.fileOfChunk(c)
			if sr.keeps(f) && sr.keepsChunk(c) {
				sr.sc.candidateOf(sr.snap, f).mean(c, sr.share(n.Cosine))
			}
		})
	}
	for i := range sr.sc.candidates {
		c := &sr.sc.candidates[i]
		for _, h := range c.chunks[:c.n] {
			if cosine, ok := sr.cosineOf(m, h.doc); ok {
				c.mean(h.doc, sr.share(cosine))
			} else {
				sr.unembedded = true
			}
		}
		c.signals[sigVector] = c.meantShare
	}
}

// cosineOf is a live chunk's cosine.
func (sr *search) cosineOf(m SemanticQuery, chunk uint32) (cosine float32, ok bool) {
	if q, ok := m.(lexiconQuery); ok {
		return q.cosineOf(chunk)
	}
	return m.Cosine(sr.snap.keyOf(chunk))
}

// share is what a cosine counts.
func (sr *search) share(cosine float32) float32 {
	if sr.closest <= sr.farthest {
		return 1
	}
	return max(0, (cosine-sr.farthest)/(sr.closest-sr.farthest))
}

// chunkSimilarityWeight is what the nearest chunk counts against the best by words when a
// location in a file is chosen. With sigVector it was chosen where both sets of questions
// gain (bench/vectors.md); TestMeaningWeights varies it.
var chunkSimilarityWeight float32 = 1

// blend puts the chunks of a file into the order of words and embedding together, as
// far as places are shown.
func (sr *search) blend(c *candidate) {
	if sr.meant == nil {
		return
	}
	most := float32(0)
	for i := range sr.sc.candidates {
		if o := &sr.sc.candidates[i]; o.n > 0 {
			most = max(most, o.chunks[0].score)
		}
	}
	k := locate(sr.snap.fileBase, c.file)
	base := sr.snap.chunkBase[k]
	var all []scored
	for i := c.meta.firstChunk; i < c.meta.endChunk; i++ {
		if !sr.keepsChunk(base + i) {
			continue
		}
		v := float32(0)
		if most > 0 {
			v = sr.sc.chunkScores[base+i] / most
		}
		if cosine, ok := sr.cosineOf(sr.meant, base+i); ok {
			v += chunkSimilarityWeight * sr.share(cosine)
		} else {
			sr.unembedded = true
		}
		if v > 0 {
			all = append(all, scored{base + i, v})
		}
	}
	sortScored(all, sr.snap.orderChunks)
	c.n = copy(c.chunks[:], all)
}

// mean notes how near a chunk of the candidate is to the query.
func (c *candidate) mean(chunk uint32, share float32) {
	if share > c.meantShare || share == c.meantShare && share > 0 && chunk < c.meantChunk {
		c.meantShare, c.meantChunk = share, chunk
	}
	if c.n == 0 {
		c.chunks[0], c.n = scored{doc: chunk}, 1
	}
}

// nearest asks for the nearest chunks that pass the filters.
func (sr *search) nearest(m SemanticQuery) []Near {
	if !sr.filters {
		return m.Nearest(meantChunks, nil)
	}
	kept := 0
	for k, seg := range sr.snap.segments {
		for i := range seg.files {
			if sr.keeps(sr.snap.fileBase[k] + uint32(i)) {
				kept += int(seg.files[i].endChunk - seg.files[i].firstChunk)
			}
		}
	}
	if kept == 0 {
		return nil
	}
	if kept*narrow > sr.snap.liveChunks {
		near := m.Nearest(meantChunks*sr.snap.liveChunks/kept, nil)
		near = slices.DeleteFunc(near, func(n Near) bool { return !sr.keepsKey(n.Key) })
		return near[:min(meantChunks, len(near))]
	}
	among := make([]Key, 0, kept)
	for k, seg := range sr.snap.segments {
		for i := range seg.files {
			if sr.keeps(sr.snap.fileBase[k] + uint32(i)) {
				among = append(among, seg.textKeys[seg.files[i].firstChunk:seg.files[i].endChunk]...)
			}
		}
	}
	return m.Nearest(meantChunks, among)
}

// keepsKey answers whether a chunk with the key passes the filters on files.
func (sr *search) keepsKey(key Key) (kept bool) {
	sr.snap.withKey(key, func(c uint32) { kept = kept || sr.keeps(sr.snap.fileOfChunk(c)) })
	return kept
}

// withKey visits the live chunks that have a key, in their order.
func (s *Snapshot) withKey(key Key, visit func(chunk uint32)) {
	var few [4]uint32
	all := few[:0]
	for k, seg := range s.segments {
		for at := seg.firstWithKey(key); at < len(seg.byText) && seg.textKeys[seg.byText[at]] == key; at++ {
			if c := seg.byText[at]; !s.dead[k].has(int(seg.chunks[c].file)) {
				all = append(all, s.chunkBase[k]+c)
			}
		}
	}
	if len(s.segments) > 1 { // the chunks of one segment that have a key are in order
		slices.SortFunc(all, s.orderChunks)
	}
	for _, c := range all {
		visit(c)
	}
}

// firstWithKey is the first place in byText whose key is not less than key. Keys are hashes,
// spread evenly, so how large one is tells about where it stands.
func (s *segment) firstWithKey(key Key) int {
	want := binary.BigEndian.Uint64(key[:])
	n := len(s.byText)
	from, to := 0, n // all before from are less, and none from to on is
	share, _ := bits.Mul64(want, uint64(n))
	for at, guesses := int(share), 0; from < to; guesses++ {
		if guesses > 2 { // near, or the keys are not spread evenly
			at = int(uint(from+to) >> 1)
		}
		at = max(from, min(at, to-1))
		k := s.textKeys[s.byText[at]]
		if bytes.Compare(k[:], key[:]) < 0 {
			from = at + 1
			share, _ = bits.Mul64(want-binary.BigEndian.Uint64(k[:]), uint64(n))
			at += int(share) + nearKeys
		} else {
			to = at
			share, _ = bits.Mul64(binary.BigEndian.Uint64(k[:])-want, uint64(n))
			at -= int(share) + nearKeys
		}
	}
	return from
}

// place is where a chunk is in byText. A search asks it of hundreds of chunks, each of which
// would be looked for among some ten others that are nowhere near each other in memory.
func (s *segment) place(chunk uint32) int {
	s.vectors.placing.Do(func() {
		places := make([]uint32, len(s.byText))
		for at, c := range s.byText {
			places[c] = uint32(at)
		}
		s.vectors.places = places
	})
	return int(s.vectors.places[chunk])
}

// sameKey visits the live chunks that have the key of one, that one among them, in no order.
func (s *Snapshot) sameKey(chunk uint32, visit func(seg *segment, local uint32)) {
	own, local := s.segmentOfChunk(chunk)
	key := s.segments[own].textKeys[local]
	for k, seg := range s.segments {
		from := 0
		if k != own {
			from = seg.firstWithKey(key)
		} else {
			for from = seg.place(local); from > 0 && seg.textKeys[seg.byText[from-1]] == key; {
				from--
			}
		}
		for ; from < len(seg.byText) && seg.textKeys[seg.byText[from]] == key; from++ {
			if c := seg.byText[from]; !s.dead[k].has(int(seg.chunks[c].file)) {
				visit(seg, c)
			}
		}
	}
}

// nearKeys is how far beside a place the next guess is, so that the place is soon between two.
const nearKeys = 4

// keyOf is the key of a chunk of the snapshot.
func (s *Snapshot) keyOf(chunk uint32) Key {
	k, local := s.segmentOfChunk(chunk)
	return s.segments[k].textKeys[local]
}

// sortKeys orders the chunks by key.
func (s *segment) sortKeys() {
	s.byText = make([]uint32, len(s.textKeys))
	for i := range s.byText {
		s.byText[i] = uint32(i)
	}
	slices.SortFunc(s.byText, func(x, y uint32) int {
		return cmp.Or(bytes.Compare(s.textKeys[x][:], s.textKeys[y][:]), cmp.Compare(x, y))
	})
}
