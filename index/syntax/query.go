package syntax

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	sitter "github.com/smacker/go-tree-sitter"
)

// A query is a list of patterns in tree-sitter's query language, compiled for
// one grammar. Its matcher (match.go) runs on flattened trees in Go instead of
// through the binding's cursor, for three reasons: the cursor costs a cgo call
// and two allocations a match, more than parsing does; patterns are looked up
// by the symbol of their root, so that the nodes no pattern starts at (nine of
// ten) cost one table access; and predicates are checked, #any-of? included,
// which the binding ignores.
//
// The language is a subset of tree-sitter's: nodes, fields, negated fields,
// wildcards, alternations, anchors, captures, and the predicates eq?, match?,
// any-of? and has-ancestor?, with their not- forms. Left out are quantifiers, supertypes and
// MISSING: write two patterns instead. TestQueryEqualsCursor proves that
// both engines find the same matches.
type query struct {
	patterns []pattern
	captures []string // names, without @

	bySymbol [][]uint16 // symbol -> patterns that can start there, in order
	named    []bool     // symbol -> is it a named node
}

// pattern is one top-level expression with its predicates.
type pattern struct {
	root       step
	predicates []predicate
	line       int // in the query's source, for messages
}

// step is the pattern of one node.
type step struct {
	any          bool     // `_` and `(_)`
	named        bool     // with any: `(_)`
	symbols      []uint16 // without any: the symbols of the type's name
	field        uint16   // the field it must fill, 0 for whichever
	absent       []uint16 // the fields it must not have
	captures     []uint8
	children     []step
	alternatives []step // if any, the node must fit one of these
	adjacent     bool   // `.` before it: no named node may be skipped
	last         bool   // `.` after its last child pattern
}

// predicate is a condition on the text of a capture.
type predicate struct {
	capture uint8
	other   int // the capture to equal, -1 for none
	values  []string
	pattern *regexp.Regexp
	within  []uint16 // the symbols one of its ancestors must have
	negated bool
}

// grammar is what a query needs to know of a language.
type grammar struct {
	language *sitter.Language
	named    []bool
	symbols  map[string][]uint16 // of named nodes
	literals map[string][]uint16 // of anonymous ones
	fields   map[string]uint16
}

func newGrammar(language *sitter.Language) *grammar {
	g := &grammar{
		language: language,
		symbols:  map[string][]uint16{"ERROR": {symbolError}},
		literals: map[string][]uint16{},
		fields:   map[string]uint16{},
	}
	n := int(language.SymbolCount())
	g.named = make([]bool, n)
	for s := range n {
		name := language.SymbolName(sitter.Symbol(s))
		switch language.SymbolType(sitter.Symbol(s)) {
		case sitter.SymbolTypeRegular:
			g.named[s] = true
			g.symbols[name] = append(g.symbols[name], uint16(s))
		case sitter.SymbolTypeAnonymous:
			g.literals[name] = append(g.literals[name], uint16(s))
		}
	}
	for id := 1; ; id++ {
		name := language.FieldName(id)
		if name == "" {
			return g
		}
		g.fields[name] = uint16(id)
	}
}

// compileQuery compiles src for g. Errors name the line.
func compileQuery(g *grammar, src string) (*query, error) {
	p := &queryParser{src: src, grammar: g, query: &query{named: g.named}}
	for p.skipSpace(); p.pos < len(p.src); p.skipSpace() {
		line := p.line()
		if err := p.topLevel(line); err != nil {
			return nil, fmt.Errorf("query line %d: %w", p.line(), err)
		}
	}
	q := p.query
	q.bySymbol = make([][]uint16, len(g.named)+1)
	for i := range q.patterns {
		for s := range q.bySymbol {
			symbol := uint16(s)
			if s == len(g.named) {
				symbol = symbolError
			}
			if q.patterns[i].root.fitsSymbol(symbol, q.isNamed(symbol)) {
				q.bySymbol[s] = append(q.bySymbol[s], uint16(i))
			}
		}
	}
	return q, nil
}

func (q *query) isNamed(symbol uint16) bool {
	return symbol == symbolError || q.named[symbol]
}

