package completion

import (
	"slices"
	"strings"
)

// tokenText is a text as a sequence of code tokens: words, numbers and single
// signs, each by a hash of its spelling, and a line break after each line that
// is not blank. Blanks are no tokens, so code that differs in spacing alone is
// the same; strings and comments are lexed like code, because their words
// repeat as code does. Two spellings that share a hash, one pair in four
// billion, cost a wrong suggestion and nothing else.
type tokenText struct {
	text       string
	ids        []uint32
	start, end []int32 // byte bounds of each token in text
}

const lineBreak uint32 = 0

func newTokenText(text string) *tokenText {
	t := &tokenText{text: text}
	t.ids, t.start, t.end = lex(text, 0, len(text), nil, nil, nil)
	return t
}

// lex appends the tokens of text[from:to], whole lines.
func lex(text string, from, to int, ids []uint32, start, end []int32) ([]uint32, []int32, []int32) {
	for at := from; at < to; {
		lineEnd := to
		if i := strings.IndexByte(text[at:to], '\n'); i >= 0 {
			lineEnd = at + i
		}
		n := len(ids)
		for i := at; i < lineEnd; {
			c := text[i]
			j := i + 1
			if c == ' ' || c == '\t' || c == '\r' {
				i = j
				continue
			}
			if isWord(c) {
				for j < lineEnd && isWord(text[j]) {
					j++
				}
			}
			ids, start, end = append(ids, tokenID(text[i:j])), append(start, int32(i)), append(end, int32(j))
			i = j
		}
		if len(ids) > n {
			ids, start, end = append(ids, lineBreak), append(start, int32(lineEnd)), append(end, int32(lineEnd))
		}
		at = lineEnd + 1
	}
	return ids, start, end
}

// tokenID is FNV-1a, never [lineBreak].
func tokenID(word string) uint32 {
	h := uint32(2166136261)
	for i := 0; i < len(word); i++ {
		h = (h ^ uint32(word[i])) * 16777619
	}
	return max(h, 1)
}

// update turns t into the tokens of text, lexing only the lines that changed.
func (t *tokenText) update(text string) {
	if t.text == text {
		return
	}
	e := diff(t.text, text)
	from := strings.LastIndexByte(text[:e.start], '\n') + 1
	to := len(t.text)
	if i := strings.IndexByte(t.text[e.oldEnd:], '\n'); i >= 0 {
		to = e.oldEnd + i
	}
	delta := e.newEnd - e.oldEnd
	// The line break of the last changed line stands at to and is lexed anew.
	first, _ := slices.BinarySearch(t.start, int32(from))
	after, _ := slices.BinarySearch(t.start, int32(to)+1)
	ids, start, end := lex(text, from, to+delta, nil, nil, nil)
	t.text = text
	t.ids = slices.Replace(t.ids, first, after, ids...)
	t.start = slices.Replace(t.start, first, after, start...)
	t.end = slices.Replace(t.end, first, after, end...)
	for i := first + len(ids); delta != 0 && i < len(t.ids); i++ {
		t.start[i] += int32(delta)
		t.end[i] += int32(delta)
	}
}

// query is what stands before a cursor, as the model-free engine sees it.
type query struct {
	// ids are the tokens before the cursor, the nearest last, without the word
	// that ends at the cursor; partial is that word.
	ids     []uint32
	partial string
	// indent is the white space at the start of the cursor's line.
	indent string
	// below are the first tokens of the lines after the cursor's.
	below []uint32
}

// Queries reach back this far; longer agreement says nothing more.
const (
	maxQuery      = 48
	maxQueryBytes = 4 << 10
	maxBelow      = 16
	maxBelowBytes = 400
)

func newQuery(text string, cursor int) query {
	before := text[:cursor]
	near := before[max(0, len(before)-maxQueryBytes):]
	if len(near) < len(before) {
		near = near[strings.IndexByte(near, '\n')+1:]
	}
	w := len(near)
	for w > 0 && isWord(near[w-1]) {
		w--
	}
	q := query{partial: near[w:], indent: leadingSpace(text[lineStart(text, cursor):cursor])}
	q.ids, _, _ = lex(near, 0, w, nil, nil, nil)
	if n := len(q.ids); n > 0 && w > 0 && !endsLine(near[:w]) {
		q.ids = q.ids[:n-1] // the break that lex puts after an unfinished line
	}
	q.ids = q.ids[max(0, len(q.ids)-maxQuery):]
	if end := strings.IndexByte(text[cursor:], '\n'); end >= 0 {
		below := text[cursor+end+1:]
		q.below, _, _ = lex(below, 0, min(len(below), maxBelowBytes), nil, nil, nil)
		q.below = q.below[:min(len(q.below), maxBelow)]
	}
	return q
}

// endsLine reports whether only blanks follow text's last line break.
func endsLine(text string) bool {
	trimmed := strings.TrimRight(text, " \t\r")
	return trimmed == "" || trimmed[len(trimmed)-1] == '\n'
}
