package mask

import "strings"

// A program that reads or writes keys has their markers in it too, with code between them: names of
// many words and digits, hashes and tables look like lines of a key, one by one.

const (
	// leastWidth is how wide the lines of a key are, at least, that are known again far from others.
	leastWidth = 60
	// longestLine is how wide they are, at most.
	longestLine = 80
	// wholeBody is longer than a hash in base64, which has 88 letters at most: a body in one line.
	wholeBody = 100
)

// believed answers whether the runs from first to last are of a key, between markers at from and to,
// -1 where there is none: they begin as one does, are as wide as its lines are, one of which fills
// its line or two of which are alike, or they begin or end right at a marker and have more letters
// than the words among them.
func believed(text string, runs []run, first, last, from, to int, hexed bool) bool {
	const beside = 100 // what is written around each line
	body := runs[first : last+1]
	if hexed || wraps(text, body) || len(firstLines(text, []Span{{max(0, from, body[0].Start-beside), body[0].End}})) > 0 {
		return true
	}
	letters, words := 0, 0
	for _, r := range body {
		n := r.End - r.Start
		switch {
		case r.kind != other || partial(text[r.Start:r.End]):
			letters += n
			if len(firstLines(text, []Span{r.Span})) > 0 || r.kind == strong && (n >= wholeBody && whole(text[r.Start:r.End]) || n >= leastWidth && n <= longestLine && alone(text, r.Span)) {
				return true
			}
		case n > 2:
			words += n
		}
	}
	front := from >= 0 && wordless(text, from, body[0].Start)
	return words*2 <= letters && (front || to >= 0 && wordless(text, body[len(body)-1].End, to))
}

// whole answers whether a run so long is no number in hexadecimal digits and no path.
func whole(s string) bool {
	const apart = 16 // letters between two slashes of a path, at most on the average; base64 has 64
	return strings.TrimFunc(strings.TrimPrefix(s, "0x"), isHex) != "" && strings.Count(s, "/")*apart < len(s)
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
// are narrower, or many in a row that are narrower still and have the same around them.
func wraps(text string, runs []run) bool {
	const narrow, several = 32, 4
	var met [longestLine + 1]int
	for _, r := range runs {
		n := r.End - r.Start
		if r.kind != strong || n < narrow || n > longestLine {
			continue
		}
		if met[n]++; met[n] == several || met[n] == 2 && n >= leastWidth {
			return true
		}
	}
	const narrowest, many, around = 16, 5, 300
	before, gap, count := Span{}, "", 0
	for _, r := range runs {
		n, line := r.End-r.Start, text[r.Start:r.End]
		if n < narrowest || n >= narrow || r.kind == other && !partial(line) {
			continue
		}
		between := text[before.End:r.Start]
		switch {
		case before.End-before.Start != n || len(between) > around || akin(text[before.Start:before.End], line):
			gap, count = "", 1
		case count > 1 && unnumbered(between) != gap:
			gap, count = unnumbered(between), 2
		default:
			gap = unnumbered(between)
			if count++; count == many {
				return true
			}
		}
		before = r.Span
	}
	return false
}

// akin answers whether two names have a word in common, which what chance draws has not.
func akin(a, b string) bool {
	const least = 4
	for i := 0; i+least <= len(a); i++ {
		if strings.Contains(b, a[i:i+least]) {
			return true
		}
	}
	return false
}

// unnumbered is a text without its digits, which may count lines.
func unnumbered(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, text)
}
