package patch

import (
	"math/bits"
	"slices"
)

// A Rule is one way in which placing is lenient: something that a hunk may have
// wrong, or what settles which of several locations it means. A set of rules is
// their sum. Each stands in one table, works without the others, and is named in
// the Reading of a change that needed it, so that an evaluation can count what real
// answers need; a rule that none needs can go.
type Rule uint32

const (
	// Of the white space of lines.
	TrailingSpace Rule = 1 << iota // at a line's end, or a context line's marker is lost
	Indentation                    // tabs for blanks, a shifted block
	InnerSpace                     // anywhere in a line
	// Of what a hunk's lines are.
	BlankAdded // a blank line between added ones has no marker
	BareTail   // words follow the hunk
	BlankEdge  // blank context lines around it
	Elision    // "..." stands for lines of the context
	SkippedBlanks
	Fuzz // up to two lines of context at each end are wrong, as in patch(1)
	// Of several locations.
	InOrder       // hunks stand in order
	StatedLine    // the header's line
	SameShift     // as far from the header's line as the other hunks
	SectionHeader // the function that the header names
	// Of answers without a diff.
	WholeDeclaration // a declaration is written anew
	SearchBlock      // lines to search for and what replaces them

	pastRules
)

var ruleNames = [...]string{
	"trailing space", "indentation", "inner space", "blank added", "bare tail", "blank edge", "elision", "skipped blanks", "fuzz",
	"in order", "stated line", "same shift", "section header", "whole declaration", "search block",
}

// Rules are all rules, in the order in which they are tried.
func Rules() []Rule { return (pastRules - 1).split() }

func (r Rule) split() []Rule {
	var list []Rule
	for ; r != 0; r &= r - 1 {
		list = append(list, r&-r)
	}
	return list
}

// String is the name of a single rule.
func (r Rule) String() string { return ruleNames[bits.TrailingZeros32(uint32(r))] }

// names are those of a set.
func (r Rule) names() []string {
	var list []string
	for _, one := range r.split() {
		list = append(list, one.String())
	}
	return list
}

// Without is the patcher without these rules, to measure what they are worth.
func (p *Patcher) Without(rules ...Rule) *Patcher {
	q := *p
	for _, r := range rules {
		q.off |= r
	}
	return &q
}

// levelRules are what each level beyond exact forgives.
var levelRules = [levels]Rule{trailing: TrailingSpace, indented: Indentation, spaced: InnerSpace}

// rereadings are what else a hunk's lines may mean; each is tried on what the ones
// before it made.
var rereadings = []struct {
	rule Rule
	of   func(body []bodyLine) []bodyLine
}{
	{BlankAdded, blanksAdded},
	{BareTail, withoutBareTail},
	{BlankEdge, withoutBlankEdges},
}

// variant is a hunk's body as it is tried, and the rules that made it.
type variant struct {
	body  []bodyLine
	rules Rule
}

// variants are the body and what else it may mean, the most faithful first.
func (h *hunk) variants(off Rule) []variant {
	list := []variant{{body: h.body}}
	for _, r := range rereadings {
		if off&r.rule != 0 {
			continue
		}
		for _, v := range slices.Clone(list) {
			b := r.of(v.body)
			if slices.ContainsFunc(b, func(l bodyLine) bool { return l.old() && !l.blank() }) &&
				!slices.ContainsFunc(list, func(o variant) bool { return slices.Equal(o.body, b) }) {
				list = append(list, variant{b, v.rules | r.rule})
			}
		}
	}
	return list
}

// tieBreakers settle which of several locations a hunk means. Each answers those
// that remain: all or none of them where it has nothing to say.
var tieBreakers = []struct {
	rule Rule
	keep func(s *settling, i int) []*match
}{
	{InOrder, func(s *settling, i int) []*match {
		return slices.DeleteFunc(slices.Clone(s.open[i]), func(m *match) bool { return m.first < s.seen[i].low || m.last > s.seen[i].high })
	}},
	{StatedLine, func(s *settling, i int) []*match { return only(s.open[i], (*match).stated) }},
	{SameShift, func(s *settling, i int) []*match { return only(s.open[i], s.drift.of) }},
	{SectionHeader, func(s *settling, i int) []*match { return s.headingOf(i).in(s.open[i]) }},
}