// starting returns the patterns that can match at a node of this symbol.
func (q *query) starting(symbol uint16) []uint16 {
	return q.bySymbol[min(int(symbol), len(q.bySymbol)-1)]
}

func (s *step) fitsSymbol(symbol uint16, named bool) bool {
	for i := range s.alternatives {
		if s.alternatives[i].fitsSymbol(symbol, named) {
			return true
		}
	}
	if s.any {
		return named || !s.named
	}
	return slices.Contains(s.symbols, symbol)
}

// queryParser is a recursive-descent parser of the query language.
type queryParser struct {
	src     string
	pos     int
	grammar *grammar
	query   *query
}

func (p *queryParser) line() int {
	return 1 + strings.Count(p.src[:min(p.pos, len(p.src))], "\n")
}

func (p *queryParser) skipSpace() {
	for p.pos < len(p.src) {
		switch c := p.src[p.pos]; {
		case c == ';':
			for p.pos < len(p.src) && p.src[p.pos] != '\n' {
				p.pos++
			}
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			p.pos++
		default:
			return
		}
	}
}

func (p *queryParser) peek() byte {
	p.skipSpace()
	if p.pos == len(p.src) {
		return 0
	}
	return p.src[p.pos]
}

func (p *queryParser) take(c byte) bool {
	if p.peek() != c {
		return false
	}
	p.pos++
	return true
}

func (p *queryParser) identifier() string {
	start := p.pos
	for p.pos < len(p.src) && (isWordByte(p.src[p.pos]) || p.src[p.pos] == '.' || p.src[p.pos] == '-') {
		p.pos++
	}
	return p.src[start:p.pos]
}

func isWordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}

// topLevel reads one pattern; predicates may stand in its parentheses or, as
// tree-sitter has it, in a group around it: ((node) @x (#eq? @x "y")).
func (p *queryParser) topLevel(line int) error {
	p.query.patterns = append(p.query.patterns, pattern{line: line})
	at := p.pos
	if p.take('(') && p.peek() == '(' {
		root, err := p.step()
		if err != nil {
			return err
		}
		for p.peek() == '(' {
			if err := p.predicate(); err != nil {
				return err
			}
		}
		if !p.take(')') {
			return fmt.Errorf("a group holds one node and its predicates, then )")
		}
		p.query.patterns[len(p.query.patterns)-1].root = root
		return nil
	}
	p.pos = at
	root, err := p.step()
	p.query.patterns[len(p.query.patterns)-1].root = root
	return err
}

// step reads a node pattern with the captures after it.
func (p *queryParser) step() (step, error) {
	var s step
	var err error
	switch c := p.peek(); c {
	case '(':
		p.pos++
		err = p.nodeStep(&s)
	case '[':
		p.pos++
		for !p.take(']') {
			alternative, err := p.fieldStep()
			if err != nil {
				return s, err
			}
			s.alternatives = append(s.alternatives, alternative)
		}
	case '"':
		var text string
		if text, err = p.quoted(); err == nil {
			if s.symbols = p.grammar.literals[text]; s.symbols == nil {
				err = fmt.Errorf("the grammar has no token %q", text)
			}
		}
	case '_':
		p.pos++
		s.any = true
	default:
		err = fmt.Errorf("expected a node, found %q", c)
	}
	if err != nil {
		return s, err
	}
	for p.take('@') {
		id, err := p.capture()
		if err != nil {
			return s, err
		}
		s.captures = append(s.captures, id)
	}
	if c := p.peek(); c == '*' || c == '+' || c == '?' {
		return s, fmt.Errorf("quantifier %c is not supported: write two patterns", c)
	}
	return s, nil
}

