package vector

import (
	"encoding/binary"
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

// NearestBy is Nearest for rows that only the caller can compare: cosine answers that of
// a row and the query. All rows have their codes.
func NearestBy(codes *Codes, query []float32, k int, cosine func(row int) float32) []Hit {
	n := codes.Len()
	k = min(k, n)
	if k <= 0 {
		return nil
	}
	h := make(heap, 0, k)
	if keep := kept(k, n); keep < n {
		for _, i := range codes.nearest(query, n, keep) {
			h = h.offer(k, Hit{i, cosine(i)})
		}
	} else {
		for i := range n {
			h = h.offer(k, Hit{i, cosine(i)})
		}
	}
	return merge(k, [][]Hit{h})
}
