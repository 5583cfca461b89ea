package glob

import (
	"math/bits"
	"path"
	"strings"
)

// A path is held against all patterns in force, which may be 20,000 by strangers, so that matching
// is bounded and shares what it can: a pattern is followed through all places of the name at once,
// 64 of them in a word (Baeza-Yates and Gonnet, "A new approach to text searching", 1992, with
// tokens for letters). The set of places that the tokens so far can end at is all there is to know,
// each token makes the next set of it, and where the letters of the name stand is found once.

// A Name is a path that patterns are held against.
type Name struct {
	whole, base text
}

// NameOf is a path, folded if the patterns are.
func NameOf(name string) *Name {
	return &Name{text{s: name}, text{s: path.Base(name)}}
}

// Match answers whether the pattern covers a name, which is the path below the
// ignore file's folder.
func (p *Pattern) Match(name *Name, dir bool) bool {
	if p.dirOnly && !dir {
		return false
	}
	in := &name.base
	if p.anchored {
		in = &name.whole
	}
	if p.literal != "" {
		return in.s == p.literal
	}
	return p.program.matches(in)
}

// matches answers whether the program takes all of a text.
func (p *program) matches(in *text) bool {
	s, tokens := in.s, p.tokens
	// What stands at either end decides about most patterns.
	from := 0
	for ; from < len(tokens) && isLetter(tokens[from]); from++ {
		if from == len(s) || !p.takes(tokens[from], s[from]) {
			return false
		}
	}
	if from == len(tokens) {
		return from == len(s)
	}
	tokens = tokens[from:]
	to := len(s)
	for ; isLetter(tokens[len(tokens)-1]); tokens = tokens[:len(tokens)-1] {
		if to--; to < from || !p.takes(tokens[len(tokens)-1], s[to]) {
			return false
		}
	}
	switch {
	case tokens[0] == tokenRest:
		return true
	case len(tokens) > 1:
		return in.places().follow(p, tokens, from, to)
	case tokens[0] == tokenDirs:
		return from == to || s[to-1] == '/'
	}
	return strings.IndexByte(s[from:to], '/') < 0 // a star
}

// isLetter answers whether a token takes one letter.
func isLetter(t token) bool { return t <= tokenAny || t >= firstSet }

func (p *program) takes(t token, c byte) bool {
	switch {
	case t < 256:
		return byte(t) == c
	case t == tokenAny:
		return c != '/'
	}
	return p.sets[t-firstSet].has(c)
}

// text is what a program is held against.
type text struct {
	s     string
	table *places // nil until it is needed
}

// places are where the letters of a text stand. A set of places is a row of words: place i is bit
// i%64 of word i/64, and behind the last letter is a place, too.
type places struct {
	words int
	// of has the row of each letter of the text, which letters are.
	of      [256][]uint64
	letters []byte
	// inside is all that is no slash, behind what follows one.
	inside, behind []uint64
	// now and next are sets to work with.
	now, next []uint64
}

func (t *text) places() *places {
	if t.table != nil {
		return t.table
	}
	p := &places{words: len(t.s)/64 + 1}
	p.inside, p.behind, p.now, p.next = p.row(), p.row(), p.row(), p.row()
	for i := range len(t.s) {
		c := t.s[i]
		if p.of[c] == nil {
			p.of[c] = p.row()
			p.letters = append(p.letters, c)
		}
		p.of[c][i/64] |= 1 << (i % 64)
		if c != '/' {
			p.inside[i/64] |= 1 << (i % 64)
		} else {
			p.behind[(i+1)/64] |= 1 << ((i + 1) % 64)
		}
	}
	t.table = p
	return p
}

func (p *places) row() []uint64 { return make([]uint64, p.words) }

// follow answers whether tokens lead from one place to another.
func (p *places) follow(of *program, tokens []token, from, to int) bool {
	clear(p.now)
	p.now[from/64] |= 1 << (from % 64)
	for _, t := range tokens {
		some := false
		switch {
		case t == tokenRest:
			return true
		case t == tokenStar:
			p.star()
			continue
		case t == tokenDirs:
			p.folders()
			continue
		case t == tokenAny:
			some = p.step(p.inside)
		case t >= firstSet:
			some = p.step(p.in(&of.sets[t-firstSet]))
		case p.of[t] != nil:
			some = p.step(p.of[t])
		}
		if !some {
			return false
		}
	}
	return p.now[to/64]>>(to%64)&1 != 0
}

// step goes on from the places of a row by one letter, and answers whether there are any.
func (p *places) step(row []uint64) bool {
	var carry, some uint64
	for i, w := range p.now {
		w &= row[i]
		p.now[i] = w<<1 | carry
		carry = w >> 63
		some |= p.now[i]
	}
	return some != 0
}

// star goes on by any number of letters without a slash: a sum carries each place to the end of its
// component.
func (p *places) star() {
	var carry uint64
	for i, w := range p.now {
		var sum uint64
		sum, carry = bits.Add64(p.inside[i], w&p.inside[i], carry)
		p.now[i] = sum ^ p.inside[i] | w
	}
}

// folders goes on by any number of whole components.
func (p *places) folders() {
	for i, w := range p.now {
		if w == 0 {
			continue
		}
		p.now[i] |= p.behind[i] &^ (w&-w - 1) // of the first place, and all above it
		for i++; i < len(p.now); i++ {
			p.now[i] |= p.behind[i]
		}
		return
	}
}

// in is the row of the letters of a set.
func (p *places) in(set *byteSet) []uint64 {
	clear(p.next)
	for _, c := range p.letters {
		if set.has(c) {
			for i, w := range p.of[c] {
				p.next[i] |= w
			}
		}
	}
	return p.next
}
