// Package link decides what the references of a file mean: which declarations a
// call, a base class or a type name may stand for, and which files an import
// brings in. It has names and paths to go by, no types, so it keeps every
// candidate of the nearest scope that has one, with a weight.
//
// The scopes, nearest first: the file; its package (the folder, same language);
// what it imports; the repository. A name that is imported, or qualified by an
// import, is looked for in that import alone. Resolve is a pure function of the
// files and declarations of the index, whatever their ids.
package link

import (
	"path"
	"slices"
	"strings"

	"quarry/index/store"
	"quarry/index/syntax"
)

// The weight of a target: how sure the scope makes it, shared among the
// candidates in it.
const (
	inFile       = 1.0
	inPackage    = 0.9
	inImports    = 0.9
	inRepository = 0.5
	// A method called on something whose type is unknown.
	unknownReceiver = 0.5
	// More candidates than this in one scope say nothing: no edge is better than
	// a spray of them. Packages hold more of a name (one main a file) than that.
	maxCandidates = 8
	// maxImported is the most files that one import is spread over.
	maxImported = 64
)

// Resolve returns the targets of each import of f and then of each reference.
func Resolve(v *store.View, f *store.Unresolved) [][]store.Target {
	r := resolver{view: v, file: f, family: family(f.Language), importedFiles: map[int64]bool{}, seen: map[query][]store.Target{}}
	lists := make([][]store.Target, 0, len(f.Imports)+len(f.Refs))
	for i := range f.Imports {
		files := r.imported(&f.Imports[i])
		r.imports = append(r.imports, files)
		r.names = append(r.names, localName(&f.Imports[i]))
		var list []store.Target
		for _, id := range files {
			r.importedFiles[id] = true
			list = append(list, store.Target{File: id, Weight: 1 / float32(len(files))})
		}
		lists = append(lists, list)
	}
	for i := range f.Refs {
		lists = append(lists, r.reference(&f.Refs[i]))
	}
	return lists
}

// family groups languages whose declarations see each other.
func family(language string) string {
	switch language {
	case "javascript", "javascriptreact", "typescript", "typescriptreact", "vue", "svelte":
		return "js"
	case "c", "cpp", "objective-c", "objective-cpp", "cuda-cpp":
		return "c"
	case "java", "kotlin", "scala", "groovy":
		return "jvm"
	}
	return language
}

type resolver struct {
	view   *store.View
	file   *store.Unresolved
	family string
	// imports are the files each import of the file may mean, importedFiles all of
	// them; names is what each is called in the file.
	imports       [][]int64
	names         []string
	importedFiles map[int64]bool
	// seen: the same name in another declaration of the file means the same.
	seen map[query][]store.Target
	// all and some hold the candidates of the reference at hand. A name like Close
	// has thousands: lists of their own took half of the time of resolving.
	all, some []*store.Candidate
}

type query struct {
	kind                       syntax.RefKind
	name, qualifier, container string
}

func (r *resolver) reference(ref *store.Reference) []store.Target {
	q := query{ref.Kind, ref.Name, ref.Qualifier, ref.Container}
	list, ok := r.seen[q]
	if !ok {
		list = r.resolve(q)
		r.seen[q] = list
	}
	return list
}

func (r *resolver) resolve(q query) []store.Target {
	candidates := r.candidates(q)
	if len(candidates) == 0 {
		return nil
	}
	last := q.qualifier
	if i := strings.LastIndexAny(last, ".:>\\"); i >= 0 {
		last = last[i+1:]
	}
	weight := float32(1)
	switch {
	case q.qualifier == "":
		if files, ok := r.takenByName(q.name); ok {
			return r.within(candidates, files, inImports)
		}
		candidates = r.unqualified(candidates, q.container)
	case isSelf(q.qualifier):
		last := lastComponent(q.container)
		own := r.filter(candidates, func(c *store.Candidate) bool { return endsIn(c.Container, last) })
		if len(own) == 0 {
			own, weight = r.filter(candidates, hasContainer), unknownReceiver
		}
		candidates = own
	default:
		if files, ok := r.qualifiedBy(q.qualifier, last); ok {
			return r.within(candidates, files, inImports)
		}
		of := r.filter(candidates, func(c *store.Candidate) bool { return endsIn(c.Container, last) })
		if len(of) == 0 { // a variable of a type that cannot be known: its methods and fields
			of, weight = r.filter(candidates, hasContainer), unknownReceiver
		}
		candidates = of
	}
	return r.nearest(candidates, weight)
}

func hasContainer(c *store.Candidate) bool { return c.Container != "" }

