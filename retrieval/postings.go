package retrieval

import (
	"math"
	"slices"
	"sort"
	"strings"

	"quarry/index/token"
)

// BM25's parameters (Robertson and Zaragoza 2009). Length is measured against a
// constant, not the corpus's mean: chunks are cut to a size, so the mean is a
// property of the chunker, and with a constant the weight of a posting never
// depends on other files. That is what allows one file to be replaced without
// touching the rest.
const (
	bm25K1 = 1.2
	bm25B  = 0.5
)

// maxImpact is the limit of a posting's weight; weights are stored in 16 bits as
// fractions of it, an error of 0.00002.
const maxImpact = bm25K1 + 1

// postings is an immutable inverted index with precomputed BM25 weights, all but
// the inverse document frequency: that one depends on the whole snapshot and is
// applied by the reader.
type postings struct {
	ids map[string]uint32 // term to its place in starts
	// starts[id] to starts[id+1] are the term's postings in docs and impacts,
	// ordered by document.
	starts  []uint32
	docs    []uint32
	impacts []uint16
}

// list returns the postings of a term; nil if there are none.
func (p *postings) list(term string) (docs []uint32, impacts []uint16) {
	id, ok := p.ids[term]
	if !ok {
		return nil, nil
	}
	lo, hi := p.starts[id], p.starts[id+1]
	return p.docs[lo:hi], p.impacts[lo:hi]
}

func impact(frequency, length, mean float32) float32 {
	return frequency * (bm25K1 + 1) / (frequency + bm25K1*(1-bm25B+bm25B*length/mean))
}

func packImpact(v float32) uint16 { return uint16(v/maxImpact*math.MaxUint16 + .5) }

const unpackImpact = maxImpact / math.MaxUint16

// idf is the inverse document frequency of a term in df of n documents, never
// negative.
func idf(df, n int) float32 {
	return float32(math.Log(1 + (float64(n)-float64(df)+.5)/(float64(df)+.5)))
}

// postingsBuilder collects documents one after the other.
type postingsBuilder struct {
	mean float32
	ids  map[string]uint32
	// One entry a posting, in order of documents.
	terms   []uint32
	docs    []uint32
	impacts []uint16

	// known has the terms of each run of word characters met, by number: code
	// repeats its words, and analysing each once is five times faster.
	known    map[string][]uint32
	analyzer token.Analyzer

	// Of the current document.
	frequency []float32 // by term id; zero when absent
	touched   []uint32
	length    float32
}

func newPostingsBuilder(mean float32) *postingsBuilder {
	return &postingsBuilder{mean: mean, ids: map[string]uint32{}, known: map[string][]uint32{}}
}

// addText counts the terms of a text in the current document.
func (b *postingsBuilder) addText(text string, weight float32) {
	token.Runs(text, func(run string) {
		ids, ok := b.known[run]
		if !ok {
			b.analyzer.Terms(run, func(term []byte) { ids = append(ids, b.id(term)) })
			b.known[strings.Clone(run)] = ids
		}
		for _, id := range ids {
			b.count(id, weight)
		}
	})
}

// addTerm counts one occurrence of a term that is analysed already.
func (b *postingsBuilder) addTerm(term string, weight float32) {
	b.count(b.id([]byte(term)), weight)
}

// id returns the number of a term, a new one if need be.
func (b *postingsBuilder) id(term []byte) uint32 {
	id, ok := b.ids[string(term)]
	if !ok {
		id = uint32(len(b.ids))
		b.ids[string(term)] = id
		b.frequency = append(b.frequency, 0)
	}
	return id
}

func (b *postingsBuilder) count(id uint32, weight float32) {
	if b.frequency[id] == 0 {
		b.touched = append(b.touched, id)
	}
	b.frequency[id] += weight
	b.length++
}

// endDocument closes the current document under the given number.
func (b *postingsBuilder) endDocument(doc uint32) {
	for _, id := range b.touched {
		b.terms = append(b.terms, id)
		b.docs = append(b.docs, doc)
		b.impacts = append(b.impacts, packImpact(impact(b.frequency[id], b.length, b.mean)))
		b.frequency[id] = 0
	}
	b.touched = b.touched[:0]
	b.length = 0
}

// build sorts the postings by term. The builder is spent afterwards.
func (b *postingsBuilder) build() postings {
	p := postings{
		ids:     b.ids,
		starts:  make([]uint32, len(b.ids)+1),
		docs:    make([]uint32, len(b.docs)),
		impacts: make([]uint16, len(b.docs)),
	}
	for _, id := range b.terms {
		p.starts[id+1]++
	}
	for i := 1; i < len(p.starts); i++ {
		p.starts[i] += p.starts[i-1]
	}
	next := slices.Clone(p.starts)
	for i, id := range b.terms {
		at := next[id]
		next[id]++
		p.docs[at], p.impacts[at] = b.docs[i], b.impacts[i]
	}
	b.terms, b.docs, b.impacts, b.known = nil, nil, nil, nil
	return p
}

// remapped is one part of a merge: renumber gives each document's new number, or
// dropped.
type remapped struct {
	from     *postings
	renumber []uint32
}

const dropped = math.MaxUint32

// mergePostings joins parts into one index without the documents' texts.
func mergePostings(parts []remapped) postings {
	ids := map[string]uint32{}
	var counts []uint32
	each := func(visit func(part remapped, from uint32, term string)) {
		for _, part := range parts {
			for term, from := range part.from.ids {
				visit(part, from, term)
			}
		}
	}
	each(func(part remapped, from uint32, term string) {
		n := uint32(0)
		for _, d := range part.from.docs[part.from.starts[from]:part.from.starts[from+1]] {
			if part.renumber[d] != dropped {
				n++
			}
		}
		if n == 0 {
			return
		}
		id, ok := ids[term]
		if !ok {
			id = uint32(len(counts))
			ids[term] = id
			counts = append(counts, 0)
		}
		counts[id] += n
	})
	p := postings{ids: ids, starts: make([]uint32, len(counts)+1)}
	for i, n := range counts {
		p.starts[i+1] = p.starts[i] + n
	}
	p.docs = make([]uint32, p.starts[len(counts)])
	p.impacts = make([]uint16, len(p.docs))
	next := slices.Clone(p.starts)
	each(func(part remapped, from uint32, term string) {
		id, ok := ids[term]
		if !ok {
			return
		}
		for i := part.from.starts[from]; i < part.from.starts[from+1]; i++ {
			if d := part.renumber[part.from.docs[i]]; d != dropped {
				p.docs[next[id]], p.impacts[next[id]] = d, part.from.impacts[i]
				next[id]++
			}
		}
	})
	for id := range counts {
		lo, hi := p.starts[id], p.starts[id+1]
		if list := (byDocument{p.docs[lo:hi], p.impacts[lo:hi]}); !slices.IsSorted(list.docs) {
			sort.Sort(list)
		}
	}
	return p
}

// byDocument orders one posting list.
type byDocument struct {
	docs    []uint32
	impacts []uint16
}

func (l byDocument) Len() int           { return len(l.docs) }
func (l byDocument) Less(i, j int) bool { return l.docs[i] < l.docs[j] }
func (l byDocument) Swap(i, j int) {
	l.docs[i], l.docs[j] = l.docs[j], l.docs[i]
	l.impacts[i], l.impacts[j] = l.impacts[j], l.impacts[i]
}
