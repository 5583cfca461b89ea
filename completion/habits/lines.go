// Package habits knows how the lines of one text go on: as an earlier one of them with other
// names ([Line]), or, where that says nothing, with a word that stands there already
// ([Word]). It serves the model-free engine in a first small file, where there is too
// little to copy exactly and nothing to count.
//
// Everything is a function of its arguments.
package habits

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"quarry/completion/idioms"
)

const (
	// maxLines above the cursor are looked at, the nearest first.
	maxLines = 200
	// maxLineBytes leaves out lines that nobody types.
	maxLineBytes = 160
	// maxAbove lines before a like one are compared with those before the cursor's.
	maxAbove = 4
	// minSaved letters are worth being shown.
	minSaved = 3
)

// Line is how the line that typed begins goes on if it goes on as an earlier line of above
// does, with the names that differ so far put in place: behind "this.height = ", where
// "this.width = width;" stands above, it is "height;". It ends before the first piece that
// nothing speaks for, and is "" where that is at once.
func Line(above, typed string, known idioms.Words) string {
	done, partial := idioms.Cut(strings.TrimLeft(typed, " \t"))
	lines := linesOf(above)
	var found []like
	for j := len(lines) - 1; j >= 0; j-- {
		if l, ok := match(lines, j, done, partial, known); ok {
			found = append(found, l)
		}
	}
	if len(found) == 0 {
		return ""
	}
	best := found[0]
	for _, l := range found[1:] {
		if l.score() > best.score() { // of equals the nearest
			best = l
		}
	}
	return agreed(best, found, len(done) == 0, partial)
}

// linesOf are the last lines of text as tokens, without blank ones and indentation.
func linesOf(text string) [][]string {
	all := strings.Split(text, "\n")
	all = all[max(0, len(all)-maxLines):]
	var lines [][]string
	for _, line := range all {
		if line = strings.TrimSpace(line); line != "" && len(line) <= maxLineBytes {
			lines = append(lines, idioms.Tokens(line))
		}
	}
	return lines
}

// like is an earlier line that begins as the cursor's does, with other names.
type like struct {
	// rest is what follows, with the names put in place.
	rest []piece
	// words and renamed are how many of the words before agree, or differ; above is how many
	// lines before agree.
	words, renamed, above int
}

func (l like) score() int { return 4*l.above + 2*l.words + l.renamed }

type piece struct {
	text string
	kind pieceKind
}

type pieceKind uint8

const (
	// free is a name, number or string that the lines have in their own way, as far as is known.
	free pieceKind = iota
	// put is one that the renaming tells.
	put
	// fixed is a sign or a keyword.
	fixed
)

// match compares the beginning of line j, and the lines above it, with the cursor's.
func match(lines [][]string, j int, done []string, partial string, known idioms.Words) (like, bool) {
	line := lines[j]
	if len(line) <= len(done) {
		return like{}, false
	}
	names := renaming{}
	l := like{}
	if !names.line(line[:len(done)], done, known, &l) {
		return like{}, false
	}
	for n := 1; n <= maxAbove && j-n >= 0; n++ {
		over, there := lines[len(lines)-n], lines[j-n]
		before, more := maps.Clone(names), like{}
		if len(over) != len(there) || !before.line(there, over, known, &more) {
			break
		}
		names, l.above = before, l.above+1
	}
	for _, token := range line[len(done):] {
		l.rest = append(l.rest, names.put(token, known))
	}
	return l, strings.HasPrefix(l.rest[0].text, partial)
}

// renaming is which names of an earlier line stand for which of the cursor's, itself where
// they are the same.
type renaming map[string]string

// line adds what two lines say of each other; false if they are not alike.
func (r renaming) line(from, to []string, known idioms.Words, l *like) bool {
	for i, a := range from {
		b := to[i]
		switch {
		case !idioms.Nameable(a) || !idioms.Nameable(b):
			if a != b {
				return false
			}
			continue
		case a != b && (known.Is(a) || known.Is(b)):
			return false
		}
		if was, ok := r[a]; ok && was != b {
			return false
		}
		if r[a] = b; a == b {
			l.words++
		} else {
			l.renamed++
		}
	}
	return true
}

