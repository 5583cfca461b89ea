package vector

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// randomRows are vectors of length 1, laid out as in a file of vectors.
func randomRows(n, dim int) Rows {
	r := rand.New(rand.NewPCG(1, 2))
	rows := Rows{Data: make([]float32, n*(dim+8)), Dim: dim, Stride: dim + 8}
	for i := range n {
		row := rows.At(i)
		for d := range row {
			row[d] = float32(r.NormFloat64())
		}
		normalise(row)
	}
	return rows
}

// BenchmarkNearest compares the two ways around the size where the one gives way to
// the other.
func BenchmarkNearest(b *testing.B) {
	for _, n := range []int{2500, 5000, 10_000, 20_000, 40_000} {
		rows := randomRows(n, 384)
		codes := (*Codes)(nil).Extend(rows)
		for _, k := range []int{10, 100} {
			b.Run(fmt.Sprintf("%d/%d/exact", n, k), func(b *testing.B) {
				for b.Loop() {
					Nearest(rows, nil, rows.At(7), k)
				}
			})
			b.Run(fmt.Sprintf("%d/%d/codes", n, k), func(b *testing.B) {
				for b.Loop() {
					byCodes(rows, codes, rows.At(7), k, n)
				}
			})
		}
	}
}

func BenchmarkScore(b *testing.B) {
	for _, dim := range []int{384, 768} {
		rows := randomRows(20_000, dim)
		s := (*Codes)(nil).Extend(rows)
		q := wordsOfQuery(rows.At(7))
		out := make([]uint16, s.n)
		b.Run(fmt.Sprintf("%d", dim), func(b *testing.B) {
			for b.Loop() {
				s.score(out, q, 0)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*s.n), "ns/row")
		})
	}
}
