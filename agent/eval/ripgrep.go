package eval

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
)

// What ripgrep's script reads and lists.
const (
	readLines   = 40  // of a file at a time
	linesBefore = 12  // of them before a hit
	listed      = 30  // hits of a message or a rare name
	rareLines   = 10  // a name on so few lines is looked at before all words
	wordsAsked  = 8   // of a question, the rarest
	hitsListed  = 15  // of the words in a file, before its lines are read
	filesListed = 10  // of the files with most of the words
	clippedAt   = 200 // bytes of a listed line
	piecesTried = 4   // of a message that does not stand in the code as it was printed
)

// ripgrep works on a task with rg and reading alone. What is quoted is looked for first, then
// rare names, then the windows of 40 lines that have most of the question's words, rare ones
// counting more, code before tests and prose; of each file the best hits are listed first. No
// rg weighs words so: the script knows more than what it is charged for.
func ripgrep(a *attempt) {
	if a.task.Kind.wantsAll() {
		a.listAll()
		return
	}
	seen := map[hit]bool{}
	if a.messages(seen) || a.rareNames(seen) {
		return
	}
	a.windows(seen)
}

// listAll lists all lines of code with the symbol's name, a page a call.
func (a *attempt) listAll() {
	hits := a.tree.grep(isCode, a.word.MatchString)
	for len(hits) > 0 {
		text := ""
		n := 0
		for ; n < len(hits); n++ {
			next := a.shownAs(hits[n])
			if n > 0 && tokensOf(text+next) > Aim {
				break
			}
			text += next
		}
		hits = hits[n:]
		if a.took("rg -n -w "+a.task.name(), "", text) {
			return
		}
	}
}

// shownAs is a hit as rg -n prints it.
func (a *attempt) shownAs(h hit) string {
	l := a.tree.lines(h.name)[h.line-1]
	return fmt.Sprintf("%s:%d:%s\n", h.name, h.line, l[:min(len(l), clippedAt)])
}

// read reads the lines around one. It answers whether the attempt is over.
func (a *attempt) read(name string, from int, seen map[hit]bool) bool {
	lines := a.tree.lines(name)
	from = max(1, from)
	to := min(len(lines), from+readLines-1)
	text := ""
	for n := from; n <= to; n++ {
		text += fmt.Sprintf("%d\t%s\n", n, lines[n-1])
		seen[hit{name, n}] = true
	}
	return a.took(fmt.Sprintf("read %s:%d-%d", name, from, to), name, text)
}

// around lists hits and reads around each that nobody has read yet, code before tests.
func (a *attempt) around(step string, hits []hit, seen map[hit]bool) (over bool) {
	slices.SortStableFunc(hits, func(x, y hit) int { return cmp.Compare(order(x.name), order(y.name)) })
	text := ""
	for _, h := range hits[:min(len(hits), listed)] {
		text += a.shownAs(h)
	}
	if a.took(step, "", text) {
		return true
	}
	for _, h := range hits[:min(len(hits), rareLines)] {
		if !seen[h] && isCode(h.name) && a.read(h.name, h.line-linesBefore, seen) {
			return true
		}
	}
	return false
}

var manuals = regexp.MustCompile(`(^|/)docs?/`)

// order is 0 for what is read first.
func order(name string) int {
	switch {
	case manuals.MatchString(name):
		return 2
	case isPlain(name):
		return 0
	case isCode(name):
		return 1
	}
	return 2
}

var quoted = regexp.MustCompile("\"([^\"]{4,})\"|`([^`]{4,})`")

// piecesOf are a message, then what stands between its colons, the longest first: values
// stand there too.
func piecesOf(message string) []string {
	pieces := strings.Split(message, ": ")
	slices.SortStableFunc(pieces, func(x, y string) int { return cmp.Compare(len(y), len(x)) })
	if len(pieces) > 1 {
		pieces = append([]string{message}, pieces...)
	}
	return pieces[:min(len(pieces), piecesTried)]
}

// messages looks for what the question quotes, until one piece of it is found.
func (a *attempt) messages(seen map[hit]bool) (over bool) {
	for _, m := range quoted.FindAllStringSubmatch(a.task.Question, -1) {
		for _, piece := range piecesOf(m[1] + m[2]) {
			hits := a.tree.grep(func(string) bool { return true }, func(l string) bool { return strings.Contains(l, piece) })
			if a.around("rg -n -F "+piece, hits, seen) {
				return true
			}
			if len(hits) > 0 {
				break
			}
		}
	}
	return false
}

var (
	identifier = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)
	madeUp     = regexp.MustCompile(`[a-z0-9][A-Z]|_|[A-Z]{2}[a-z]`)
)

// rareNames looks for the names of code in the question that few lines have.
func (a *attempt) rareNames(seen map[hit]bool) (over bool) {
	for _, name := range identifier.FindAllString(a.task.Question, -1) {
		if !madeUp.MatchString(name) {
			continue
		}
		hits := a.tree.grep(isCode, wordOf(name).MatchString)
		if len(hits) > 0 && len(hits) <= rareLines && a.around("rg -n -w "+name, hits, seen) {
			return true
		}
	}
	return false
}