func isSelf(qualifier string) bool {
	switch qualifier {
	case "self", "this", "cls", "Self", "@", "$this", "static":
		return true
	}
	return false
}

// endsIn tells whether a dotted path has this last component, which is not "".
func endsIn(container, component string) bool {
	before := len(container) - len(component) - 1
	return component != "" && strings.HasSuffix(container, component) && (before < 0 || container[before] == '.')
}

func lastComponent(container string) string {
	return container[strings.LastIndexByte(container, '.')+1:]
}

// unqualified prefers what can be named without a qualifier: anything at file
// level, and members of the container the reference stands in.
func (r *resolver) unqualified(list []*store.Candidate, container string) []*store.Candidate {
	last := lastComponent(container)
	near := r.filter(list, func(c *store.Candidate) bool {
		return c.Container == "" || endsIn(c.Container, last) || store.IsType(c.Kind)
	})
	if len(near) > 0 {
		return near
	}
	if r.family == "go" || r.family == "python" || r.family == "js" || r.family == "rust" {
		return nil // these always qualify a member
	}
	return list
}

// candidates are the declarations of the name that can be meant by a reference of
// that kind in this language.
func (r *resolver) candidates(q query) []*store.Candidate {
	r.all = r.all[:0]
	named := r.view.Named(q.name)
	for i := range named {
		c := &named[i]
		switch {
		case q.kind == syntax.RefInherit && !store.IsType(c.Kind) && c.Kind != syntax.KindModule:
			continue
		case q.kind == syntax.RefUse && c.Kind == syntax.KindMethod:
			continue
		}
		if c.In.Language == r.file.Language || family(c.In.Language) == r.family {
			r.all = append(r.all, c)
		}
	}
	return r.all
}

// scopeOf is the nearest scope of the reference that a file belongs to.
func (r *resolver) scopeOf(f *store.TreeFile) int {
	switch {
	case f.ID == r.file.ID:
		return 0
	case f.Dir == r.file.Dir:
		return 1
	case r.importedFiles[f.ID]:
		return 2
	}
	return 3
}

var scopeWeights = [...]float32{inFile, inPackage, inImports, inRepository}

// nearest answers the candidates of the nearest scope that has any.
func (r *resolver) nearest(list []*store.Candidate, sure float32) []store.Target {
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

func (r *resolver) within(list []*store.Candidate, files []int64, weight float32) []store.Target {
	return r.targets(r.filter(list, func(c *store.Candidate) bool { return slices.Contains(files, c.In.ID) }), weight)
}

// targets orders candidates, which it may do in place, by their place in the
// repository, which unlike ids is the same in every index of it.
func (r *resolver) targets(list []*store.Candidate, weight float32) []store.Target {
	if len(list) > maxCandidates {
		return nil
	}
	slices.SortStableFunc(list, func(a, b *store.Candidate) int { return strings.Compare(a.In.Path, b.In.Path) })
	targets := make([]store.Target, len(list))
	for i, c := range list {
		targets[i] = store.Target{File: c.In.ID, Symbol: c.ID, Weight: weight / float32(len(list))}
	}
	return targets
}

// takenByName answers the files of the import that takes the name, if one does.
func (r *resolver) takenByName(name string) (files []int64, ok bool) {
	for i := range r.file.Imports {
		im := &r.file.Imports[i]
		if slices.Contains(im.Names, name) || im.Alias == name {
			files, ok = append(files, r.imports[i]...), true
		}
	}
	return files, ok
}

// qualifiedBy answers the files of the import that a qualifier stands for.
func (r *resolver) qualifiedBy(qualifier, last string) (files []int64, ok bool) {
	first, _, _ := strings.Cut(strings.ReplaceAll(qualifier, "::", "."), ".")
	for i := range r.file.Imports {
		im := &r.file.Imports[i]
		if name := r.names[i]; name == first || name == last || im.Path == qualifier || slices.Contains(im.Names, first) {
			files, ok = append(files, r.imports[i]...), true
		}
	}
	return files, ok
}

// localName is what an import as a whole is called in the file that has it.
func localName(im *syntax.Import) string {
	if im.Alias != "" {
		return im.Alias
	}
	parts := store.ImportComponents(im.Path)
	if len(parts) == 0 {
		return ""
	}
	name := strings.TrimSuffix(parts[len(parts)-1], path.Ext(parts[len(parts)-1]))
	if isVersion(name) && len(parts) > 1 { // Go's example.com/pkg/v2
		name = parts[len(parts)-2]
	}
	return name
}

func isVersion(s string) bool {
	return len(s) > 1 && s[0] == 'v' && strings.Trim(s[1:], "0123456789") == ""
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
