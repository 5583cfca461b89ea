package vector

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// plainNearest compares all rows in the plainest way.
func plainNearest(rows Rows, query []float32, k int, of []int) []Hit {
	hits := []Hit{}
	for _, i := range of {
		sum := float32(0)
		for d, x := range rows.At(i) {
			sum += x * query[d]
		}
		hits = append(hits, Hit{i, sum})
	}
	slices.SortFunc(hits, better)
	return hits[:min(k, len(hits))]
}

func numbers(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// wholeRows are rows of small whole numbers, whose products add up to the same in
// any order; and so do their dot products on every path.
func wholeRows(r *rand.Rand, n, dim int) Rows {
	rows := Rows{Data: make([]float32, n*(dim+3)), Dim: dim, Stride: dim + 3}
	for i := range rows.Data {
		rows.Data[i] = float32(r.IntN(15) - 7)
	}
	return rows
}

// One dimension at a time, without bits.
func plainScore(query, row []float32) int {
	most := 0.0
	for _, x := range query {
		most = max(most, math.Abs(float64(x)))
	}
	score := 0
	for d, x := range query {
		if most > 0 && math.Signbit(float64(x)) == math.Signbit(float64(row[d])) {
			score += int(float32(math.Abs(float64(x)))/float32(most)*largest + .5)
		}
	}
	return score
}

// Every way to score equals the plain one: all rows and many queries of up to four
// dimensions, and drawn ones of every width.
func TestScoresEqualThePlainOnes(t *testing.T) {
	values := []float32{-1, -.4, float32(math.Copysign(0, -1)), 0, .2, .7}
	for dim := 1; dim <= 4; dim++ {
		all := Rows{Dim: dim, Stride: dim}
		for i := range int(math.Pow(float64(len(values)), float64(dim))) {
			for range dim {
				all.Data = append(all.Data, values[i%len(values)])
				i /= len(values)
			}
		}
		codes := (*Codes)(nil).Extend(all)
		out := make([]uint16, all.Len())
		for q := range all.Len() {
			scoreAny(out, codes.bits, wordsOfQuery(all.At(q)))
			for i, got := range out {
				if want := plainScore(all.At(q), all.At(i)); int(got) != want {
					t.Fatalf("query %v, row %v: score %d, want %d", all.At(q), all.At(i), got, want)
				}
			}
		}
	}
	for dim := 1; dim <= 770; dim += 1 + dim/9 {
		checkScores(t, rand.New(rand.NewPCG(uint64(dim), 1)), dim)
	}
	for _, dim := range []int{65, 128, 384} { // those of loops of their own
		for seed := range uint64(50) {
			checkScores(t, rand.New(rand.NewPCG(seed, 1)), dim)
		}
	}
}

func checkScores(t testing.TB, r *rand.Rand, dim int) {
	t.Helper()
	rows := wholeRows(r, 7, dim)
	codes := (*Codes)(nil).Extend(rows)
	query := rows.At(6)
	plain, got := make([]uint16, 7), make([]uint16, 7)
	scoreAny(plain, codes.bits, wordsOfQuery(query))
	counts := codes.score(got, wordsOfQuery(query), 0)
	for i := range got {
		if want := plainScore(query, rows.At(i)); int(got[i]) != want || int(plain[i]) != want {
			t.Fatalf("%d dimensions, row %d: score %d, the plain loop's %d, want %d", dim, i, got[i], plain[i], want)
		}
		counts[got[i]]--
	}
	if slices.ContainsFunc(counts, func(n int) bool { return n != 0 }) {
		t.Fatalf("%d dimensions: the counts are not those of the scores %v", dim, got)
	}
}

func FuzzScores(f *testing.F) {
	f.Add(uint64(1), uint16(384))
	f.Add(uint64(2), uint16(65))
	f.Fuzz(func(t *testing.T, seed uint64, dim uint16) {
		checkScores(t, rand.New(rand.NewPCG(seed, 0)), 1+int(dim)%1100)
	})
}

// The dot product equals the plain one at every length: to the bit where no sum is rounded, and
// within what rounding in another order leaves where they are.
func TestDotEqualsThePlainOne(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for length := 1; length <= 400; length++ {
		whole := wholeRows(r, 2, length)
		want := plainNearest(whole, whole.At(1), 1, []int{0})[0].Score
		if got := dot(whole.At(0), whole.At(1)); got != want {
			t.Fatalf("of %d whole numbers: %v, want %v", length, got, want)
		}
		a, b := make([]float32, length), make([]float32, length)
		sum, size := 0.0, 0.0
		for i := range a {
			a[i], b[i] = r.Float32()-.5, r.Float32()-.5
			product := float64(a[i]) * float64(b[i])
			sum, size = sum+product, size+math.Abs(product)
		}
		if got := float64(dot(a, b)); math.Abs(got-sum) > size*float64(length)*0x1p-24 {
			t.Fatalf("of %d numbers: %v, want %v", length, got, sum)
		}
	}
}

// The exact search equals comparing all rows and sorting.
func TestExactEqualsThePlainOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 40).Draw(t, "rows")
		k := rapid.IntRange(0, 20).Draw(t, "k")
		dim := rapid.IntRange(1, 9).Draw(t, "dimensions")
		rows := wholeRows(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)), n, dim)
		query := wholeRows(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "query"), 0)), 1, dim).At(0)
		want := plainNearest(rows, query, k, numbers(n))
		if got := Nearest(rows, nil, query, k); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		of := rapid.SliceOfNDistinct(rapid.IntRange(0, max(0, n-1)), 0, n, rapid.ID[int]).Draw(t, "of")
		if got, want := NearestOf(rows, query, k, of), plainNearest(rows, query, k, of); !slices.Equal(got, want) {
			t.Fatalf("among %v: got %v, want %v", of, got, want)
		}
	})
}

