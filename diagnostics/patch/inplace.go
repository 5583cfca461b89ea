package patch

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"

	"quarry/index/lang"
)

// Asked what must stand in place of one line, a small model writes that line, or some
// around it too, or the one that it takes for the culprit. So what it wrote is laid over
// the lines about the place, where it changes the least.

const (
	// reach is how many lines off the place what was written may lie.
	reach = 4
	// spare is how many more lines than were written it may replace.
	spare = 2
	// mostLaid is how many of the ways to lay it are tried, the best first: those after
	// which the file has more syntax errors are refused.
	mostLaid = 4
)

// Costs of laying lines over lines; a line in another's place costs what they differ by, 0 to 1.
const (
	costOfNew  = .7 // a line that none makes room for
	costOfLost = 1  // a line that goes
	costOfFar  = .3 // the place itself stays as it is
	costBlank  = .1 // a blank line, new or lost
	// alike is how much a line off the place must be like a written one.
	alike = .6
	// distinct is how many letters tell a line from others.
	distinct = 10
)

// mostWritten is how much may take the place of one line, in bytes: three times what an answer of
// its length has.
const mostWritten = 16 << 10

// InPlace makes a change of the document of For out of what a model wrote in place of a
// line; lines are counted from 1. from and to are the first and the last of the lines that
// it was shown: nothing outside of them changes. No written line means that the line goes.
// The error is a *Refusal, or that of a cancelled ctx.
func (p *Patcher) InPlace(ctx context.Context, line, from, to int, written []string) (Reading, error) {
	t, err := p.open(p.about.Path, p.files.Name(p.about.Path))
	if err != nil {
		return Reading{}, err
	}
	for _, l := range written {
		if elides(bodyLine{op: '+', text: l}) {
			return Reading{}, t.refuse(refuse(Elided, "%q stands for lines; write them", shorten(l)))
		}
	}
	if size := len(strings.Join(written, "\n")); size > mostWritten {
		return Reading{}, t.refuse(refuse(TooLarge, "what takes the place of one line has %d KB, %d are read; write that line alone", size>>10, mostWritten>>10))
	}
	src := cut(t.doc.Text)
	if line < 1 || line > len(src.lines) {
		return Reading{}, t.refuse(refuse(NotFound, "the file has no line %d", line))
	}
	texts := make([]string, len(src.lines))
	for i, l := range src.lines {
		texts[i] = l.text
	}
	shown := overlay{lines: texts, at: line - 1, from: max(from-1, 0), to: min(to, len(texts))}
	written = shown.withoutOthers(habitOf(texts).adapt(trimBlank(written)))
	if len(written) > 0 && onlyComments(t.doc.Language, written) && !onlyComments(t.doc.Language, texts[line-1:line]) {
		return Reading{}, t.refuse(refuse(Elided, "a comment takes the place of code; write the code"))
	}
	var first error
	ways, err := shown.ways(ctx, written)
	if err != nil {
		return Reading{}, err
	}
	for _, laid := range ways {
		t.edits = src.edits(t.doc.Text, change{from: laid.from, to: laid.to, added: laid.lines})
		if err = t.check(ctx); err == nil {
			proposal, err := propose([]*target{t})
			return Reading{Proposal: proposal}, err
		}
		if ctx.Err() != nil {
			return Reading{}, ctx.Err()
		}
		first = cmp.Or(first, err)
	}
	return Reading{}, first
}

// onlyComments says whether no line has code.
func onlyComments(language string, lines []string) bool {
	comment := lang.Of(language).Comment
	return !slices.ContainsFunc(lines, func(l string) bool {
		l = strings.TrimSpace(l)
		return l != "" && !comment.Starts(l)
	})
}

