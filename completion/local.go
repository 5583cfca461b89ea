package completion

import (
	"strings"
	"sync"
)

// local is the model-free engine: it copies the continuation of the place, in
// this and the open documents, whose preceding tokens agree with those before
// the cursor for longest.
type local struct {
	mu sync.Mutex
	// ids numbers every distinct token met; 0 is the line break. Guarded by mu.
	ids map[string]uint32
	// texts caches the tokens of the documents seen last, by path. Guarded by
	// mu.
	texts map[string]*tokenised
}

// tokenised is a document as token numbers with their byte bounds.
type tokenised struct {
	text       string
	ids        []uint32
	start, end []int32
}

const (
	lineBreak = 0
	// minMatch is how many tokens before the cursor must agree: with fewer
	// the copy is a guess more often than not (bench/completion.md).
	minMatch = 3
	maxMatch = 64
)

// complete answers what to insert at the cursor, raw, "" if nothing agrees.
func (l *local) complete(req Request) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ids == nil {
		l.ids, l.texts = map[string]uint32{}, map[string]*tokenised{}
	}
	query, partial := l.context(req.Text[:req.Offset])
	if len(query) == 0 {
		return ""
	}
	var best copyMatch
	keep := map[string]*tokenised{}
	for i, d := range append([]Document{req.Document}, req.Open...) {
		t := l.tokens(d)
		keep[d.Path] = t
		cursor := len(d.Text) + 1
		if i == 0 {
			cursor = req.Offset
		}
		if m := t.longest(query, partial, cursor); m.length > best.length {
			best = m
		}
	}
	l.texts = keep
	if best.length < minMatch {
		return ""
	}
	return best.text
}

// context is the tokens before the cursor, newest last, and the word the
// cursor stands at the end of, which need only begin the word copied.
func (l *local) context(before string) (query []uint32, partial string) {
	from := len(before)
	for lines := 0; from > 0 && lines < 16 && len(before)-from < 4<<10; lines++ {
		from = strings.LastIndexByte(before[:from-1], '\n') + 1
	}
	near := before[from:]
	if n := len(near); n > 0 && isWord(near[n-1]) {
		w := n
		for w > 0 && isWord(near[w-1]) {
			w--
		}
		near, partial = near[:w], near[w:]
	}
	return l.tokenise(near).ids, partial
}

func (l *local) tokens(d Document) *tokenised {
	if t := l.texts[d.Path]; t != nil && t.text == d.Text {
		return t
	}
	return l.tokenise(d.Text)
}

func (l *local) tokenise(text string) *tokenised {
	t := &tokenised{text: text}
	add := func(id uint32, start, end int) {
		t.ids = append(t.ids, id)
		t.start, t.end = append(t.start, int32(start)), append(t.end, int32(end))
	}
	for at := 0; at < len(text); {
		end := strings.IndexByte(text[at:], '\n')
		if end < 0 {
			end = len(text)
		} else {
			end += at
		}
		line := text[at:end]
		lexLine(line, func(tok token) {
			add(l.id(line[tok.start:tok.end]), at+tok.start, at+tok.end)
		})
		if end < len(text) && len(t.ids) > 0 && t.ids[len(t.ids)-1] != lineBreak { // blank lines do not count
			add(lineBreak, end, end+1)
		}
		at = end + 1
	}
	return t
}

func (l *local) id(word string) uint32 {
	id, ok := l.ids[word]
	if !ok {
		id = uint32(len(l.ids) + 1)
		l.ids[strings.Clone(word)] = id
	}
	return id
}

// copyMatch is a place to copy from: length tokens before it agree.
type copyMatch struct {
	length int
	text   string
}

// longest finds the place whose preceding tokens agree with query for longest,
// the last of equals before the cursor, and copies from there to the end of
// its line.
func (t *tokenised) longest(query []uint32, partial string, cursor int) copyMatch {
	last := query[len(query)-1]
	best, at := 0, -1
	for p := 1; p < len(t.ids); p++ {
		if t.ids[p-1] != last || t.ids[p] == lineBreak || int(t.start[p]) <= cursor && cursor <= int(t.end[p]) {
			continue
		}
		word := t.text[t.start[p]:t.end[p]]
		if !strings.HasPrefix(word, partial) || word == partial && partial != "" && t.endsLine(p) {
			continue
		}
		n := 1
		for n < maxMatch && n < len(query) && n < p && t.ids[p-1-n] == query[len(query)-1-n] {
			n++
		}
		if n > best || n == best && int(t.start[p]) < cursor {
			best, at = n, p
		}
	}
	if at < 0 {
		return copyMatch{}
	}
	from := int(t.start[at]) + len(partial)
	if partial == "" && query[len(query)-1] != lineBreak {
		from = int(t.end[at-1]) // with the blanks between
	}
	if partial != "" {
		best++
	}
	return copyMatch{best, t.text[from:lineEnd(t.text, from)]}
}

func (t *tokenised) endsLine(p int) bool {
	return p+1 >= len(t.ids) || t.ids[p+1] == lineBreak
}
