package retrieval

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"quarry/index/fault"
	"quarry/index/syntax"
)

// A file that a compiler wrote says what its source says, and often more plainly. It is known by
// its source: one beside it, one elsewhere in the tree that has its name and declares what it
// declares, or many that it has all the declarations of. A file without a source in the tree is
// no twin, wherever it lies.

// compiledFrom are the endings of what a compiler reads, by the ending of what it writes
// beside that.
var compiledFrom = map[string][]string{
	".js": {".ts", ".tsx", ".coffee"}, ".jsx": {".tsx"}, ".mjs": {".mts"}, ".cjs": {".cts"}, ".css": {".scss", ".sass", ".less", ".styl"},
}

var (
	// outputDirs are what folders of compiled files are called; libDirs too, but as often they
	// hold what is compiled.
	outputDirs = setOf("out", "dist", "build", "esm", "esm5", "cjs", "es", "umd", "amd", "commonjs", "module")
	libDirs    = setOf("lib", "libs")
	// sourceDirs are left out of the path of what is compiled from below them.
	sourceDirs = setOf("src", "source", "ts", "lib")
	// onlySources are endings of files that are only read by compilers, and scripts those of files
	// that are read and written by some.
	onlySources = setOf(".ts", ".tsx", ".mts", ".cts", ".coffee")
	scripts     = setOf(".js", ".mjs", ".cjs", ".jsx")
	// typesOf are the endings of what a compiler writes of types alone.
	typesOf = []string{".d.ts", ".d.mts", ".d.cts"}
	// variants stand before the ending of a file that is compiled in several ways.
	variants = []string{".min", ".production", ".development", ".legacy-esm", ".esm", ".cjs", ".umd", ".es", ".module", ".modern", ".bundle", ".prod", ".dev"}
)

const (
	// A twin has so much of the names that its source declares, less in the same folder below
	// that of its kind, and its own names are so far its source's: what compilers add is little.
	twinDeclares = .6
	twinInPlace  = .3
	twinUses     = .5
	// maxSources is how many files of one name are compared with a file.
	maxSources = 32
	// A bundle declares minBundle names, and twinDeclares of those of bundled files, or
	// of fewer where it lies or is mapped as such. Each file counts from bundledNames on.
	minBundle     = 30
	bundledFiles  = 5
	markedFiles   = 2
	bundledNames  = 3
	maxBundles    = 32
	sourceMapping = "sourcemappingurl="
	// helperPrefix begins the names of what compilers add.
	helperPrefix = "__"
)

// script is a file that compilers of scripts read or write.
type script struct {
	at      FileID
	f       *file
	node    int
	stem    string
	ext     string
	types   bool // declares types alone: .d.ts
	output  bool // in a folder for compiled files
	lib     bool
	twin    bool
	names   map[string]bool // see declared
	uses    map[string]bool
	tailDir string // its folders below the one of its kind
}

// compiledTwins finds the nodes of files that are compiled from others of the snapshot.
func compiledTwins(s *Snapshot, g *graph) bitset {
	var all []*script
	for k, seg := range s.segments {
		for i := range seg.files {
			if s.dead[k].has(i) {
				continue
			}
			if x := scriptOf(&seg.files[i]); x != nil {
				node, _ := g.node(x.f.path)
				x.at, x.node = FileID{uint32(k), uint32(i)}, int(node)
				all = append(all, x)
			}
		}
	}
	// The same in any order of segments.
	slices.SortFunc(all, func(a, b *script) int { return strings.Compare(a.f.path, b.f.path) })
	byStem := map[string][]*script{}
	for _, x := range all {
		byStem[x.stem] = append(byStem[x.stem], x)
	}
	twins := bitset{}
	for _, x := range all {
		if slices.ContainsFunc(sourcesOf(x, byStem[x.stem]), func(from *script) bool { return s.compiledFrom(x, from) }) {
			x.twin = true
			twins = twins.with(x.node)
		}
	}
	for _, x := range s.bundles(all) {
		twins = twins.with(x.node)
	}
	return twins
}

// scriptOf reads what a path says, nil for a file that no such compiler reads or writes.
func scriptOf(f *file) *script {
	base := strings.ToLower(path.Base(f.path))
	x := &script{f: f, ext: path.Ext(base)}
	for _, e := range typesOf {
		x.types = x.types || strings.HasSuffix(base, e)
	}
	if f.class&(classTest|classExample|classBench|classVendored) != 0 || !onlySources[x.ext] && !scripts[x.ext] {
		return nil
	}
	x.stem = strings.TrimSuffix(base, x.ext)
	if x.types {
		x.stem = strings.TrimSuffix(x.stem, ".d")
	}
	for again := true; again; {
		again = false
		for _, v := range variants {
			if stem, ok := strings.CutSuffix(x.stem, v); ok && stem != "" {
				x.stem, again = stem, true
			}
		}
	}
	parts := strings.Split(path.Dir(strings.ToLower(f.path)), "/")
	kept := parts[:0]
	for _, part := range parts {
		switch {
		case outputDirs[part]:
			x.output = true
		case libDirs[part]:
			x.lib = true
		}
		if !outputDirs[part] && !libDirs[part] && !sourceDirs[part] && part != "." {
			kept = append(kept, part)
		}
	}
	x.tailDir = strings.Join(kept, "/")
	return x
}

// isSource answers whether compilers read a file.
func (x *script) isSource() bool { return !x.types && onlySources[x.ext] }

