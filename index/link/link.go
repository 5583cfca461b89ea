// Package link decides what the references of a file mean: which declarations a
// call, a base class or a type name may stand for, and which files an import
// brings in. It has names and paths to go by, no types, so it keeps every
// candidate of the nearest scope that has one, with a weight.
//
// The scopes, nearest first: the file; its package (the folder, same language);
// what it imports; the repository. A name that is imported, or qualified by an
// import, is looked for in that import alone, and in what the import's files hand
// on; only if the import leads to no file is the whole repository asked, for little
// weight. What a reference means is a pure function of the files and declarations of
// the index, whatever their ids, and nothing of it is stored: it is resolved when
// somebody asks.
//
// What an import's path means is said language by language: imports.go has what they
// share, modules.go what differs. testdata shows on small trees what is resolved.
package link

import (
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
	// A name taken from an import that leads to no file here.
	unknownImport = 0.25
	// More candidates than this in one scope say nothing: no edge is better than
	// a spray of them. Packages hold more of a name (one main a file) than that.
	maxCandidates = 8
	// maxImported is the most files that one import is spread over.
	maxImported = 64
	// maxHops is how many files may hand a name on.
	maxHops = 2
)

// target is one possible meaning of a reference or import.
type target struct {
	// File and Symbol are ids; Symbol is 0 when the file itself is meant.
	File, Symbol int64
	Weight       float32
	// vague: it is one of more candidates than edges are made to.
	vague bool
}

// resolve returns the targets of each import of f and then of each reference. known is
// shared by the files that are resolved in one view. Where the view has an error, they are not
// all. With to, a symbol, the targets of
// imports are left out, and those of references that cannot mean it may be; vague adds those
// that may mean it among too many others.
func resolve(v *store.View, f *store.Referring, known *memo, to int64, vague bool) [][]target {
	return newResolver(v, f, known, to, vague).all()
}

func newResolver(v *store.View, f *store.Referring, known *memo, to int64, vague bool) *resolver {
	r := &resolver{
		view: v, file: f, importer: importer{file: &f.TreeFile, family: f.Family, tree: v.Tree, view: v, known: known, work: newWork(v)},
		importedFiles: map[int64]bool{}, importedDirs: map[string]bool{},
		bindings: map[string][]binding{}, seen: map[query][]target{}, paths: map[string]int{},
	}
	if to != 0 {
		r.to, r.symbol, r.vague = v.Tree.File(store.FileOf(to)), to, vague
	}
	return r
}

// all are the targets of the file's imports and references.
func (r *resolver) all() [][]target {
	f := r.file
	lists := make([][]target, 0, len(f.Imports)+len(f.Refs))
	r.imports = make([]importTarget, len(f.Imports))
	for i := range f.Imports {
		files := r.addImport(i)
		if r.to == nil {
			lists = append(lists, spread(files))
		}
	}
	for i := range f.Refs {
		lists = append(lists, r.reference(&f.Refs[i]))
	}
	return lists
}

type resolver struct {
	view *store.View
	file *store.Referring
	importer
	// imports are what each import of the file means; importedFiles and, of
	// languages whose packages are folders, importedDirs all of it.
	imports       []importTarget
	importedFiles map[int64]bool
	importedDirs  map[string]bool
	// bindings are what the imports call things in this file; paths are the last import of each path.
	bindings map[string][]binding
	paths    map[string]int
	// seen: the same name in another declaration of the file means the same.
	seen map[query][]target
	// to is the file of the only declaration that is asked for, symbol; nil if all are.
	to     *store.TreeFile
	symbol int64
	vague  bool // references that may mean symbol among too many others count
}

// binding is one meaning of a name that an import brings in.
type binding struct {
	imported int // index of the import
	// name is what the import's files call it, "" if the import as a whole is meant.
	name string
	// bare: the name may stand alone, not only before another.
	bare bool
}

// addImport resolves an import, notes what it is called and answers the files that it
// means.
func (r *resolver) addImport(i int) []int64 {
	im := &r.file.Imports[i]
	m := r.target(im)
	r.imports[i] = m
	r.paths[im.Path] = i
	r.bind(i, im, &m)
	if m.dir != nil {
		r.importedDirs[*m.dir] = true
	}
	files := m.files
	// A name that is a module itself stands for its own files.
	if len(m.modules) > 0 {
		if len(m.modules) == len(im.Names) {
			files = nil
		}
		files = slices.Clone(files)
		for _, n := range im.Names {
			files = append(files, m.modules[n]...)
		}
		files = r.order(files)
	}
	r.work.take(len(files) * aPath)
	for _, id := range files {
		if m.dir == nil || len(m.modules) > 0 { // else importedDirs has them
			r.importedFiles[id] = true
		}
	}
	return files
}

