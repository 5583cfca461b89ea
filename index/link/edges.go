package link

import (
	"context"
	"slices"

	"quarry/index/store"
	"quarry/index/syntax"
)

// From answers the edges whose references stand in a file, in the order of its imports
// and then of its references.
func From(ctx context.Context, s *store.Store, file int64) (list []store.Edge, err error) {
	err = s.View(ctx, func(v *store.View) error {
		f, err := v.Referring(file)
		if err == nil {
			list, err = edgesOf(v, f, newMemo(), 0)
		}
		return err
	})
	return list, err
}

// To answers the edges that end at a symbol: the places that use it.
func To(ctx context.Context, s *store.Store, symbol int64) (list []store.Edge, err error) {
	err = s.View(ctx, func(v *store.View) error {
		list, err = v.Ending(symbol, func() ([]store.Edge, error) { return to(v, symbol) })
		return err
	})
	return list, err
}

// to is To, in a view.
func to(v *store.View, symbol int64) (list []store.Edge, err error) {
	name, err := v.NameOf(symbol)
	if err != nil || name == "" {
		return nil, err
	}
	called := calledLike(v.Tree, name)
	names := func(imports []syntax.Import) []string {
		names := called
		for i := range imports {
			if im := &imports[i]; im.Alias != "" && handsOnAny(im, called) {
				names = append(names[:len(names):len(names)], im.Alias)
			}
		}
		return names
	}
	known := newMemo()
	err = v.Mentioning(called, names, func(f *store.Referring) error {
		found, err := edgesOf(v, f, known, symbol)
		list = append(list, found...)
		return err
	})
	return list, err
}

// calledLike answers a name and what files that hand it on call it.
func calledLike(t *store.Tree, name string) []string {
	called := []string{name}
	for range maxHops {
		known := called
		for imports := range t.Handed() {
			for i := range imports {
				if im := &imports[i]; im.Alias != "" && !slices.Contains(called, im.Alias) && handsOnAny(im, known) {
					called = append(called, im.Alias)
				}
			}
		}
	}
	return called
}

// handsOnAny tells whether an import that has an alias may mean one of the names by it.
func handsOnAny(im *syntax.Import, names []string) bool {
	if len(im.Names) > 0 {
		return slices.ContainsFunc(im.Names, func(n string) bool { return slices.Contains(names, n) })
	}
	parts := store.ImportComponents(im.Path)
	return len(parts) > 0 && slices.Contains(names, parts[len(parts)-1])
}

// edgesOf resolves a file and answers its edges, or those of its references that end at
// a symbol.
func edgesOf(v *store.View, f *store.Referring, known *memo, to int64) (list []store.Edge, err error) {
	var symbols []int64 // of the file, read when the first is needed
	imports := f.Imports
	if to != 0 {
		imports = nil
	}
	for i, targets := range resolve(v, f, known, to) {
		e := store.Edge{Kind: store.EdgeImport, FromFile: f.ID}
		from := -1
		if i < len(imports) {
			e.Line = imports[i].Span.StartLine
		} else {
			r := &f.Refs[i-len(imports)]
			e.Kind, e.Line, from = store.EdgeKind(r.Kind), r.Line, r.From
		}
		for _, t := range targets {
			if to != 0 && t.Symbol != to {
				continue
			}
			if from >= 0 && symbols == nil {
				if symbols, err = v.SymbolIDs(f.ID); err != nil {
					return nil, err
				}
			}
			if from >= 0 && from < len(symbols) {
				e.FromSymbol = symbols[from]
			}
			e.ToFile, e.ToSymbol, e.Weight = t.File, t.Symbol, t.Weight
			list = append(list, e)
		}
	}
	return list, v.Err()
}
