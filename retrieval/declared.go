package retrieval

import (
	"cmp"
	"iter"
	"path"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"quarry/index/fault"
	"quarry/index/syntax"
)

// What completion asks of a snapshot: declarations by their names and by what they are
// members of, what stands in a folder, and what a file uses and imports. Everything is
// answered from the segments, so that it can be asked as soon as searches can, and costs
// no memory of its own.

// FileID is a live file of one Snapshot, DeclarationID a declaration in a live file that
// completion can show: one with a signature.
type (
	FileID        struct{ segment, file uint32 }
	DeclarationID struct{ segment, def uint32 }
)

// Signature is a declaration with what a completion shows of it.
type Signature struct {
	File            FileID
	Name, Container string // Container is dotted, "" at file level
	Kind            syntax.Kind
	// Line and End are the first and last line, the first that of the doc comment.
	Line, End int
}

// addUses notes what a file uses and imports.
func (s *segment) addUses(f *file, syn *syntax.File, names *stringsBuilder) {
	f.firstUse, f.firstImport = uint32(len(s.uses)), uint32(len(s.imports))
	for i := range syn.Refs {
		s.uses = append(s.uses, names.id(syn.Refs[i].Name))
	}
	own := s.uses[f.firstUse:]
	slices.Sort(own)
	s.uses = s.uses[:int(f.firstUse)+len(slices.Compact(own))]
	for i := range syn.Imports {
		im := &syn.Imports[i]
		s.imports = append(s.imports, names.id(im.Path), names.id(im.Alias), uint32(len(im.Names)))
		for _, n := range im.Names {
			s.imports = append(s.imports, names.id(n))
		}
	}
	f.endUse, f.endImport = uint32(len(s.uses)), uint32(len(s.imports))
}

// takeUses takes what a file of another segment uses and imports; name has the new
// number of each string.
func (s *segment) takeUses(f *file, from *segment, name func(uint32) uint32) {
	uses, imports := from.uses[f.firstUse:f.endUse], from.imports[f.firstImport:f.endImport]
	f.firstUse, f.firstImport = uint32(len(s.uses)), uint32(len(s.imports))
	for _, id := range uses {
		s.uses = append(s.uses, name(id))
	}
	for len(imports) > 0 {
		n := imports[2]
		s.imports = append(s.imports, name(imports[0]), name(imports[1]), n)
		for _, id := range imports[3 : 3+n] {
			s.imports = append(s.imports, name(id))
		}
		imports = imports[3+n:]
	}
	f.endUse, f.endImport = uint32(len(s.uses)), uint32(len(s.imports))
}

// sortDeclarations makes what finds declarations, when the names have their numbers.
func (s *segment) sortDeclarations() {
	s.usedBy = make([]uint32, s.names.len())
	for _, id := range s.uses {
		s.usedBy[id]++
	}
	for i := range s.defs {
		if s.isShown(uint32(i)) {
			s.byName = append(s.byName, uint32(i))
			if s.owner(uint32(i)) != "" {
				s.byOwner = append(s.byOwner, uint32(i))
			}
		}
	}
	slices.SortFunc(s.byName, func(x, y uint32) int { return cmp.Or(cmp.Compare(s.defs[x].name, s.defs[y].name), cmp.Compare(x, y)) })
	slices.SortFunc(s.byOwner, func(x, y uint32) int { return cmp.Or(strings.Compare(s.owner(x), s.owner(y)), cmp.Compare(x, y)) })
}

// isShown is whether a completion can show a declaration.
func (s *segment) isShown(def uint32) bool {
	d := &s.defs[def]
	kind := syntax.Kind(s.names.at(d.kind))
	return s.signatures.starts[d.signature] < s.signatures.starts[d.signature+1] && s.names.at(d.name) != "" && kind != syntax.KindSection && kind != syntax.KindModule
}

// owner is the name of what a declaration is declared in, "" at file level.
func (s *segment) owner(def uint32) string {
	container := s.names.at(s.defs[def].container)
	return container[strings.LastIndexByte(container, '.')+1:]
}

// named is where byName has the declarations of a name.
func (s *segment) named(id uint32) []uint32 {
	from := sort.Search(len(s.byName), func(i int) bool { return s.defs[s.byName[i]].name >= id })
	to := from
	for to < len(s.byName) && s.defs[s.byName[to]].name == id {
		to++
	}
	return s.byName[from:to]
}

// DeclarationsOf are the declarations of exactly this name.
func (s *Snapshot) DeclarationsOf(name string) (list []DeclarationID) {
	defer s.look()
	defer s.release(fault.Expect())
	for k, seg := range s.segments {
		if id, ok := seg.names.find(name); ok {
			list = s.appendLive(list, k, seg.named(id))
		}
	}
	return list
}