func trimBlank(lines []string) []string {
	isBlank := func(l string) bool { return strings.TrimSpace(l) == "" }
	for len(lines) > 0 && isBlank(lines[0]) {
		lines = lines[1:]
	}
	for len(lines) > 0 && isBlank(lines[len(lines)-1]) {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// overlay are lines of a document over which others are laid: about the line at, and
// within those from from to before to. All are counted from 0.
type overlay struct {
	lines        []string
	at, from, to int
}

// laid is one way: the written lines, indented as those that they replace.
type laid struct {
	from, to int
	lines    []string
	cost     float64
}

// withoutOthers leaves out the end of what was written from where it only says again what
// stands elsewhere: a model goes on with the lines that it was shown.
func (o overlay) withoutOthers(written []string) []string {
	stands := map[string]int{}
	for i := o.from; i < o.to; i++ {
		if text := strings.TrimSpace(o.lines[i]); len(text) >= distinct {
			stands[text] = i
		}
	}
	end := 0 // behind the last line that is new
	for k, l := range written {
		if _, ok := stands[strings.TrimSpace(l)]; !ok && strings.TrimSpace(l) != "" {
			end = k + 1
		}
	}
	for k := max(end, 1); k < len(written); k++ {
		i, ok := stands[strings.TrimSpace(written[k])]
		if !ok || i == 0 || Similarity(written[k-1], o.lines[i-1]) >= Similarity(written[k-1], o.lines[o.at]) {
			continue // it is new, or the line before it lies where that stands
		}
		return trimBlank(written[:k])
	}
	return written
}

// ways are those to lay the written lines, the best first. The error is that of ctx.
func (o overlay) ways(ctx context.Context, written []string) ([]laid, error) {
	if len(written) == 0 {
		return []laid{{from: o.at, to: o.at + 1}}, nil
	}
	reach := reach
	closes := isCloser(o.lines[o.at])
	if closes { // what lacks there stands before it, or at the end of the line above
		reach = 1
	}
	first, end := max(o.from, o.at-reach), min(o.to, o.at+reach+1)
	likes, err := similarities(ctx, written, o.lines[first:min(o.to, end+len(written)+spare)])
	if err != nil {
		return nil, err
	}
	type way struct {
		laid
		pairs func() []int
	}
	var list []way
	if closes {
		list = append(list, way{laid: laid{from: o.at, to: o.at, cost: costOfNew * float64(len(written))}})
	}
	for from := first; from < end; from++ {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		most := min(o.to, from+len(written)+spare)
		over := layOver(written, o.lines[from:most], likes[from-first:])
		isLike := false // one of the lines so far is like a written one
		for to := from + 1; to <= most; to++ {
			isLike = isLike || slices.ContainsFunc(likes[to-1-first], func(much float64) bool { return much >= alike })
			cost := 0.
			if from > o.at || to <= o.at {
				if !isLike {
					continue
				}
				cost = costOfFar
			}
			list = append(list, way{laid{from: from, to: to, cost: cost + over.cost(to-from)}, func() []int { return over.pairs(to - from) }})
		}
	}
	slices.SortStableFunc(list, func(a, b way) int { return cmp.Compare(a.cost, b.cost) })
	var best []laid
	for _, w := range list[:min(len(list), mostLaid)] {
		if w.pairs == nil {
			w.lines = o.indented(written, w.from)
		} else {
			w.lines = o.outdentedAs(written, w.pairs(), w.from)
		}
		best = append(best, w.laid)
	}
	return best, nil
}

// similarities are, for each of some lines, how much each written one is like it.
func similarities(ctx context.Context, written, lines []string) ([][]float64, error) {
	list := make([][]float64, len(lines))
	for k, theirs := range lines {
		list[k] = make([]float64, len(written))
		for i, mine := range written {
			if i%lookAtLines == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			list[k][i] = Similarity(mine, theirs)
		}
	}
	return list, nil
}

// lookAtLines is how many lines are compared between two looks at the context.
const lookAtLines = 16

// indented are lines that come before a closing one, a step deeper than it where the line
// above does not say.
func (o overlay) indented(written []string, at int) []string {
	theirs := indentOf(o.lines[at]) + "\t"
	if at > 0 && len(indentOf(o.lines[at-1])) > len(indentOf(o.lines[at])) {
		theirs = indentOf(o.lines[at-1])
	}
	return shifted(written, indentOf(written[0]), theirs)
}

// outdentedAs gives the written lines the indentation of the first line that one of them
// replaces. pairs has, for each of them, which of the lines from from on that is, or -1.
func (o overlay) outdentedAs(written []string, pairs []int, from int) []string {
	for i, k := range pairs {
		if k >= 0 && strings.TrimSpace(written[i]) != "" {
			return shifted(written, indentOf(written[i]), indentOf(o.lines[from+k]))
		}
	}
	return written
}

// shifted moves lines by what is between two indentations, if one of them ends in the other.
func shifted(lines []string, mine, theirs string) []string {
	more, less := shift(mine, theirs)
	in := &indentation{more: more, less: less, shifted: true}
	out := make([]string, len(lines))
	for i, l := range lines {
		if out[i] = trailing.norm(l); out[i] != "" {
			out[i] = in.apply(out[i])
		}
	}
	return out
}

// laying is what it costs to make the first of some lines into written ones, and how.
type laying struct {
	rows, columns int // of the tables: one more than there are written lines, and lines
	table         []float64
	step          []byte
}

// layOver lays written lines over the first of some others, for each number of these; likes has
// their similarities.
func layOver(written, lines []string, likes [][]float64) *laying {
	weights := func(lines []string, cost float64) []float64 {
		list := make([]float64, len(lines))
		for i, l := range lines {
			if list[i] = cost; strings.TrimSpace(l) == "" {
				list[i] = costBlank
			}
		}
		return list
	}
	news, losts := weights(written, costOfNew), weights(lines, costOfLost)
	rows, columns := len(written)+1, len(lines)+1
	table := make([]float64, rows*columns)
	step := make([]byte, rows*columns)
	for i := range rows {
		for k := range columns {
			here := i*columns + k
			if here == 0 {
				continue
			}
			best, how := 1e9, byte(0)
			if i > 0 && k > 0 {
				best, how = table[here-columns-1]+1-likes[k-1][i-1], 'r'
			}
			if i > 0 {
				if c := table[here-columns] + news[i-1]; c < best {
					best, how = c, 'n'
				}
			}
			if k > 0 {
				if c := table[here-1] + losts[k-1]; c < best {
					best, how = c, 'l'
				}
			}
			table[here], step[here] = best, how
		}
	}
	return &laying{rows, columns, table, step}
}

// cost is that of the first n lines.
func (l *laying) cost(n int) float64 { return l.table[(l.rows-1)*l.columns+n] }

// pairs are which of the first n lines each written one replaces, -1 if none.
func (l *laying) pairs(n int) []int {
	pairs := make([]int, l.rows-1)
	for i, k := l.rows-1, n; i > 0 || k > 0; {
		switch l.step[i*l.columns+k] {
		case 'r':
			i, k = i-1, k-1
			pairs[i] = k
		case 'n':
			i--
			pairs[i] = -1
		default:
			k--
		}
	}
	return pairs
}

// MostCompared is how many bytes of a line are compared.
const MostCompared = 400

// Similarity is how much of two lines, their indentation aside, is one common subsequence: 0 to 1.
func Similarity(a, b string) float64 {
	a, b = strings.TrimSpace(a), strings.TrimSpace(b)
	if a == b {
		return 1
	}
	a, b = a[:min(len(a), MostCompared)], b[:min(len(b), MostCompared)]
	row := make([]int, len(b)+1)
	for i := range len(a) {
		diagonal := 0
		for k := range len(b) {
			above := row[k+1]
			if a[i] == b[k] {
				row[k+1] = diagonal + 1
			} else {
				row[k+1] = max(row[k], above)
			}
			diagonal = above
		}
	}
	return 2 * float64(row[len(b)]) / float64(len(a)+len(b))
}

// isCloser says whether a line only ends what others began.
func isCloser(line string) bool {
	switch text := strings.TrimSpace(line); text {
	case "end", "fi", "done", "esac":
		return true
	default:
		return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
			return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(`"'#/*{([`, r)
		})
	}
}
