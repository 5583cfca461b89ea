package retrieval

import (
	"context"
	"iter"
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
	in, out := sr.req.Query.quotedWords()
	if in == 0 || slices.ContainsFunc(sr.sc.candidates, func(c candidate) bool { return c.literal >= 0 }) {
		return nil
	}
	switch {
	case out >= minQueryWords:
		sr.unquoted = BackendUnquoted
	case in >= minQueryWords: // unless the code says it with other values filled in
		sr.unquoted, sr.strict = BackendUnquoted, true
		if err := sr.messages(ctx); err != nil || sr.pasted {
			return err
		}
		sr.unquoted = ""
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

// A message of three or four words is no longer than what prose has in the same order by chance,
// and one may begin as a question does. So what decides is where its words stand: in a string of
// one or a few files, which is where messages come from.

const (
	// maxSaid is how many files may have a string for it to say that the query is a message: what
	// more of them have is a phrase.
	maxSaid = 3
	// maxVerbatimWords is how long a query is that is looked for as a whole, maxVerbatimFiles how
	// many files are read for it: those that have all of its sequences of three letters.
	maxVerbatimWords, maxVerbatimFiles = 24, 12
	// maxVerbatimPlaces is how many places of a file are looked at.
	maxVerbatimPlaces = 64
	// minAsked is how much of a query that begins as a question does begins a string.
	minAsked = 4
)

// verbatim are the chunks that have the query in a string, word for word; none if more than
// maxSaid files do. Tests repeat what the code says and do not count, and prose has no strings.
func (sr *search) verbatim(ctx context.Context, m *messageQuery) (said []uint32, err error) {
	words := m.words
	// What begins as a question is filled in behind its first words: I/O error reading x.
	asked := m.asks && len(words) > minAsked && countTrue(m.telling[:minAsked]) >= minTelling
	if len(words) > maxVerbatimWords && !asked || countTrue(m.telling) < 1 || sr.quotesAreConditions() {
		return nil, nil
	}
	if asked {
		words = words[:minAsked]
	}
	pieces := piecesOf(m.text, len(words))
	unwanted := (classTest | classDoc) &^ sr.query.asked
	var files []uint32
	for k, seg := range sr.snap.segments {
		for i := range sr.filesWithRarest(m, k, len(words)) {
			f := sr.snap.fileBase[k] + i
			if set := seg.files[i].trigrams; !mayContainAll(set, pieces) || seg.files[i].class&unwanted != 0 || !sr.keeps(f) {
				continue
			}
			if files = append(files, f); len(files) > maxVerbatimFiles {
				return nil, nil
			}
		}
	}
	in := 0
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		lines := saidIn(sr.textOfFile(f), longest(pieces), m.words, asked)
		if len(lines) == 0 {
			continue
		}
		if in++; in > maxSaid {
			return nil, nil
		}
		for _, line := range lines {
			if c, ok := sr.snap.chunkAtLine(f, line); ok && sr.keepsChunk(c) && !slices.Contains(said, c) {
				said = append(said, c)
			}
		}
	}
	return said, nil
}

// filesWithRarest are the files of a segment that have the rarest of the message's first words, all
// files where none of these is in the postings wherever a text has it.
func (sr *search) filesWithRarest(m *messageQuery, k, words int) iter.Seq[uint32] {
	seg := sr.snap.segments[k]
	docs, rarest := sr.docsOf(m, k), -1
	for i, of := range docs[:words] {
		if m.simple[i] && !stopWords[m.words[i]] && (rarest < 0 || of[0].n+of[1].n < docs[rarest][0].n+docs[rarest][1].n) {
			rarest = i
		}
	}
	return func(yield func(uint32) bool) {
		if rarest < 0 {
			for i := range seg.files {
				if !yield(uint32(i)) {
					return
				}
			}
			return
		}
		var files []uint32
		for _, l := range docs[rarest] {
			for at := l.first(); at.next(); {
				if f := seg.chunks[at.doc].file; len(files) == 0 || files[len(files)-1] != f {
					files = append(files, f)
				}
			}
		}
		slices.Sort(files)
		for _, f := range slices.Compact(files) {
			if !yield(f) {
				return
			}
		}
	}
}

func countTrue(list []bool) (n int) {
	for _, b := range list {
		if b {
			n++
		}
	}
	return n
}

// piecesOf are the first words of a text in lower case, those with one blank between them in one
// piece.
func piecesOf(text string, words int) (pieces []string) {
	end := 0 // of the last word
	eachWord(text, func(w string, at int) bool {
		if n := len(pieces); n > 0 && at-len(w) == end+1 && text[end] == ' ' {
			pieces[n-1] += " " + w
		} else {
			pieces = append(pieces, w)
		}
		end = at
		words--
		return words > 0
	})
	return pieces
}

func longest(list []string) string {
	return slices.MaxFunc(list, func(a, b string) int { return len(a) - len(b) })
}

// saidIn are the lines of a text with a string that has all the words, or with begins that begins
// with minAsked of them. They are looked for where the piece stands.
func saidIn(text, piece string, words []string, begins bool) (lines []uint32) {
	line := 1
	for range maxVerbatimPlaces {
		at := indexFold(text, piece)
		if at < 0 {
			break
		}
		line += strings.Count(text[:at], "\n")
		start, end := strings.LastIndexByte(text[:at], '\n')+1, len(text)
		if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i
		}
		if isSaid(text[start:end], words, begins) {
			lines = append(lines, uint32(line))
		}
		text = text[end:]
	}
	return lines
}

func isSaid(line string, words []string, begins bool) (found bool) {
	if beginsComment(line) {
		return false
	}
	eachString(line, func(s string) bool {
		var have []string
		eachWord(s, func(w string, _ int) bool { have = append(have, w); return true })
		found = begins && len(have) >= minAsked && slices.Equal(have[:minAsked], words[:minAsked])
		for i := 0; !found && i+len(words) <= len(have); i++ {
			found = slices.Equal(have[i:i+len(words)], words)
		}
		return !found
	})
	return found
}

func beginsComment(line string) bool {
	line = strings.TrimSpace(line)
	for _, mark := range []string{"//", "#", "*", "/*", "--", "<!--"} {
		if strings.HasPrefix(line, mark) {
			return true
		}
	}
	return false
}

// eachString calls each for the strings of a line, until it answers false. One that goes on in
// the next line ends with this one, and what follows a letter is an apostrophe.
func eachString(line string, each func(s string) bool) {
	for i := 0; i < len(line); i++ {
		quote := line[i]
		if quote != '"' && quote != '`' && (quote != '\'' || i > 0 && isNameByte(line[i-1])) {
			continue
		}
		end := i + 1
		for end < len(line) && line[end] != quote {
			if line[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(line) && quote == '\'' {
			continue
		}
		if !each(line[i+1 : min(end, len(line))]) {
			return
		}
		i = end
	}
}
