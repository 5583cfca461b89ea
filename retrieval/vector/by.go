package vector

// CodesOf are the codes of vectors of small numbers, one behind the other.
func CodesOf(data []int8, dim int) *Codes {
	c := &Codes{dim: dim, words: wordsOf(dim), n: len(data) / dim}
	c.bits = make([]uint64, c.n*c.words)
	for i := range c.n {
		for d, x := range data[i*dim:][:dim] {
			if x >= 0 {
				c.bits[i*c.words+d/64] |= 1 << (d % 64)
			}
		}
	}
	return c
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
