package store

import (
	"hash/fnv"
	"strconv"
	"strings"
)

// The full-text tables have hashes, not words: any characters of any language then make one
// plain token, and what has left the index leaves no word of itself in a segment that is not
// merged yet. Two words that share a hash cost a needless look at a file, never a missed one.

// nameToken is a name as the table of mentions has it.
func nameToken(name string) string {
	h := fnv.New64a()
	h.Write([]byte(name))
	return string(strconv.AppendUint([]byte{'n'}, h.Sum64(), 36))
}

// termToken is a term as the table of texts has it, which has many more: 40 bits.
func termToken(term string) string { return string(appendTermToken(nil, term)) }

func appendTermToken(b []byte, term string) []byte {
	const offset, prime = 14695981039346656037, 1099511628211 // FNV-1a
	h := uint64(offset)
	for i := range len(term) {
		h = (h ^ uint64(term[i])) * prime
	}
	h ^= h >> 40 // else the low bits alone would count
	for range 8 {
		b = append(b, "abcdefghijklmnopqrstuvwxyz234567"[h&31])
		h >>= 5
	}
	return b
}

// termTokens are those of a row's text, of terms with blanks between.
func termTokens(terms string) string {
	b := make([]byte, 0, 2*len(terms))
	for term := range strings.FieldsSeq(terms) {
		b = append(appendTermToken(b, term), ' ')
	}
	return string(b)
}
