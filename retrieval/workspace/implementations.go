package workspace

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"quarry/index/lang"
	"quarry/index/link"
	"quarry/index/store"
	"quarry/index/syntax"
)

// Implementations are the types that extend or implement a type: those that name it, and in
// Go those that have the methods of an interface. Of a method they are the methods of these
// types. Where they are none, or cannot be all, Notes says why. It fails with *NotReady if it
// finds none while it cannot know.
func (w *Workspace) Implementations(ctx context.Context, s Symbol) (Neighbours, error) {
	var notes []string
	found, err := w.neighbours(ctx, func() (list []Neighbour, err error) {
		list, notes, err = w.implementationsNow(ctx, s)
		return list, err
	})
	if found.Missing == nil {
		found.Notes = notes
	}
	return found, err
}

func (w *Workspace) implementationsNow(ctx context.Context, s Symbol) (list []Neighbour, notes []string, err error) {
	x, err := s.folder.ready()
	if err != nil {
		return nil, nil, err
	}
	of := s
	if !store.IsType(s.Kind) {
		_, rel := innermost(w.snapshot(), s.Path)
		around, err := s.folder.symbols(ctx, w.snapshot(), rel)
		if err != nil {
			return nil, nil, err
		}
		i := slices.IndexFunc(around, func(t Symbol) bool {
			return s.Kind == syntax.KindMethod && store.IsType(t.Kind) && t.Qualified() == s.Container
		})
		if i < 0 {
			return nil, []string{fmt.Sprintf("%s is a %s; types and their methods have implementations", s.ID, s.Kind)}, nil
		}
		of = around[i]
	}
	edges, err := link.To(ctx, x.Store(), of.id)
	if err != nil {
		return nil, nil, err
	}
	if of.Kind == syntax.KindInterface && lang.Detect(of.Path, nil) == "go" {
		methods, err := link.Implementing(ctx, x.Store(), of.id)
		if err != nil {
			return nil, nil, err
		}
		edges, notes = append(edges, methods.List...), methodNotes(&of, &methods)
	}
	list, err = w.ends(ctx, s.folder, edges, store.EdgeInherit, func(e store.Edge) (file, symbol int64) { return e.FromFile, e.FromSymbol })
	if err != nil {
		return nil, nil, err
	}
	if of.id != s.id {
		if list, err = w.members(ctx, &s, list); err != nil {
			return nil, nil, err
		}
	}
	if len(list) == 0 && notes == nil {
		notes = []string{fmt.Sprintf("nothing that is indexed names %s as what it extends, embeds or implements; what only has its members is not looked for", of.ID)}
	}
	return list, notes, nil
}

// methodNotes say how types of Go were compared with an interface.
func methodNotes(of *Symbol, m *link.Methods) (notes []string) {
	if len(m.Unknown) > 0 {
		notes = append(notes, fmt.Sprintf("%s embeds %s, which is not indexed: methods of that were not compared", of.ID, strings.Join(m.Unknown, ", ")))
	}
	if len(m.Names) == 0 {
		return append(notes, fmt.Sprintf("no method of %s is known, so that nothing can be compared with it", of.ID))
	}
	return append(notes, fmt.Sprintf("types were compared by the methods that they declare (%s), as signatures are written; one that gets a method from a type that it embeds is not found", strings.Join(m.Names, ", ")))
}

// members are the methods with the name of s that types declare.
func (w *Workspace) members(ctx context.Context, s *Symbol, types []Neighbour) (list []Neighbour, err error) {
	folders := w.snapshot()
	st := s.folder.index.Store()
	const most = 10_000 // as many as no name has but by a generator
	named, err := st.Named(ctx, s.Name, "", most)
	if err != nil {
		return nil, err
	}
	at := map[store.Named][]string{} // the files with a method of a type, by its folder
	for _, n := range named {
		if n.Kind == syntax.KindMethod || n.Kind == syntax.KindFunction {
			key := store.Named{Path: path.Dir(n.Path), Container: n.Container}
			at[key] = append(at[key], n.Path)
		}
	}
	for _, t := range types {
		rel, err := filepath.Rel(s.folder.dir, t.Path)
		if err != nil || t.ID == "" {
			continue
		}
		rel = filepath.ToSlash(rel)
		files := at[store.Named{Path: path.Dir(rel), Container: t.Qualified()}]
		if lang.Detect(rel, nil) != "go" { // whose methods may stand in any file of the folder
			files = slices.DeleteFunc(slices.Clone(files), func(f string) bool { return f != rel })
		}
		for _, file := range files {
			symbols, err := s.folder.symbols(ctx, folders, file)
			if err != nil {
				return nil, err
			}
			for _, m := range symbols {
				if m.Name == s.Name && m.Container == t.Qualified() {
					list = append(list, Neighbour{Symbol: m, Line: int(m.NameSpan.StartLine), Weight: t.Weight, Kind: t.Kind})
				}
			}
		}
	}
	return list, nil
}
