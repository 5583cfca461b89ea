package eval

import (
	"strings"

	"quarry/completion"
)

// The baselines see the same text as the model-free engine: the file with its
// hole, and all other files of the repository.

// lineEnd is the token after each line that is not blank.
const lineEnd = "\n"

// baselines are an n-gram model and a copier over one repository.
type baselines struct {
	files [][]string // the tokens of each file
	// follows counts, for the text of up to order-1 tokens, what came next.
	follows map[string]map[string]int
	// after lists, for the text of copyOrder tokens, the places after them.
	after map[string][]spot
}

type spot struct{ file, at int }

const (
	order     = 4 // of the n-gram model: Hindle et al. (ICSE 2012) find little gain beyond
	copyOrder = 3
)

func newBaselines(docs []completion.Document) *baselines {
	b := &baselines{follows: map[string]map[string]int{}, after: map[string][]spot{}}
	for i, d := range docs {
		tokens := tokensOf(d.Text)
		b.files = append(b.files, tokens)
		b.count(tokens, 0, len(tokens), 1)
		for at := copyOrder; at < len(tokens); at++ {
			key := strings.Join(tokens[at-copyOrder:at], "\x00")
			b.after[key] = append(b.after[key], spot{i, at})
		}
	}
	return b
}

func tokensOf(text string) []string {
	var tokens []string
	for line := range strings.SplitSeq(text, "\n") {
		n := len(tokens)
		for _, t := range lex(line) {
			tokens = append(tokens, t.text)
		}
		if len(tokens) > n {
			tokens = append(tokens, lineEnd)
		}
	}
	return tokens
}

// count adds by to the n-grams whose last token is in tokens[from:to].
func (b *baselines) count(tokens []string, from, to, by int) {
	for at := from; at < to; at++ {
		for n := 1; n < order && n <= at; n++ {
			key := strings.Join(tokens[at-n:at], "\x00")
			m := b.follows[key]
			if m == nil {
				m = map[string]int{}
				b.follows[key] = m
			}
			if m[tokens[at]] += by; m[tokens[at]] == 0 {
				delete(m, tokens[at])
			}
		}
	}
}

// contextOf is the tokens before the hole and the begun word.
func contextOf(h Hole) (before []string, partial string) {
	text := h.Request.Text[:h.Request.Offset]
	i := len(text)
	for i > 0 && inWord(text[i-1]) {
		i--
	}
	text, partial = text[:i], text[i:]
	before = tokensOf(text)
	// tokensOf ends every line; the hole's own goes on.
	if trimmed := strings.TrimRight(text, " \t\r"); trimmed != "" && !strings.HasSuffix(trimmed, "\n") {
		before = before[:len(before)-1]
	}
	return before, partial
}

// ngram predicts the rest of the line greedily, token by token, from the
// longest context that was ever followed by anything; the score is the product
// of the tokens' shares.
func (b *baselines) ngram(h Hole) (text string, score float64) {
	before, partial := contextOf(h)
	whole := b.files[h.file]
	// The file without the hole: what the hole's tokens contributed goes.
	hidden := len(lex(partial + h.Want))
	b.count(whole, len(before), min(len(whole), len(before)+hidden+order), -1)
	defer b.count(whole, len(before), min(len(whole), len(before)+hidden+order), 1)

	var out []string
	score = 1
	for len(out) < 40 {
		context := append(before[max(0, len(before)-order+1):len(before):len(before)], out...)
		next, share := b.likeliest(context, partial)
		if next == "" || next == lineEnd {
			break
		}
		score *= share
		out = append(out, next)
		partial = ""
	}
	if len(out) == 0 {
		return "", 0
	}
	_, partial = contextOf(h)
	return strings.TrimPrefix(strings.Join(out, " "), partial), score
}

func (b *baselines) likeliest(context []string, partial string) (next string, share float64) {
	discount := 1.0
	for n := min(order-1, len(context)); n > 0; n-- {
		total, best := 0, 0
		for token, count := range b.follows[strings.Join(context[len(context)-n:], "\x00")] {
			if !strings.HasPrefix(token, partial) {
				continue
			}
			total += count
			if count > best || count == best && token < next {
				best, next = count, token
			}
		}
		if best > 0 {
			return next, discount * float64(best) / float64(total)
		}
		discount *= 0.4 // Brants et al. (2007), "stupid backoff"
	}
	return "", 0
}

// copyLast copies the rest of the line from the place whose tokens before agree
// for longest, the last of equals; the score is how many agree.
func (b *baselines) copyLast(h Hole) (text string, score float64) {
	before, partial := contextOf(h)
	if len(before) < copyOrder {
		return "", 0
	}
	hidden := len(lex(partial + h.Want))
	best, where := 0, spot{}
	for _, s := range b.after[strings.Join(before[len(before)-copyOrder:], "\x00")] {
		tokens := b.files[s.file]
		if s.file == h.file && s.at >= len(before) && s.at <= len(before)+hidden+copyOrder {
			continue // the hole itself
		}
		if !strings.HasPrefix(tokens[s.at], partial) || tokens[s.at] == lineEnd {
			continue
		}
		n := 0
		for n < s.at && n < len(before) && tokens[s.at-1-n] == before[len(before)-1-n] {
			n++
		}
		if n >= best {
			best, where = n, s
		}
	}
	if best == 0 {
		return "", 0
	}
	tokens := b.files[where.file]
	end := where.at
	for end < len(tokens) && tokens[end] != lineEnd {
		end++
	}
	return strings.TrimPrefix(strings.Join(tokens[where.at:end], " "), partial), float64(best)
}
