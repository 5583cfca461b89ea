package retrieval

import (
	"iter"
	"math/bits"
	"slices"
	"strings"

	"quarry/retrieval/lexicon"
)

// bitset is an immutable set of small numbers.
type bitset []uint64

func (b bitset) has(i int) bool { return i>>6 < len(b) && b[i>>6]&(1<<(i&63)) != 0 }

func (b bitset) count() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// all are the members, in their order.
func (b bitset) all() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, w := range b {
			for ; w != 0; w &= w - 1 {
				if !yield(i<<6 + bits.TrailingZeros64(w)) {
					return
				}
			}
		}
	}
}

// with adds i to a set that nobody else holds yet.
func (b bitset) with(i int) bitset {
	for i>>6 >= len(b) {
		b = append(b, 0)
	}
	b[i>>6] |= 1 << (i & 63)
	return b
}

// mergeSegments joins segments into one, without the dead files of each. Files
// come in the order of their paths whatever the history, so that a
// merged index equals one built in one go.
func mergeSegments(parts []*segment, dead []bitset) *segment {
	m := &merger{parts: parts, dead: dead}
	seg := m.records()
	if slices.ContainsFunc(parts, func(part *segment) bool { return part.keep != nil }) {
		for i := range seg.files { // they lie in what goes with the part
			seg.files[i].trigrams = slices.Clone(seg.files[i].trigrams)
		}
	}
	seg.vectors = &lexiconVectors{rows: m.vectors()}
	seg.text, seg.metadata = m.postings(m.chunks), m.postings(m.files)
	return seg
}

// A merger makes one segment of several, piece by piece: first its records, then what is
// large, in any order.
type merger struct {
	parts []*segment
	dead  []bitset
	// files and chunks have the new number of each, when the records are made.
	files, chunks []remapped
}

// records are the merged segment without vectors and postings.
func (m *merger) records() *segment {
	type fileRef struct{ part, file int }
	var order []fileRef
	for p, seg := range m.parts {
		for f := range seg.files {
			if !m.dead[p].has(f) {
				order = append(order, fileRef{p, f})
			}
		}
	}
	pathOf := func(x fileRef) string { return m.parts[x.part].files[x.file].path }
	slices.SortFunc(order, func(x, y fileRef) int { return strings.Compare(pathOf(x), pathOf(y)) })

	s, names, signatures := &segment{}, newStrings(), newStrings()
	m.files, m.chunks = make([]remapped, len(m.parts)), make([]remapped, len(m.parts))
	for p, seg := range m.parts {
		m.files[p] = remapped{&seg.metadata, droppedAll(len(seg.files))}
		m.chunks[p] = remapped{&seg.text, droppedAll(len(seg.chunks))}
	}
	defsOf := make([][]int32, len(m.parts)) // new number of each def
	// New number of each string.
	namesOf, signaturesOf := make([]func(uint32) uint32, len(m.parts)), make([]func(uint32) uint32, len(m.parts))
	for p, seg := range m.parts {
		defsOf[p] = make([]int32, len(seg.defs))
		namesOf[p], signaturesOf[p] = names.from(seg.names), signatures.from(seg.signatures)
	}
	for _, at := range order {
		seg := m.parts[at.part]
		id, name := uint32(len(s.files)), namesOf[at.part]
		m.files[at.part].renumber[at.file] = id
		f := seg.files[at.file]
		first := uint32(len(s.chunks))
		firstDef := uint32(len(s.defs))
		for i := f.firstDef; i < f.endDef; i++ {
			d := seg.defs[i]
			defsOf[at.part][i] = int32(len(s.defs))
			d.name, d.key, d.container, d.kind = name(d.name), name(d.key), name(d.container), name(d.kind)
			d.file, d.chunk, d.signature = id, d.chunk-f.firstChunk+first, signaturesOf[at.part](d.signature)
			s.defs = append(s.defs, d)
		}
		for c := f.firstChunk; c < f.endChunk; c++ {
			ch := seg.chunks[c]
			m.chunks[at.part].renumber[c] = uint32(len(s.chunks))
			ch.file, ch.content = id, name(ch.content)
			if ch.def >= 0 {
				ch.def = defsOf[at.part][ch.def]
			}
			s.chunks = append(s.chunks, ch)
			s.textKeys = append(s.textKeys, seg.textKeys[c])
		}
		f.firstChunk, f.endChunk = first, uint32(len(s.chunks))
		f.firstDef, f.endDef = firstDef, uint32(len(s.defs))
		s.takeUses(&f, seg, name)
		s.files = append(s.files, f)
	}
	s.finish(names, signatures)
	return s
}

// isWhole answers whether there is nothing to merge.
func (m *merger) isWhole() bool { return len(m.parts) == 1 && m.dead[0].count() == 0 }

// postings joins those of m.files or m.chunks.
func (m *merger) postings(of []remapped) postings {
	if m.isWhole() {
		return *of[0].from
	}
	return mergePostings(of)
}

// vectors joins those of the chunks.
func (m *merger) vectors() []int8 {
	if m.isWhole() {
		return m.parts[0].vectors.rows
	}
	n := 0
	for _, part := range m.chunks {
		for _, id := range part.renumber {
			if id != dropped {
				n++
			}
		}
	}
	dim := lexicon.Builtin().Dim()
	rows := make([]int8, n*dim)
	for p, part := range m.chunks {
		for c, id := range part.renumber {
			if id != dropped {
				copy(rows[int(id)*dim:], m.parts[p].vectors.of(uint32(c)))
			}
		}
	}
	return rows
}

func droppedAll(n int) []uint32 {
	r := make([]uint32, n)
	for i := range r {
		r[i] = dropped
	}
	return r
}
