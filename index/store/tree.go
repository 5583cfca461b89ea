package store

import (
	"iter"
	"maps"
	"path"
	"slices"
	"strings"

	"quarry/index/lang"
	"quarry/index/syntax"
)

// Tree is the names of the indexed files, arranged for looking up what an import
// may mean.
type Tree struct {
	files map[int64]*TreeFile
	// byStem and byDirName are keyed in lower case by a file's stem and by the
	// last component of a folder.
	byStem    map[string][]int64
	byDirName map[string][]string
	byDir     map[string][]int64
	// handed are the imports of the files that stand for others.
	handed map[int64][]syntax.Import
	// modules are the go.mod of each module of Go, by its name; named is the other
	// way round.
	modules map[string][]int64
	named   map[int64]string
}

// TreeFile is one file of a Tree.
type TreeFile struct {
	ID                  int64
	Path, Dir, Language string
	Family              string // of the language
}

func newTree() *Tree {
	return &Tree{
		files: map[int64]*TreeFile{}, byStem: map[string][]int64{},
		byDirName: map[string][]string{}, byDir: map[string][]int64{}, handed: map[int64][]syntax.Import{},
		modules: map[string][]int64{}, named: map[int64]string{},
	}
}

// File returns the file with the given id, one without a path if there is none.
// It must not be changed.
func (t *Tree) File(id int64) *TreeFile {
	if f := t.files[id]; f != nil {
		return f
	}
	return &TreeFile{ID: id}
}

// Dir returns the ids of the files directly in a folder; "" is the root.
func (t *Tree) Dir(dir string) []int64 { return t.byDir[dir] }

// In returns the ids of files of a folder, among them all whose name is base but for
// what follows its first dot, and how many files were looked at for that.
func (t *Tree) In(dir, base string) (list []int64, looked int) {
	all := t.byDir[dir]
	base, _, _ = strings.Cut(base, ".")
	stem := t.byStem[comparableName(base)]
	if len(all) <= len(stem) {
		return all, 0
	}
	for _, id := range stem {
		if t.files[id].Dir == dir {
			list = append(list, id)
		}
	}
	return list, len(stem)
}

// Stem returns the ids of the files whose name up to the first dot, or up to the
// last one, is stem in any case, "-" and "_" being the same.
func (t *Tree) Stem(stem string) []int64 { return t.byStem[comparableName(stem)] }

// Dirs returns the folders whose last component is name in any case, "-" and "_"
// being the same.
func (t *Tree) Dirs(name string) []string { return t.byDirName[comparableName(name)] }

// Handed ranges over the imports of all files of which HandedOn knows some.
func (t *Tree) Handed() iter.Seq[[]syntax.Import] { return maps.Values(t.handed) }

// HandedOn returns the imports of a file whose names may be had from it: an
// index.ts, an __init__.py, a Rust or Protobuf file. Of others it returns nil.
func (t *Tree) HandedOn(file int64) []syntax.Import { return t.handed[file] }

// GoModule returns the go.mod files that name a module so.
func (t *Tree) GoModule(name string) []int64 { return t.modules[name] }

const goMod = "go.mod" // as a language

// setModule notes what module a go.mod names, "" if none.
func (t *Tree) setModule(id int64, name string) {
	if old, ok := t.named[id]; ok {
		drop(t.modules, old, id)
		delete(t.named, id)
	}
	if name != "" {
		t.modules[name], t.named[id] = append(t.modules[name], id), name
	}
}

// comparableName is how names of files and folders are compared: Rust writes the crate my-core
// as my_core.
func comparableName(name string) string { return strings.ReplaceAll(strings.ToLower(name), "-", "_") }

func stems(name string) []string {
	base := comparableName(path.Base(name))
	short, _, _ := strings.Cut(base, ".")
	long := strings.TrimSuffix(base, path.Ext(base))
	if short == long {
		return []string{short}
	}
	return []string{short, long}
}

func dirOf(name string) string {
	if dir := path.Dir(name); dir != "." {
		return dir
	}
	return ""
}

func (t *Tree) put(id int64, name, language string) {
	dir := dirOf(name)
	t.files[id] = &TreeFile{id, name, dir, language, lang.Family(language)}
	for _, s := range stems(name) {
		t.byStem[s] = append(t.byStem[s], id)
	}
	if len(t.byDir[dir]) == 0 && dir != "" {
		last := comparableName(path.Base(dir))
		t.byDirName[last] = append(t.byDirName[last], dir)
	}
	t.byDir[dir] = append(t.byDir[dir], id)
}

func (t *Tree) remove(id int64) {
	f, ok := t.files[id]
	if !ok {
		return
	}
	delete(t.files, id)
	delete(t.handed, id)
	t.setModule(id, "")
	for _, s := range stems(f.Path) {
		drop(t.byStem, s, id)
	}
	drop(t.byDir, f.Dir, id)
	if len(t.byDir[f.Dir]) == 0 && f.Dir != "" {
		drop(t.byDirName, comparableName(path.Base(f.Dir)), f.Dir)
	}
}

func drop[K comparable, V comparable](m map[K][]V, key K, value V) {
	list := m[key]
	if i := slices.Index(list, value); i >= 0 {
		list = slices.Delete(list, i, i+1)
	}
	if len(list) == 0 {
		delete(m, key)
		return
	}
	m[key] = list
}
