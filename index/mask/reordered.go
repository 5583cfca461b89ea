package mask

import (
	"slices"
	"strings"
)

// A listed line is one that may be of a list: its words, and the signs around them.
type listed struct {
	words []string
	key   string // the words as one
	frame string // the line without its words
}

// listedLines are the lines of a text that have words.
func listedLines(text string) (list []listed) {
	for line := range strings.Lines(text) {
		var l listed
		var frame strings.Builder
		line = strings.TrimRight(strings.TrimSpace(line), ",;")
		start := -1
		for i := 0; i <= len(line); i++ {
			if i < len(line) && (line[i] >= 0x80 || word[line[i]]) {
				if start < 0 {
					start = i
				}
				continue
			}
			if start >= 0 {
				l.words = append(l.words, line[start:i])
				frame.WriteByte('w')
				start = -1
			}
			if i < len(line) && line[i] != ' ' && line[i] != '\t' {
				frame.WriteByte(line[i])
			}
		}
		if len(l.words) > 0 {
			l.key, l.frame = strings.Join(l.words, " "), frame.String()
			list = append(list, l)
		}
	}
	return list
}

// reordered answers whether names that stand in one line, in lines that follow each other and have the
// same signs, or each in the same place of its line, come in another order in now: what is listed
// elsewhere in that order, such as values, would get other names.
func reordered(old, now string) bool {
	was, is := listedLines(old), listedLines(now)
	for len(was) > 0 && len(is) > 0 && was[0].key == is[0].key {
		was, is = was[1:], is[1:]
	}
	for len(was) > 0 && len(is) > 0 && was[len(was)-1].key == is[len(is)-1].key {
		was, is = was[:len(was)-1], is[:len(is)-1]
	}
	return inPlace(was, is) || ofARun(was, is) || ofALine(was, is)
}

// inPlace answers whether the lines are the same but for words that stand in each other's places.
func inPlace(was, is []listed) bool {
	if len(was) != len(is) {
		return false
	}
	gone, come := map[string]bool{}, []string{}
	for i, l := range was {
		if l.frame != is[i].frame {
			return false
		}
		for k, w := range l.words {
			if w != is[i].words[k] {
				gone[w] = true
				come = append(come, is[i].words[k])
			}
		}
	}
	return slices.ContainsFunc(come, func(w string) bool { return gone[w] })
}

// ofARun answers whether two lines of a list, one line each, have another order.
func ofARun(was, is []listed) bool {
	type place struct{ run, line int }
	at := map[string]place{}
	run := 0
	for i, l := range was {
		if i > 0 && l.frame != was[i-1].frame {
			run++
		}
		if _, ok := at[l.key]; ok {
			at[l.key] = place{-1, 0} // which of them is not known
		} else {
			at[l.key] = place{run, i}
		}
	}
	last := map[int]int{} // by run, the line of it that came last
	for i, l := range is {
		if i > 0 && l.frame != is[i-1].frame {
			clear(last)
		}
		p, ok := at[l.key]
		if !ok || p.run < 0 {
			continue
		}
		if before, ok := last[p.run]; ok && p.line < before {
			return true
		}
		last[p.run] = p.line
	}
	return false
}

// ofALine answers whether a line that is new has two words of one that is gone the other way round.
func ofALine(was, is []listed) bool {
	only := func(in, without []listed) (list []listed) {
		count := map[string]int{}
		for _, l := range without {
			count[l.key]++
		}
		for _, l := range in {
			if count[l.key]--; count[l.key] < 0 && len(l.words) > 1 {
				list = append(list, l)
			}
		}
		return list
	}
	gone, come := only(was, is), only(is, was)
	const most = 1 << 16 // comparisons
	for i, g := range gone {
		near := come
		if len(gone)*len(come) > most { // far lines are others
			near = come[min(len(come), max(0, i-100)):min(len(come), i+100)]
		}
		for _, c := range near {
			if flipped(g.words, c.words) {
				return true
			}
		}
	}
	return false
}

// flipped answers whether two words that both lines have once come in another order.
func flipped(was, is []string) bool {
	last := -1
	for _, w := range was {
		at := slices.Index(is, w)
		if at < 0 || slices.Contains(is[at+1:], w) || count(was, w) > 1 {
			continue
		}
		if at < last {
			return true
		}
		last = at
	}
	return false
}

func count(words []string, w string) (n int) {
	for _, v := range words {
		if v == w {
			n++
		}
	}
	return n
}