// settling is what is known while hunks are settled.
type settling struct {
	*text
	open [][]*match // by hunk, where it may stand
	seen []view     // by hunk, when it was looked at last
	// lasts are, by hunk, the last line of all its locations.
	lasts []int
	drift
	headings []*heading // by hunk, nil where nobody asked yet
	named    map[string]*heading
}

// view is what tie breakers go by beside a hunk's own locations: the lines between
// which it stands if hunks are in order, going by the nearest whose place is known, as far as
// they leave out any of its locations, and the drift.
type view struct {
	low, high int
	drift
}

// drift is how far hunks stand from the lines that they state, as far as their places are
// known.
type drift struct {
	by            int
	known, differ bool // some are; they are not all as far
}

func (m *match) drift() int { return m.first + 1 - m.hunk.line - m.dropped }

// of tests whether a match is as far from its stated line as all the hunks whose place is
// known; none is if those do not agree.
func (d drift) of(m *match) bool {
	return d.known && !d.differ && m.hunk.line > 0 && m.drift() == d.by
}

// learn notes a hunk whose place is known.
func (d *drift) learn(m *match) {
	if m.hunk.line == 0 || d.differ {
		return
	}
	d.differ = d.known && m.drift() != d.by
	d.by, d.known = m.drift(), true
}

// settle narrows down the hunks that fit in several locations, round by round until nothing
// more is learned. A round may settle one hunk only, and there may be thousands; so one is
// looked at again only where what its tie breakers go by is not what it was.
func (t *text) settle(open [][]*match) {
	s := &settling{text: t, open: open, seen: make([]view, len(open)), lasts: make([]int, len(open)), headings: make([]*heading, len(open)), named: map[string]*heading{}}
	for i, list := range open {
		s.seen[i].low = -1 // no view
		s.lasts[i] = lastOf(list)
		if len(list) == 1 {
			s.learn(list[0])
		}
	}
	const most = int(^uint(0) >> 1)
	next := make([]int, len(open)) // the first line of the next hunk whose place is known
	for again := true; again && !t.spent(); {
		again = false
		t.spend(len(open))
		high := most
		for i, list := range slices.Backward(open) {
			if next[i] = high; len(list) == 1 {
				high = list[0].first
			}
		}
		low := 0
		for i := range open {
			if len(open[i]) > 1 {
				now := view{low, next[i], s.drift}
				if now.low <= open[i][0].first { // they are in the document's order
					now.low = 0
				}
				if now.high >= s.lasts[i] {
					now.high = most
				}
				if s.seen[i] != now {
					s.seen[i] = now
					again = s.narrow(i) || again
				}
			}
			if len(open[i]) == 1 {
				low = open[i][0].last
			}
			if t.spent() {
				return
			}
		}
	}
}

// narrow tries each tie breaker on a hunk, and says whether one knew more.
func (s *settling) narrow(i int) (learned bool) {
	for _, b := range tieBreakers {
		if s.off&b.rule != 0 {
			continue
		}
		s.spend(len(s.open[i]))
		kept := b.keep(s, i)
		if len(kept) == 0 || len(kept) == len(s.open[i]) {
			continue
		}
		for _, m := range kept {
			m.rules |= b.rule
		}
		s.open[i], s.lasts[i], learned = kept, lastOf(kept), true
		if len(kept) == 1 {
			s.learn(kept[0])
			break
		}
	}
	return learned
}

func lastOf(list []*match) (last int) {
	for _, m := range list {
		last = max(last, m.last)
	}
	return last
}

// headingOf is what the header of the hunk i names; each name is looked for once.
func (s *settling) headingOf(i int) *heading {
	if s.headings[i] != nil {
		return s.headings[i]
	}
	name := s.open[i][0].hunk.section
	found := s.named[name]
	if found == nil {
		found = s.heading(name)
		s.named[name] = found
	}
	s.headings[i] = found
	return found
}
