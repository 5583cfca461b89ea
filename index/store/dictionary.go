package store

import (
	"slices"
	"strings"
	"sync"

	"quarry/index/token"
)

// Dictionary numbers the terms of the index from 1 up. It only grows; a term
// keeps its number for the life of the database. It is safe for concurrent use.
type Dictionary struct {
	// mu guards the fields below.
	mu    sync.RWMutex
	ids   map[string]uint32
	terms []string // terms[i] has id i+1
	// saved is how many of terms are in the database. The rest go there in the
	// transaction that first stores a chunk; should it fail, they go in the next.
	saved int
}

func newDictionary() *Dictionary { return &Dictionary{ids: map[string]uint32{}} }

// ID returns the number of a term.
func (d *Dictionary) ID(term string) (id uint32, ok bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	id, ok = d.ids[term]
	return id, ok
}

// Term returns the term with number id, "" if there is none.
func (d *Dictionary) Term(id uint32) string {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if id == 0 || int(id) > len(d.terms) {
		return ""
	}
	return d.terms[id-1]
}

// Len is the highest number in use.
func (d *Dictionary) Len() int {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return len(d.terms)
}

// intern returns the number and the shared string of a term, new or not.
func (d *Dictionary) intern(term []byte) (uint32, string) {
	d.mu.RLock()
	id, ok := d.ids[string(term)]
	if ok {
		s := d.terms[id-1]
		d.mu.RUnlock()
		return id, s
	}
	d.mu.RUnlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	if id, ok := d.ids[string(term)]; ok {
		return id, d.terms[id-1]
	}
	s := string(term)
	d.terms = append(d.terms, s)
	id = uint32(len(d.terms))
	d.ids[s] = id
	return id, s
}

// put is for loading: ids come in order, without gaps.
func (d *Dictionary) put(id uint32, term string) {
	for int(id) > len(d.terms)+1 {
		d.terms = append(d.terms, "")
	}
	d.terms = append(d.terms, term)
	d.ids[term] = id
	d.saved = len(d.terms)
}

// ChunkText is the lexical material of one chunk as the store writes it.
type ChunkText struct {
	body, comment string // for the full-text table: terms with blanks between
	terms         []byte // encoded
}

// Encoder turns text into ChunkText. It is not safe for concurrent use; each
// worker has one.
type Encoder struct {
	dict     *Dictionary
	analyzer token.Analyzer
	// known caches the dictionary's answers without its lock. It is emptied when
	// it outgrows maxKnown, so that a worker's memory stays flat.
	known  map[string]knownTerm
	counts map[uint32]uint32
	text   strings.Builder
	list   []Term
}

type knownTerm struct {
	id   uint32
	term string
}

const maxKnown = 1 << 16

// NewEncoder returns an encoder that numbers terms by the store's dictionary.
func (s *Store) NewEncoder() *Encoder {
	return &Encoder{dict: s.Terms, known: map[string]knownTerm{}, counts: map[uint32]uint32{}}
}

// Encode analyses one chunk: the pieces of its code and of its comments.
func (e *Encoder) Encode(body, comment []string) ChunkText {
	var enc encoder
	var t ChunkText
	t.body = e.column(&enc, body)
	t.comment = e.column(&enc, comment)
	t.terms = enc.b
	return t
}

func (e *Encoder) column(enc *encoder, pieces []string) string {
	e.text.Reset()
	clear(e.counts)
	for _, p := range pieces {
		e.analyzer.Terms(p, func(term []byte) {
			k, ok := e.known[string(term)]
			if !ok {
				if len(e.known) >= maxKnown {
					clear(e.known)
				}
				k.id, k.term = e.dict.intern(term)
				e.known[k.term] = k
			}
			e.counts[k.id]++
			if e.text.Len() > 0 {
				e.text.WriteByte(' ')
			}
			e.text.WriteString(k.term)
		})
	}
	e.list = e.list[:0]
	for id, n := range e.counts {
		e.list = append(e.list, Term{id, n})
	}
	slices.SortFunc(e.list, func(a, b Term) int { return int(a.ID) - int(b.ID) })
	enc.terms(e.list)
	return e.text.String()
}
