package vector

import (
	"math"
	"math/bits"
)

// How a search by binary codes goes.
//
// Binary quantisation keeps only the signs of each stored vector, one bit a dimension. The query
// keeps more: a sign and a magnitude of 0 to 7. A row's score is the sum of the
// magnitudes at the dimensions where the signs agree, which grows with the dot
// product of the query and the row's signs:
//
//	dimension            0   1   2   3   4   5
//	query              .31 -.12 .02 .25 -.30 .05
//	its signs            1   0   1   1   0   1
//	its magnitudes       7   3   0   6   7   1
//	row's signs          1   1   1   0   0   0
//	agree                1   .   1   .   1   .
//	score                7 + 0 + 7 = 14, of 24
//
// Written as bits the magnitudes are three planes, and 64 dimensions are compared
// with four logic operations and three population counts:
//
//	score = 1*|agree & plane 0| + 2*|agree & plane 1| + 4*|agree & plane 2|
//
// Both sides by their sign alone (the Hamming distance) would need three times as
// many rows to be compared exactly for the same recall, on real embeddings; more
// planes, a rotation or the vectors' own mean and length (RaBitQ, Gao and Long 2024)
// save next to none. bench/vectors.md has the measurement. So nothing is learned
// from the vectors, and a new one is coded without touching the others.
//
// Scores are small integers, so the best rows are not kept in a heap: they are
// counted by score, the counts say from which score on a row is among the best, and
// a second pass takes those. No branch of the first pass depends on the data.

// planes is how many bits a magnitude of the query has.
const planes = 3

const largest = 1<<planes - 1

// Codes are the binary codes of the first vectors of a matrix; immutable.
type Codes struct {
	dim, words, n int
	// bits has words for each vector; its last bits, behind dim, are zero.
	bits []uint64
}

// Bytes is what the code of a vector take.
func Bytes(dim int) int { return 8 * wordsOf(dim) }

func wordsOf(dim int) int { return (dim + 63) / 64 }

// Len is how many vectors have their codes in s.
func (s *Codes) Len() int {
	if s == nil {
		return 0
	}
	return s.n
}

// Extend answers the codes of all rows, the first of which s has already; a nil s
// has none. It writes into memory behind what s uses: of two Codes made from the
// same s only the later one is good.
func (s *Codes) Extend(rows Rows) *Codes {
	next := Codes{dim: rows.Dim, words: wordsOf(rows.Dim)}
	from := s.Len()
	if s != nil {
		next.bits = s.bits
	}
	next.n = max(from, rows.Len())
	need := next.n * next.words
	if cap(next.bits) < need {
		// Half as much again: a file of vectors grows by small batches.
		grown := make([]uint64, len(next.bits), max(need, len(next.bits)*3/2))
		copy(grown, next.bits)
		next.bits = grown
	}
	next.bits = next.bits[:need]
	split(next.n-from, codesShare, func(a, b int) struct{} {
		for i := from + a; i < from+b; i++ {
			encode(next.bits[i*next.words:][:next.words], rows.At(i))
		}
		return struct{}{}
	})
	return &next
}

// encode sets a bit for each number that is not negative.
func encode(out []uint64, v []float32) {
	for w := range out {
		var word uint64
		for i, x := range v[64*w : min(64*w+64, len(v))] {
			word |= uint64(^math.Float32bits(x)>>31) << i
		}
		out[w] = word
	}
}

// word is 64 dimensions of a query.
type word struct {
	// differ has a bit where the query's sign is not set, so that a row's signs
	// exclusive-or differ has one where they agree.
	differ uint64
	plane  [planes]uint64
}

// wordsOfQuery cuts a query. The magnitudes are rounded to eight steps up to the
// largest.
func wordsOfQuery(query []float32) []word {
	most := float32(0)
	for _, x := range query {
		most = max(most, float32(math.Abs(float64(x))))
	}
	out := make([]word, wordsOf(len(query)))
	for i, x := range query {
		w, bit := &out[i/64], uint64(1)<<(i%64)
		if math.Signbit(float64(x)) {
			w.differ |= bit
			x = -x
		}
		magnitude := 0
		if most > 0 {
			magnitude = min(largest, int(x/most*largest+.5))
		}
		for p := range planes {
			if magnitude>>p&1 != 0 {
				w.plane[p] |= bit
			}
		}
	}
	return out
}

