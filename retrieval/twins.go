package retrieval

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"quarry/index/fault"
	"quarry/index/syntax"
)

// A file that a compiler wrote says the same as its source, and often in plainer words. It is
// recognised by its source: a file beside it, a file elsewhere in the tree that has its name
// and declares the same names, or many files whose declarations it has. A file without a
// source in the tree is no twin, wherever it lies.

// compiledFrom are the extensions of the files that a compiler reads, by the extension of the
// file that it writes beside them.
var compiledFrom = map[string][]string{
	".js": {".ts", ".tsx", ".coffee"}, ".jsx": {".tsx"}, ".mjs": {".mts"}, ".cjs": {".cts"}, ".css": {".scss", ".sass", ".less", ".styl"},
}

var (
	// outputDirs are common names of folders with compiled files. libDirs are, too, but as
	// often such a folder has the sources.
	outputDirs = setOf("out", "dist", "build", "esm", "esm5", "cjs", "es", "umd", "amd", "commonjs", "module")
	libDirs    = setOf("lib", "libs")
	// sourceDirs are left out of the path of a source, because compiled files do not have them
	// in theirs.
	sourceDirs = setOf("src", "source", "ts", "lib")
	// onlySources are the extensions of files that compilers only read. scripts are those of
	// files that some compilers read and some write.
	onlySources = setOf(".ts", ".tsx", ".mts", ".cts", ".coffee")
	scripts     = setOf(".js", ".mjs", ".cjs", ".jsx")
	// typesOf are the extensions of files in which a compiler writes types alone.
	typesOf = []string{".d.ts", ".d.mts", ".d.cts"}
	// variants stand before the extension of a file that is compiled in several ways.
	variants = []string{".min", ".production", ".development", ".legacy-esm", ".esm", ".cjs", ".umd", ".es", ".module", ".modern", ".bundle", ".prod", ".dev"}
)

const (
	// A twin declares at least this share of the names that its source declares; less is enough
	// if it lies in the matching folder. At least twinUses of its own names are in the source,
	// because compilers add little.
	twinDeclares = .6
	twinInPlace  = .3
	twinUses     = .5
	// maxSources is how many files of one name a file is compared with.
	maxSources = 32
	// A bundle declares at least minBundle names, and twinDeclares of the names of bundledFiles
	// files. markedFiles are enough if it lies in an output folder or has a source map. A file
	// counts if it declares bundledNames or more.
	minBundle     = 30
	bundledFiles  = 5
	markedFiles   = 2
	bundledNames  = 3
	maxBundles    = 32
	sourceMapping = "sourcemappingurl="
	// helperPrefix begins the names that compilers add.
	helperPrefix = "__"
)

// script is a file that a compiler of scripts reads or writes.
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

// compiledTwins finds the nodes of files that are compiled from other files of the snapshot.
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
	// Sorted, so that the order of segments changes nothing.
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

// scriptOf reads what a path tells about a file. It is nil for a file that no such compiler
// reads or writes.
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

// isSource reports whether a compiler reads the file.
func (x *script) isSource() bool { return !x.types && onlySources[x.ext] }

// sourcesOf are those files of its name that a file may be compiled from. Files in a folder
// like its own come first.
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
			list = append(list, from) // a script compiled from a script
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

// read fills in the names of a file.
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
		case kind == syntax.KindInterface, kind == syntax.KindType, kind == syntax.KindField && !x.types: // compiling leaves little or nothing of them
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

// has reports whether a file declares or uses a name.
func (x *script) has(name string) bool { return x.names[name] || x.uses[name] }

// share is the share of names that in has, 1 if there are no names.
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

// compiledFrom reports whether x has what from declares, and little of its own.
func (s *Snapshot) compiledFrom(x, from *script) bool {
	s.read(x)
	s.read(from)
	if len(x.names) == 0 && len(from.names) == 0 { // both only re-export what other files declare
		return x.tailDir == from.tailDir
	}
	if len(x.names)+len(x.uses) == 0 || len(from.names)+len(from.uses) == 0 {
		return false
	}
	if x.types { // it has types alone
		return share(x.names, from) >= twinDeclares && share(x.uses, from) >= twinUses
	}
	declares := twinDeclares
	if x.tailDir == from.tailDir {
		declares = twinInPlace
	}
	return share(from.names, x) >= declares && share(x.names, from) >= twinUses && share(x.uses, from) >= twinUses
}

// bundles finds the scripts, and the type files written for them, that have the declarations
// of many other files.
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
			// A file with more names than the bundle is no part of it.
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

// isTwin reports whether a file is compiled from others.
func (s *Snapshot) isTwin(p string) bool {
	if s.besideSource(p) {
		return true
	}
	node, ok := s.graph.node(p)
	return ok && s.graph.twins.has(int(node))
}

// besideSource reports whether a file lies beside one that it is compiled from, by their
// names.
func (s *Snapshot) besideSource(p string) bool {
	ext := path.Ext(p)
	for _, from := range compiledFrom[ext] {
		if _, ok := s.FileAt(strings.TrimSuffix(strings.TrimSuffix(p, ext), ".min") + from); ok {
			return true
		}
	}
	return false
}

// Compiled reports whether a file is compiled from other files of the snapshot, so that
// type:code leaves it out.
func (s *Snapshot) Compiled(path string) (twin bool) {
	defer s.release(fault.Expect())
	return s.isTwin(path)
}

// OnlyCode reports whether a filter asks for code, which leaves out compiled files.
func (f *Filter) OnlyCode() bool { return slices.Contains(f.Types, TypeCode) }
