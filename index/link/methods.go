package link

import (
	"cmp"
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"

	"quarry/index/store"
	"quarry/index/syntax"
)

// A type of Go implements an interface without naming it: what it takes are its methods.
// Their names are in the index, and their signatures as they are written.

// Methods are what is known of the types that implement an interface by their methods alone.
type Methods struct {
	// List has an edge from each type that declares all methods of the interface.
	List []store.Edge
	// Names are those of the methods, in order.
	Names []string
	// Unknown are what the interface embeds and the index does not have: methods of these
	// were not compared.
	Unknown []string
}

const (
	// sameMethods is the weight of a type whose methods have the same signatures as they are
	// written, but for the packages of their types; likeMethods that of one whose methods take
	// and answer as much, of types that have other names.
	sameMethods = 0.9
	likeMethods = 0.4
	// maxImplementing is how many types are answered.
	maxImplementing = 500
	// maxEmbedded is how deep interfaces that are embedded in interfaces are followed.
	maxEmbedded = 4
)

// Implementing answers the types that implement an interface of Go by their methods. A type
// that gets some of them from one that it embeds is not among them.
func Implementing(ctx context.Context, s *store.Store, symbol int64) (m Methods, err error) {
	err = s.View(ctx, func(v *store.View) error {
		set := methodSet{view: v, known: newMemo(), methods: map[string]string{}, met: map[int64]bool{}, declared: map[string]map[string][]*store.Candidate{}}
		if err := set.add(symbol, maxEmbedded); err != nil {
			return err
		}
		for name := range set.methods {
			m.Names = append(m.Names, name)
		}
		slices.Sort(m.Names)
		slices.Sort(set.unknown)
		m.Unknown = slices.Compact(set.unknown)
		if len(m.Names) == 0 {
			return v.Err()
		}
		m.List, err = set.types(symbol, m.Names)
		return err
	})
	return m, err
}

// methodSet is what an interface asks for.
type methodSet struct {
	view    *store.View
	known   *memo
	methods map[string]string // their signatures by name
	unknown []string
	met     map[int64]bool
	// declared are types without a container by their names and then by folder.
	declared map[string]map[string][]*store.Candidate
}

// add adds the methods of an interface, and of those that it embeds.
func (m *methodSet) add(symbol int64, depth int) error {
	if m.met[symbol] {
		return nil
	}
	m.met[symbol] = true
	file := store.FileOf(symbol)
	declared, err := m.view.Declared(file)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(declared, func(d store.Declared) bool { return d.ID == symbol })
	if at < 0 {
		return nil
	}
	own := qualifiedName(&declared[at].Symbol)
	for _, d := range declared {
		if d.Kind == syntax.KindMethod && d.Container == own {
			m.methods[d.Name] = d.Signature
		}
	}
	f, err := m.view.Referring(file)
	if err != nil {
		return err
	}
	lists := resolve(m.view, f, m.known, 0, false)[len(f.Imports):]
	for i := range f.Refs {
		r := &f.Refs[i]
		if r.From != at || r.Kind != syntax.RefInherit {
			continue
		}
		switch {
		case r.Name == "error" && r.Qualifier == "" && len(lists[i]) == 0:
			m.methods["Error"] = "Error() string"
		case len(lists[i]) == 0 || depth == 0:
			m.unknown = append(m.unknown, strings.TrimPrefix(r.Qualifier+"."+r.Name, "."))
		default:
			if err := m.add(lists[i][0].Symbol, depth-1); err != nil {
				return err
			}
		}
	}
	return m.view.Err()
}

func qualifiedName(s *syntax.Symbol) string { return strings.TrimPrefix(s.Container+"."+s.Name, ".") }

// typeKey names a type of Go.
type typeKey struct{ dir, name string }

// types answers those that declare all of the methods, the surest first.
func (m *methodSet) types(symbol int64, names []string) (list []store.Edge, err error) {
	to := m.view.Tree.File(store.FileOf(symbol))
	var found map[typeKey][]*store.Candidate // its methods
	rarest := slices.Clone(names)
	slices.SortStableFunc(rarest, func(a, b string) int {
		return cmp.Compare(len(m.view.Named(a)), len(m.view.Named(b)))
	})
	for i, name := range rarest {
		with := map[typeKey][]*store.Candidate{}
		named := m.view.Named(name)
		for j := range named {
			c := &named[j]
			key := typeKey{c.In.Dir, c.Container}
			if c.Kind != syntax.KindMethod || c.In.Family != to.Family || c.Container == "" || !token.IsExported(name) && c.In.Dir != to.Dir {
				continue
			}
			if before, ok := found[key]; (ok || i == 0) && with[key] == nil {
				with[key] = append(before, c)
			}
		}
		found = with
	}
	for key, methods := range found {
		t := m.declarationOf(key, methods[0].In.ID)
		if t == nil || t.Kind == syntax.KindInterface {
			continue
		}
		weight := float32(sameMethods)
		for i, c := range methods {
			d, err := m.view.Symbol(c.ID)
			if err != nil {
				return nil, err
			}
			weight = min(weight, similarity(m.methods[rarest[i]], d.Signature))
		}
		if weight > 0 {
			list = append(list, store.Edge{Kind: store.EdgeInherit, FromFile: t.In.ID, FromSymbol: t.ID, ToFile: to.ID, ToSymbol: symbol, Weight: weight})
		}
	}
	path := func(e store.Edge) string { return m.view.Tree.File(e.FromFile).Path }
	slices.SortFunc(list, func(a, b store.Edge) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), strings.Compare(path(a), path(b)), cmp.Compare(a.FromSymbol, b.FromSymbol))
	})
	return list[:min(len(list), maxImplementing)], m.view.Err()
}

