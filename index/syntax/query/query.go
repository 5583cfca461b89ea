// Package query matches patterns in tree-sitter's query language against the nodes of a
// tree.
package query

import (
	"fmt"
	"regexp"
	"slices"

	"quarry/index/syntax/treesitter"

	sitter "github.com/smacker/go-tree-sitter"
)

// A Query is a list of patterns in tree-sitter's query language, compiled for
// one grammar. Its matcher (match.go) runs on flattened trees in Go instead of
// through the binding's cursor, for three reasons: the cursor costs a cgo call
// and two allocations a match, in all more than parsing does (bench/syntax.md);
// patterns are looked up by the symbol of their root, so that nodes at which no
// pattern starts cost one table access; and predicates are checked, #any-of?
// included, which the binding ignores.
//
// The language is a subset of tree-sitter's: nodes, fields, negated fields,
// wildcards, alternations, anchors, captures, and the predicates eq?, match?,
// any-of? and has-ancestor?, with their not- forms. Left out are quantifiers,
// supertypes and MISSING: write two patterns instead. TestQueryEqualsCursor
// proves that both engines find the same matches.
type Query struct {
	patterns []pattern
	Captures []string // names, without @

	bySymbol [][]uint16 // symbol -> patterns that can start there, in order
	steps    int        // in all patterns
	named    []bool     // symbol -> is it a named node
}

// pattern is one top-level expression with its predicates.
type pattern struct {
	root       step
	predicates []predicate
}

// step is the pattern of one node.
type step struct {
	id           int      // its place among all steps of the query
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

// Grammar is what a query needs to know of a language.
type Grammar struct {
	named    []bool
	Symbols  map[string][]uint16 // of named nodes
	literals map[string][]uint16 // of anonymous ones
	fields   map[string]uint16
}

// NewGrammar reads the names of a grammar.
func NewGrammar(language *sitter.Language) *Grammar {
	g := &Grammar{
		Symbols:  map[string][]uint16{"ERROR": {treesitter.SymbolError}},
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
			g.Symbols[name] = append(g.Symbols[name], uint16(s))
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

// Compile compiles src for g. Errors name the line.
func Compile(g *Grammar, src string) (*Query, error) {
	p := &queryParser{src: src, grammar: g, query: &Query{named: g.named}}
	for p.skipSpace(); p.pos < len(p.src); p.skipSpace() {
		if err := p.topLevel(); err != nil {
			return nil, fmt.Errorf("query line %d: %w", p.line(), err)
		}
	}
	q := p.query
	for i := range q.patterns {
		q.number(&q.patterns[i].root)
	}
	q.bySymbol = make([][]uint16, len(g.named)+1)
	for i := range q.patterns {
		for s := range q.bySymbol {
			symbol := uint16(s)
			if s == len(g.named) {
				symbol = treesitter.SymbolError
			}
			if q.patterns[i].root.fitsSymbol(symbol, q.IsNamed(symbol)) {
				q.bySymbol[s] = append(q.bySymbol[s], uint16(i))
			}
		}
	}
	return q, nil
}

// number gives s and the steps below it their ids.
func (q *Query) number(s *step) {
	s.id = q.steps
	q.steps++
	for _, list := range [][]step{s.children, s.alternatives} {
		for i := range list {
			q.number(&list[i])
		}
	}
}

// IsNamed tells of a symbol whether its nodes are named.
func (q *Query) IsNamed(symbol uint16) bool {
	return symbol == treesitter.SymbolError || q.named[symbol]
}

// starting returns the patterns that can match at a node of this symbol.
func (q *Query) starting(symbol uint16) []uint16 {
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
