package store

import (
	"path"
	"slices"
	"strings"
)

// Tree is the names of the indexed files, arranged for looking up what an import
// may mean. It belongs to the writer; a resolver sees it only during Relink.
type Tree struct {
	files map[int64]*TreeFile
	// byStem and byDirName are keyed in lower case by a file's stem and by the
	// last component of a folder.
	byStem    map[string][]int64
	byDirName map[string][]string
	byDir     map[string][]int64
}

// TreeFile is one file of a Tree.
type TreeFile struct {
	ID                  int64
	Path, Dir, Language string
}

func newTree() *Tree {
	return &Tree{
		files: map[int64]*TreeFile{}, byStem: map[string][]int64{},
		byDirName: map[string][]string{}, byDir: map[string][]int64{},
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

// Stem returns the ids of the files whose name up to the first dot, or up to the
// last one, is stem in any case.
func (t *Tree) Stem(stem string) []int64 { return t.byStem[strings.ToLower(stem)] }

// Dirs returns the folders whose last component is name in any case.
func (t *Tree) Dirs(name string) []string { return t.byDirName[strings.ToLower(name)] }

func stems(name string) []string {
	base := strings.ToLower(path.Base(name))
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
	if have, ok := t.files[id]; ok && have.Path == name && have.Language == language {
		return
	}
	t.remove(id)
	dir := dirOf(name)
	t.files[id] = &TreeFile{id, name, dir, language}
	for _, s := range stems(name) {
		t.byStem[s] = append(t.byStem[s], id)
	}
	if len(t.byDir[dir]) == 0 && dir != "" {
		last := strings.ToLower(path.Base(dir))
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
	for _, s := range stems(f.Path) {
		drop(t.byStem, s, id)
	}
	drop(t.byDir, f.Dir, id)
	if len(t.byDir[f.Dir]) == 0 && f.Dir != "" {
		drop(t.byDirName, strings.ToLower(path.Base(f.Dir)), f.Dir)
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
