// Package pattern knows which files a regular expression may match, from the texts that
// any match of it has. It reads no file: whoever knows what a file contains is asked.
//
// The expressions are those of RE2, and lines are matched one by one, without their ends.
package pattern

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxLength is the longest expression that is taken, in bytes.
const maxLength = 1000

// Pattern is what a line has to match: one regular expression, or several. It is immutable.
type Pattern struct {
	all  []*regexp.Regexp
	need need
	// acrossLines: it names a line end, which no line has.
	acrossLines bool
}

// Compile reads expressions, all of which a line has to match. The error says what is wrong
// with one in words for whoever wrote it.
func Compile(exprs ...string) (*Pattern, error) {
	p := &Pattern{}
	for _, expr := range exprs {
		if expr == "" || len(expr) > maxLength {
			return nil, fmt.Errorf("it has %d bytes; give 1 to %d", len(expr), maxLength)
		}
		re, err := regexp.Compile(expr)
		if err != nil {
			return nil, fmt.Errorf("it is not a regular expression of RE2 (%w), which has no look-around and no back-references", err)
		}
		tree, err := syntax.Parse(expr, syntax.Perl)
		if err != nil {
			return nil, err
		}
		p.all = append(p.all, re)
		if n := needOf(tree.Simplify()); !n.isNothing() {
			p.need.parts = append(p.need.parts, n)
		}
		p.acrossLines = p.acrossLines || strings.ContainsRune(expr, '\n') || strings.Contains(expr, `\n`)
	}
	return p, nil
}

// Text is an expression for a text as it stands; without a capital its letters match in any case.
func Text(text string) string {
	if strings.IndexFunc(text, unicode.IsUpper) >= 0 {
		return regexp.QuoteMeta(text)
	}
	return "(?i)" + regexp.QuoteMeta(text)
}

// Matches answers whether a line, without its end, matches.
func (p *Pattern) Matches(line string) bool {
	for _, re := range p.all {
		if !re.MatchString(line) {
			return false
		}
	}
	return true
}

// Lines calls each for the lines of a text that match, with their numbers from 1, until it
// answers false.
func (p *Pattern) Lines(text string, each func(n int, line string) bool) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if p.Matches(line) && !each(n, line) {
			return
		}
	}
}

// NamesLineEnd says that an expression has a line end in it, as no line has.
func (p *Pattern) NamesLineEnd() bool { return p.acrossLines }

// MayMatch answers false only if no line of a text matches. has answers whether the text may
// contain a literal, letters of ASCII in either case; it may say yes where it does not.
func (p *Pattern) MayMatch(has func(literal string) bool) bool { return p.need.met(has) }

// need is what every match contains: one of the literals, or what all or one of the parts
// need. The zero need is always met.
type need struct {
	literal string
	parts   []need
	any     bool // one of the parts is enough
}

func (n *need) isNothing() bool { return n.literal == "" && len(n.parts) == 0 }

func (n *need) met(has func(string) bool) bool {
	if n.literal != "" {
		return has(n.literal)
	}
	for i := range n.parts {
		if n.parts[i].met(has) == n.any {
			return n.any
		}
	}
	return !n.any || len(n.parts) == 0
}

// needOf is what a match of a part of an expression contains.
func needOf(re *syntax.Regexp) need {
	switch re.Op {
	case syntax.OpLiteral:
		return literals(re.Rune, re.Flags&syntax.FoldCase != 0)
	case syntax.OpCapture, syntax.OpPlus:
		return needOf(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return needOf(re.Sub[0])
		}
	case syntax.OpConcat:
		all := need{}
		for _, sub := range re.Sub {
			if n := needOf(sub); !n.isNothing() {
				all.parts = append(all.parts, n)
			}
		}
		return all
	case syntax.OpAlternate:
		one := need{any: true}
		for _, sub := range re.Sub {
			n := needOf(sub)
			if n.isNothing() {
				return need{}
			}
			one.parts = append(one.parts, n)
		}
		return one
	}
	return need{}
}

// literals are the pieces of a literal that stand in every text it matches, byte for byte
// but for the case of ASCII's letters.
func literals(runes []rune, folded bool) need {
	all := need{}
	piece := []byte{}
	end := func() {
		if len(piece) > 0 {
			all.parts = append(all.parts, need{literal: string(piece)})
		}
		piece = piece[:0]
	}
	for _, r := range runes {
		if r == utf8.RuneError || folded && hasOtherCases(r) {
			end() // it matches what is written otherwise
			continue
		}
		piece = utf8.AppendRune(piece, r)
	}
	end()
	return all
}

// hasOtherCases answers whether a rune has a form in another case that is not ASCII: K has
// the Kelvin sign.
func hasOtherCases(r rune) bool {
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		if f > unicode.MaxASCII || r > unicode.MaxASCII {
			return true
		}
	}
	return false
}
