package completion

import (
	"context"
	"slices"
	"strings"
	"sync"
)

// local is the model-free engine, a cache language model over code tokens
// after Tu et al., "On the localness of software" (FSE 2014), with nested
// levels after Hellendoorn and Devanbu (FSE 2017): this file, the open files,
// the repository.
//
// Instead of counting n-grams of some fixed order it looks up the places of
// each level that agree with the tokens before the cursor, however far back,
// and lets them vote token by token for what comes next; the text of the
// leading place is what gets copied. Nothing has to be trained, so what was
// typed a moment ago counts at once.
type local struct {
	mu sync.Mutex
	// open are the tokens of the documents of the last request, guarded by mu.
	open map[fileKey]*tokenText
	repo *Repository
}

// The levels, nearest first.
const (
	levelFile = iota
	levelOpen
	levelRepo
)

// candidate is a place that may continue the cursor's.
type candidate struct {
	*tokenText
	// at is the token that would come next, length how many before it agree.
	at, length int
	// below is how many tokens after its line agree with those below the
	// cursor's.
	below  int
	level  int
	weight float64
	// until is the token where it ends: the first of the cursor's line in the same file, which
	// is not written yet.
	until int
	// file is what it is in, at levelRepo.
	file fileKey
}

// maxCandidates vote; the longest agreements of all levels.
const maxCandidates = 48

// complete answers what to insert at the cursor, before post-processing.
func (l *local) complete(ctx context.Context, req Request) (prediction, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := newQuery(req.Text, req.Offset)
	if len(q.ids) == 0 {
		return prediction{}, false
	}
	l.repo.read(ctx, &req)
	found := l.candidates(req, q)
	if len(found) == 0 {
		return prediction{}, false
	}
	return predict(found, q)
}

// candidates finds the places that agree with the query, the longest first.
func (l *local) candidates(req Request, q query) []candidate {
	var found []candidate
	add := func(t *tokenText, at, until, level int, file fileKey) {
		n := agreement(t.ids, at, q.ids)
		if n < 2 || t.ids[at] == lineBreak && q.partial != "" {
			return
		}
		if !strings.HasPrefix(t.text[t.start[at]:t.end[at]], q.partial) {
			return
		}
		if len(found) == maxCandidates {
			if n <= found[len(found)-1].length {
				return
			}
			found = found[:maxCandidates-1]
		}
		i, _ := slices.BinarySearchFunc(found, n, func(c candidate, n int) int {
			if c.length >= n {
				return -1
			}
			return 1
		})
		found = slices.Insert(found, i, candidate{tokenText: t, at: at, length: n, level: level, file: file, until: until})
	}

	keep := make(map[fileKey]*tokenText, 1+len(req.Open))
	for level, docs := range [][]Document{{req.Document}, req.Open} {
		for _, d := range docs {
			key := d.key()
			if keep[key] != nil {
				continue
			}
			t := l.open[key]
			if t == nil {
				t = newTokenText(d.Text)
			} else {
				t.update(d.Text)
			}
			keep[key] = t
			line, end := len(t.ids), -1
			if level == levelFile {
				// The cursor's line is no evidence before it is written, neither from its
				// beginning on nor as the end of a copy of what stands above it.
				line, _ = slices.BinarySearch(t.start, int32(lineStart(d.Text, req.Offset)))
				end, _ = slices.BinarySearch(t.start, int32(req.Offset))
			}
			last := q.ids[len(q.ids)-1]
			// Backwards: of equal agreements the nearest before the cursor, or
			// at the end of another file, comes first.
			for p := len(t.ids) - 1; p > 0; p-- {
				switch {
				case t.ids[p-1] != last:
				case p < line:
					add(t, p, line, level, key)
				case p > end:
					add(t, p, len(t.ids), level, key)
				}
			}
		}
	}
	l.open = keep
	skip := func(key fileKey) bool { return keep[key] != nil }
	l.repo.occurrences(q.ids, skip, func(f *corpusFile, at int) { add(f.tokenText, at, len(f.ids), levelRepo, f.key) })
	// A rule may be newer than what was learned.
	allowed := map[fileKey]bool{}
	return slices.DeleteFunc(found, func(c candidate) bool {
		if c.level != levelRepo {
			return false
		}
		if _, asked := allowed[c.file]; !asked {
			allowed[c.file] = l.repo.allows(c.file)
		}
		return !allowed[c.file]
	})
}

// agreement is how many tokens before at are those at the end of query.
func agreement(ids []uint32, at int, query []uint32) int {
	n := 0
	for n < at && n < len(query) && ids[at-1-n] == query[len(query)-1-n] {
		n++
	}
	return n
}
