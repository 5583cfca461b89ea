package lexicon

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func encoded(t *testing.T) []byte {
	t.Helper()
	// No number of a vector of length 1 may be large, so these have many.
	one, other, third := make([]float32, 64), make([]float32, 64), make([]float32, 64)
	for i := range one {
		one[i], other[i], third[i] = .125, .125, .125
		if i%2 == 1 {
			other[i] = -.125
		}
		if i%4 > 1 {
			third[i] = -.125
		}
	}
	b, err := Encode(64, []Word{{"forgot", 4, one}, {"paint", 4, other}}, []Word{{"reset", 2, one}, {"draw", 2, other}, {"color", 1, third}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A question is nearest to code that has none of its words but the names of what it says.
func TestQuestionsAreNearToCode(t *testing.T) {
	table, err := Decode(encoded(t))
	if err != nil {
		t.Fatal(err)
	}
	code := func(stems ...string) []int8 {
		s := table.NewSum()
		for _, w := range stems {
			s.Add(table.Row([]byte(w)), 1)
		}
		return s.Append(nil)
	}
	for _, c := range []struct {
		question []string
		code     []int8
		want     float64
	}{
		{[]string{"forgot"}, code("reset"), 1},
		{[]string{"forgot"}, code("draw"), 0},
		{[]string{"forgot", "unknown"}, code("reset"), 1},
		{[]string{"paint"}, code("reset", "draw"), math.Sqrt(.5)},
		{[]string{"color"}, code("color"), 1}, // a name that nobody says
	} {
		got := Cosine(table.Question(c.question), c.code)
		if math.Abs(float64(got)-c.want) > .02 {
			t.Errorf("%q: cosine %.3f, want %.3f", c.question, got, c.want)
		}
	}
	if q := table.Question([]string{"unknown"}); q != nil {
		t.Errorf("a question of no word of the table is %v", q)
	}
	if v := table.NewSum().Append(nil); !slices.Equal(v, make([]int8, 64)) {
		t.Errorf("code of no word of the table is %v", v)
	}
	if table.Row([]byte("unknown")) != NoRow {
		t.Error("a word that is not in the table has a row")
	}
}

func TestEncodeDependsOnTheWordsAlone(t *testing.T) {
	a := []Word{{"b", 1, []float32{1}}, {"a", 1, []float32{1}}}
	x, err := Encode(1, a, nil)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(a)
	y, err := Encode(1, a, nil)
	if err != nil || !bytes.Equal(x, y) {
		t.Errorf("the order of the words changed the bytes: %v", err)
	}
	if _, err := Encode(2, a, nil); err == nil {
		t.Error("a vector of another dimension was written")
	}
}

func TestDecodeRefusesWhatIsCutOff(t *testing.T) {
	whole := encoded(t)
	for n := range whole {
		if _, err := Decode(whole[:n]); !errors.Is(err, errTable) {
			t.Fatalf("%d of %d bytes: %v", n, len(whole), err)
		}
	}
	if _, err := Decode(append(whole, 0)); !errors.Is(err, errTable) {
		t.Errorf("a byte too many: %v", err)
	}
}

// The table in the binary is whole, small, and knows what the words of a question are
// named by.
func TestBuiltin(t *testing.T) {
	if len(builtin) > 16<<20 {
		t.Errorf("the table has %d bytes", len(builtin))
	}
	table, err := Decode(builtin)
	if err != nil {
		t.Fatal(err)
	}
	code := func(stems ...string) []int8 {
		s := table.NewSum()
		for _, w := range stems {
			if row := table.Row([]byte(w)); row != NoRow {
				s.Add(row, 1)
			}
		}
		return s.Append(nil)
	}
	login, waiting, drawing := code("hash", "auth", "token"), code("sleep", "timeout", "concurr"), code("draw", "canva", "pixel")
	for _, c := range []struct {
		said         string
		right, wrong []int8
	}{{"password", login, drawing}, {"slow", waiting, drawing}} {
		q := table.Question([]string{c.said})
		if q == nil {
			t.Fatalf("%q is not in the table", c.said)
		}
		if near, far := Cosine(q, c.right), Cosine(q, c.wrong); near <= far {
			t.Errorf("%q: cosine %.3f to what it is named by, %.3f to what it is not", c.said, near, far)
		}
	}
}

// Cosine equals the plain loop but for rounding, also where the length is no multiple of
// what it takes at once.
func TestCosineEqualsThePlainLoop(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for dim := range 131 {
		question, vector, plain := make([]float32, dim), make([]int8, dim), 0.
		for i := range question {
			question[i], vector[i] = r.Float32()-.5, int8(r.IntN(255)-127)
			plain += float64(question[i]) * float64(vector[i])
		}
		if got := Cosine(question, vector); math.Abs(float64(got)-plain/unitVector) > 1e-5 {
			t.Errorf("%d dimensions: %v, not %v", dim, got, plain/unitVector)
		}
	}
}
