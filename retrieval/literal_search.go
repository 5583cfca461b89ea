package retrieval

import (
	"context"
	"slices"
	"strings"
)

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
	sr.unquoted = len(sr.req.Query.Phrases) > 0 && sr.req.Query.hasWordsBesideQuotes() &&
		!slices.ContainsFunc(sr.sc.candidates, func(c candidate) bool { return c.literal >= 0 })
	return nil
}

// hasWordsBesideQuotes is whether a query may be a message that quotes a value.
func (q *Query) hasWordsBesideQuotes() bool {
	n := len(strings.Fields(q.Text))
	for _, p := range q.Phrases {
		n -= len(strings.Fields(p))
	}
	return n >= minQueryWords
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

// Quotes answers whether a text has all quoted texts of the query.
func (q *Query) Quotes(text string) bool { return findAll(text, q.Phrases) }

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
