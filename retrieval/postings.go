package retrieval

import (
	"bytes"
	"cmp"
	"encoding/binary"
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

// maxImpact is the limit of a posting's weight.
const maxImpact = bm25K1 + 1

// postings is an immutable inverted index. It keeps how often a term stands in a
// document and how long that one is; the inverse document frequency depends on the
// whole snapshot and is the reader's.
type postings struct {
	terms terms // in their order; a term's place is its id in starts
	// starts[id] to starts[id+1] are the bytes of the term's list in lists.
	starts []uint32
	lists  []byte
	// norms are BM25's of the documents: what a frequency is set against.
	norms []float32
}

// list returns the postings of a term; an empty one if there are none.
func (p *postings) list(term string) list {
	id, ok := p.terms.find(term)
	if !ok {
		return list{}
	}
	return readList(p.lists[p.starts[id]:p.starts[id+1]])
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

// normOf is BM25's norm of a document of so many terms.
func normOf(length, mean float32) float32 { return bm25K1 * (1 - bm25B + bm25B*length/mean) }

// impact is the BM25 weight of a posting but for the inverse document frequency.
func impact(frequency uint32, norm float32) float32 {
	f := float32(frequency)
	return f * (bm25K1 + 1) / (f + norm)
}

// idf is the inverse document frequency of a term in df of n documents, never
// negative.
func idf(df, n int) float32 {
	return float32(math.Log(1 + (float64(n)-float64(df)+.5)/(float64(df)+.5)))
}

// postingsBuilder collects documents one after the other.
type postingsBuilder struct {
	mean float32
	ids  map[string]uint32
	// One entry a posting, in order of documents, and the documents' norms.
	terms       []uint32
	docs        []uint32
	frequencies []uint16
	norms       []float32

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
	frequency []uint32 // by term id; zero when absent
	touched   []uint32
	length    float32
}

func newPostingsBuilder(mean float32) *postingsBuilder {
	return &postingsBuilder{mean: mean, ids: map[string]uint32{}, known: map[string][]uint32{}}
}

// addText counts the terms of a text in the current document.
func (b *postingsBuilder) addText(text string, weight uint32) {
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
func (b *postingsBuilder) addTerm(term string, weight uint32) {
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

func (b *postingsBuilder) count(id, weight uint32) {
	if b.frequency[id] == 0 {
		b.touched = append(b.touched, id)
	}
	b.frequency[id] += weight
	b.length++
}

// endDocument closes the current document, the next in their order.
func (b *postingsBuilder) endDocument() {
	if b.sum != nil {
		for _, id := range b.touched {
			if row := b.rows[id]; row != lexicon.NoRow {
				b.sum.Add(row, float32(b.frequency[id]))
			}
		}
		b.vectors = b.sum.Append(b.vectors)
	}
	doc := uint32(len(b.norms))
	for _, id := range b.touched {
		b.terms = append(b.terms, id)
		b.docs = append(b.docs, doc)
		// More than so many change nothing: the weight is near its limit.
		b.frequencies = append(b.frequencies, uint16(min(b.frequency[id], math.MaxUint16)))
		b.frequency[id] = 0
	}
	b.norms = append(b.norms, normOf(b.length, b.mean))
	b.touched = b.touched[:0]
	b.length = 0
}

// build sorts the postings by term. The builder is spent afterwards.
func (b *postingsBuilder) build() postings {
	w := postingsWriter{p: postings{norms: slices.Clip(b.norms)}}
	// Postings by term: ends[id] is where the term's end in docs and frequencies.
	ends := make([]uint32, len(b.ids))
	for _, id := range b.terms {
		ends[id]++
	}
	for i := 1; i < len(ends); i++ {
		ends[i] += ends[i-1]
	}
	docs, frequencies := make([]uint32, len(b.docs)), make([]uint16, len(b.docs))
	for i := len(b.terms) - 1; i >= 0; i-- {
		id := b.terms[i]
		ends[id]--
		docs[ends[id]], frequencies[ends[id]] = b.docs[i], b.frequencies[i]
	}
	b.terms, b.docs, b.frequencies, b.known = nil, nil, nil, nil
	for _, term := range slices.Sorted(maps.Keys(b.ids)) {
		lo, hi := ends[b.ids[term]], uint32(len(docs)) // they are the beginnings by now
		if next := b.ids[term] + 1; next < uint32(len(ends)) {
			hi = ends[next]
		}
		for i := lo; i < hi; i++ {
			w.posting(docs[i], uint32(frequencies[i]))
		}
		w.endTerm([]byte(term))
	}
	return w.p
}

// postingsWriter makes postings term by term.
type postingsWriter struct {
	p    postings
	list []posting // of the current term
}

type posting struct{ doc, frequency uint32 }

// posting adds one to the current term, in any order.
func (w *postingsWriter) posting(doc, frequency uint32) {
	w.list = append(w.list, posting{doc, frequency})
}

// endTerm closes the current term. Terms come in their order; one that no document has is
// left out.
func (w *postingsWriter) endTerm(term []byte) {
	if len(w.list) == 0 {
		return
	}
	byDocument := func(a, b posting) int { return cmp.Compare(a.doc, b.doc) }
	if !slices.IsSortedFunc(w.list, byDocument) {
		slices.SortFunc(w.list, byDocument)
	}
	if w.p.starts == nil {
		w.p.starts = []uint32{0}
	}
	w.p.terms.add(term)
	w.p.lists = appendList(w.p.lists, w.list)
	w.p.starts = append(w.p.starts, uint32(len(w.p.lists)))
	w.list = w.list[:0]
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
	size, docs := 0, 0
	for _, part := range parts {
		size += len(part.from.lists)
		for _, d := range part.renumber {
			if d != dropped {
				docs++
			}
		}
	}
	w := postingsWriter{p: postings{norms: make([]float32, docs), lists: make([]byte, 0, size)}}
	for _, part := range parts {
		for old, d := range part.renumber {
			if d != dropped {
				w.p.norms[d] = part.from.norms[old]
			}
		}
	}
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
			return w.p
		}
		for k, part := range parts {
			from := part.from
			if next[k] == from.terms.len() || !bytes.Equal(from.terms.at(next[k]), least) {
				continue
			}
			of := readList(from.lists[from.starts[next[k]]:from.starts[next[k]+1]])
			for at := of.first(); at.next(); {
				if d := part.renumber[at.doc]; d != dropped {
					w.posting(d, at.frequency)
				}
			}
			next[k]++
		}
		w.endTerm(least)
	}
}

// list is the postings of one term, in the order of their documents, in few bytes: most
// words stand once in a chunk, and the next chunk that has them is near.
//
// It is written as the number of postings and then, one behind the other, how far the
// next document is and how often it has the term. One number holds both, in seven bits a
// byte: the distance less one, and in the two low bits the frequency less one, 3 for 4
// and more, which then follows. Lists of more than listBlock postings have a table of
// where each further block begins before that, so that a document is found without
// reading all others.
type list struct {
	n     int
	skips []byte // one of skipSize bytes for each block but the first
	data  []byte
}

const (
	listBlock = 128
	// A skip is the last document before the block, and where in data it begins.
	skipSize = 8
	// oftenest is the most that the two low bits say.
	oftenest = 3
)

// appendList writes a list.
func appendList(dst []byte, of []posting) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(of)))
	table := len(dst)
	dst = append(dst, make([]byte, (len(of)-1)/listBlock*skipSize)...)
	data, last := len(dst), ^uint32(0)
	for i, p := range of {
		if i > 0 && i%listBlock == 0 {
			skip := dst[table+(i/listBlock-1)*skipSize:]
			binary.LittleEndian.PutUint32(skip, last)
			binary.LittleEndian.PutUint32(skip[4:], uint32(len(dst)-data))
		}
		often := min(p.frequency-1, oftenest)
		dst = binary.AppendUvarint(dst, uint64(p.doc-last-1)<<2|uint64(often))
		if often == oftenest {
			dst = binary.AppendUvarint(dst, uint64(p.frequency-1-oftenest))
		}
		last = p.doc
	}
	return dst
}

