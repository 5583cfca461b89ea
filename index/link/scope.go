package link

import (
	"slices"
	"strings"

	"quarry/index/store"
	"quarry/index/syntax"
)

// Which declarations of a name a reference can mean at all, which of them are in the
// nearest scope, and what each is worth.

// memo is what the files that are resolved in one view share.
type memo struct {
	// paths are what paths of imports lead to, which is the same for the files of one
	// folder and language but for Rust, where a file is a folder of modules too.
	paths map[pathKey]importTarget
	// packages are folders that have a package.json.
	packages map[packageKey][]string
	// named are declarations by what they can be meant by.
	named map[candidatesKey]*candidates
}

func newMemo() *memo {
	return &memo{paths: map[pathKey]importTarget{}, packages: map[packageKey][]string{}, named: map[candidatesKey]*candidates{}}
}

// packageKey is a name as a folder sees it.
type packageKey struct{ dir, name string }

type candidatesKey struct {
	language string
	kind     syntax.RefKind
	name     string
}

// candidates are the declarations of a name that can be meant by references of one kind
// in one language, by id. A name like Close has thousands, and each file that mentions it
// asks for some: so they are laid out once. The lists must not be changed.
type candidates struct {
	all []*store.Candidate
	// members have a container; byContainer has them by its last component.
	members     []*store.Candidate
	byContainer map[string][]*store.Candidate
	// bare can be named without a qualifier anywhere; near adds those of a container,
	// and places those of a path, as they are asked for.
	bare         []*store.Candidate
	near, places map[string][]*store.Candidate
}

func (r *resolver) candidates(q query) *candidates {
	key := candidatesKey{r.file.Language, q.kind, q.name}
	if c, ok := r.known.named[key]; ok {
		return c
	}
	c := &candidates{byContainer: map[string][]*store.Candidate{}, near: map[string][]*store.Candidate{}, places: map[string][]*store.Candidate{}}
	named := r.view.Named(q.name)
	for i := range named {
		d := &named[i]
		if !r.fits(q.kind, d) {
			continue
		}
		c.all = append(c.all, d)
		if d.Container == "" || store.IsType(d.Kind) {
			c.bare = append(c.bare, d)
		}
		if d.Container != "" {
			last := lastComponent(d.Container)
			c.members = append(c.members, d)
			c.byContainer[last] = append(c.byContainer[last], d)
		}
	}
	r.known.named[key] = c
	r.work.take(len(named) * aPath)
	return c
}

// membersOf answers the members of the containers with this last component.
func (c *candidates) membersOf(container string) []*store.Candidate {
	if container == "" {
		return nil
	}
	return c.byContainer[container]
}

// at answers what lies where a qualifier that is a path says.
func (c *candidates) at(qualifier string) []*store.Candidate {
	parts := qualifierParts(qualifier)
	if len(parts) < 2 {
		return nil
	}
	list, ok := c.places[qualifier]
	if !ok {
		list = filter(c.all, func(c *store.Candidate) bool { return liesIn(c, parts) })
		c.places[qualifier] = list
	}
	return list
}

// unqualified prefers what can be named without a qualifier: anything at file
// level, and members of the container the reference stands in.
func (c *candidates) unqualified(container, family string) []*store.Candidate {
	near := c.bare
	if last := lastComponent(container); len(c.membersOf(last)) > 0 {
		var ok bool
		if near, ok = c.near[last]; !ok {
			near = filter(c.all, func(c *store.Candidate) bool {
				return c.Container == "" || endsIn(c.Container, last) || store.IsType(c.Kind)
			})
			c.near[last] = near
		}
	}
	if len(near) > 0 {
		return near
	}
	if family == "go" || family == "python" || family == "js" || family == "rust" {
		return nil // these always qualify a member
	}
	return c.all
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
	if r.to != nil {
		best = r.scopeOf(r.to)
	}
	var in []*store.Candidate
	for _, c := range list {
		scope := r.scopeOf(c.In)
		if r.to != nil && (scope < best || scope == best && !r.vague && len(in) == maxCandidates) {
			return nil // not what is asked for
		}
		switch {
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

// targets orders candidates by their place in the repository, which unlike ids is the
// same in every index of it.
func (r *resolver) targets(list []*store.Candidate, weight float32) []target {
	if len(list) > maxCandidates {
		if !r.vague || !slices.ContainsFunc(list, func(c *store.Candidate) bool { return c.ID == r.symbol }) {
			return nil
		}
		return []target{{r.to.ID, r.symbol, weight / float32(len(list)), true}}
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b *store.Candidate) int { return strings.Compare(a.In.Path, b.In.Path) })
	targets := make([]target, len(list))
	for i, c := range list {
		targets[i] = target{c.In.ID, c.ID, weight / float32(len(list)), false}
	}
	return targets
}

// filter answers the candidates to keep.
func filter(list []*store.Candidate, keep func(*store.Candidate) bool) (kept []*store.Candidate) {
	for _, c := range list {
		if keep(c) {
			kept = append(kept, c)
		}
	}
	return kept
}
