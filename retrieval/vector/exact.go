package vector

// exact answers the k nearest of the rows [from, to), in no order.
func exact(rows Rows, query []float32, k, from, to int) []Hit {
	h := make(heap, 0, k)
	for i := from; i < to; i++ {
		h = h.offer(k, Hit{i, dot(rows.At(i), query)})
	}
	return h
}

// exactOf answers the k nearest of the given rows, in no order.
func exactOf(rows Rows, query []float32, k int, of []int) []Hit {
	h := make(heap, 0, min(k, len(of)))
	for _, i := range of {
		h = h.offer(k, Hit{i, dot(rows.At(i), query)})
	}
	return h
}

// heap holds the best hits met so far, the worst of them first: the parent of the
// element i is element (i-1)/2 and no better.
type heap []Hit

// worse orders hits; of equal scores the later row is worse.
func worse(a, b Hit) bool { return better(a, b) > 0 }

// offer takes a hit in if there is room for k, or if it is better than the worst.
func (h heap) offer(k int, x Hit) heap {
	if len(h) < k {
		h = append(h, x)
		for i := len(h) - 1; i > 0; {
			parent := (i - 1) / 2
			if !worse(h[i], h[parent]) {
				break
			}
			h[i], h[parent] = h[parent], h[i]
			i = parent
		}
		return h
	}
	if x.Score < h[0].Score || !worse(h[0], x) {
		return h
	}
	h[0] = x
	for i := 0; ; {
		child := 2*i + 1
		if child >= k {
			return h
		}
		if child+1 < k && worse(h[child+1], h[child]) {
			child++
		}
		if !worse(h[child], h[i]) {
			return h
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}

// Cosine is that of two vectors of length 1.
func Cosine(a, b []float32) float32 { return dot(a, b) }