// spread shares the weight of an import among the files that it means.
func spread(files []int64) []target {
	if len(files) > maxImported {
		return nil
	}
	list := make([]target, len(files))
	for j, id := range files {
		list[j] = target{File: id, Weight: 1 / float32(len(files))}
	}
	return list
}

// bind notes the names an import gives to things in the file.
func (r *resolver) bind(i int, im *syntax.Import, m *importTarget) {
	if r.family == "rust" && strings.HasPrefix(im.Path, "super") && !m.known() {
		return // the file's own
	}
	add := func(local, name string, bare bool) {
		if local != "" && len(r.bindings[local]) < maxBindings {
			r.bindings[local] = append(r.bindings[local], binding{i, name, bare})
		}
	}
	switch {
	case im.Alias != "" && len(im.Names) == 1:
		add(im.Alias, im.Names[0], true)
	case im.Alias != "":
		add(im.Alias, m.rest, true)
		for _, n := range im.Names {
			add(n, n, true)
		}
	default:
		for _, n := range im.Names {
			add(n, n, true)
		}
		if local := localName(im.Path); !slices.Contains(im.Names, local) {
			add(local, m.rest, false)
		}
	}
}

type query struct {
	kind                       syntax.RefKind
	name, qualifier, container string
}

func (r *resolver) reference(ref *store.Reference) []target {
	q := query{ref.Kind, ref.Name, ref.Qualifier, ref.Container}
	list, ok := r.seen[q]
	if !ok {
		list = r.resolve(q)
		r.seen[q] = list
	}
	return list
}

func (r *resolver) resolve(q query) []target {
	if q.qualifier == "" {
		if list, ok := r.taken(q); ok {
			return list
		}
	} else if list, ok := r.qualified(q); ok {
		return list
	}
	c := r.candidates(q)
	if len(c.all) == 0 || !r.work.take(len(c.all)*aLook) {
		return nil
	}
	var list []*store.Candidate
	weight := float32(1)
	switch {
	case r.family == "hcl" && q.qualifier != "": // a Terraform module is a folder and sees no other
		list = filter(c.all, func(c *store.Candidate) bool { return c.In.Dir == r.file.Dir && endsIn(c.Container, q.qualifier) })
	case q.qualifier == "":
		list = c.unqualified(q.container, r.family)
	case isSelf(q.qualifier):
		if list = c.membersOf(lastComponent(q.container)); len(list) == 0 {
			list, weight = c.members, unknownReceiver
		}
	default:
		list = c.at(q.qualifier)
		if len(list) == 0 {
			list = c.membersOf(lastOf(q.qualifier))
		}
		if len(list) == 0 { // a variable of a type that cannot be known: its methods and fields
			list, weight = c.members, unknownReceiver
		}
	}
	return r.nearest(list, weight)
}

// taken resolves a name that an import takes; ok is false if none does.
func (r *resolver) taken(q query) (list []target, ok bool) {
	bindings := r.bindings[q.name]
	var found []*store.Candidate
	known := false // an import of it leads to files
	for _, b := range bindings {
		if !b.bare {
			continue
		}
		ok = true
		m := &r.imports[b.imported]
		known = known || m.known()
		name := b.name
		if name == "" {
			name = q.name
		}
		found = r.declared(found, q.kind, name, q.name, m, r.importer, maxHops)
	}
	if len(found) > 0 {
		return r.targets(r.ofModules(found), inImports), true
	}
	if ok && !known {
		return r.unknown(q, bindings), true
	}
	return nil, ok
}

