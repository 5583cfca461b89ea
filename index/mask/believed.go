package mask

import "strings"

// A program that reads or writes keys has their markers in it too, with code between them: names of
// many words and digits, hashes and tables look like lines of a key, one by one.

const (
	// leastWidth is how wide the lines of a key are, at least, that are known again far from others.
	leastWidth = 60
	// longestLine is how wide they are, at most.
	longestLine = 80
)

// believed answers whether the runs from first to last are of a key, between markers at from and to,
// -1 where there is none: they begin as one does, are as wide as its lines are, one of which fills
// its line or two of which are alike, or they begin or end right at a marker and have more letters
// than the words among them.
func believed(text string, runs []run, first, last, from, to int, hexed bool) bool {
	body := runs[first : last+1]
	if hexed || wraps(body) {
		return true
	}
	letters, words := 0, 0
	for _, r := range body {
		n := r.End - r.Start
		switch {
		case r.kind != other || partial(text[r.Start:r.End]):
			letters += n
			if len(firstLines(text, []Span{r.Span})) > 0 || r.kind == strong && n >= leastWidth && n <= longestLine && alone(text, r.Span) {
				return true
			}
		case n > 2:
			words += n
		}
	}
	front := from >= 0 && wordless(text, from, body[0].Start)
	return words*2 <= letters && (front || to >= 0 && wordless(text, body[len(body)-1].End, to))
}

// alone answers whether a run has no word beside it on its line.
func alone(text string, s Span) bool {
	start := strings.LastIndexByte(text[:s.Start], '\n') + 1
	end := strings.IndexByte(text[s.End:], '\n')
	if end < 0 {
		end = len(text) - s.End
	}
	return s.Start-start <= longestLine && end <= longestLine && wordless(text, start, s.Start) && wordless(text, s.End, s.End+end)
}

// wordless answers whether no word stands in text[from:to], which may join strings and end lines.
func wordless(text string, from, to int) bool {
	for from < to {
		s := nextRun(text, from, to)
		if s.End-s.Start > 2 && !signs(text, s) && alpha[text[s.Start]] {
			return false
		}
		from = max(s.End, from+1)
	}
	return true
}

// wraps answers whether two lines are sure and as wide as a key's, one as the other, or several that
// are narrower.
func wraps(runs []run) bool {
	const narrow, several = 32, 4
	var met [longestLine + 1]int
	for _, r := range runs {
		if n := r.End - r.Start; r.kind == strong && n >= narrow && n <= longestLine {
			met[n]++
			if met[n] == several || met[n] == 2 && n >= leastWidth {
				return true
			}
		}
	}
	return false
}
