package retrieval

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"sync"

	"quarry/retrieval/lexicon"
	"quarry/retrieval/vector"
)

const (
	// lexiconWeight stands in the place of sigVector's weight where the lexicon speaks
	// and no embedding model; missingWeight is what it gains by, as a share of itself,
	// where no word of the query is in the workspace (bench/retrieval.md).
	lexiconWeight float32 = .7
	missingWeight float32 = 5
)

// lexiconQuery compares a query with chunks by package lexicon. It is what there is of
// meaning without an embedding model, and good for the search that it belongs to.
type lexiconQuery struct {
	snap  *Snapshot
	query []float32
}

// askLexicon is nil if the lexicon has no word of the query.
func (sr *search) askLexicon() SemanticQuery {
	query := lexicon.Builtin().Question(sr.query.words)
	if query == nil {
		return nil
	}
	return lexiconQuery{sr.snap, query}
}

// byLexicon answers whether the lexicon spoke.
func (sr *search) byLexicon() bool {
	_, ok := sr.meant.(lexiconQuery)
	return ok
}

// Nearest implements SemanticQuery.
func (q lexiconQuery) Nearest(k int, among []Key) (near []Near) {
	if among != nil {
		for _, key := range among {
			if cosine, ok := q.Cosine(key); ok {
				near = append(near, Near{key, cosine})
			}
		}
	} else {
		// The first direction is one that all words share, so its sign tells nothing.
		coarse := slices.Clone(q.query)
		coarse[0] = 0
		parts := make([]vector.Part, len(q.snap.segments))
		for n, seg := range q.snap.segments {
			parts[n] = vector.Part{Codes: seg.vectors.codes(), Gone: q.snap.gone[n].chunks}
		}
		hits := vector.NearestBy(parts, coarse, k, func(part, row int) float32 {
			return lexicon.Cosine(q.query, q.snap.segments[part].vectors.of(uint32(row)))
		})
		for _, h := range hits {
			near = append(near, Near{q.snap.segments[h.Part].textKeys[h.Row], h.Score})
		}
	}
	slices.SortFunc(near, func(a, b Near) int {
		return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), bytes.Compare(a.Key[:], b.Key[:]))
	})
	return near[:min(k, len(near))]
}

// What a cosine to code that has nothing to do with a query is, by how much the query has
// of the first direction, which all words share: the mean for none and for all, and the
// deviation. They are those of the fit half's questions (testdata/newcomer) and the other
// repositories of that half, and hold for a workspace as so many chunks of its own would.
const (
	strangeMean      = .04
	strangeShare     = .65
	strangeDeviation = .11
	strangeChunks    = 200
)

const (
	// floorDeviations above the mean of all chunks a chunk stands out, and
	// clearDeviations above it clearly.
	floorDeviations float32 = 1.3
	clearDeviations float32 = 2.2
	// sampledChunks are how many chunks tell what is usual in a workspace.
	sampledChunks = 1000
)

// standsOut answers the cosine that a chunk needs to stand out from code that has nothing
// to do with the query, and the one from which it does so clearly. In a workspace of few
// chunks some are always the nearest; what is usual elsewhere tells whether they are near.
func (q lexiconQuery) standsOut() (floor, clear float32) {
	// Whole numbers, so that the order of the chunks does not show in the sum.
	const unit = 1 << 12
	mean := strangeMean + strangeShare*math.Abs(float64(q.query[0]))
	n := int64(strangeChunks)
	sum, square := int64(strangeChunks*mean*unit), int64(strangeChunks*(mean*mean+strangeDeviation*strangeDeviation)*unit*unit)
	// A chunk's key is a hash: those with small ones are a sample, whichever segments
	// they lie in.
	part := uint64(math.MaxUint64)
	if live := q.snap.liveChunks; live > sampledChunks {
		part = part / uint64(live) * sampledChunks
	}
	for k, seg := range q.snap.segments {
		for _, c := range seg.byText {
			if binary.BigEndian.Uint64(seg.textKeys[c][:]) > part {
				break
			}
			if q.snap.dead[k].has(int(seg.chunks[c].file)) {
				continue
			}
			v := int64(lexicon.Cosine(q.query, seg.vectors.of(c)) * unit)
			sum, square, n = sum+v, square+v*v, n+1
		}
	}
	m := float64(sum) / float64(n) / unit
	deviation := math.Sqrt(max(0, float64(square)/float64(n)/(unit*unit)-m*m))
	return float32(m) + floorDeviations*float32(deviation), float32(m) + clearDeviations*float32(deviation)
}

// Cosine implements SemanticQuery. Of copies, whose paths may say more, the nearest
// counts.
func (q lexiconQuery) Cosine(key Key) (cosine float32, ok bool) {
	q.snap.withKey(key, func(c uint32) {
		k, local := q.snap.segmentOfChunk(c)
		if v := lexicon.Cosine(q.query, q.snap.segments[k].vectors.of(local)); !ok || v > cosine {
			cosine, ok = v, true
		}
	})
	return cosine, ok
}

// cosineOf is Cosine of a chunk's key.
func (q lexiconQuery) cosineOf(chunk uint32) (cosine float32, ok bool) {
	q.snap.sameKey(chunk, func(seg *segment, local uint32) {
		if v := lexicon.Cosine(q.query, seg.vectors.of(local)); !ok || v > cosine {
			cosine, ok = v, true
		}
	})
	return cosine, ok
}

// lexiconWeight is what the lexicon counts: the more, the fewer of the query's words the
// workspace has.
func (sr *search) lexiconWeight() float32 {
	missing := 0
	for _, w := range sr.query.words {
		if sr.snap.documentFrequency(w) == 0 {
			missing++
		}
	}
	return lexiconWeight * (1 + missingWeight*float32(missing)/float32(max(1, len(sr.query.words))))
}

// lexiconVectors are those of a segment's chunks, one behind the other.
type lexiconVectors struct {
	rows   []int8
	coding sync.Once
	coded  *vector.Codes // see codes
	// places are where the chunks are in their segment's byText; see segment.place.
	placing sync.Once
	places  []uint32
}

func (v *lexiconVectors) of(chunk uint32) []int8 {
	dim := lexicon.Builtin().Dim()
	return v.rows[int(chunk)*dim:][:dim]
}

// codes are the binary codes of the vectors, made when they are asked for first: a
// millisecond or two for ten thousand.
func (v *lexiconVectors) codes() *vector.Codes {
	v.coding.Do(func() { v.coded = vector.CodesOf(v.rows, lexicon.Builtin().Dim()) })
	return v.coded
}
