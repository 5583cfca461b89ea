package retrieval

import (
	"iter"
	"math/bits"
	"slices"
	"strings"
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
	type fileRef struct{ part, file int }
	var order []fileRef
	for p, seg := range parts {
		for f := range seg.files {
			if !dead[p].has(f) {
				order = append(order, fileRef{p, f})
			}
		}
	}
	pathOf := func(x fileRef) string { return parts[x.part].files[x.file].path }
	slices.SortFunc(order, func(x, y fileRef) int { return strings.Compare(pathOf(x), pathOf(y)) })

	m, names, signatures := &segment{}, newStrings(), newStrings()
	var vectors []int8
	files, chunks := make([]remapped, len(parts)), make([]remapped, len(parts))
	for p, seg := range parts {
		files[p] = remapped{&seg.metadata, droppedAll(len(seg.files))}
		chunks[p] = remapped{&seg.text, droppedAll(len(seg.chunks))}
	}
	defsOf := make([][]int32, len(parts)) // new number of each def
	// New number of each string.
	namesOf, signaturesOf := make([]func(uint32) uint32, len(parts)), make([]func(uint32) uint32, len(parts))
	for p, seg := range parts {
		defsOf[p] = make([]int32, len(seg.defs))
		namesOf[p], signaturesOf[p] = names.from(seg.names), signatures.from(seg.signatures)
	}
	for _, at := range order {
		seg := parts[at.part]
		id, name := uint32(len(m.files)), namesOf[at.part]
		files[at.part].renumber[at.file] = id
		f := seg.files[at.file]
		first := uint32(len(m.chunks))
		firstDef := uint32(len(m.defs))
		for i := f.firstDef; i < f.endDef; i++ {
			d := seg.defs[i]
			defsOf[at.part][i] = int32(len(m.defs))
			d.name, d.key, d.container, d.kind = name(d.name), name(d.key), name(d.container), name(d.kind)
			d.file, d.chunk, d.signature = id, d.chunk-f.firstChunk+first, signaturesOf[at.part](d.signature)
			m.defs = append(m.defs, d)
		}
		for c := f.firstChunk; c < f.endChunk; c++ {
			ch := seg.chunks[c]
			chunks[at.part].renumber[c] = uint32(len(m.chunks))
			ch.file, ch.content = id, name(ch.content)
			if ch.def >= 0 {
				ch.def = defsOf[at.part][ch.def]
			}
			m.chunks = append(m.chunks, ch)
			m.textKeys = append(m.textKeys, seg.textKeys[c])
			vectors = append(vectors, seg.vectors.of(c)...)
		}
		f.firstChunk, f.endChunk = first, uint32(len(m.chunks))
		f.firstDef, f.endDef = firstDef, uint32(len(m.defs))
		m.takeUses(&f, seg, name)
		m.files = append(m.files, f)
	}
	m.vectors = &lexiconVectors{rows: vectors}
	m.text, m.metadata = mergePostings(chunks), mergePostings(files)
	m.finish(names, signatures)
	return m
}

func droppedAll(n int) []uint32 {
	r := make([]uint32, n)
	for i := range r {
		r[i] = dropped
	}
	return r
}
