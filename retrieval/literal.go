package retrieval

import (
	"context"
	"math/bits"
	"slices"
	"strings"

	"quarry/index/fault"
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

// MayContain answers false only if the text of a file, as it was indexed last, has not lit in
// any case of ASCII's letters.
func (s *Snapshot) MayContain(id FileID, lit string) (may bool) {
	may = true // also where the set cannot be read
	defer s.release(fault.Expect())
	may = s.segments[id.segment].files[id.file].trigrams.mayContain(lit)
	return may || s.look()
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

// literals finds the files that contain each quoted text exactly. Quoted texts
// are a condition: every file that contains them all is a candidate and no
// other is kept. Without any, a query that is one word which neither a
// declaration nor the postings know (a part of a name, an operator) is looked
// for as it stands; it only adds candidates.
func (sr *search) literals(ctx context.Context) error {
	want := sr.req.Query.Phrases
	if len(want) == 0 {
		lit := sr.literalQuery()
		if lit == "" {
			return nil
		}
		want = []string{lit}
	}
	sr.scanned = true
	for k, seg := range sr.snap.segments {
		base := sr.snap.fileBase[k]
		for i := range seg.files {
			f := base + uint32(i)
			m := &seg.files[i]
			if !sr.keeps(f) || !mayContainAll(m.trigrams, want) {
				continue
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			text := m.text
			if sr.ix.options.Text != nil {
				var err error
				if text, err = sr.ix.options.Text(m.path); err != nil {
					// The file went since it was indexed; its change is on its way.
					continue
				}
			}
			if findAll(text, want) {
				sr.contains(f, text, want[0])
			}
		}
	}
	if in, out := sr.req.Query.quotedWords(); in > 0 && out >= minQueryWords &&
		!slices.ContainsFunc(sr.sc.candidates, func(c candidate) bool { return c.literal >= 0 }) {
		sr.unquoted = BackendUnquoted
	}
	return nil
}

// literalQuery returns the query when it is one word unknown to the index: then
// only a scan can find it, and only then is a scan worth its milliseconds.
func (sr *search) literalQuery() string {
	text := sr.req.Query.Text
	if sr.req.Signals == SignalsSemantic || len(text) < 3 || strings.ContainsAny(text, " \t") || sr.anyDefinition() {
		return ""
	}
	if slices.ContainsFunc(sr.sc.candidates, func(c candidate) bool { return c.n > 0 }) {
		return ""
	}
	return text
}

func mayContainAll(set trigramSet, want []string) bool {
	for _, lit := range want {
		if !set.mayContain(lit) {
			return false
		}
	}
	return true
}

// Quotes answers whether a text has all quoted texts of the query, where they are a
// condition.
func (q *Query) Quotes(text string) bool { return q.looksPasted() || findAll(text, q.Phrases) }

// findAll answers whether text contains all of want.
func findAll(text string, want []string) bool {
	for _, lit := range want {
		if findLiteral(text, lit) < 0 {
			return false
		}
	}
	return true
}

// contains makes the file a candidate with the first place of the literal that
// the filters keep.
func (sr *search) contains(f uint32, text, lit string) {
	line := 1
	for at := 0; ; at++ {
		next := findLiteral(text[at:], lit)
		if next < 0 {
			return
		}
		line += strings.Count(text[at:at+next], "\n")
		at += next
		chunk, ok := sr.snap.chunkAtLine(f, uint32(line))
		if ok && !sr.keepsChunk(chunk) {
			line += strings.Count(text[at:at+1], "\n")
			continue
		}
		c := sr.sc.candidateOf(sr.snap, f)
		c.literal, c.literalLine = at, line
		c.signals[sigLiteral] = 1
		if c.n == 0 && ok {
			c.chunks[0], c.n = scored{doc: chunk}, 1
		}
		return
	}
}
