package syntax

import (
	"bytes"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestFoldFindsRenamedCopies(t *testing.T) {
	_, code := fixture(t, "go")
	_, other := fixture(t, "java")
	code, other = code[:1200], other[:1200]
	spaced := bytes.ReplaceAll(code, []byte("\n"), []byte("\n  "))
	renamed := bytes.Replace(code, []byte("MaxAccounts"), []byte("Limit"), 1)
	short := []byte("func f() {}")
	var prints []uint64
	for _, text := range [][]byte{code, other, spaced, renamed, short, short} {
		prints = append(prints, Fingerprint(text))
	}
	if got, want := Fold(prints), []int{0, 1, 0, 0, 4, 5}; !slices.Equal(got, want) {
		t.Errorf("folded to %v, want %v; fingerprints %x", got, want, prints)
	}
}

// TestFoldEqualsComparingAll: the bands lose no pair.
func TestFoldEqualsComparingAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		prints := make([]uint64, rapid.IntRange(0, 60).Draw(t, "n"))
		for i := range prints {
			prints[i] = random.Uint64()
			if i > 0 && random.IntN(3) > 0 { // a copy of one before, with a few bits changed
				prints[i] = prints[random.IntN(i)]
				for range random.IntN(6) {
					prints[i] ^= 1 << random.IntN(64)
				}
			}
		}
		want := make([]int, len(prints))
		for i := range prints {
			want[i] = i
			for j := range i {
				if want[j] == j && prints[i] != 0 && prints[j] != 0 && bits.OnesCount64(prints[i]^prints[j]) <= maxDistance {
					want[i] = j
					break
				}
			}
		}
		if got := Fold(prints); !slices.Equal(got, want) {
			t.Fatalf("folded to %v, want %v", got, want)
		}
	})
}
