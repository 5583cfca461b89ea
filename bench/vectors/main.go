// Command vectors measures the search in package vector against a plain loop and
// against what the machine's memory delivers:
//
//	go run -tags sqlite_fts5 ./bench/vectors
//
// It prints the tables of bench/vectors.md. Vectors are random: none of what is timed
// depends on their values. It takes 3 GB of memory and about two minutes.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"time"

	"quarry/retrieval/vector"
)

func main() {
	most := flag.Int("most", 500_000, "the largest set of vectors")
	turns := flag.Int("turns", 40, "queries a figure")
	flag.Parse()
	cores := runtime.GOMAXPROCS(0)
	fmt.Printf("%s/%s, %d cores\n\n", runtime.GOOS, runtime.GOARCH, cores)
	buffer := make([]uint64, 1<<26) // 512 MB, more than any cache
	for i := range buffer {
		buffer[i] = uint64(i)
	}
	for _, n := range slices.Compact([]int{1, cores}) {
		fmt.Printf("memory read by %d cores: %.1f GB/s\n", n, bandwidth(buffer, n))
	}
	buffer = nil
	runtime.GC()
	fmt.Printf("\nMilliseconds a query for the nearest 10, best and median of %d.\n\n", *turns)
	fmt.Println("| vectors | dimensions | plain loop | exact, one core | exact | codes, one core | codes | exact reads at |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	type made struct {
		n, dim      int
		build, grow time.Duration
	}
	var builds []made
	for _, dim := range []int{384, 768} {
		for _, n := range []int{10_000, 50_000, 100_000, 500_000} {
			if n > *most {
				continue
			}
			rows := random(n, dim)
			queries := make([][]float32, *turns)
			for i := range queries {
				queries[i] = rows.At(i * (n / *turns))
			}
			start := time.Now()
			codes := (*vector.Codes)(nil).Extend(rows)
			build := time.Since(start)
			grow := growth(rows)
			builds = append(builds, made{n, dim, build, grow})

			loop := timed(queries[:max(1, len(queries)/4)], func(q []float32) { plain(rows, q, 10) })
			runtime.GOMAXPROCS(1)
			exactOne := timed(queries, func(q []float32) { vector.Nearest(rows, nil, q, 10) })
			codesOne := timed(queries, func(q []float32) { vector.Nearest(rows, codes, q, 10) })
			runtime.GOMAXPROCS(cores)
			exact := timed(queries, func(q []float32) { vector.Nearest(rows, nil, q, 10) })
			byCodes := timed(queries, func(q []float32) { vector.Nearest(rows, codes, q, 10) })
			fmt.Printf("| %d | %d | %s | %s | %s | %s | %s | %.1f GB/s |\n", n, dim, loop, exactOne, exact, codesOne, byCodes,
				float64(n)*float64(dim)*4/exact.best.Seconds()/1e9)
			runtime.GC()
		}
	}
	fmt.Println("\n| vectors | dimensions | codes made in | 8 more vectors | bytes a vector, exact | codes |")
	fmt.Println("|---|---|---|---|---|---|")
	for _, b := range builds {
		fmt.Printf("| %d | %d | %.0f ms | %.1f us | %d | %d |\n", b.n, b.dim, b.build.Seconds()*1e3, b.grow.Seconds()*1e6, 4*b.dim, vector.Bytes(b.dim))
	}
}

// random are vectors of length 1, with the 32 bytes behind each that a file of vectors
// has.
func random(n, dim int) vector.Rows {
	rows := vector.Rows{Data: make([]float32, n*(dim+8)), Dim: dim, Stride: dim + 8}
	var wait sync.WaitGroup
	for w := range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), uint64(dim)))
			for i := w; i < n; i += runtime.GOMAXPROCS(0) {
				row, sum := rows.At(i), 0.0
				for d := range row {
					row[d] = r.Float32() - r.Float32()
					sum += float64(row[d]) * float64(row[d])
				}
				scale := float32(1 / math.Sqrt(sum))
				for d := range row {
					row[d] *= scale
				}
			}
		})
	}
	wait.Wait()
	return rows
}

// growth is the time that one edit's new vectors take.
func growth(rows vector.Rows) time.Duration {
	const steps, step = 100, 8
	part := func(n int) vector.Rows {
		return vector.Rows{Data: rows.Data[:n*rows.Stride], Dim: rows.Dim, Stride: rows.Stride}
	}
	n := rows.Len() - steps*step
	codes := (*vector.Codes)(nil).Extend(part(n))
	times := make([]time.Duration, steps)
	for i := range times {
		n += step
		start := time.Now()
		codes = codes.Extend(part(n))
		times[i] = time.Since(start)
	}
	slices.Sort(times)
	return times[steps/2]
}

// plain is what one writes first: a loop, and a sort of all.
func plain(rows vector.Rows, query []float32, k int) []vector.Hit {
	hits := make([]vector.Hit, rows.Len())
	for i := range hits {
		sum := float32(0)
		for d, x := range rows.At(i) {
			sum += x * query[d]
		}
		hits[i] = vector.Hit{Row: i, Score: sum}
	}
	slices.SortFunc(hits, func(a, b vector.Hit) int { return cmp.Compare(b.Score, a.Score) })
	return hits[:k]
}

type took struct{ best, median time.Duration }

func (t took) String() string {
	return fmt.Sprintf("%.2f / %.2f", t.best.Seconds()*1e3, t.median.Seconds()*1e3)
}

func timed(queries [][]float32, search func([]float32)) took {
	search(queries[0])
	times := make([]time.Duration, len(queries))
	for i, q := range queries {
		start := time.Now()
		search(q)
		times[i] = time.Since(start)
	}
	slices.Sort(times)
	return took{times[0], times[len(times)/2]}
}

// bandwidth is how fast cores read memory in sequence, the best of five, in GB/s.
func bandwidth(buffer []uint64, cores int) float64 {
	best := time.Hour
	sums := make([]uint64, cores)
	for range 5 {
		start := time.Now()
		var wait sync.WaitGroup
		for w := range cores {
			wait.Go(func() {
				var a, b, c, d uint64
				part := buffer[len(buffer)*w/cores : len(buffer)*(w+1)/cores]
				for i := 0; i+8 <= len(part); i += 8 { // a cache line a turn
					a += part[i] + part[i+1]
					b += part[i+2] + part[i+3]
					c += part[i+4] + part[i+5]
					d += part[i+6] + part[i+7]
				}
				sums[w] = a + b + c + d
			})
		}
		wait.Wait()
		best = min(best, time.Since(start))
	}
	runtime.KeepAlive(sums)
	return float64(8*len(buffer)) / best.Seconds() / 1e9
}
