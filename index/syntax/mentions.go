package syntax

import (
	"cmp"
	"context"
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

// ErrManyMentions is returned for a name that a file has more often than was asked for.
var ErrManyMentions = errors.New("the file has the name too often")

// Mentions finds where a name stands in code, in the order of the text, and answers what else
// the file yields. It fails where there is no grammar, and no tree, with ErrManyMentions where
// there are more than most, and with the error of ctx, which it asks as it goes. What it does
// grows no faster than the text.
func Mentions(ctx context.Context, language string, src []byte, name string, most int) ([]Mention, *File, error) {
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
		return nil, nil, errNoTree
	}
	defer tree.Close()
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	nodes, release := tree.Nodes()
	defer release()
	s := scopes{language: language, src: src, nodes: nodes, name: symbolNames(language), field: fieldNames(language)}
	lines := newLineTable(src)
	var list []Mention
	var leaves []leaf
	around := leaf{} // its function is the outermost one around the nodes up to its own
	for i := range s.nodes {
		n := uint32(i)
		if i%betweenLooks == 0 && ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if l.scopes && n >= around.node && functionNodes[s.kind(n)] {
			around = leaf{s.nodes[i].Next, n, true}
		}
		if s.nodes[i].Next != n+1 || string(s.src[s.nodes[i].Start:s.nodes[i].End]) != name || !s.isName(n) {
			continue
		}
		if len(list) == most {
			return nil, nil, ErrManyMentions
		}
		list = append(list, Mention{Span: lines.span(s.nodes[i].Start, s.nodes[i].End), Ref: -1, Symbol: -1, Member: s.isMember(n)})
		leaves = append(leaves, leaf{n, around.function, around.inside && n < around.node})
	}
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	file, bySyntax := t.analyze()
	if !bySyntax {
		return nil, nil, errNoTree
	}
	markFacts(list, file, name)
	if l.scopes {
		if err := s.markLocals(ctx, list, leaves); err != nil {
			return nil, nil, err
		}
	}
	return list, file, nil
}

var errNoTree = errors.New("the file could not be parsed")

// betweenLooks is how many nodes are looked at between two looks at the context.
const betweenLooks = 1 << 12

// leaf is the node of a mention; function is the outermost one around it, if it is inside of one.
type leaf struct {
	node, function uint32
	inside         bool
}

// markFacts joins mentions, which are in the order of the text, with the references, the
// declarations and the imports of their file.
func markFacts(list []Mention, file *File, name string) {
	refs, symbols := map[Span]int{}, map[Span]int{}
	for i := len(file.Refs) - 1; i >= 0; i-- { // of several the first counts
		if file.Refs[i].Name == name {
			refs[file.Refs[i].Span] = i
		}
	}
	for i := len(file.Symbols) - 1; i >= 0; i-- {
		if file.Symbols[i].Name == name {
			symbols[file.Symbols[i].NameSpan] = i
		}
	}
	imports := make([]Span, len(file.Imports))
	for i := range file.Imports {
		imports[i] = file.Imports[i].Span
	}
	slices.SortFunc(imports, func(a, b Span) int { return cmp.Compare(a.Start, b.Start) })
	next, end := 0, uint32(0) // the imports that begin before a mention, and where the last of them ends
	for i := range list {
		m := &list[i]
		if at, ok := refs[m.Span]; ok {
			m.Ref = at
		}
		if at, ok := symbols[m.Span]; ok {
			m.Symbol = at
		}
		for ; next < len(imports) && imports[next].Start <= m.Span.Start; next++ {
			end = max(end, imports[next].End)
		}
		m.Import = m.Span.End <= end
	}
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
func (s *scopes) markLocals(ctx context.Context, list []Mention, leaves []leaf) error {
	free := func(k int) bool { return leaves[k].inside && !list[k].Member && list[k].Symbol < 0 }
	bound := map[uint32]bool{} // by their outermost functions
	met := map[uint32]bool{}   // whether they make a name the binding one
	for k, at := range leaves {
		if k%betweenLooks == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if free(k) && !bound[at.function] && s.isBound(at.node, met) {
			bound[at.function] = true
		}
	}
	for k, at := range leaves {
		list[k].Local = free(k) && bound[at.function]
	}
	return nil
}

// isBound answers whether a node makes a name the binding one, as binder does, with what is known
// of the nodes above it: names may stand deep in one pattern.
func (s *scopes) isBound(i uint32, known map[uint32]bool) (is bool) {
	var met []uint32
	for {
		var ok bool
		if is, ok = known[i]; ok {
			break
		}
		met = append(met, i)
		if s.nodes[i].Parent == i {
			break
		}
		if is = s.isNamed(i, binders); is || !s.isNamed(i, carriers) {
			break
		}
		i = s.nodes[i].Parent
	}
	for _, n := range met {
		known[n] = is
	}
	return is
}
