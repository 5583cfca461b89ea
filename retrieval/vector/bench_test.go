package vector

import (
	"math/rand/v2"
	"testing"
)

func randomRows(n, dim int) Rows {
	r := rand.New(rand.NewPCG(1, 2))
	data := make([]float32, n*(dim+8))
	for i := range data {
		data[i] = float32(r.NormFloat64())
	}
	return Rows{data, dim, dim + 8}
}

func BenchmarkScore(b *testing.B) {
	rows := randomRows(100000, 384)
	s := (*Signs)(nil).Extend(rows)
	q := wordsOfQuery(rows.At(7))
	out := make([]uint16, s.n)
	b.Run("6", func(b *testing.B) {
		for b.Loop() {
			score6(out, s.bits, (*[6]word)(q))
		}
	})
	b.Run("any", func(b *testing.B) {
		for b.Loop() {
			scoreAny(out, s.bits, q)
		}
	})
	b.Run("score", func(b *testing.B) {
		for b.Loop() {
			s.score(out, q, 0)
		}
	})
	b.Run("nearest", func(b *testing.B) {
		for b.Loop() {
			Nearest(rows, s, rows.At(7), 100)
		}
	})
	b.Run("exact", func(b *testing.B) {
		for b.Loop() {
			Nearest(rows, nil, rows.At(7), 100)
		}
	})
	b.Run("extend", func(b *testing.B) {
		for b.Loop() {
			(*Signs)(nil).Extend(rows)
		}
	})
}