// qualified resolves a name whose qualifier is one that an import brings in; ok is
// false if it is not.
func (r *resolver) qualified(q query) (list []target, ok bool) {
	var bindings []binding
	first, last := firstOf(q.qualifier), lastOf(q.qualifier)
	bindings = r.bindings[first]
	if len(bindings) == 0 && last != first {
		bindings = r.bindings[last]
	}
	if i, ok := r.paths[q.qualifier]; ok && first != last { // Python's import a.b
		bindings = []binding{{imported: i}}
	}
	if len(bindings) == 0 {
		return nil, false
	}
	var found []*store.Candidate
	known := false
	for _, b := range bindings {
		m := r.imports[b.imported]
		known = known || m.known()
		isModule := b.name == ""
		if files := m.modules[b.name]; b.name != "" && len(files) > 0 {
			m, isModule = importTarget{files: files}, true
		} else if b.name != "" {
			// Where the type is declared, its members are.
			if at := r.declared(nil, syntax.RefCall, b.name, q.qualifier, &m, r.importer, maxHops); len(at) > 0 {
				m = importTarget{}
				for _, c := range at {
					if !slices.Contains(m.files, c.In.ID) {
						m.files = append(m.files, c.In.ID)
					}
				}
			}
		}
		in := r.declared(nil, q.kind, q.name, q.name, &m, r.importer, maxHops)
		own := b.name
		if own == "" {
			own = last
		}
		if of := slices.DeleteFunc(slices.Clone(in), func(c *store.Candidate) bool { return !endsIn(c.Container, own) }); len(of) > 0 {
			in = of
		} else if isModule {
			in = r.ofModules(in)
		}
		for _, c := range in {
			if !slices.Contains(found, c) {
				found = append(found, c)
			}
		}
	}
	if len(found) > 0 {
		return r.targets(found, inImports), true
	}
	if !known {
		return r.unknown(q, bindings), true
	}
	return nil, true
}

// ofModules answers those declarations that a module has itself, where members are always
// qualified: an import of load, or module.load, means no method that is called so.
func (r *resolver) ofModules(list []*store.Candidate) []*store.Candidate {
	if r.family != "go" && r.family != "python" && r.family != "js" {
		return list
	}
	if own := filter(list, func(c *store.Candidate) bool { return c.Container == "" }); len(own) > 0 {
		return own
	}
	return list
}

// declared appends to found the declarations of a name in the files of an import,
// or else in those that they take the name from. local is what the name is called
// where it is used, from the place whose import it is.
func (r *resolver) declared(found []*store.Candidate, kind syntax.RefKind, name, local string, m *importTarget, from importer, hops int) []*store.Candidate {
	if name == "default" { // of JavaScript: called as it likes
		name = local
	}
	named := r.view.Named(name)
	before := len(found)
	for i := range named {
		if !r.work.take(aLook + len(m.files)/8) {
			return found
		}
		if c := &named[i]; m.has(c.In) && r.fits(kind, c) && r.work.take(len(found)/8) && !slices.Contains(found, c) {
			found = append(found, c)
		}
	}
	if len(found) > before || hops == 0 {
		return found
	}
	for _, id := range m.files {
		handed := r.view.Tree.HandedOn(id)
		at := from
		at.file = r.view.Tree.File(id)
		for pass := range 2 { // what is named goes before all of a file
			if pass == 1 && len(found) > before {
				break
			}
			for i := range handed {
				im := &handed[i]
				if !r.work.take(aLook + len(im.Names)/8) {
					return found
				}
				real, ok := takes(im, name)
				if !ok || (pass == 1) != (len(im.Names) == 0 && im.Alias == "") {
					continue
				}
				next := at.target(im)
				if real == "" {
					real = next.rest
				}
				if real == "" {
					continue // a module
				}
				found = r.declared(found, kind, real, name, &next, at, hops-1)
			}
		}
	}
	return found
}

// takes tells whether an import may bring a name in, and what it is called where it
// comes from; "" is what the import's path ends in.
func takes(im *syntax.Import, name string) (real string, ok bool) {
	switch {
	case im.Alias == name && len(im.Names) == 1:
		return im.Names[0], true
	case im.Alias == name:
		return "", true
	case im.Alias != "":
		return "", false
	case len(im.Names) == 0: // all of it
		return name, true
	}
	return name, slices.Contains(im.Names, name)
}

// unknown resolves a name that is taken from something that is not here as far as
// can be told: from any file, if the import's path has a name that files have here.
func (r *resolver) unknown(q query, bindings []binding) []target {
	if r.family == "go" {
		return nil // a module's name tells for sure
	}
	name := q.name
	for _, b := range bindings {
		im := &r.file.Imports[b.imported]
		if r.foreign(im.Path) || !r.namesSomething(im.Path) {
			return nil
		}
		if q.qualifier == "" && b.name != "" {
			name = b.name
		}
	}
	q.name = name
	c := r.candidates(q)
	if !r.work.take(len(c.all) * aLook) {
		return nil
	}
	if q.qualifier == "" {
		return r.targets(r.ofModules(c.all), unknownImport)
	}
	own := lastOf(q.qualifier)
	if len(bindings) > 0 && bindings[0].name != "" {
		own = bindings[0].name
	}
	return r.targets(filter(c.all, func(c *store.Candidate) bool { return endsIn(c.Container, own) }), unknownImport)
}

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