// MembersOf are the declarations inside a declaration of this name.
func (s *Snapshot) MembersOf(owner string) (list []DeclarationID) {
	defer s.look()
	defer s.release(fault.Expect())
	for k, seg := range s.segments {
		from := sort.Search(len(seg.byOwner), func(i int) bool { return seg.owner(seg.byOwner[i]) >= owner })
		to := from
		for to < len(seg.byOwner) && seg.owner(seg.byOwner[to]) == owner {
			to++
		}
		list = s.appendLive(list, k, seg.byOwner[from:to])
	}
	return list
}

func (s *Snapshot) appendLive(list []DeclarationID, k int, defs []uint32) []DeclarationID {
	list = slices.Grow(list, len(defs))
	for _, d := range defs {
		if !s.dead[k].has(int(s.segments[k].defs[d].file)) {
			list = append(list, DeclarationID{uint32(k), d})
		}
	}
	return list
}

// Signature describes a declaration, but for the signature itself.
func (s *Snapshot) Signature(id DeclarationID) Signature {
	defer s.release(fault.Expect())
	seg := s.segments[id.segment]
	d := &seg.defs[id.def]
	return Signature{
		File: FileID{id.segment, d.file}, Name: seg.names.at(d.name), Container: seg.names.at(d.container), Kind: syntax.Kind(seg.names.at(d.kind)),
		Line: int(d.startLine), End: int(d.endLine),
	}
}

// SignatureText is the signature, of at most 300 bytes, as package syntax cuts it.
func (s *Snapshot) SignatureText(id DeclarationID) string {
	defer s.release(fault.Expect())
	seg := s.segments[id.segment]
	return strings.Clone(seg.signatures.at(seg.defs[id.def].signature)) // it lies in the file
}

// DeclaredIn are the declarations of a file, in their order.
func (s *Snapshot) DeclaredIn(file FileID) iter.Seq[DeclarationID] {
	return func(yield func(DeclarationID) bool) {
		defer s.release(fault.Expect())
		seg := s.segments[file.segment]
		f := &seg.files[file.file]
		for d := f.firstDef; d < f.endDef; d++ {
			if seg.isShown(d) && !yield(DeclarationID{file.segment, d}) {
				return
			}
		}
	}
}

// Around calls visit for up to n declarations of the same file before, and n behind a
// declaration, with how many steps away each is.
func (s *Snapshot) Around(id DeclarationID, n int, visit func(id DeclarationID, away int)) {
	defer s.release(fault.Expect())
	seg := s.segments[id.segment]
	f := &seg.files[seg.defs[id.def].file]
	away := 0
	for d := id.def; d > f.firstDef && away < n; {
		if d--; seg.isShown(d) {
			away++
			visit(DeclarationID{id.segment, d}, away)
		}
	}
	away = 0
	for d := id.def + 1; d < f.endDef && away < n; d++ {
		if seg.isShown(d) {
			away++
			visit(DeclarationID{id.segment, d}, away)
		}
	}
}

// FileAt finds a file by its path.
func (s *Snapshot) FileAt(path string) (FileID, bool) {
	for k, seg := range s.segments {
		if i, ok := seg.fileAt(path); ok && !s.dead[k].has(i) {
			return FileID{uint32(k), uint32(i)}, true
		}
	}
	return FileID{}, false
}

// Modified is when a file was changed last.
func (s *Snapshot) Modified(id FileID) time.Time {
	return s.segments[id.segment].files[id.file].modified
}

// Path and Language are those of a file.
func (s *Snapshot) Path(id FileID) string     { return s.segments[id.segment].files[id.file].path }
func (s *Snapshot) Language(id FileID) string { return s.segments[id.segment].files[id.file].language }

// Folders are the folders that have files, the same perhaps more than once.
func (s *Snapshot) Folders() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, seg := range s.segments {
			for _, dir := range seg.folders() {
				if !yield(dir) {
					return
				}
			}
		}
	}
}

// foldersOf finds the folders of files when it is asked first.
func foldersOf(files []file) func() []string {
	return sync.OnceValue(func() (dirs []string) {
		for i := range files {
			if dir := path.Dir(files[i].path); len(dirs) == 0 || dirs[len(dirs)-1] != dir {
				dirs = append(dirs, dir)
			}
		}
		slices.Sort(dirs)
		return slices.Clip(slices.Compact(dirs))
	})
}

