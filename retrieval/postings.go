package retrieval

import (
	"bytes"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"

	"quarry/index/token"
	"quarry/retrieval/lexicon"
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
	terms terms // in their order; a term's place is its id in starts
	// starts[id] to starts[id+1] are the term's postings in docs and impacts,
	// ordered by document.
	starts  []uint32
	docs    []uint32
	impacts []uint16
}

// list returns the postings of a term; nil if there are none.
func (p *postings) list(term string) (docs []uint32, impacts []uint16) {
	id, ok := p.terms.find(term)
	if !ok {
		return nil, nil
	}
	lo, hi := p.starts[id], p.starts[id+1]
	return p.docs[lo:hi], p.impacts[lo:hi]
}

// terms are strings in their order, one behind the other in text: term i ends where
// starts[i+1] says.
type terms struct {
	starts []uint32
	text   []byte
}

func (t *terms) len() int { return max(len(t.starts)-1, 0) }

func (t *terms) at(i int) []byte { return t.text[t.starts[i]:t.starts[i+1]] }

// find answers the place of a term.
func (t *terms) find(term string) (uint32, bool) {
	i := sort.Search(t.len(), func(i int) bool { return string(t.at(i)) >= term })
	return uint32(i), i < t.len() && string(t.at(i)) == term
}

func (t *terms) add(term []byte) {
	if t.starts == nil {
		t.starts = append(t.starts, 0)
	}
	t.text = append(t.text, term...)
	t.starts = append(t.starts, uint32(len(t.text)))
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

	// sum makes the documents' vectors, nil if they have none; rows are the terms' in its
	// table, by term id.
	sum     *lexicon.Sum
	rows    []int32
	vectors []int8

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
		if b.sum != nil {
			b.rows = append(b.rows, lexicon.Builtin().Row(term))
		}
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
	if b.sum != nil {
		for _, id := range b.touched {
			if row := b.rows[id]; row != lexicon.NoRow {
				b.sum.Add(row, b.frequency[id])
			}
		}
		b.vectors = b.sum.Append(b.vectors)
	}
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
		starts:  make([]uint32, len(b.ids)+1),
		docs:    make([]uint32, len(b.docs)),
		impacts: make([]uint16, len(b.docs)),
	}
	inOrder := slices.Sorted(maps.Keys(b.ids))
	place := make([]uint32, len(b.ids)) // of each id
	for i, term := range inOrder {
		p.terms.add([]byte(term))
		place[b.ids[term]] = uint32(i)
	}
	for _, id := range b.terms {
		p.starts[place[id]+1]++
	}
	for i := 1; i < len(p.starts); i++ {
		p.starts[i] += p.starts[i-1]
	}
	next := slices.Clone(p.starts)
	for i, id := range b.terms {
		at := next[place[id]]
		next[place[id]]++
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

// mergePostings joins parts into one index without the documents' texts. The parts'
// terms are in order, so one pass over all of them is enough.
func mergePostings(parts []remapped) postings {
	size := 0
	for _, part := range parts {
		size += len(part.from.docs)
	}
	p := postings{starts: []uint32{0}, docs: make([]uint32, 0, size), impacts: make([]uint16, 0, size)}
	next := make([]int, len(parts)) // the first term of each part that is not taken
	for {
		var least []byte
		found := false
		for k, part := range parts {
			if next[k] < part.from.terms.len() {
				if term := part.from.terms.at(next[k]); !found || bytes.Compare(term, least) < 0 {
					least, found = term, true
				}
			}
		}
		if !found {
			return p
		}
		lo := len(p.docs)
		for k, part := range parts {
			from := part.from
			if next[k] == from.terms.len() || !bytes.Equal(from.terms.at(next[k]), least) {
				continue
			}
			for i := from.starts[next[k]]; i < from.starts[next[k]+1]; i++ {
				if d := part.renumber[from.docs[i]]; d != dropped {
					p.docs, p.impacts = append(p.docs, d), append(p.impacts, from.impacts[i])
				}
			}
			next[k]++
		}
		if len(p.docs) == lo {
			continue // only dropped documents have it
		}
		p.terms.add(least)
		p.starts = append(p.starts, uint32(len(p.docs)))
		if list := (byDocument{p.docs[lo:], p.impacts[lo:]}); !slices.IsSorted(list.docs) {
			sort.Sort(list)
		}
	}
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
