package retrieval

import (
	"math/bits"
	"strings"
)

// trigramSet says which sequences of three bytes a file may contain, letters in
// lower case: a Bloom filter with one hash and about six bits for each distinct
// trigram. It never misses; a false answer costs one needless scan. At one false
// answer in seven per trigram, a text of six bytes has 1 in 2,400.
type trigramSet []uint64

// trigramsOf builds the set of a text.
func trigramsOf(text string) trigramSet {
	if len(text) < 3 {
		return nil
	}
	// Code of 10 KB has about 2,500 distinct trigrams, of 1 KB 500; a size from
	// the length alone keeps building to one pass.
	set := make(trigramSet, 1<<max(bits.Len(uint(len(text)/32))-1, 1))
	mask := uint32(len(set)*64 - 1)
	t := uint32(foldByte(text[0]))<<8 | uint32(foldByte(text[1]))
	for i := 2; i < len(text); i++ {
		t = (t<<8 | uint32(foldByte(text[i]))) & 0xffffff
		h := trigramHash(t) & mask
		set[h>>6] |= 1 << (h & 63)
	}
	return set
}

// mayContain answers false only if the text of the set does not contain lit in
// any case. Texts shorter than three bytes are always possible.
func (s trigramSet) mayContain(lit string) bool {
	if len(lit) < 3 {
		return true
	}
	if len(s) == 0 {
		return false
	}
	mask := uint32(len(s)*64 - 1)
	t := uint32(foldByte(lit[0]))<<8 | uint32(foldByte(lit[1]))
	for i := 2; i < len(lit); i++ {
		t = (t<<8 | uint32(foldByte(lit[i]))) & 0xffffff
		h := trigramHash(t) & mask
		if s[h>>6]&(1<<(h&63)) == 0 {
			return false
		}
	}
	return true
}

func trigramHash(t uint32) uint32 {
	t *= 0x9E3779B1
	return t ^ t>>15
}

func foldByte(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + ('a' - 'A')
	}
	return c
}

// findLiteral returns the offset of lit in text, -1 if it is not there. Without
// a capital in lit, letters match in any case (ASCII); so whatever grep -F finds
// is found.
func findLiteral(text, lit string) int {
	for i := 0; i < len(lit); i++ {
		if 'A' <= lit[i] && lit[i] <= 'Z' {
			return strings.Index(text, lit)
		}
	}
	return indexFold(text, lit)
}

// indexFold is strings.Index for a lit without capitals, blind to ASCII case. It
// looks for either case of lit's first byte and compares there.
func indexFold(text, lit string) int {
	if lit == "" {
		return 0
	}
	first := lit[0]
	upper := first
	if 'a' <= first && first <= 'z' {
		upper = first - ('a' - 'A')
	}
	for at := 0; at+len(lit) <= len(text); {
		i := nextByte(text[at:], first, upper)
		if i < 0 || at+i+len(lit) > len(text) {
			return -1
		}
		at += i
		if equalFold(text[at:at+len(lit)], lit) {
			return at
		}
		at++
	}
	return -1
}

// nextByte returns the first place of a or b.
func nextByte(s string, a, b byte) int {
	i := strings.IndexByte(s, a)
	if a == b {
		return i
	}
	if i >= 0 {
		s = s[:i]
	}
	if j := strings.IndexByte(s, b); j >= 0 {
		return j
	}
	return i
}

func equalFold(text, lower string) bool {
	for i := 0; i < len(lower); i++ {
		if foldByte(text[i]) != lower[i] {
			return false
		}
	}
	return true
}
