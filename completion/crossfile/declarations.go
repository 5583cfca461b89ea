package crossfile

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"quarry/index/lang"
	"quarry/index/syntax"
)

// declarations are those of every file, by name. Each name is kept once for all
// that use it: a repository of 100,000 files has some three million declarations
// and eight million uses.
type declarations struct {
	names map[string]*name
	files map[fileKey]*file
	// folders are the files of each folder in the order of their paths.
	folders map[fileKey][]*file
}

// fileKey names a file, or a folder of files: the folder of the workspace it is in
// and its path there.
type fileKey struct{ root, path string }

func (p fileKey) dir() fileKey { return fileKey{p.root, path.Dir(p.path)} }

type file struct {
	fileKey
	family   string
	test     bool
	declared []*declaration
	uses     []*name
	imports  []syntax.Import
}

// name is what is known of a name; it is dropped when that is nothing.
type name struct {
	text string
	// declared are its declarations, members those inside a declaration of this
	// name; uses is how many files use it.
	declared, members []*declaration
	uses              int
}

type declaration struct {
	file      *file
	name      *name
	container string // dotted, "" at file level
	kind      syntax.Kind
	signature string // of at most 300 bytes, as package syntax cuts it
	line, end int32
	start     uint32 // its offset in the file
}

func newDeclarations() declarations {
	return declarations{names: map[string]*name{}, files: map[fileKey]*file{}, folders: map[fileKey][]*file{}}
}

// Put takes the newest reading of a file of a folder of the workspace.
func (s *Source) Put(root, path string, read *syntax.File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.declared.remove(fileKey{root, path})
	s.declared.put(fileKey{root, path}, read)
}

// Remove forgets a file.
func (s *Source) Remove(root, path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.declared.remove(fileKey{root, path})
}

func (t *declarations) put(at fileKey, read *syntax.File) {
	f := &file{fileKey: at, family: lang.Family(read.Language), test: lang.IsTest(at.path), imports: read.Imports}
	for i := range read.Symbols {
		sym := &read.Symbols[i]
		if sym.Name == "" || sym.Signature == "" || sym.Kind == syntax.KindSection || sym.Kind == syntax.KindModule {
			continue
		}
		d := &declaration{
			file: f, name: t.name(sym.Name), container: sym.Container, kind: sym.Kind, signature: sym.Signature,
			line: int32(sym.Span.StartLine), end: int32(sym.Span.EndLine), start: uint32(sym.Span.Start),
		}
		f.declared = append(f.declared, d)
		d.name.declared = append(d.name.declared, d)
		if c := lastName(d.container); c != "" {
			owner := t.name(c)
			owner.members = append(owner.members, d)
		}
	}
	met := map[string]bool{}
	for i := range read.Refs {
		if used := read.Refs[i].Name; !met[used] {
			met[used] = true
			n := t.name(used)
			n.uses++
			f.uses = append(f.uses, n)
		}
	}
	t.files[at] = f
	dir := at.dir()
	list := t.folders[dir]
	i, _ := slices.BinarySearchFunc(list, f, compareFiles)
	t.folders[dir] = slices.Insert(list, i, f)
}

func (t *declarations) remove(at fileKey) {
	f := t.files[at]
	if f == nil {
		return
	}
	delete(t.files, at)
	gone := func(d *declaration) bool { return d.file == f }
	for _, d := range f.declared {
		d.name.declared = slices.DeleteFunc(d.name.declared, gone)
		t.drop(d.name)
		if owner := t.names[lastName(d.container)]; owner != nil {
			owner.members = slices.DeleteFunc(owner.members, gone)
			t.drop(owner)
		}
	}
	for _, n := range f.uses {
		n.uses--
		t.drop(n)
	}
	dir := at.dir()
	t.folders[dir] = slices.DeleteFunc(t.folders[dir], func(o *file) bool { return o == f })
	if len(t.folders[dir]) == 0 {
		delete(t.folders, dir)
	}
}

func (t *declarations) name(text string) *name {
	n := t.names[text]
	if n == nil {
		n = &name{text: text}
		t.names[text] = n
	}
	return n
}

func (t *declarations) drop(n *name) {
	if n.uses == 0 && len(n.declared) == 0 && len(n.members) == 0 {
		delete(t.names, n.text)
	}
}

// maxBeside bounds how many files of a large folder are looked at.
const maxBeside = 64

// beside are the files in the folder of a path, those nearest to it in name.
func (t *declarations) beside(at fileKey) []*file {
	list := t.folders[at.dir()]
	i, _ := slices.BinarySearchFunc(list, &file{fileKey: at}, compareFiles)
	from := max(0, min(i-maxBeside/2, len(list)-maxBeside))
	return list[from:min(from+maxBeside, len(list))]
}

func compareFiles(a, b *file) int {
	return cmp.Or(strings.Compare(a.path, b.path), strings.Compare(a.root, b.root))
}

func lastName(container string) string {
	return container[strings.LastIndexByte(container, '.')+1:]
}
