package vector

import (
	"encoding/binary"
	"slices"
	"unsafe"
)

// CodesOf are the codes of vectors of small numbers, one behind the other.
func CodesOf(data []int8, dim int) *Codes {
	c := &Codes{dim: dim, words: wordsOf(dim), n: len(data) / dim}
	c.bits = make([]uint64, c.n*c.words)
	numbers := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(data))), len(data))
	for i := range c.n {
		encodeBytes(c.bits[i*c.words:][:c.words], numbers[i*dim:][:dim])
	}
	return c
}

// encodeBytes is encode for numbers of one byte. It reads eight at a time, as a process that
// searches once would otherwise spend a third of its time on the signs of a workspace.
func encodeBytes(out []uint64, v []byte) {
	const (
		signs  = 0x0101010101010101
		gather = 0x0102040810204080 // times bits at 0, 8, ... 56 has them at 56, 57, ... 63
	)
	whole := len(v) &^ 7
	for d := 0; d < whole; d += 8 {
		positive := ^binary.LittleEndian.Uint64(v[d:]) >> 7 & signs
		out[d/64] |= positive * gather >> 56 << (d % 64)
	}
	for d := whole; d < len(v); d++ {
		out[d/64] |= uint64(^v[d]>>7) << (d % 64)
	}
}

// Part is some of the rows that NearestBy looks among.
type Part struct {
	Codes *Codes // of all its rows
	// Gone are the rows that do not count, in ranges that are in order and do not touch.
	Gone [][2]uint32
}

// count is how many rows of a part count.
func (p *Part) count() int {
	n := p.Codes.Len()
	for _, r := range p.Gone {
		n -= int(r[1] - r[0])
	}
	return n
}

// each visits the rows that count, in their order.
func (p *Part) each(visit func(row int)) {
	row := 0
	for _, r := range p.Gone {
		for ; row < int(r[0]); row++ {
			visit(row)
		}
		row = int(r[1])
	}
	for ; row < p.Codes.Len(); row++ {
		visit(row)
	}
}

// PartHit is a row of a part.
type PartHit struct {
	Part, Row int
	Score     float32
}

// NearestBy is Nearest for rows that only the caller can compare, spread over parts: cosine
// answers that of a row and the query. Where rows lie, and beside which others that are
// gone, changes nothing about which are found: those that are as near as the k-th are
// answered with it, and all are in no order.
func NearestBy(parts []Part, query []float32, k int, cosine func(part, row int) float32) []PartHit {
	n := 0
	for i := range parts {
		n += parts[i].count()
	}
	k = min(k, n)
	if k <= 0 {
		return nil
	}
	var hits []PartHit
	best := make(heap, 0, k)
	compare := func(part, row int) {
		x := cosine(part, row)
		best = best.offer(k, Hit{len(hits), x})
		hits = append(hits, PartHit{part, row, x})
	}
	if keep := kept(k, n); keep < n {
		shortlist(parts, query, keep, compare)
	} else {
		for i := range parts {
			parts[i].each(func(row int) { compare(i, row) })
		}
	}
	last := best[0].Score
	return slices.DeleteFunc(hits, func(h PartHit) bool { return h.Score < last })
}

// shortlist visits the best rows of all parts by their codes: keep of them, and those whose
// codes are as good as the last one's.
func shortlist(parts []Part, query []float32, keep int, visit func(part, row int)) {
	q := wordsOfQuery(query)
	scores := make([][]uint16, len(parts))
	counts := make([]int, largest*64*len(q)+1)
	for i, p := range parts {
		var some []int
		scores[i], some = p.Codes.scores(q, p.Codes.Len())
		for _, r := range p.Gone {
			for _, score := range scores[i][r[0]:r[1]] {
				some[score]--
			}
		}
		for score, n := range some {
			counts[score] += n
		}
	}
	least, _ := leastOf(counts, keep)
	for i := range parts {
		parts[i].each(func(row int) {
			if int(scores[i][row]) >= least {
				visit(i, row)
			}
		})
	}
}