// A search by codes equals its definition: the rows best by the plain score, and the
// rows that came later, compared in the plain way.
func TestCodesEqualThePlainOnes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(300, 500).Draw(t, "rows")
		dim := rapid.SampledFrom([]int{3, 64, 70}).Draw(t, "dimensions")
		k := rapid.IntRange(1, 20).Draw(t, "k")
		rows := wholeRows(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)), n, dim)
		coded := n - rapid.IntRange(0, 5).Draw(t, "later")
		query := rows.At(rapid.IntRange(0, n-1).Draw(t, "query"))
		first := rows
		first.Data = rows.Data[:coded*rows.Stride]
		codes := (*Codes)(nil).Extend(first)
		if got, want := byCodes(rows, codes, query, k, coded), plainByCodes(rows, query, k, coded); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

func plainByCodes(rows Rows, query []float32, k, coded int) []Hit {
	byScore := numbers(coded)
	scores := make([]int, coded)
	for i := range scores {
		scores[i] = plainScore(query, rows.At(i))
	}
	slices.SortStableFunc(byScore, func(a, b int) int { return scores[b] - scores[a] })
	of := byScore[:kept(k, coded)]
	for i := coded; i < rows.Len(); i++ {
		of = append(of, i)
	}
	return plainNearest(rows, query, k, of)
}

// Codes made step by step are those made at once.
func TestExtend(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dim := rapid.SampledFrom([]int{1, 63, 64, 65, 384}).Draw(t, "dimensions")
		steps := rapid.SliceOfN(rapid.IntRange(0, 50), 1, 8).Draw(t, "steps")
		n := 0
		for _, s := range steps {
			n += s
		}
		rows := wholeRows(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)), n, dim)
		var codes *Codes
		before := []*Codes{}
		n = 0
		for _, s := range steps {
			n += s
			part := rows
			part.Data = rows.Data[:n*rows.Stride]
			codes = codes.Extend(part)
			before = append(before, codes)
		}
		whole := (*Codes)(nil).Extend(rows)
		for _, s := range before {
			if !slices.Equal(s.bits, whole.bits[:s.n*s.words]) {
				t.Fatal("codes differ")
			}
		}
		if codes.Len() != n {
			t.Fatalf("%d codes of %d rows", codes.Len(), n)
		}
	})
}

// Above the size at which codes are used, the answer is the same to within what they
// may miss; here, with rows that have a clear order, nothing.
func TestNearestOfMany(t *testing.T) {
	const dim = 384
	n := exactNumbers/dim + 1000
	r := rand.New(rand.NewPCG(3, 4))
	rows := Rows{Data: make([]float32, n*dim), Dim: dim, Stride: dim}
	query := make([]float32, dim)
	for d := range query {
		query[d] = float32(r.NormFloat64())
	}
	normalise(query)
	for i := range n {
		// The last few have more and more of the query.
		share := max(0, .6-.02*float32(n-i))
		row := rows.At(i)
		for d := range row {
			row[d] = share*query[d] + (1-share)*float32(r.NormFloat64())/20
		}
		normalise(row)
	}
	codes := (*Codes)(nil).Extend(rows)
	exact, got := Nearest(rows, nil, query, 10), Nearest(rows, codes, query, 10)
	if !slices.Equal(got, exact) || got[0].Row != n-1 {
		t.Errorf("got %v, exactly %v", got, exact)
	}
}

func normalise(v []float32) {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
}

