// Package pattern knows which files a regular expression may match, from the texts that
// any match of it has. It reads no file: whoever knows what a file contains is asked.
//
// The expressions are those of RE2, and lines are matched one by one, without their ends.
package pattern

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"regexp/syntax"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	// maxLength is the longest expression that is taken, in bytes.
	maxLength = 1000
	// maxProgram is how many instructions it may have with its repetitions written out. RE2's
	// time is that number times the length of what is matched.
	maxProgram = 5000
	// atOnce is how many steps, of one instruction at one byte, are made without a look at
	// the context: some ten milliseconds.
	atOnce = 1 << 20
)

// MatchingLimit is how long one Run may match.
const MatchingLimit = 30 * time.Second

// ErrSlow is the error of a Run whose time is over.
var ErrSlow = errors.New("the expression takes too long to match")

// Pattern is what a line has to match: one regular expression, or several. It is immutable.
type Pattern struct {
	all  []*regexp.Regexp
	size []int // instructions of each
	time time.Duration
	need need
	// acrossLines: it names a line end, which no line has.
	acrossLines bool
}

// Compile reads expressions, all of which a line has to match. The error says what is wrong
// with one in words for whoever wrote it.
func Compile(exprs ...string) (*Pattern, error) {
	p := &Pattern{time: MatchingLimit}
	for _, expr := range exprs {
		if expr == "" || len(expr) > maxLength {
			return nil, fmt.Errorf("it has %d bytes; give 1 to %d", len(expr), maxLength)
		}
		tree, err := syntax.Parse(expr, syntax.Perl)
		if err != nil {
			return nil, fmt.Errorf("it is not a regular expression of RE2 (%w), which has no look-around and no back-references", err)
		}
		tree = tree.Simplify()
		program, err := syntax.Compile(tree)
		if err != nil {
			return nil, err
		}
		if n := len(program.Inst); n > maxProgram {
			return nil, fmt.Errorf("its repetitions make it %d steps long, and %d are taken; repeat less, as x* for x{0,999}", n, maxProgram)
		}
		re, err := regexp.Compile(expr)
		if err != nil {
			return nil, err
		}
		p.all, p.size = append(p.all, re), append(p.size, len(program.Inst))
		if n := needOf(tree); !n.isNothing() {
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

// Run is one search with a pattern, through as many texts as it takes.
type Run struct {
	p    *Pattern
	left time.Duration
}

// Within is the pattern with another limit than MatchingLimit.
func (p *Pattern) Within(limit time.Duration) *Pattern {
	other := *p
	other.time = limit
	return &other
}

// Start begins a search.
func (p *Pattern) Start() *Run { return &Run{p, p.time} }

// Lines calls each for the lines of a text that match, with their numbers from 1, until it
// answers false. It fails with the cause of ctx when that has ended, within a line, too, and
// with ErrSlow when the time of the run is over.
func (r *Run) Lines(ctx context.Context, text string, each func(n int, line string) bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, r.left, ErrSlow)
	defer cancel()
	defer func(began time.Time) { r.left -= time.Since(began) }(time.Now())
	n, steps := 0, atOnce                                                 // the first look is before the first line
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) { // its mark is no part of the first line
		n++
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		for _, size := range r.p.size {
			steps += size * (len(line) + 1)
		}
		if steps >= atOnce {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			steps = 0
		}
		matches, err := r.p.matches(ctx, line)
		if err != nil {
			return err
		}
		if matches && !each(n, line) {
			break
		}
	}
	return nil
}

// matches answers whether a line, without its end, matches.
func (p *Pattern) matches(ctx context.Context, line string) (bool, error) {
	for i, re := range p.all {
		if p.size[i]*len(line) <= atOnce {
			if !re.MatchString(line) {
				return false, nil
			}
			continue
		}
		in := &interruptible{ctx: ctx, in: strings.NewReader(line), every: max(1, atOnce/p.size[i])}
		matches := re.MatchReader(in)
		if in.ended {
			return false, context.Cause(ctx)
		}
		if !matches {
			return false, nil
		}
	}
	return true, nil
}

// interruptible are the letters of a line until ctx has ended, which is looked at every so
// many.
type interruptible struct {
	ctx   context.Context
	in    *strings.Reader
	every int
	read  int
	ended bool
}

func (r *interruptible) ReadRune() (letter rune, size int, err error) {
	if r.read++; r.read%r.every == 0 && r.ctx.Err() != nil {
		r.ended = true
	}
	if r.ended {
		return 0, 0, io.EOF
	}
	return r.in.ReadRune()
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
