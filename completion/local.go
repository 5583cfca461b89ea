package completion

import (
	"math"
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
	// open are the tokens of the documents of the last request, by path.
	// Guarded by mu.
	open map[string]*tokenText
	// repo is nil until something is learned. Guarded by mu.
	repo *corpus
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
}

// maxCandidates vote; the longest agreements of all levels.
const maxCandidates = 48

// prediction is the continuation to the end of the line, and what speaks for it.
type prediction struct {
	text string
	// length is how many tokens before the cursor agree with those before the
	// leading place, words how many of them are words, and below how many
	// after the line do.
	length, words, below int
	// tokens is how many are predicted, supporters how many places say all of
	// them, and share the product of the votes' shares along the way.
	tokens, supporters int
	share              float64
	// fresh is set when nothing is typed on the line yet.
	fresh bool
}

// confidence is the probability that the prediction is the rest of the line,
// by a logistic regression over 4,800 holes in six packages;
// bench/completion.md has its precision on eight others.
func (p prediction) confidence() float64 {
	z := -1.19 +
		0.30*math.Log2(float64(p.length)) +
		0.28*math.Log2(float64(1+p.words)) +
		0.35*math.Log2(float64(1+p.below)) +
		0.52*math.Log2(float64(p.supporters)) -
		0.42*math.Log2(float64(p.tokens)) +
		1.36*max(math.Log2(p.share), -6)
	if p.tokens == 1 {
		z -= 3.12 // mostly a bracket that may as well come after more code
	}
	if p.fresh {
		z -= 0.86
	}
	return 1 / (1 + math.Exp(-z))
}

// sureEnough is the confidence from which on a prediction is shown while the
// person types: of all shown, seven in ten are then right.
const sureEnough = 0.3

// learn and unlearn keep the repository level up to date.
func (l *local) learn(path, text string) {
	t := newTokenText(text)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.repo == nil {
		l.repo = newCorpus(maxRepoTokens)
	}
	l.repo.learn(path, t)
}

func (l *local) unlearn(path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.repo != nil {
		l.repo.forget(path)
	}
}

// maxRepoTokens is about 10 MB of source, in some 70 MB of memory.
const maxRepoTokens = 2 << 20

// complete answers what to insert at the cursor, before post-processing.
func (l *local) complete(req Request) (prediction, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := newQuery(req.Text, req.Offset)
	if len(q.ids) == 0 {
		return prediction{}, false
	}
	found := l.candidates(req, q)
	if len(found) == 0 {
		return prediction{}, false
	}
	return vote(found, q)
}

// candidates finds the places that agree with the query, the longest first.
func (l *local) candidates(req Request, q query) []candidate {
	var found []candidate
	add := func(t *tokenText, at, level int) {
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
		found = slices.Insert(found, i, candidate{tokenText: t, at: at, length: n, level: level})
	}

	keep := make(map[string]*tokenText, 1+len(req.Open))
	for level, docs := range [][]Document{{req.Document}, req.Open} {
		for _, d := range docs {
			if keep[d.Path] != nil {
				continue
			}
			t := l.open[d.Path]
			if t == nil {
				t = newTokenText(d.Text)
			} else {
				t.update(d.Text)
			}
			keep[d.Path] = t
			self, end := -1, -1
			if level == levelFile {
				// The place itself, and the word the cursor is in, are no
				// evidence.
				self, _ = slices.BinarySearch(t.start, int32(req.Offset-len(q.partial)))
				end, _ = slices.BinarySearch(t.start, int32(req.Offset))
			}
			last := q.ids[len(q.ids)-1]
			// Backwards: of equal agreements the nearest before the cursor, or
			// at the end of another file, comes first.
			for p := len(t.ids) - 1; p > 0; p-- {
				if t.ids[p-1] == last && (p < self || p > end) {
					add(t, p, level)
				}
			}
		}
	}
	l.open = keep
	if l.repo != nil {
		skip := func(key string) bool { return keep[key] != nil }
		l.repo.places(q.ids, skip, func(t *tokenText, at int) { add(t, at, levelRepo) })
	}
	return found
}

// agreement is how many tokens before at are those at the end of query.
func agreement(ids []uint32, at int, query []uint32) int {
	n := 0
	for n < at && n < len(query) && ids[at-1-n] == query[len(query)-1-n] {
		n++
	}
	return n
}

// maxPredicted tokens are as long as a line gets.
const maxPredicted = 40

// vote extends the candidates token by token as their weighted majority says,
// dropping those that say otherwise, up to the end of the line.
func vote(found []candidate, q query) (prediction, bool) {
	p := prediction{share: 1, fresh: q.partial == "" && q.ids[len(q.ids)-1] == lineBreak}
	for i := range found {
		found[i].below = found[i].agreesBelow(q.below)
		found[i].weight = math.Exp2(float64(min(found[i].length, 20) + min(found[i].below, 10) - found[i].level))
	}
	live := found
	for p.tokens < maxPredicted {
		next, share := majority(live, p.tokens)
		if next == lineBreak {
			break
		}
		p.share *= share
		live = slices.DeleteFunc(live, func(c candidate) bool { return c.next(p.tokens) != next })
		p.tokens++
	}
	if p.tokens == 0 {
		return p, false
	}
	best := live[0]
	p.length, p.below, p.supporters = best.length, best.below, len(live)
	for at := best.at - best.length; at < best.at; at++ {
		if best.ids[at] != lineBreak && isWord(best.text[best.start[at]]) {
			p.words++
		}
	}
	from := int(best.start[best.at]) + len(q.partial)
	if q.partial == "" && best.ids[best.at-1] != lineBreak {
		from = int(best.end[best.at-1]) // with the blanks between
	}
	p.text = best.text[from:best.end[best.at+p.tokens-1]]
	return p, true
}

// next is the n-th token after the agreement.
func (c candidate) next(n int) uint32 {
	if c.at+n >= len(c.ids) {
		return lineBreak
	}
	return c.ids[c.at+n]
}

// majority is the token that the live candidates' weights favour at step n,
// and its share of them.
func majority(live []candidate, n int) (id uint32, share float64) {
	var total, best float64
	for i, c := range live {
		total += c.weight
		id2, sum := c.next(n), 0.0
		for _, d := range live[i:] {
			if d.next(n) == id2 {
				sum += d.weight
			}
		}
		if sum > best {
			best, id = sum, id2
		}
	}
	return id, best / total
}

// agreesBelow is how many tokens after the candidate's line are those below.
func (c candidate) agreesBelow(below []uint32) int {
	at := c.at
	for at < len(c.ids) && c.ids[at] != lineBreak {
		at++
	}
	n := 0
	for n < len(below) && at+1+n < len(c.ids) && c.ids[at+1+n] == below[n] {
		n++
	}
	return n
}
