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
			list, err = edgesOf(v, f, newMemo(), 0, false)
		}
		return err
	})
	return list, err
}

// FromSymbols answers those edges of From whose references stand in declarations of a file. The
// others are not resolved.
func FromSymbols(ctx context.Context, s *store.Store, file int64, symbols ...int64) (list []store.Edge, err error) {
	err = s.View(ctx, func(v *store.View) error {
		f, err := v.ReferringIn(file, symbols)
		if err != nil {
			return err
		}
		if list, err = edgesOf(v, f, newMemo(), 0, false); err != nil {
			return err
		}
		list = slices.DeleteFunc(list, func(e store.Edge) bool { return e.FromSymbol == 0 }) // imports
		return nil
	})
	return list, err
}

// To answers the edges that end at a symbol: the places that use it.
func To(ctx context.Context, s *store.Store, symbol int64) (list []store.Edge, err error) {
	err = s.View(ctx, func(v *store.View) error {
		list, err = v.Ending(symbol, false, func() ([]store.Edge, error) { return to(v, symbol, false) })
		return err
	})
	return list, err
}

// Possibly is To with the places that name the symbol where so many declarations are called
// like it that a place says nothing of which is meant. Their edges are Vague.
func Possibly(ctx context.Context, s *store.Store, symbol int64) (list []store.Edge, err error) {
	err = s.View(ctx, func(v *store.View) error {
		name, err := v.NameOf(symbol)
		if err != nil || name == "" {
			return err
		}
		namesakes := 0
		for _, n := range calledLike(v.Tree, name) {
			namesakes += len(v.Named(n))
		}
		vague := namesakes > maxCandidates
		list, err = v.Ending(symbol, vague, func() ([]store.Edge, error) { return to(v, symbol, vague) })
		return err
	})
	return list, err
}

// to is To or, with vague, Possibly, in a view.
func to(v *store.View, symbol int64, vague bool) (list []store.Edge, err error) {
	name, err := v.NameOf(symbol)
	if err != nil || name == "" {
		return nil, err
	}
	called := calledLike(v.Tree, name)
	names := func(imports []syntax.Import) []string {
		names := called
		for i := range imports {
			if im := &imports[i]; im.Alias != "" && len(names) < maxCalled && handsOnAny(im, called) {
				names = append(names[:len(names):len(names)], im.Alias)
			}
		}
		return names
	}
	known := newMemo()
	err = v.Mentioning(called, names, func(f *store.Referring) error {
		found, err := edgesOf(v, f, known, symbol, vague)
		list = append(list, found...)
		return err
	})
	return list, err
}

// calledLike answers a name and what files that hand it on call it, at most maxCalled names.
func calledLike(t *store.Tree, name string) []string {
	called := []string{name}
	for range maxHops {
		known := called
		for imports := range t.Handed() {
			for i := range imports {
				if len(called) == maxCalled {
					return called
				}
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
func edgesOf(v *store.View, f *store.Referring, known *memo, to int64, vague bool) (list []store.Edge, err error) {
	var symbols []int64 // of the file, read when the first is needed
	imports := f.Imports
	if to != 0 {
		imports = nil
	}
	for i, targets := range resolve(v, f, known, to, vague) {
		e := store.Edge{Kind: store.EdgeImport, FromFile: f.ID}
		from := -1
		if i < len(imports) {
			e.Line = imports[i].Span.StartLine
		} else {
			r := &f.Refs[i-len(imports)]
			e.Kind, e.Name, e.Qualifier, e.Line, e.Count, from = store.EdgeKind(r.Kind), r.Name, r.Qualifier, r.Line, r.Count, r.From
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
			e.ToFile, e.ToSymbol, e.Weight, e.Vague = t.File, t.Symbol, t.Weight, t.vague
			list = append(list, e)
		}
	}
	return list, v.Err()
}
