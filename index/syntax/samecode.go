package syntax

import (
	"bytes"
	"slices"

	"quarry/index/syntax/treesitter"

	sitter "github.com/smacker/go-tree-sitter"
)

// SameCode says whether two texts differ in nothing but comments, doc strings and
// white space. ok is false for a language without a grammar and for a text that
// the parser gives up on.
func SameCode(language string, a, b []byte) (same, ok bool) {
	left, ok := codeTokens(language, a)
	if !ok {
		return false, false
	}
	right, ok := codeTokens(language, b)
	return ok && slices.EqualFunc(left, right, bytes.Equal), ok
}

// codeTokens are the texts of a tree's leaves, without comments and without
// strings that are statements of their own, as doc strings are.
func codeTokens(language string, src []byte) (tokens [][]byte, ok bool) {
	t, err := Parse(language, src)
	if err != nil {
		return nil, false
	}
	defer t.Close()
	tree := t.copyTree()
	if tree == nil {
		return nil, false
	}
	defer tree.Close()
	nodes, release := tree.Nodes()
	defer release()
	trimNodes(nodes, src)
	name := symbolNames(t.language)
	for i := 0; i < len(nodes); i++ {
		n := &nodes[i]
		switch {
		case n.Extra && n.Symbol != treesitter.SymbolError,
			name(n.Symbol) == "string" && n.Parent != uint32(i) && name(nodes[n.Parent].Symbol) == "expression_statement":
			i = int(n.Next) - 1
		case n.Next == uint32(i)+1 && n.Start < n.End:
			tokens = append(tokens, src[n.Start:n.End])
		}
	}
	return tokens, true
}

// symbolNames names the symbols of a language that has a grammar.
func symbolNames(language string) func(symbol uint16) string {
	grammar := languages[language].grammar.Language()
	return func(symbol uint16) string {
		if symbol == treesitter.SymbolError {
			return "ERROR"
		}
		return grammar.SymbolName(sitter.Symbol(symbol))
	}
}