// declarationOf is where a type is declared: in the file of its method, or else in the first
// of its folder; nil where that is not indexed.
func (m *methodSet) declarationOf(key typeKey, file int64) (best *store.Candidate) {
	name := lastComponent(key.name)
	byDir, ok := m.declared[name]
	if !ok {
		byDir = map[string][]*store.Candidate{}
		named := m.view.Named(name)
		for i := range named {
			if c := &named[i]; store.IsType(c.Kind) && c.Container == "" {
				byDir[c.In.Dir] = append(byDir[c.In.Dir], c)
			}
		}
		m.declared[name] = byDir
	}
	for _, c := range byDir[key.dir] {
		if c.In.ID == file {
			return c
		}
		if best == nil || c.In.Path < best.In.Path {
			best = c
		}
	}
	return best
}

// similarity is the weight of a method with a signature, as far as an interface with a method
// of the same name is concerned: 0 if it takes or answers another number of values.
func similarity(wanted, have string) float32 {
	want, ok := typesOf("func " + strings.TrimPrefix(wanted, "func "))
	got, too := typesOf(have)
	switch {
	case !ok || !too: // longer than signatures are kept
		return likeMethods
	case len(want) != len(got):
		return 0
	case slices.Equal(want, got) && !strings.Contains(strings.Join(want, ""), unnamed):
		return sameMethods
	}
	if slices.Index(want, results) != slices.Index(got, results) || strings.HasPrefix(last(want), "...") != strings.HasPrefix(last(got), "...") {
		return 0
	}
	return likeMethods
}

// results stands between the types of what a function takes and of what it answers.
const results = ") ("

// last is the last type that a function takes.
func last(types []string) string {
	if i := slices.Index(types, results); i > 0 {
		return types[i-1]
	}
	return ""
}

// typesOf are the types of what a function takes and answers, without their packages.
func typesOf(signature string) (types []string, ok bool) {
	f, err := parser.ParseFile(token.NewFileSet(), "", "package p; "+signature, parser.SkipObjectResolution)
	if err != nil || len(f.Decls) != 1 {
		return nil, false
	}
	d, ok := f.Decls[0].(*ast.FuncDecl)
	if !ok {
		return nil, false
	}
	add := func(fields *ast.FieldList) {
		if fields == nil {
			return
		}
		for _, field := range fields.List {
			for range max(1, len(field.Names)) {
				types = append(types, typeName(field.Type))
			}
		}
	}
	add(d.Type.Params)
	types = append(types, results)
	add(d.Type.Results)
	return types, true
}

// unnamed stands for a type that is written out: that two are the same is not looked into.
const unnamed = "?"

// typeName writes a type without packages, and each by one name.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		switch e.Name {
		case "byte":
			return "uint8"
		case "rune":
			return "int32"
		}
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.StarExpr:
		return "*" + typeName(e.X)
	case *ast.ParenExpr:
		return typeName(e.X)
	case *ast.Ellipsis:
		return "..." + typeName(e.Elt)
	case *ast.ArrayType:
		if e.Len == nil {
			return "[]" + typeName(e.Elt)
		}
		return "[" + typeName(e.Len) + "]" + typeName(e.Elt)
	case *ast.BasicLit:
		return e.Value
	case *ast.MapType:
		return "map[" + typeName(e.Key) + "]" + typeName(e.Value)
	case *ast.ChanType:
		return [...]string{ast.SEND: "chan<- ", ast.RECV: "<-chan ", ast.SEND | ast.RECV: "chan "}[e.Dir] + typeName(e.Value)
	case *ast.IndexExpr:
		return typeName(e.X) + "[" + typeName(e.Index) + "]"
	case *ast.IndexListExpr:
		var list []string
		for _, x := range e.Indices {
			list = append(list, typeName(x))
		}
		return typeName(e.X) + "[" + strings.Join(list, ",") + "]"
	case *ast.FuncType:
		var list []string
		for _, fields := range []*ast.FieldList{e.Params, e.Results} {
			if fields == nil {
				fields = &ast.FieldList{}
			}
			for _, f := range fields.List {
				for range max(1, len(f.Names)) {
					list = append(list, typeName(f.Type))
				}
			}
			list = append(list, results)
		}
		return "func(" + strings.Join(list, ",")
	case *ast.InterfaceType:
		if len(e.Methods.List) == 0 {
			return "any"
		}
	case *ast.StructType:
		if len(e.Fields.List) == 0 {
			return "struct{}"
		}
	}
	return unnamed
}
