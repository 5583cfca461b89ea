package syntax

import (
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// puzzles are pieces of C++ that have several readings, and pieces with which they make
// syntax errors. Recovering from an error compares the readings, so that the order in
// which they are taken up may decide.
var puzzles = []string{
	"  ROW(a%, b < c > (d))\n",
	"  x = (T%) * y;\n",
	"  a% < b > c(d);\n",
	"  return f%<n>(a)[1] ? g(b) : h < i > (j);\n",
	"#if WIDE\nvoid f%(int a,\n#else\nvoid g%(\n#endif\n  long b) {\n",
	"struct S% : B<int> {\n",
	"  case X%: { y(z) } break\n",
	"  LOCK(m%) { go(x); }\n",
	"};\n",
}

// A parse that is stopped by the clock, as on a busy machine every one may be, ends
// with the tree of one that is not.
func TestInterruptedParse(t *testing.T) {
	undisturbed := firstLook
	defer func() { firstLook = undisturbed }()
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		var b strings.Builder
		for range 2 + r.IntN(8) {
			b.WriteString(strings.ReplaceAll(puzzles[r.IntN(len(puzzles))], "%", strconv.Itoa(r.IntN(10))))
		}
		src := []byte(b.String())
		for name, analyze := range map[string]func() (*File, error){
			"of the index": func() (*File, error) { return Analyze("cpp", src) },
			"of an open document": func() (*File, error) {
				tree, err := Parse("cpp", src)
				if err != nil {
					return nil, err
				}
				defer tree.Close()
				return tree.Analyze(), nil
			},
		} {
			firstLook = undisturbed
			want, err := analyze()
			if err != nil {
				t.Fatal(err)
			}
			firstLook = func(int) int { return 1 }
			got, err := analyze()
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("a file %s depends on when its parse is interrupted:\n%s\n%d references, %d symbols, %d errors; undisturbed %d, %d, %d",
					name, src, len(got.Refs), len(got.Symbols), len(got.Errors), len(want.Refs), len(want.Symbols), len(want.Errors))
			}
		}
	}
}
