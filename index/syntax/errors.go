package syntax

import (
	"math"

	"quarry/index/lang"
	"quarry/index/syntax/treesitter"
)

// ErrorCount is the number of places the parser could not parse or had to make
// up a token for, as in [File.Errors] but without the rest of an analysis: it
// descends only where errors are, so that a sound tree costs one look at its
// root. ok is false where there is no tree to look at.
func (t *Tree) ErrorCount() (n int, ok bool) {
	tree := t.copyTree()
	if tree == nil {
		return 0, false
	}
	defer tree.Close()
	return tree.CountErrors(), true
}

// ParseError is a place that the parser could not make sense of.
type ParseError struct {
	Span
	// Missing is the token that would mend it, as the grammar names it; "" where
	// the text itself is in the way.
	Missing string
}

// ParseErrors are the outermost places of a text that do not parse, in order. ok is
// false for a language without a grammar and for a text that the parser gives up
// on.
func ParseErrors(language string, src []byte) (list []ParseError, ok bool) {
	if uint64(len(src)) >= math.MaxUint32 {
		return nil, false
	}
	t := newTree(lang.Canonical(language), src, false)
	t.parse(nil, false) // any reader's tree of the text will do
	defer t.Close()
	tree := t.copyTree()
	if tree == nil {
		return nil, false
	}
	defer tree.Close()
	if tree.CountErrors() == 0 {
		return nil, true
	}
	nodes, release := tree.Nodes()
	defer release()
	trimNodes(nodes, src)
	lines, name := newLineTable(src), symbolNames(t.language)
	for i := 0; i < len(nodes); i++ {
		n := &nodes[i]
		if n.Symbol != treesitter.SymbolError && !n.Missing {
			continue
		}
		f := ParseError{Span: lines.span(n.Start, n.End)}
		if n.Missing {
			f.Missing = name(n.Symbol)
		}
		list = append(list, f)
		i = int(n.Next) - 1
	}
	return list, true
}