// common are the words that say nothing about the code.
var common = regexp.MustCompile(`^(the|and|are|was|were|when|what|why|how|where|which|who|does|did|has|have|had|its|not|but|for|from|into|that|this|than|then|they|their|with|without|can|may|must|will|would|should|get|gets|got|our|out|off|after|before|because|very|well|more|most|some|any|all|one|two|other|too|also|comes|come|there|here|only|left|meant|happens|happen|being|been|your|mine|you|sometimes|something|nobody|still|although)$`)

// stem is a word without the endings that code may lack.
func stem(word string) string {
	for _, end := range []string{"ing", "ed", "es", "s"} {
		if rest, ok := strings.CutSuffix(word, end); ok && len(rest) >= 4 {
			return rest
		}
	}
	return word
}

// hitsOf lists the hits in a file that one reads in, the best of them.
func (a *attempt) hitsOf(name string, score func(line string) float64) string {
	type scored struct {
		hit
		score float64
	}
	var list []scored
	for i, l := range a.tree.lines(name) {
		if v := score(l); v > 0 {
			list = append(list, scored{hit{name, i + 1}, v})
		}
	}
	slices.SortStableFunc(list, func(x, y scored) int { return cmp.Compare(y.score, x.score) })
	list = list[:min(len(list), hitsListed)]
	slices.SortFunc(list, func(x, y scored) int { return cmp.Compare(x.line, y.line) })
	text := ""
	for _, h := range list {
		text += a.shownAs(h.hit)
	}
	return text
}

// windows counts the question's words, lists the files with most of them and reads where
// they stand together.
func (a *attempt) windows(seen map[hit]bool) {
	type term struct {
		text   string
		lines  int
		weight float64
	}
	var terms []term
	total := 0
	for _, name := range a.tree.names {
		total += len(a.tree.lines(name))
	}
	for _, w := range identifier.FindAllString(strings.ToLower(a.task.Question), -1) {
		w = stem(w)
		if len(w) < 3 || common.MatchString(w) || slices.ContainsFunc(terms, func(t term) bool { return t.text == w }) {
			continue
		}
		n := len(a.tree.grep(isCode, func(l string) bool { return strings.Contains(strings.ToLower(l), w) }))
		terms = append(terms, term{w, n, math.Log(1 + float64(total)/float64(1+n))})
	}
	slices.SortStableFunc(terms, func(x, y term) int { return cmp.Compare(x.lines, y.lines) })
	text := ""
	for _, t := range terms {
		text += fmt.Sprintf("%d %s\n", t.lines, t.text)
	}
	terms = slices.DeleteFunc(terms, func(t term) bool { return t.lines == 0 })
	terms = terms[:min(len(terms), wordsAsked)]
	if a.took("rg -i -c each word", "", text) || len(terms) == 0 {
		return
	}
	type window struct {
		name  string
		from  int
		score float64
	}
	var all []window
	best := map[string]float64{}
	for _, name := range a.tree.names {
		lines := a.tree.lines(name)
		has := make([][]int, len(lines))
		for i, l := range lines {
			l = strings.ToLower(l)
			for j, t := range terms {
				if strings.Contains(l, t.text) {
					has[i] = append(has[i], j)
				}
			}
		}
		for from := 0; from < len(lines); from += readLines / 4 {
			met := map[int]bool{}
			score := 0.
			for i := from; i < min(len(lines), from+readLines); i++ {
				for _, j := range has[i] {
					if !met[j] {
						met[j] = true
						score += terms[j].weight
					}
				}
			}
			if score == 0 {
				continue
			}
			all = append(all, window{name, from + 1, score})
			best[name] = max(best[name], score)
		}
	}
	slices.SortStableFunc(all, func(x, y window) int {
		return cmp.Or(cmp.Compare(order(x.name), order(y.name)), cmp.Compare(y.score, x.score))
	})
	names := sortedKeys(best)
	slices.SortStableFunc(names, func(x, y string) int {
		return cmp.Or(cmp.Compare(order(x), order(y)), cmp.Compare(best[y], best[x]))
	})
	text = strings.Join(names[:min(len(names), filesListed)], "\n") + "\n"
	if a.took("rg -i -c all words, the files with most of them", "", text) {
		return
	}
	asked := map[string]bool{}
	for _, w := range all {
		if !asked[w.name] {
			asked[w.name] = true
			if a.took("rg -n -i all words "+w.name, "", a.hitsOf(w.name, func(l string) (score float64) {
				l = strings.ToLower(l)
				for _, t := range terms {
					if strings.Contains(l, t.text) {
						score += t.weight
					}
				}
				return score
			})) {
				return
			}
		}
		known := 0
		for n := w.from; n < w.from+readLines; n++ {
			if seen[hit{w.name, n}] {
				known++
			}
		}
		if known <= readLines/4 && a.read(w.name, w.from, seen) {
			return
		}
	}
}
