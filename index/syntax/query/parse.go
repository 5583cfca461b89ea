package query

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// queryParser is a recursive-descent parser of the query language.
type queryParser struct {
	src     string
	pos     int
	grammar *Grammar
	query   *Query
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
	for p.pos < len(p.src) && (isNameByte(p.src[p.pos]) || p.src[p.pos] == '.' || p.src[p.pos] == '-') {
		p.pos++
	}
	return p.src[start:p.pos]
}

func isNameByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// topLevel reads one pattern; predicates may stand in its parentheses or, as
// tree-sitter has it, in a group around it: ((node) @x (#eq? @x "y")).
func (p *queryParser) topLevel() error {
	p.query.patterns = append(p.query.patterns, pattern{})
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

// nodeStep reads what follows an opening parenthesis.
func (p *queryParser) nodeStep(s *step) error {
	p.skipSpace()
	name := p.identifier()
	if name == "_" {
		s.any, s.named = true, true
	} else if s.symbols = p.grammar.Symbols[name]; s.symbols == nil {
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
	if i := slices.Index(p.query.Captures, name); i >= 0 {
		return uint8(i), nil
	}
	if name == "" || len(p.query.Captures) == 255 {
		return 0, fmt.Errorf("bad capture @%s", name)
	}
	p.query.Captures = append(p.query.Captures, name)
	return uint8(len(p.query.Captures) - 1), nil
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
			if p.grammar.Symbols[v] == nil {
				return fmt.Errorf("the grammar has no node (%s)", v)
			}
			c.within = append(c.within, p.grammar.Symbols[v]...)
		}
	default:
		return fmt.Errorf("predicate #%s? is unknown or has the wrong arguments", name)
	}
	last := &p.query.patterns[len(p.query.patterns)-1]
	last.predicates = append(last.predicates, c)
	return nil
}
