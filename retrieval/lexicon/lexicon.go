// Package lexicon knows by what words programmers name what people say in others:
// what is said of a forgotten password stands near to reset, token and mail. It is a
// table of word vectors, learned from the doc comments and declarations of public
// repositories (package train, testdata/learned), and lies in the binary: no model is
// asked.
//
// A word has a vector as it is said and another as it is named. A question is the sum of
// what its words are said by, a chunk of code the sum of what its words are named by,
// each as far as the word is rare; the cosine of the two says how near they are.
package lexicon

import (
	"cmp"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"sync"
)

//go:embed table.bin
var builtin []byte

// Builtin is the table in the binary. Its words are stems of package token.
var Builtin = sync.OnceValue(func() *Table {
	t, err := Decode(builtin)
	if err != nil {
		panic(err) // TestBuiltin decodes it
	}
	return t
})

// Word is a word with what it counts and its vector.
type Word struct {
	Text   string
	Rarity float32
	Vector []float32
}

// Table is immutable and safe for concurrent use.
type Table struct {
	dim         int
	said, named side
}

// side has the words of a side in their order.
type side struct {
	words  []string
	rarity []byte
	// vectors has dim numbers for each word.
	vectors []byte
}

const (
	magic = "quarry lexicon 1"
	// unitRarity is what a byte of rarity is a part of 1; unitVector what a number of a
	// vector is.
	unitRarity = 16
	unitVector = 127
	// clip is the largest number of a vector.
	clip = math.MaxInt8
)

var errTable = errors.New("this is no table of package lexicon")

// Encode writes a table. The vectors have length 1.
func Encode(dim int, said, named []Word) ([]byte, error) {
	out := []byte(magic)
	for _, n := range []int{dim, len(said), len(named)} {
		out = binary.LittleEndian.AppendUint32(out, uint32(n))
	}
	for _, words := range [][]Word{said, named} {
		words = slices.Clone(words)
		slices.SortFunc(words, func(a, b Word) int { return cmp.Compare(a.Text, b.Text) })
		for _, w := range words {
			if len(w.Text) > 255 || len(w.Vector) != dim {
				return nil, fmt.Errorf("%q is too long, or its vector has %d numbers and not %d", w.Text, len(w.Vector), dim)
			}
			out = append(append(out, byte(len(w.Text))), w.Text...)
		}
		for _, w := range words {
			out = append(out, byte(min(max(w.Rarity*unitRarity+.5, 0), 255)))
		}
		for _, w := range words {
			for _, x := range w.Vector {
				out = append(out, byte(small(x*unitVector)))
			}
		}
	}
	return out, nil
}

// small is the whole number next to x, not above clip.
func small(x float32) int8 {
	return int8(min(max(math.RoundToEven(float64(x)), -clip), clip))
}

// Decode reads what Encode wrote, and keeps it.
func Decode(b []byte) (*Table, error) {
	if len(b) < len(magic)+12 || string(b[:len(magic)]) != magic {
		return nil, errTable
	}
	b = b[len(magic):]
	number := func(i int) int { return int(binary.LittleEndian.Uint32(b[4*i:])) }
	t := &Table{dim: number(0)}
	said, named := number(1), number(2)
	b = b[12:]
	for _, read := range []struct {
		to *side
		n  int
	}{{&t.said, said}, {&t.named, named}} {
		for range read.n {
			if len(b) == 0 || len(b) <= int(b[0]) {
				return nil, fmt.Errorf("%w: it is cut off", errTable)
			}
			read.to.words = append(read.to.words, string(b[1:1+b[0]]))
			b = b[1+b[0]:]
		}
		if len(b) < read.n*(1+t.dim) {
			return nil, fmt.Errorf("%w: it is cut off", errTable)
		}
		read.to.rarity, read.to.vectors = b[:read.n], b[read.n:read.n*(1+t.dim)]
		b = b[read.n*(1+t.dim):]
	}
	if len(b) > 0 {
		return nil, fmt.Errorf("%w: %d bytes stand behind it", errTable, len(b))
	}
	return t, nil
}

// Dim is how many numbers a vector has.
func (t *Table) Dim() int { return t.dim }

// NoRow is the row of a word that the table does not have.
const NoRow = -1

// Row is the number of a word named, NoRow if there is none.
func (t *Table) Row(stem []byte) int32 { return t.named.row(string(stem)) }

func (s *side) row(stem string) int32 {
	i := sort.SearchStrings(s.words, stem)
	if i == len(s.words) || s.words[i] != stem {
		return NoRow
	}
	return int32(i)
}

// A Sum adds up words. It is not safe for concurrent use.
type Sum struct {
	table *Table
	sum   []float32
}

// NewSum is an empty sum.
func (t *Table) NewSum() *Sum { return &Sum{t, make([]float32, t.dim)} }

// Add adds a word named, by its row, that stands so often in a text.
func (s *Sum) Add(row int32, frequency float32) {
	t := &s.table.named
	s.add(t, int(row), float32(t.rarity[row])*logOf(frequency))
}

func (s *Sum) add(of *side, row int, weight float32) {
	vector := of.vectors[row*len(s.sum):][:len(s.sum)]
	for i, x := range vector {
		s.sum[i] += weight * float32(int8(x))
	}
}

// logs are those of frequencies up to 32, the only ones that matter much.
var logs = func() (l [33]float32) {
	for i := range l {
		l[i] = float32(math.Log1p(float64(i)))
	}
	return l
}()

func logOf(frequency float32) float32 { return logs[min(int(frequency), len(logs)-1)] }

// Append appends the sum as a vector of small numbers, whose length is about
// unitVector, and empties it. A sum of nothing is zeros.
func (s *Sum) Append(dst []int8) []int8 {
	scale := s.scale() * unitVector
	for i, x := range s.sum {
		dst = append(dst, small(x*scale))
		s.sum[i] = 0
	}
	return dst
}

// scale is what makes the sum's length 1, 0 if it is nothing.
func (s *Sum) scale() float32 {
	square := float32(0)
	for _, x := range s.sum {
		square += x * x
	}
	if square == 0 {
		return 0
	}
	return float32(1 / math.Sqrt(float64(square)))
}

// Question is the vector of a question, given as the stems of its words: of length 1,
// nil if the table has none of them.
func (t *Table) Question(stems []string) []float32 {
	s := t.NewSum()
	for _, w := range stems {
		of := &t.said
		row := of.row(w)
		if row == NoRow {
			of = &t.named // nobody says it, but it may be a name
			row = of.row(w)
		}
		if row != NoRow {
			s.add(of, int(row), float32(of.rarity[row]))
		}
	}
	scale := s.scale()
	if scale == 0 {
		return nil
	}
	for i := range s.sum {
		s.sum[i] *= scale
	}
	return s.sum
}

// Cosine is that of a question and a vector of Append. Four sums wait less for each other
// than one.
func Cosine(question []float32, vector []int8) float32 {
	var a, b, c, d float32
	question = question[:len(vector)]
	i := 0
	for ; i+4 <= len(vector); i += 4 {
		v, q := vector[i:i+4:i+4], question[i:i+4:i+4]
		a += q[0] * float32(v[0])
		b += q[1] * float32(v[1])
		c += q[2] * float32(v[2])
		d += q[3] * float32(v[3])
	}
	for ; i < len(vector); i++ {
		a += question[i] * float32(vector[i])
	}
	return (a + b + c + d) / unitVector
}
