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
func listedLines(p *pace, text string) (list []listed) {
	for line := range strings.Lines(text) {
		if p.ended(len(line)) {
			return nil
		}
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
func reordered(p *pace, old, now string) bool {
	was, is := listedLines(p, old), listedLines(p, now)
	for len(was) > 0 && len(is) > 0 && was[0].key == is[0].key {
		was, is = was[1:], is[1:]
	}
	for len(was) > 0 && len(is) > 0 && was[len(was)-1].key == is[len(is)-1].key {
		was, is = was[:len(was)-1], is[:len(is)-1]
	}
	return inPlace(was, is) || ofARun(p, was, is) || ofALine(p, was, is)
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
func ofARun(p *pace, was, is []listed) bool {
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
	last := map[place]int{} // by run of was and run of is, the line of it that came last
	run = 0
	for i, l := range is {
		if p.ended(1) {
			return false
		}
		if i > 0 && l.frame != is[i-1].frame {
			run++
		}
		from, ok := at[l.key]
		if !ok || from.run < 0 {
			continue
		}
		both := place{from.run, run}
		if before, ok := last[both]; ok && from.line < before {
			return true
		}
		last[both] = from.line
	}
	return false
}

// ofALine answers whether a line that is new has two words of one that is gone the other way round,
// each of which both lines have once.
func ofALine(p *pace, was, is []listed) bool {
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
	const most, reach = 1 << 16, 100 // comparisons of lines; far lines are others
	far := len(gone)*len(come) > most
	// The words of one list's line are laid out once, and the lines of the other held against them:
	// of each word at most 2*reach times or, by the list with fewer lines, the root of most.
	if !far && len(come) < len(gone) {
		gone, come = come, gone
	}
	number := map[string]int{}
	for _, l := range gone {
		for _, w := range l.words {
			if _, ok := number[w]; !ok {
				number[w] = len(number)
			}
		}
	}
	times, once := make([]int, len(number)), make([][]int, len(come))
	for i, l := range come {
		once[i] = l.once(number, times)
	}
	at := make([]int, len(number)) // where a line of gone has a word, from 1
	for i, g := range gone {
		words := g.once(number, times)
		for k, w := range words {
			at[w] = k + 1
		}
		near := once
		if far {
			near = once[min(len(once), max(0, i-reach)):min(len(once), i+reach)]
		}
		for _, c := range near {
			if p.ended(1 + len(c)) {
				return false
			}
			last := 0
			for _, w := range c {
				if at[w] == 0 {
					continue
				}
				if at[w] < last {
					return true
				}
				last = at[w]
			}
		}
		for _, w := range words {
			at[w] = 0
		}
	}
	return false
}

// once are the numbers of the words that a line has once, in their order; times is all zero, before
// and after.
func (l listed) once(number map[string]int, times []int) (list []int) {
	for _, w := range l.words {
		if n, ok := number[w]; ok {
			times[n]++
			list = append(list, n)
		}
	}
	all := list
	list = make([]int, 0, len(all))
	for _, n := range all {
		if times[n] == 1 {
			list = append(list, n)
		}
	}
	for _, n := range all {
		times[n] = 0
	}
	return list
}