// Searches go on while new rows are coded.
func TestReadersAndOneWriter(t *testing.T) {
	const dim, n = 64, 4000
	rows := wholeRows(rand.New(rand.NewPCG(5, 6)), n, dim)
	upTo := func(n int) Rows {
		part := rows
		part.Data = rows.Data[:n*rows.Stride]
		return part
	}
	query := rows.At(0)
	published := make(chan *Codes, 8)
	go func() {
		defer close(published)
		var codes *Codes
		for m := 1000; m <= n; m += 100 {
			codes = codes.Extend(upTo(m))
			published <- codes
		}
	}()
	done := make(chan error)
	readers := 0
	for codes := range published {
		readers++
		go func() {
			part := upTo(codes.n)
			if got, want := byCodes(part, codes, query, 5, codes.n), plainByCodes(part, query, 5, codes.n); !slices.Equal(got, want) {
				done <- fmt.Errorf("of %d rows got %v, want %v", codes.n, got, want)
				return
			}
			done <- nil
		}()
	}
	for range readers {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// What no one should send does no harm: a query that is no number, or nothing.
func TestOddNumbers(t *testing.T) {
	rows := wholeRows(rand.New(rand.NewPCG(7, 8)), 500, 5)
	codes := (*Codes)(nil).Extend(rows)
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, query := range [][]float32{{0, 0, 0, 0, 0}, {nan, 1, 1, 1, 1}, {inf, 1, -inf, 0, nan}} {
		if got := byCodes(rows, codes, query, 3, 500); len(got) != 3 {
			t.Errorf("query %v finds %v", query, got)
		}
		if got := Nearest(rows, nil, query, 3); len(got) != 3 {
			t.Errorf("query %v finds %v", query, got)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a query of another dimension was taken")
		}
	}()
	Nearest(rows, codes, []float32{1}, 3)
}

// Nor does the number of cores change anything.
func TestCoresChangeNothing(t *testing.T) {
	rows := wholeRows(rand.New(rand.NewPCG(9, 10)), 2*codesShare+1, 4)
	n := rows.Len()
	codes := (*Codes)(nil).Extend(rows)
	query := rows.At(1)
	search := func() [][]Hit {
		return [][]Hit{byCodes(rows, codes, query, 12, n), Nearest(rows, nil, query, 12), NearestOf(rows, query, 12, numbers(n))}
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	many := search()
	runtime.GOMAXPROCS(1)
	for i, one := range search() {
		if !slices.Equal(one, many[i]) {
			t.Errorf("one core finds %v, several %v", one, many[i])
		}
	}
	if want := plainNearest(rows, query, 12, numbers(n)); !slices.Equal(many[1], want) {
		t.Errorf("found %v, want %v", many[1], want)
	}
}

// Numbers of one byte have the codes that the same numbers have as floats, whatever their
// dimensions.
func TestCodesOfBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, dim := range []int{1, 7, 8, 63, 64, 65, 100, 128, 131} {
		const n = 20
		data, floats := make([]int8, n*dim), make([]float32, n*dim)
		for i := range data {
			data[i] = []int8{-128, -1, 0, 1, 127, int8(r.Uint32())}[r.IntN(6)]
			floats[i] = float32(data[i])
		}
		got := CodesOf(data, dim)
		for i := range n {
			want := make([]uint64, wordsOf(dim))
			encode(want, floats[i*dim:][:dim])
			if !slices.Equal(got.bits[i*got.words:][:got.words], want) {
				t.Errorf("%d dimensions, row %d: %x, want %x", dim, i, got.bits[i*got.words:][:got.words], want)
			}
		}
	}
}

// Which rows are near does not depend on how they are spread over parts, nor on what is gone
// from those.
func TestNearestByPartsAndGone(t *testing.T) {
	const n, dim = 3000, 64
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		numbers := func() []int8 {
			v := make([]int8, dim)
			for i := range v {
				v[i] = int8(r.Uint32())
			}
			return v
		}
		rows := make([][]int8, n)
		for i := range rows {
			if rows[i] = numbers(); i > 0 && r.IntN(4) == 0 {
				rows[i] = rows[r.IntN(i)] // as near as another
			}
		}
		query := make([]float32, dim)
		for i := range query {
			query[i] = r.Float32() - .5
		}
		k := rapid.IntRange(1, 40).Draw(t, "k")
		// found looks in as many parts as given, with others that are gone among them.
		found := func(count, others int) (ids []int) {
			data, of := make([][]int8, count), make([][]int, count)
			parts := make([]Part, count)
			put := func(i int, v []int8, id int) {
				if at := uint32(len(of[i])); id >= 0 {
				} else if g := parts[i].Gone; len(g) > 0 && g[len(g)-1][1] == at {
					g[len(g)-1][1]++
				} else {
					parts[i].Gone = append(g, [2]uint32{at, at + 1})
				}
				data[i], of[i] = append(data[i], v...), append(of[i], id)
			}
			for _, id := range r.Perm(n) {
				i := r.IntN(count)
				for range others {
					put(i, numbers(), -1)
				}
				put(i, rows[id], id)
			}
			for i := range parts {
				parts[i].Codes = CodesOf(data[i], dim)
			}
			for _, h := range NearestBy(parts, query, k, func(part, row int) float32 {
				sum := float32(0)
				for d, x := range data[part][row*dim:][:dim] {
					sum += float32(x) * query[d]
				}
				return sum
			}) {
				ids = append(ids, of[h.Part][h.Row])
			}
			slices.Sort(ids)
			return ids
		}
		want := found(1, 0)
		if len(want) < k {
			t.Fatalf("%d of %d", len(want), k)
		}
		for _, how := range [][2]int{{1, 1}, {4, 0}, {3, 2}} {
			if got := found(how[0], how[1]); !slices.Equal(got, want) {
				t.Fatalf("%d parts, %d gone for each: %v, want %v", how[0], how[1], got, want)
			}
		}
	})
}