// readList reads what appendList wrote.
func readList(b []byte) list {
	n, size := binary.Uvarint(b)
	skips := size + (int(n)-1)/listBlock*skipSize
	return list{n: int(n), skips: b[size:skips], data: b[skips:]}
}

// listCursor stands on a posting of a list.
type listCursor struct {
	rest           []byte
	doc, frequency uint32
}

// first stands before the first posting.
func (l *list) first() listCursor { return listCursor{rest: l.data, doc: ^uint32(0)} }

// next goes on to the next posting, if there is one.
func (c *listCursor) next() bool {
	if len(c.rest) == 0 {
		return false
	}
	v := uint64(c.rest[0])
	if v < 0x80 {
		c.rest = c.rest[1:]
	} else {
		v = c.number()
	}
	c.doc += uint32(v>>2) + 1
	c.frequency = uint32(v&oftenest) + 1
	if c.frequency > oftenest {
		c.frequency += uint32(c.number())
	}
	return true
}

func (c *listCursor) number() uint64 {
	v, size := number(c.rest)
	c.rest = c.rest[size:]
	return v
}

// number reads one number. Where none is, because another program wrote into the file since
// it was restored, its size is more than there is, and what is done with that panics as
// readers of such a file expect.
func number(b []byte) (v uint64, size int) {
	if v, size = binary.Uvarint(b); size <= 0 {
		size = len(b) + 1
	}
	return v, size
}

