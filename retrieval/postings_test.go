package retrieval

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A list says the same as the postings it was made of, from its beginning and from any
// document on, in and across its blocks.
func TestList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gap := rapid.OneOf(rapid.Uint32Range(1, 3), rapid.Uint32Range(1, 100_000))
		frequency := rapid.OneOf(rapid.Uint32Range(1, 6), rapid.Uint32Range(1, 1<<16))
		var want []posting
		last := ^uint32(0)
		for range rapid.IntRange(1, 3*listBlock+2).Draw(t, "postings") {
			last += gap.Draw(t, "gap")
			want = append(want, posting{last, frequency.Draw(t, "frequency")})
		}
		before := []byte("before")
		of := readList(appendList(before, want)[len(before):])
		if of.n != len(want) {
			t.Fatalf("%d postings, want %d", of.n, len(want))
		}
		var got []posting
		for at := of.first(); at.next(); {
			got = append(got, posting{at.doc, at.frequency})
		}
		if !slices.Equal(got, want) {
			t.Fatalf("got %v\nwant %v", got, want)
		}
		if last < 1<<20 {
			norms, scores := make([]float32, last+1), make([]float32, last+1)
			for i := range norms {
				norms[i] = float32(i%7 + 1)
			}
			of.score(2, norms, scores)
			for _, p := range want {
				scores[p.doc] -= 2 * impact(p.frequency, norms[p.doc])
			}
			if i := slices.IndexFunc(scores, func(v float32) bool { return v != 0 }); i >= 0 {
				t.Fatalf("the score of document %d is wrong by %v", i, scores[i])
			}
		}
		rank := func(doc uint32) (int, bool) {
			return slices.BinarySearchFunc(want, doc, func(p posting, doc uint32) int { return int(int64(p.doc) - int64(doc)) })
		}
		for range 20 {
			near := want[rapid.IntRange(0, len(want)-1).Draw(t, "near")].doc
			doc := rapid.SampledFrom([]uint32{near, near + 1, max(near, 1) - 1, 0, last + 9}).Draw(t, "document")
			before, found := rank(doc)
			if n, ok := of.seek(doc); n != before || ok != found {
				t.Fatalf("document %d: %d before and %v, want %d and %v", doc, n, ok, before, found)
			}
		}
	})
}

// Joined postings are those of all documents that stay, under their new numbers.
func TestMergedPostings(t *testing.T) {
	words := []string{"alpha", "beta", "gamma", "delta"}
	rapid.Check(t, func(t *rapid.T) {
		type key struct {
			word string
			doc  uint32
		}
		want, norms := map[key]uint32{}, map[uint32]float32{}
		next := rapid.Permutation([]uint32{0, 1, 2, 3, 4, 5, 6, 7}).Draw(t, "numbers")
		var parts []remapped
		kept := 0
		for range 2 {
			b := newPostingsBuilder(10)
			var renumber []uint32
			for range 4 {
				doc := next[0]
				next = next[1:]
				if rapid.Bool().Draw(t, "goes") {
					doc = dropped
				}
				length := uint32(0)
				for _, w := range words {
					n := rapid.Uint32Range(0, 5).Draw(t, w)
					length += min(n, 1)
					if n == 0 {
						continue
					}
					b.addTerm(w, n)
					if doc != dropped {
						want[key{w, doc}] = n
					}
				}
				b.endDocument()
				renumber = append(renumber, doc)
				if doc != dropped {
					norms[doc] = normOf(float32(length), 10)
				}
			}
			p := b.build()
			parts = append(parts, remapped{&p, renumber})
		}
		// The numbers that are left are those from 0 on.
		inOrder := slices.Sorted(maps.Keys(norms))
		for _, part := range parts {
			for i, doc := range part.renumber {
				if doc != dropped {
					part.renumber[i] = uint32(slices.Index(inOrder, doc))
					kept++
				}
			}
		}
		p := mergePostings(parts)
		got := map[key]uint32{}
		for _, w := range words {
			of := p.list(w)
			for at := of.first(); at.next(); {
				got[key{w, inOrder[at.doc]}] = at.frequency
			}
		}
		if !maps.Equal(got, want) {
			t.Fatalf("got %v\nwant %v", got, want)
		}
		if len(p.norms) != kept {
			t.Fatalf("%d norms, want %d", len(p.norms), kept)
		}
		for i, doc := range inOrder {
			if p.norms[i] != norms[doc] {
				t.Fatalf("norm of %d is %v, want %v", doc, p.norms[i], norms[doc])
			}
		}
	})
}
