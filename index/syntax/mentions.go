package syntax

import (
	"errors"
	"slices"
	"strings"

	"quarry/index/lang"
)

// Mention is a place where a name stands in code, not in a comment or a string.
type Mention struct {
	Span Span
	// Member: it is reached through something, as in a.name, a->name and a::name, or names
	// a member or an argument.
	Member bool
	// Local: it is, or may be, bound in the function around it, and then means that.
	Local bool
	// Import: it stands in an import.
	Import bool
	// Ref is its index in File.Refs, -1 if it is none of them; Symbol that of the declaration
	// whose name it is in File.Symbols, -1 if it declares nothing.
	Ref, Symbol int
}

// Mentions finds where a name stands in code, in the order of the text, and answers what else
// the file yields. It fails where there is no grammar, and no tree.
func Mentions(language string, src []byte, name string) ([]Mention, *File, error) {
	language = lang.Canonical(language)
	l := languages[language]
	if l == nil {
		return nil, nil, ErrNoLocals
	}
	t, err := Parse(language, src)
	if err != nil {
		return nil, nil, err
	}
	defer t.Close()
	tree := t.copyTree()
	if tree == nil {
		return nil, nil, errors.New("the file could not be parsed")
	}
	defer tree.Close()
	nodes, release := tree.Nodes()
	defer release()
	s := scopes{language: language, src: src, nodes: nodes, name: symbolNames(language), field: fieldNames(language)}
	file := t.Analyze()
	lines := newLineTable(src)
	var list []Mention
	var leaves []uint32
	for i := range s.nodes {
		n := uint32(i)
		if s.nodes[i].Next != n+1 || string(s.src[s.nodes[i].Start:s.nodes[i].End]) != name || !s.isName(n) {
			continue
		}
		m := Mention{Span: lines.span(s.nodes[i].Start, s.nodes[i].End), Ref: -1, Symbol: -1, Member: s.isMember(n)}
		m.Ref = slices.IndexFunc(file.Refs, func(r Ref) bool { return r.Name == name && r.Span.Start <= m.Span.Start && m.Span.End <= r.Span.End })
		m.Symbol = slices.IndexFunc(file.Symbols, func(d Symbol) bool { return d.NameSpan.Start == m.Span.Start && d.NameSpan.End == m.Span.End })
		m.Import = slices.ContainsFunc(file.Imports, func(im Import) bool { return im.Span.Start <= m.Span.Start && m.Span.End <= im.Span.End })
		list, leaves = append(list, m), append(leaves, n)
	}
	if l.scopes {
		s.markLocals(list, leaves)
	}
	return list, file, nil
}

// isName answers whether a leaf is a name in code.
func (s *scopes) isName(i uint32) bool {
	kind := s.kind(i)
	if strings.Contains(kind, "string") || strings.Contains(kind, "comment") || strings.Contains(s.kind(s.nodes[i].Parent), "string") {
		return false
	}
	return strings.HasSuffix(kind, "identifier") || strings.HasPrefix(kind, "shorthand") || kind == "name" || kind == "constant" || kind == "word" || kind == "alias"
}

// isMember answers whether a name is reached through something else.
func (s *scopes) isMember(i uint32) bool {
	before := strings.TrimRight(string(s.src[max(0, int(s.nodes[i].Start)-64):s.nodes[i].Start]), " \t\r\n")
	kind := s.kind(i)
	return strings.HasSuffix(before, ".") && !strings.HasSuffix(before, "..") || strings.HasSuffix(before, "->") || strings.HasSuffix(before, "::") ||
		strings.HasPrefix(kind, "field_") || strings.HasPrefix(kind, "property_") || s.isNamed(i, map[string][]string{"keyword_argument": {"name"}})
}

// markLocals finds the names that a function binds: in a function that binds one anywhere, all
// that are not reached through something may mean it.
func (s *scopes) markLocals(list []Mention, leaves []uint32) {
	bound := map[uint32]bool{} // by their outermost functions
	for k, i := range leaves {
		if scope, ok := s.outermostFunction(i); ok && !list[k].Member && list[k].Symbol < 0 && s.binder(i) != 0 {
			bound[scope] = true
		}
	}
	for k, i := range leaves {
		scope, ok := s.outermostFunction(i)
		list[k].Local = ok && bound[scope] && !list[k].Member && list[k].Symbol < 0
	}
}
