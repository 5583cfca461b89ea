package train

import (
	"cmp"
	"math"
	"slices"
)

// entry is a number in a row of a sparse matrix.
type entry struct {
	col uint32
	n   float32
}

// matrix is sparse, by rows.
type matrix struct {
	rows [][]entry
	cols int
}

const (
	// mostSaid and mostNamed are the words that a table has, and minRepositories the
	// repositories that must have a word: what fewer say is their own.
	mostSaid, mostNamed = 12_000, 16_000
	minRepositories     = 2
	// damped is the power that a repository's count of a pair of words is raised to, so
	// that ten repositories outweigh one that repeats itself.
	damped = .5
	// minCount is the least damped count that is looked at, shrink what counts are held
	// against (both keep chance out), and smooth the power of a named word's frequency,
	// which keeps rare ones from being near to everything (Levy, Goldberg and Dagan 2015).
	minCount = 1.2
	shrink   = 2
	smooth   = .75
)

// vocabulary are the words that a side of the matrix has.
type vocabulary struct {
	words []uint32
	at    map[uint32]uint32 // the place of a word in words
	seen  []float64         // how often each is met, damped
}

func vocabularyOf(all [][]pair, of func(pair) []uint32, most int) vocabulary {
	repositories, seen := map[uint32]int{}, map[uint32]float64{}
	for _, list := range all {
		n := map[uint32]int{}
		for _, p := range list {
			for _, w := range of(p) {
				n[w]++
			}
		}
		for w, c := range n {
			repositories[w]++
			seen[w] += math.Pow(float64(c), damped)
		}
	}
	v := vocabulary{at: map[uint32]uint32{}}
	for w, n := range repositories {
		if n >= minRepositories {
			v.words = append(v.words, w)
		}
	}
	slices.SortFunc(v.words, func(a, b uint32) int { return cmp.Or(cmp.Compare(repositories[b], repositories[a]), cmp.Compare(a, b)) })
	v.words = v.words[:min(most, len(v.words))]
	for i, w := range v.words {
		v.at[w] = uint32(i)
		v.seen = append(v.seen, seen[w])
	}
	return v
}

// count counts how often words are said of what is named by others.
func count(all [][]pair, said, named vocabulary) matrix {
	m := matrix{rows: make([][]entry, len(said.words)), cols: len(named.words)}
	merged := make([]int, len(m.rows))
	seen := make([]uint32, len(named.words)) // of one row, zero between rows
	for _, list := range all {
		cols := make([][]uint32, len(list))
		having := make([][]int32, len(m.rows)) // the pairs with a word said
		for i, p := range list {
			for _, w := range p.named {
				if c, ok := named.at[w]; ok {
					cols[i] = append(cols[i], c)
				}
			}
			for _, w := range p.said {
				if row, ok := said.at[w]; ok {
					having[row] = append(having[row], int32(i))
				}
			}
		}
		for row, pairs := range having {
			var touched []uint32
			for _, i := range pairs {
				for _, c := range cols[i] {
					if seen[c] == 0 {
						touched = append(touched, c)
					}
					seen[c]++
				}
			}
			for _, c := range touched {
				m.rows[row] = append(m.rows[row], entry{c, float32(math.Pow(float64(seen[c]), damped))})
				seen[c] = 0
			}
			if len(m.rows[row]) > 2*merged[row]+1024 {
				m.rows[row] = merge(m.rows[row])
				merged[row] = len(m.rows[row])
			}
		}
	}
	for i := range m.rows {
		m.rows[i] = slices.Clip(merge(m.rows[i]))
	}
	return m
}

// merge adds up what a row has of each column, in their order.
func merge(row []entry) []entry {
	slices.SortFunc(row, func(a, b entry) int { return cmp.Or(cmp.Compare(a.col, b.col), cmp.Compare(a.n, b.n)) })
	out := row[:0]
	for _, e := range row {
		if n := len(out); n > 0 && out[n-1].col == e.col {
			out[n-1].n += e.n
		} else {
			out = append(out, e)
		}
	}
	return out
}

// weigh turns counts into positive pointwise mutual information.
func (m matrix) weigh() {
	rows, cols := make([]float64, len(m.rows)), make([]float64, m.cols)
	for i, row := range m.rows {
		for _, e := range row {
			rows[i] += float64(e.n)
			cols[e.col] += float64(e.n)
		}
	}
	total := 0.0
	for i := range cols {
		cols[i] = math.Pow(cols[i], smooth)
		total += cols[i]
	}
	for i, row := range m.rows {
		out := row[:0]
		for _, e := range row {
			n := float64(e.n)
			if n < minCount {
				continue
			}
			v := math.Log(n*total/(rows[i]*cols[e.col])) * n / (n + shrink)
			if v > 0 {
				out = append(out, entry{e.col, float32(v)})
			}
		}
		m.rows[i] = out
	}
}

// size is how many numbers are not zero.
func (m matrix) size() (n int) {
	for _, r := range m.rows {
		n += len(r)
	}
	return n
}
