package agent

import (
	"cmp"
	"slices"
	"strings"

	"quarry/retrieval"
)

// words are what makes a line worth showing.
type words struct {
	exact []string // the query as written, and its quoted parts
	terms []string
}

// maxTerms is how many words of a query count for which lines of a file are shown: each is
// looked for in every line.
const maxTerms = 64

func wordsOf(query string, q *retrieval.Query) words {
	w := words{terms: q.Terms()}
	w.terms = w.terms[:min(maxTerms, len(w.terms))]
	for _, s := range append([]string{retrieval.Clip(query)}, q.Phrases...) {
		if s = strings.ToLower(strings.Trim(strings.TrimSpace(s), `"`)); s != "" && !slices.Contains(w.exact, s) {
			w.exact = append(w.exact, s)
		}
	}
	return w
}

// score is how well a line matches: by its words, and above all if it has the
// text as it was written.
func (w *words) score(line string) (n int) {
	line = strings.ToLower(line)
	for _, s := range w.exact {
		if strings.Contains(line, s) {
			n += 1 + len(w.terms)
		}
	}
	for _, t := range w.terms {
		if strings.Contains(line, t) {
			n++
		}
	}
	return n
}

// has answers whether a line has the text as it was written.
func (w *words) has(line string) bool {
	line = strings.ToLower(line)
	return slices.ContainsFunc(w.exact, func(s string) bool { return strings.Contains(line, s) })
}

// best are the indices of the k lines that match best, in the order of the text;
// lines that match far worse than the best one are not among them.
func (w *words) best(lines []string, k int) []int {
	type scored struct{ i, score int }
	var all []scored
	for i, l := range lines {
		if n := w.score(l); n > 0 {
			all = append(all, scored{i, n})
		}
	}
	slices.SortStableFunc(all, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	var picked []int
	for _, s := range all[:min(k, len(all))] {
		if 2*s.score >= all[0].score {
			picked = append(picked, s.i)
		}
	}
	slices.Sort(picked)
	return picked
}

// excerpt is up to n lines of the place start to end, and which these are: its
// head, or what is around its best line if the head does not hold that.
func (w *words) excerpt(lines []string, start, end, n int) (from, to int, text string) {
	from, to = max(1, start), min(end, len(lines))
	if from > to {
		return start, end, "" // the file has become shorter
	}
	if to-from+1 > n {
		if best := w.best(lines[from-1:to], 1); len(best) == 1 && best[0] >= n {
			from = min(from+best[0]-n/3, to-n+1)
		}
		to = from + n - 1
	}
	for from < to && strings.TrimSpace(lines[from-1]) == "" {
		from++
	}
	for from < to && strings.TrimSpace(lines[to-1]) == "" {
		to--
	}
	shown := make([]string, 0, n)
	for _, l := range lines[from-1 : to] {
		shown = append(shown, clip(l, maxLineBytes))
	}
	return from, to, strings.Join(shown, "\n")
}
