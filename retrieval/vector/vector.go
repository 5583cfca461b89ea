// Package vector finds, among many vectors of length 1, those nearest to a query
// by cosine. It knows nothing of chunks or models, and of files only that one which is
// mapped can fail to be read: within vectors.Guard that is Guard's error.
//
// Few vectors are compared one by one (exact.go): a dot product each by
// SIMD (vek's, or NEON in dot_arm64.s), the best kept in a bounded heap. That reads four bytes a dimension, and
// from tens of thousands of vectors on the machine's memory is what it waits for.
// So many vectors are first narrowed down by one bit a dimension (codes.go), and
// only the best of those are compared exactly:
//
//	500,000 x 384     read     kept      then
//	exact             768 MB   k
//	codes              24 MB   about 2k  their 3 MB of exact vectors, k of them
//
// The codes are all that has to stay in memory; the vectors themselves may be a
// mapped file, of which a search touches what the codes leave.
//
// Everything is safe for concurrent use but Codes.Extend, which has one caller.
package vector

import (
	"cmp"
	"errors"
	"runtime"
	"slices"
	"sync"

	"quarry/index/vectors"
)

// Rows are vectors of length 1, one behind the other.
type Rows struct {
	// Data has Stride float32 for each vector, of which the first Dim are it.
	Data        []float32
	Dim, Stride int
}

// Len is how many vectors there are.
func (r Rows) Len() int {
	if r.Stride == 0 {
		return 0
	}
	return len(r.Data) / r.Stride
}

// At is a vector, Dim long.
func (r Rows) At(i int) []float32 { return r.Data[i*r.Stride:][:r.Dim:r.Dim] }

// Hit is a vector that was found.
type Hit struct {
	Row int
	// Score is the cosine to the query, in -1..1 but for rounding.
	Score float32
}

// exactNumbers is how many numbers a set may have to be compared exactly, all of
// it: 10,000 vectors of 384. There both ways take about a millisecond or less, and
// the exact one is sure to miss nothing (bench/vectors.md).
const exactNumbers = 10_000 * 384

// Nearest answers the k vectors nearest to query, the nearest first, equal ones by
// row. With codes of the rows, or of the first of them, it may miss a vector that a
// comparison of all would find; with nil it does not. It panics if the query's
// length is not the dimension.
func Nearest(rows Rows, codes *Codes, query []float32, k int) []Hit {
	if len(query) != rows.Dim {
		panic("vector: the query has another dimension than the vectors")
	}
	n := rows.Len()
	k = min(k, n)
	if k <= 0 {
		return nil
	}
	if coded := min(codes.Len(), n); n*rows.Dim > exactNumbers && kept(k, coded) < coded {
		return byCodes(rows, codes, query, k, coded)
	}
	return merge(k, split(n, exactShare, func(from, to int) []Hit { return exact(rows, query, k, from, to) }))
}

// byCodes looks for the nearest with the codes of the first coded rows. The rows
// after them came later and are compared exactly.
func byCodes(rows Rows, codes *Codes, query []float32, k, coded int) []Hit {
	some := codes.nearest(query, coded, kept(k, coded))
	best := split(len(some), exactShare, func(from, to int) []Hit { return exactOf(rows, query, k, some[from:to]) })
	rest := split(rows.Len()-coded, exactShare, func(from, to int) []Hit { return exact(rows, query, k, coded+from, coded+to) })
	return merge(k, append(best, rest...))
}

// NearestOf is Nearest among some rows only, which are compared exactly.
func NearestOf(rows Rows, query []float32, k int, of []int) []Hit {
	if len(query) != rows.Dim {
		panic("vector: the query has another dimension than the vectors")
	}
	k = min(k, len(of))
	if k <= 0 {
		return nil
	}
	return merge(k, split(len(of), exactShare, func(from, to int) []Hit { return exactOf(rows, query, k, of[from:to]) }))
}

const (
	// maxWorkers bounds the cores that one search takes: memory serves no more.
	maxWorkers = 4
	// exactShare and codesShare are the fewest rows worth a goroutine of their own:
	// about a quarter of a millisecond of work.
	exactShare = 4096
	codesShare = 32_768
)

// split calls part for stretches of [0, n), at once where that is worth it, and
// answers what they answered, in order. Rows that cannot be read are a panic of the
// caller's goroutine, for its Guard, when all of them have returned.
func split[T any](n, share int, part func(from, to int) T) []T {
	workers := max(1, min(maxWorkers, runtime.GOMAXPROCS(0), n/share))
	out, errs := make([]T, workers), make([]error, workers)
	work := func(w int) {
		errs[w] = vectors.Guard(func() { out[w] = part(n*w/workers, n*(w+1)/workers) })
	}
	var wait sync.WaitGroup
	for w := 1; w < workers; w++ {
		wait.Go(func() { work(w) })
	}
	work(0)
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		panic(err)
	}
	return out
}

// merge joins lists of hits into the k best.
func merge(k int, lists [][]Hit) []Hit {
	all := slices.Concat(lists...)
	slices.SortFunc(all, better)
	return all[:min(k, len(all))]
}

// better orders hits, the best first. What is no number comes last.
func better(a, b Hit) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Row, b.Row))
}
