package link

import (
	"slices"
	"strings"

	"quarry/index/store"
	"quarry/index/syntax"
)

// Which declarations of a name a reference can mean at all, which of them are in the
// nearest scope, and what each is worth.

// candidates are the declarations of the name that can be meant by a reference of
// that kind in this language.
func (r *resolver) candidates(q query) []*store.Candidate {
	r.all = r.all[:0]
	named := r.view.Named(q.name)
	for i := range named {
		if c := &named[i]; r.fits(q.kind, c) {
			r.all = append(r.all, c)
		}
	}
	return r.all
}

// fits tells whether a declaration can be meant by a reference of that kind.
func (r *resolver) fits(kind syntax.RefKind, c *store.Candidate) bool {
	switch {
	case kind == syntax.RefInherit && !store.IsType(c.Kind) && c.Kind != syntax.KindModule:
		return false
	case kind == syntax.RefUse && c.Kind == syntax.KindMethod:
		return false
	}
	return c.In.Language == r.file.Language || c.In.Family == r.family
}

// scopeOf is the nearest scope of the reference that a file belongs to.
func (r *resolver) scopeOf(f *store.TreeFile) int {
	switch {
	case f.ID == r.file.ID:
		return 0
	case f.Dir == r.file.Dir:
		return 1
	case r.importedFiles[f.ID], len(r.importedDirs) > 0 && r.importedDirs[f.Dir]:
		return 2
	}
	return 3
}

var scopeWeights = [...]float32{inFile, inPackage, inImports, inRepository}

// nearest answers the candidates of the nearest scope that has any.
func (r *resolver) nearest(list []*store.Candidate, sure float32) []target {
	best := len(scopeWeights)
	in := list[:0] // never ahead of what is read
	for _, c := range list {
		switch scope := r.scopeOf(c.In); {
		case scope < best:
			best, in = scope, append(in[:0], c)
		case scope == best:
			in = append(in, c)
		}
	}
	if len(in) == 0 {
		return nil
	}
	return r.targets(in, sure*scopeWeights[best])
}

// targets orders candidates, which it may do in place, by their place in the
// repository, which unlike ids is the same in every index of it.
func (r *resolver) targets(list []*store.Candidate, weight float32) []target {
	if len(list) > maxCandidates {
		return nil
	}
	slices.SortStableFunc(list, func(a, b *store.Candidate) int { return strings.Compare(a.In.Path, b.In.Path) })
	targets := make([]target, len(list))
	for i, c := range list {
		targets[i] = target{c.In.ID, c.ID, weight / float32(len(list))}
	}
	return targets
}

// filter answers the candidates to keep; they are valid until the next call.
func (r *resolver) filter(list []*store.Candidate, keep func(*store.Candidate) bool) []*store.Candidate {
	r.some = r.some[:0]
	for _, c := range list {
		if keep(c) {
			r.some = append(r.some, c)
		}
	}
	return r.some
}