// put is what stands for a token of the earlier line.
func (r renaming) put(token string, known idioms.Words) piece {
	if !idioms.Nameable(token) || known.Is(token) {
		return piece{token, fixed}
	}
	if b, ok := r[token]; ok {
		return piece{b, put}
	}
	longest := func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) }
	for _, a := range slices.SortedFunc(maps.Keys(r), longest) { // in the same order each time
		if renamed, ok := inWord(token, a, r[a]); ok {
			return piece{renamed, put}
		}
	}
	return piece{token, free}
}

// inWord puts b for a where a is a part of a longer name: getWidth, where width became
// height, is getHeight; and where a and b share a beginning or an end, that stays.
func inWord(token, a, b string) (string, bool) {
	if a == b || !isName(a) || !isName(b) {
		return "", false
	}
	a, b = differing(a, b)
	if len(a) < 2 || b == "" {
		return "", false
	}
	to := spellings(b)
	for n, from := range spellings(a) {
		if i := strings.Index(token, from); i >= 0 && boundary(token, i) && boundary(token, i+len(from)) {
			return token[:i] + to[n] + token[i+len(from):], true
		}
	}
	return "", false
}

// spellings are how a name is written: as it is, minSize, MinSize, min_size, MIN_SIZE.
func spellings(name string) [5]string {
	var parts []string
	start := 0
	for i := 1; i <= len(name); i++ {
		if boundary(name, i) && strings.Trim(name[start:i], "_") != "" {
			parts = append(parts, strings.Trim(name[start:i], "_"))
			start = i
		}
	}
	var pascal, snake strings.Builder
	for i, part := range parts {
		part = strings.ToLower(part)
		pascal.WriteString(strings.ToUpper(part[:1]) + part[1:])
		if i > 0 {
			snake.WriteByte('_')
		}
		snake.WriteString(part)
	}
	if len(parts) == 0 {
		return [5]string{name, name, name, name, name}
	}
	first := strings.ToLower(parts[0])
	return [5]string{name, first + pascal.String()[len(first):], pascal.String(), snake.String(), strings.ToUpper(snake.String())}
}

// differing is what is left of two names without the whole parts that they share at both ends.
func differing(a, b string) (string, string) {
	start := 0
	for i := 0; i < len(a) && i < len(b) && a[i] == b[i]; i++ {
		if boundary(a, i+1) && boundary(b, i+1) {
			start = i + 1
		}
	}
	a, b = a[start:], b[start:]
	end := 0
	for i := 1; i < len(a) && i < len(b) && a[len(a)-i] == b[len(b)-i]; i++ {
		if boundary(a, len(a)-i) && boundary(b, len(b)-i) {
			end = i
		}
	}
	return strings.Trim(a[:len(a)-end], "_"), strings.Trim(b[:len(b)-end], "_")
}

// boundary: a part of name ends or begins at offset i, as in get|Width, MAX|_|SIZE.
func boundary(name string, i int) bool {
	if i <= 0 || i >= len(name) {
		return true
	}
	before, after := rune(name[i-1]), rune(name[i])
	return !isLetter(before) || !isLetter(after) || unicode.IsLower(before) && unicode.IsUpper(after)
}

func isLetter(r rune) bool { return unicode.IsLetter(r) || r >= utf8.RuneSelf }

func isName(token string) bool { return token != "" && (isLetter(rune(token[0])) || token[0] == '_') }

// agreed is as much of the best line's rest as there is something to be said for.
func agreed(best like, found []like, fresh bool, partial string) string {
	var b strings.Builder
	live := found
	whole := true
	for k, p := range best.rest {
		yes, no := 0, 0
		var next []like
		for _, l := range live {
			switch {
			case k < len(l.rest) && l.rest[k].text == p.text:
				yes++
				next = append(next, l)
			case best.above < 3 || l.score() >= best.score()-2:
				no++
			}
		}
		live = next
		if no > 0 && yes < 3*no || p.kind == free && yes < 2 {
			whole = false
			break
		}
		b.WriteString(p.text)
	}
	text := strings.TrimRight(b.String(), " ")
	if fresh && (best.above < 2 || !whole) || len(found) == 1 && (partial == "" || best.words == 0) || len(text)-len(partial) < minSaved || best.words+best.renamed+best.above == 0 && partial == "" {
		return ""
	}
	return text[len(partial):]
}