// score adds the BM25 weight of each posting, times weight, to its document's score. A
// search spends most of its time on words here, so that this loop is written out, numbers of
// several bytes too: those are most of what a word has that stands in fewer than one chunk of 32.
func (l *list) score(weight float32, norms, scores []float32) {
	data, doc := l.data, ^uint32(0)
	scores = scores[:len(norms)]
	for i := 0; i < len(data); {
		v := uint64(data[i])
		i++
		if v >= 0x80 {
			v &= 0x7f
			for shift := 7; ; shift += 7 {
				more := uint64(data[i])
				i++
				v |= more & 0x7f << shift
				if more < 0x80 {
					break
				}
			}
		}
		doc += uint32(v>>2) + 1
		frequency := uint32(v&oftenest) + 1
		if frequency > oftenest {
			more, size := number(data[i:])
			frequency += uint32(more)
			data, i = data[i:][size:], 0
		}
		scores[doc] += weight * impact(frequency, norms[doc])
	}
}

// seek answers how many documents of the list come before doc, and whether doc is in it.
func (l *list) seek(doc uint32) (before int, found bool) {
	at := l.first()
	// The blocks whose last document before them is less begin at or before doc.
	if block := sort.Search(len(l.skips)/skipSize, func(i int) bool {
		return binary.LittleEndian.Uint32(l.skips[i*skipSize:]) >= doc
	}); block > 0 {
		skip := l.skips[(block-1)*skipSize:]
		at = listCursor{rest: l.data[binary.LittleEndian.Uint32(skip[4:]):], doc: binary.LittleEndian.Uint32(skip)}
		before = block * listBlock
	}
	for at.next() {
		if at.doc >= doc {
			return before, at.doc == doc
		}
		before++
	}
	return before, false
}

// has answers whether a document has the term.
func (l *list) has(doc uint32) bool {
	_, found := l.seek(doc)
	return found
}

// between counts the documents from lo to before hi.
func (l *list) between(lo, hi uint32) int {
	from, _ := l.seek(lo)
	to, _ := l.seek(hi)
	return to - from
}
