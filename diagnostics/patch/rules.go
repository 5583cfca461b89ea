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
// that remain of open[i]: all or none of them where it has nothing to say.
var tieBreakers = []struct {
	rule Rule
	keep func(t *text, open [][]*match, i int) []*match
}{
	{InOrder, func(_ *text, open [][]*match, i int) []*match {
		low, high := bounds(open, i)
		return slices.DeleteFunc(slices.Clone(open[i]), func(m *match) bool { return m.first() < low || m.last() > high })
	}},
	{StatedLine, func(_ *text, open [][]*match, i int) []*match { return only(open[i], (*match).stated) }},
	{SameShift, func(t *text, open [][]*match, i int) []*match { return only(open[i], t.shifted(open)) }},
	{SectionHeader, func(t *text, open [][]*match, i int) []*match { return t.inSection(open[i]) }},
}

// settle narrows down the hunks that fit in several locations, until nothing more
// is learned.
func (t *text) settle(open [][]*match) {
	for again := true; again; {
		again = false
		for i := range open {
			for _, b := range tieBreakers {
				if len(open[i]) <= 1 {
					break
				}
				if t.off&b.rule != 0 {
					continue
				}
				if kept := b.keep(t, open, i); len(kept) > 0 && len(kept) < len(open[i]) {
					for _, m := range kept {
						m.rules |= b.rule
					}
					open[i], again = kept, true
				}
			}
		}
	}
}