// nodeStep reads what follows an opening parenthesis.
func (p *queryParser) nodeStep(s *step) error {
	p.skipSpace()
	name := p.identifier()
	if name == "_" {
		s.any, s.named = true, true
	} else if s.symbols = p.grammar.symbols[name]; s.symbols == nil {
		return fmt.Errorf("the grammar has no node (%s)", name)
	}
	anchor := false
	for {
		switch c := p.peek(); {
		case c == ')':
			p.pos++
			s.last = anchor
			return nil
		case c == 0:
			return fmt.Errorf("unclosed (%s", name)
		case c == '.':
			p.pos++
			anchor = true
		case c == '!':
			p.pos++
			field := p.identifier()
			id, ok := p.grammar.fields[field]
			if !ok {
				return fmt.Errorf("the grammar has no field %s", field)
			}
			s.absent = append(s.absent, id)
		case c == '(' && strings.HasPrefix(p.src[p.pos:], "(#"):
			if err := p.predicate(); err != nil {
				return err
			}
		default:
			child, err := p.fieldStep()
			if err != nil {
				return err
			}
			child.adjacent = anchor
			anchor = false
			s.children = append(s.children, child)
		}
	}
}

// fieldStep reads a node pattern that a field name may precede.
func (p *queryParser) fieldStep() (step, error) {
	p.skipSpace()
	at := p.pos
	name := p.identifier()
	if name == "" || !p.take(':') {
		p.pos = at
		return p.step()
	}
	field, ok := p.grammar.fields[name]
	if !ok {
		return step{}, fmt.Errorf("the grammar has no field %s", name)
	}
	s, err := p.step()
	s.field = field
	return s, err
}

func (p *queryParser) capture() (uint8, error) {
	name := p.identifier()
	if i := slices.Index(p.query.captures, name); i >= 0 {
		return uint8(i), nil
	}
	if name == "" || len(p.query.captures) == 255 {
		return 0, fmt.Errorf("bad capture @%s", name)
	}
	p.query.captures = append(p.query.captures, name)
	return uint8(len(p.query.captures) - 1), nil
}

func (p *queryParser) quoted() (string, error) {
	var text strings.Builder
	for p.pos++; p.pos < len(p.src); p.pos++ {
		switch c := p.src[p.pos]; c {
		case '"':
			p.pos++
			return text.String(), nil
		case '\\':
			p.pos++
			if p.pos == len(p.src) {
				break
			}
			if p.src[p.pos] == 'n' {
				text.WriteByte('\n')
			} else {
				text.WriteByte(p.src[p.pos])
			}
		default:
			text.WriteByte(c)
		}
	}
	return "", fmt.Errorf("unclosed string")
}

// predicate reads (#name? @capture argument...) into the current pattern.
func (p *queryParser) predicate() error {
	p.pos++ // (
	if !p.take('#') {
		return fmt.Errorf("expected a predicate")
	}
	name := p.identifier()
	if !p.take('?') || !p.take('@') {
		return fmt.Errorf("predicate #%s: expected ? and a capture", name)
	}
	capture, err := p.capture()
	if err != nil {
		return err
	}
	c := predicate{capture: capture, other: -1}
	for !p.take(')') {
		switch p.peek() {
		case '@':
			p.pos++
			other, err := p.capture()
			if err != nil {
				return err
			}
			c.other = int(other)
		case '"':
			value, err := p.quoted()
			if err != nil {
				return err
			}
			c.values = append(c.values, value)
		default:
			return fmt.Errorf("predicate #%s?: expected an argument", name)
		}
	}
	kind, negated := strings.CutPrefix(name, "not-")
	c.negated = negated
	switch {
	case kind == "match" && len(c.values) == 1 && c.other < 0:
		if c.pattern, err = regexp.Compile(c.values[0]); err != nil {
			return err
		}
	case kind == "eq" && (len(c.values) == 1) != (c.other >= 0):
	case kind == "any-of" && len(c.values) > 0 && c.other < 0:
	case kind == "has-ancestor" && len(c.values) > 0 && c.other < 0:
		for _, v := range c.values {
			if p.grammar.symbols[v] == nil {
				return fmt.Errorf("the grammar has no node (%s)", v)
			}
			c.within = append(c.within, p.grammar.symbols[v]...)
		}
	default:
		return fmt.Errorf("predicate #%s? is unknown or has the wrong arguments", name)
	}
	last := &p.query.patterns[len(p.query.patterns)-1]
	last.predicates = append(last.predicates, c)
	return nil
}