// nearest answers the best rows of the first n by their codes, keep of them, in
// order of their numbers. Of rows with equal scores the first are taken.
func (s *Codes) nearest(query []float32, n, keep int) []int {
	scores, counts := s.scores(wordsOfQuery(query), n)
	least, room := leastOf(counts, keep)
	out := make([]int, 0, keep)
	for i, score := range scores {
		if int(score) < least {
			continue
		}
		if int(score) == least {
			if room == 0 {
				continue
			}
			room--
		}
		out = append(out, i)
	}
	return out
}

// scores are those of the first n rows, and how many have each.
func (s *Codes) scores(q []word, n int) (scores []uint16, counts []int) {
	scores = make([]uint16, n)
	counts = make([]int, largest*64*s.words+1)
	for _, some := range split(n, codesShare, func(from, to int) []int { return s.score(scores[from:to], q, from) }) {
		for score, n := range some {
			counts[score] += n
		}
	}
	return scores, counts
}

// leastOf is the score that a row of the best keep has at least, and how many of those that
// have it are among them. There are more rows than that.
func leastOf(counts []int, keep int) (least, room int) {
	least, room = len(counts)-1, keep
	for ; counts[least] < room; least-- {
		room -= counts[least]
	}
	return least, room
}

// score scores the rows from first on, as many as out is long, and answers how many
// have each score.
func (s *Codes) score(out []uint16, q []word, first int) (counts []int) {
	switch s.words {
	case 2:
		score2(out, s.bits[first*2:], (*[2]word)(q))
	case 6:
		score6(out, s.bits[first*6:], (*[6]word)(q))
	default:
		scoreAny(out, s.bits[first*s.words:], q)
	}
	counts = make([]int, largest*64*s.words+1)
	for _, x := range out {
		counts[x]++
	}
	return counts
}

// scoreAny is the plain way to score rows.
func scoreAny(out []uint16, rows []uint64, q []word) {
	for i := range out {
		row := rows[i*len(q):][:len(q)]
		sum := 0
		for k, w := range q {
			agree := row[k] ^ w.differ
			sum += bits.OnesCount64(agree&w.plane[0]) + 2*bits.OnesCount64(agree&w.plane[1]) + 4*bits.OnesCount64(agree&w.plane[2])
		}
		out[i] = uint16(sum)
	}
}

// score2 is scoreAny for 128 dimensions.
func score2(out []uint16, rows []uint64, q *[2]word) {
	a, b := q[0], q[1]
	rows = rows[:2*len(out)]
	for i := range out {
		x, y := rows[2*i]^a.differ, rows[2*i+1]^b.differ
		one := bits.OnesCount64(x&a.plane[0]) + bits.OnesCount64(y&b.plane[0])
		two := bits.OnesCount64(x&a.plane[1]) + bits.OnesCount64(y&b.plane[1])
		four := bits.OnesCount64(x&a.plane[2]) + bits.OnesCount64(y&b.plane[2])
		out[i] = uint16(one + 2*two + 4*four)
	}
}

// score6 is scoreAny for 384 dimensions.
func score6(out []uint16, rows []uint64, q *[6]word) {
	for i := range out {
		row := (*[6]uint64)(rows[i*6:])
		var one, two, four int
		for k := range 6 {
			agree := row[k] ^ q[k].differ
			one += bits.OnesCount64(agree & q[k].plane[0])
			two += bits.OnesCount64(agree & q[k].plane[1])
			four += bits.OnesCount64(agree & q[k].plane[2])
		}
		out[i] = uint16(one + 2*two + 4*four)
	}
}

// kept is how many of n rows are compared exactly for the k nearest. On real embeddings
// it finds 998 of 1,000 of the nearest ten and 995 of the nearest hundred of 30,000. To
// keep that, it has to grow with the cube root of n (bench/vectors.md).
func kept(k, n int) int {
	return int(float64(max(256, 8*k)) * max(1, math.Cbrt(float64(n)/10_000)))
}