// FilesIn are the files of a folder, not of those in it, in the order of their paths.
func (s *Snapshot) FilesIn(dir string) (list []FileID) {
	prefix := dir + "/"
	if dir == "." {
		prefix = ""
	}
	for k, seg := range s.segments {
		for i := seg.fileFrom(prefix); i < len(seg.files); {
			rest, ok := strings.CutPrefix(seg.files[i].path, prefix)
			if !ok {
				break
			}
			if deeper, _, ok := strings.Cut(rest, "/"); ok {
				i = seg.fileFrom(prefix + deeper + "0") // 0 follows the slash
				continue
			}
			if !s.dead[k].has(i) {
				list = append(list, FileID{uint32(k), uint32(i)})
			}
			i++
		}
	}
	if len(s.segments) > 1 {
		slices.SortFunc(list, func(a, b FileID) int { return strings.Compare(s.Path(a), s.Path(b)) })
	}
	return list
}

// fileFrom is the first file whose path is not before path.
func (s *segment) fileFrom(path string) int {
	i, _ := s.fileAt(path)
	return i
}

// Uses are the distinct names that a file uses.
func (s *Snapshot) Uses(id FileID) iter.Seq[string] {
	return func(yield func(string) bool) {
		defer s.release(fault.Expect())
		seg := s.segments[id.segment]
		f := &seg.files[id.file]
		for _, name := range seg.uses[f.firstUse:f.endUse] {
			if !yield(seg.names.at(name)) {
				return
			}
		}
	}
}

// UsedBy is how many files use a name.
func (s *Snapshot) UsedBy(name string) (n int) {
	defer s.release(fault.Expect())
	for k, seg := range s.segments {
		id, ok := seg.names.find(name)
		if !ok {
			continue
		}
		n += int(seg.usedBy[id])
		for _, gone := range s.gone[k].files {
			f := &seg.files[gone]
			if _, ok := slices.BinarySearch(seg.uses[f.firstUse:f.endUse], id); ok {
				n--
			}
		}
	}
	return n
}

// Using are the files that use a name.
func (s *Snapshot) Using(name string) (list []FileID) {
	defer s.look()
	defer s.release(fault.Expect())
	for k, seg := range s.segments {
		id, ok := seg.names.find(name)
		if !ok || seg.usedBy[id] == 0 {
			continue
		}
		for i := range seg.files {
			f := &seg.files[i]
			if _, uses := slices.BinarySearch(seg.uses[f.firstUse:f.endUse], id); uses && !s.dead[k].has(i) {
				list = append(list, FileID{uint32(k), uint32(i)})
			}
		}
	}
	return list
}

// Imports are what a file imports: paths, what they are called, and the names taken from each.
func (s *Snapshot) Imports(id FileID) (list []syntax.Import) {
	defer s.release(fault.Expect())
	seg := s.segments[id.segment]
	for im := range seg.importsOf(&seg.files[id.file]) {
		list = append(list, seg.importAt(im))
	}
	return list
}

// Importing calls visit with each import of a file, in the order of their paths, that may be why a
// name is known there: it is called so, or takes the name, or its path is one of which of answers
// that it ends so.
func (s *Snapshot) Importing(name string, of func(path string) bool, visit func(file FileID, im syntax.Import)) {
	defer s.look()
	defer s.release(fault.Expect())
	for k, seg := range s.segments {
		id, known := seg.names.find(name)
		known = known && name != ""
		paths := map[uint32]bool{}
		gives := func(im []uint32) bool {
			if known && slices.Contains(append(im[1:2:2], im[3:]...), id) {
				return true
			}
			is, asked := paths[im[0]]
			if !asked {
				is = of(seg.names.at(im[0]))
				paths[im[0]] = is
			}
			return is
		}
		for i := range seg.files {
			if s.dead[k].has(i) {
				continue
			}
			for im := range seg.importsOf(&seg.files[i]) {
				if gives(im) {
					visit(FileID{uint32(k), uint32(i)}, seg.importAt(im))
				}
			}
		}
	}
}

// importsOf yields each import of a file as segment.imports has it.
func (s *segment) importsOf(f *file) iter.Seq[[]uint32] {
	return func(yield func([]uint32) bool) {
		for words := s.imports[f.firstImport:f.endImport]; len(words) > 0; {
			end := 3 + words[2]
			if !yield(words[:end]) {
				return
			}
			words = words[end:]
		}
	}
}

func (s *segment) importAt(im []uint32) syntax.Import {
	out := syntax.Import{Path: s.names.at(im[0]), Alias: s.names.at(im[1])}
	for _, n := range im[3:] {
		out.Names = append(out.Names, s.names.at(n))
	}
	return out
}