// sourcesOf are those of the files of its name that a file may be compiled from, those in a
// folder like its own first.
func sourcesOf(x *script, named []*script) (list []*script) {
	if x.isSource() {
		return nil
	}
	for _, from := range named {
		switch {
		case from == x || from.types:
		case from.isSource() && (x.output || x.lib || x.tailDir == from.tailDir):
			list = append(list, from)
		case !from.isSource() && !x.types && !from.output && x.output:
			list = append(list, from) // of scripts by scripts
		case !from.isSource() && !x.types && !from.output && !from.lib && x.lib && strings.Contains("/"+from.f.path, "/src/"):
			list = append(list, from)
		}
	}
	like := func(y *script) int {
		if y.tailDir == x.tailDir {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(list, func(a, b *script) int { return cmp.Compare(like(a), like(b)) })
	return list[:min(maxSources, len(list))]
}

// read fills the names of a file in.
func (s *Snapshot) read(x *script) {
	if x.names != nil {
		return
	}
	x.names, x.uses = map[string]bool{}, map[string]bool{}
	seg := s.segments[x.at.segment]
	for i := x.f.firstDef; i < x.f.endDef; i++ {
		d := &seg.defs[i]
		name := seg.names.at(d.name)
		switch kind := syntax.Kind(seg.names.at(d.kind)); {
		case strings.HasPrefix(name, helperPrefix):
		case kind == syntax.KindInterface, kind == syntax.KindType, kind == syntax.KindField && !x.types: // nothing is left of them, or little
			x.uses[name] = true
		default:
			x.names[name] = true
		}
	}
	for _, id := range seg.uses[x.f.firstUse:x.f.endUse] {
		if name := seg.names.at(id); !strings.HasPrefix(name, helperPrefix) {
			x.uses[name] = true
		}
	}
}

// has answers whether a file declares or uses a name.
func (x *script) has(name string) bool { return x.names[name] || x.uses[name] }

// share is the share of names that has a file, 1 of none.
func share(names map[string]bool, in *script) float64 {
	if len(names) == 0 {
		return 1
	}
	n := 0
	for name := range names {
		if in.has(name) {
			n++
		}
	}
	return float64(n) / float64(len(names))
}

// compiledFrom answers whether x has what from declares, and little of its own.
func (s *Snapshot) compiledFrom(x, from *script) bool {
	s.read(x)
	s.read(from)
	if len(x.names) == 0 && len(from.names) == 0 { // both only pass on what others hold
		return x.tailDir == from.tailDir
	}
	if len(x.names)+len(x.uses) == 0 || len(from.names)+len(from.uses) == 0 {
		return false
	}
	if x.types { // the types are all of it
		return share(x.names, from) >= twinDeclares && share(x.uses, from) >= twinUses
	}
	declares := twinDeclares
	if x.tailDir == from.tailDir {
		declares = twinInPlace
	}
	return share(from.names, x) >= declares && share(x.names, from) >= twinUses && share(x.uses, from) >= twinUses
}

// bundles finds the scripts, and the types written of them, that have the declarations of many others.
func (s *Snapshot) bundles(all []*script) (found []*script) {
	var list []*script
	for _, x := range all {
		if (scripts[x.ext] || x.types) && !x.twin && x.f.endDef-x.f.firstDef >= minBundle {
			list = append(list, x)
		}
	}
	size := func(x *script) uint32 { return x.f.endDef - x.f.firstDef }
	slices.SortStableFunc(list, func(a, b *script) int { return cmp.Compare(size(b), size(a)) })
	list = list[:min(maxBundles, len(list))]
	for _, x := range list {
		s.read(x)
		need := bundledFiles
		_, mapped := s.FileAt(x.f.path + ".map")
		if x.output || mapped || x.f.trigrams.mayContain(sourceMapping) {
			need = markedFiles
		}
		if len(x.names) < minBundle {
			continue
		}
		n := 0
		for _, from := range all {
			// What has more of its own is no part of it.
			if from == x || from.twin || from.types || x.types && !from.isSource() || size(from) < bundledNames || size(from) >= size(x) || from.output && !from.isSource() {
				continue
			}
			s.read(from)
			if len(from.names) >= bundledNames && declaredIn(from.names, x) >= twinDeclares {
				if n++; n == need {
					found = append(found, x)
					break
				}
			}
		}
	}
	return found
}

// declaredIn is the share of names that a file declares.
func declaredIn(names map[string]bool, in *script) float64 {
	n := 0
	for name := range names {
		if in.names[name] {
			n++
		}
	}
	return float64(n) / float64(len(names))
}

// isTwin answers whether a file is compiled from others.
func (s *Snapshot) isTwin(p string) bool {
	if s.besideSource(p) {
		return true
	}
	node, ok := s.graph.node(p)
	return ok && s.graph.twins.has(int(node))
}

// besideSource answers whether a file lies beside one that it is compiled from by their names.
func (s *Snapshot) besideSource(p string) bool {
	ext := path.Ext(p)
	for _, from := range compiledFrom[ext] {
		if _, ok := s.FileAt(strings.TrimSuffix(strings.TrimSuffix(p, ext), ".min") + from); ok {
			return true
		}
	}
	return false
}

// Compiled answers whether a file is compiled from others of the snapshot, so that type:code
// leaves it out.
func (s *Snapshot) Compiled(path string) (twin bool) {
	defer s.release(fault.Expect())
	return s.isTwin(path)
}

// OnlyCode answers whether a filter asks for code, which leaves out what is compiled from it.
func (f *Filter) OnlyCode() bool { return slices.Contains(f.Types, TypeCode) }
