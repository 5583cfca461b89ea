package link

import (
	"path"
	"slices"
	"strings"

	"quarry/index/lang"
	"quarry/index/store"
	"quarry/index/syntax"
)

// importTarget is what an import may mean.
type importTarget struct {
	// files are ordered by path.
	files []int64
	// dir is the folder of a language whose packages are folders, all of which is
	// meant, however many files there are.
	dir *string
	// modules are those of the import's names that are files themselves.
	modules map[string][]int64
	// rest is the last part of the path, if it names a declaration in files.
	rest string
}

// known tells whether the import leads to something here.
func (m *importTarget) known() bool { return len(m.files) > 0 || len(m.modules) > 0 || m.dir != nil }

func (m *importTarget) has(f *store.TreeFile) bool {
	return m.dir != nil && f.Dir == *m.dir && !strings.HasSuffix(f.Path, "_test.go") || slices.Contains(m.files, f.ID)
}

// importer is a file whose imports are to be understood.
type importer struct {
	file   *store.TreeFile
	family string
	tree   *store.Tree
	view   *store.View
	known  *memo
	work   *work
}

type pathKey struct{ language, dir, path string }

// target answers what an import of this importer means.
func (at importer) target(im *syntax.Import) importTarget {
	key := pathKey{at.file.Language, at.file.Dir, im.Path}
	if at.family == "go" && at.oneModule(im.Path) {
		key.dir = ""
	}
	m, ok := at.known.paths[key]
	if !ok {
		if !at.work.take(aPath) {
			return importTarget{}
		}
		m = at.path(im.Path)
		m.files = at.byPath(m.files)
		if at.family != "rust" && at.work.take(0) { // else it is not all
			at.known.paths[key] = m
		}
	}
	at.work.take(len(m.files) * aLook)
	m.files = at.others(m.files)
	switch at.family {
	case "python", "rust", "elixir", "php", "csharp", "jvm":
		for _, n := range im.Names {
			if files := at.module(im, n); len(files) > 0 {
				if m.modules == nil {
					m.modules = map[string][]int64{}
				}
				m.modules[n] = files
			}
		}
	}
	if at.family == "rust" && strings.HasPrefix(im.Path, "super") && !at.takenFrom(im, &m) {
		m.files = nil
	}
	return m
}

// takenFrom tells whether the module around a Rust file has something of what an
// import takes from it. It may just as well be taken from the file itself: tests are
// a module inside it and say `use super::*`.
func (at importer) takenFrom(im *syntax.Import, m *importTarget) bool {
	if m.rest == "" && strings.Trim(strings.ReplaceAll(im.Path, "super", ""), ":") != "" {
		return true // a module below it
	}
	names := im.Names
	if len(names) == 0 && m.rest != "" {
		names = []string{m.rest}
	}
	return slices.ContainsFunc(names, func(n string) bool {
		for _, id := range m.files {
			if !at.work.take(aPath + len(at.tree.HandedOn(id))*aLook) {
				return false
			}
			if slices.ContainsFunc(at.tree.HandedOn(id), func(of syntax.Import) bool {
				_, ok := takes(&of, n)
				return ok && (len(of.Names) > 0 || of.Alias != "")
			}) {
				return true
			}
		}
		return slices.ContainsFunc(at.view.Named(n), func(c store.Candidate) bool { return m.has(c.In) })
	})
}

// path answers what the path of an import leads to.
func (at importer) path(p string) importTarget {
	switch at.family {
	case "go":
		return at.goPackage(p)
	case "python":
		return importTarget{files: at.pythonModule(p)}
	case "js":
		return importTarget{files: at.scriptModule(p)}
	case "rust":
		return at.rustPath(p)
	case "jvm", "csharp", "php", "elixir":
		if m := at.namespace(p); m.known() {
			return m
		}
	}
	if at.family == "csharp" || at.family == "elixir" || at.foreign(p) {
		return importTarget{}
	}
	if rel := path.Join(at.file.Dir, p); strings.HasPrefix(p, "./") || strings.HasPrefix(p, "../") || p == "." || p == ".." {
		return importTarget{files: at.standing(rel)}
	} else if at.family == "c" || at.family == "ruby" || hasSourceExt(p) { // from the file's own folder without saying so
		if files := at.standing(rel); len(files) > 0 {
			return importTarget{files: files}
		}
	}
	if at.family == "c" || hasSourceExt(p) {
		return importTarget{files: at.near(at.endingIn(path.Clean(p)))}
	}
	parts := store.ImportComponents(p)
	if len(parts) == 0 {
		return importTarget{}
	}
	found := at.near(at.rooted(parts, at.endsInAll(parts)))
	if len(found) == 0 && len(parts) > 1 && at.family != "ruby" && at.family != "php" {
		// The last component may name a declaration of the module before it.
		return importTarget{files: at.near(at.endsInAll(parts[:len(parts)-1])), rest: parts[len(parts)-1]}
	}
	return importTarget{files: found}
}

// module answers the files of a name that an import takes, if it is a module.
func (at importer) module(im *syntax.Import, name string) []int64 {
	switch at.family {
	case "python":
		sep := "."
		if strings.HasSuffix(im.Path, ".") {
			sep = ""
		}
		return at.order(at.pythonModule(im.Path + sep + name))
	case "rust":
		if m := at.rustPath(im.Path + "::" + name); m.rest == "" && len(im.Path) > 0 && !strings.HasSuffix(im.Path, "::"+name) {
			return at.order(m.files)
		}
	case "elixir":
		return at.order(at.namespaceFiles(im.Path + "." + name))
	case "php":
		if !strings.HasSuffix(im.Path, `\`+name) { // use A\{B, C}
			return at.order(at.namespace(im.Path + `\` + name).files)
		}
	}
	return nil
}

func parent(dir string) string {
	if up := path.Dir(dir); up != "." {
		return up
	}
	return ""
}

func hasSourceExt(p string) bool {
	ext := path.Ext(p)
	if ext == ".inc" {
		return true
	}
	language := lang.OfExtension(ext)
	return language != nil && language.FileImports
}

// standing answers what stands at a path: the file itself, the file but for its
// extension, the package face of a folder, or for a package of files all of it.
func (at importer) standing(p string) []int64 {
	dir, base := path.Split(p)
	dir = strings.TrimSuffix(dir, "/")
	var exact, same []int64
	for _, id := range at.in(dir, base) {
		f := at.tree.File(id)
		name := path.Base(f.Path)
		switch {
		case name == base:
			exact = append(exact, id)
		case at.family == "c", f.Family != at.family:
		case strings.TrimSuffix(name, path.Ext(name)) == base:
			same = append(same, id)
		case at.family == "js" && strings.HasSuffix(base, "js") && strings.TrimSuffix(name, path.Ext(name)) == strings.TrimSuffix(base, path.Ext(base)):
			same = append(same, id) // TypeScript imports "./x.js" and means x.ts
		}
	}
	if len(exact) > 0 {
		return exact
	}
	if len(same) > 0 {
		return same
	}
	return at.folder(p)
}

// in answers the files of a folder that may be called so, none where too much was looked at.
func (at importer) in(dir, base string) []int64 {
	list, looked := at.tree.In(dir, base)
	if !at.work.take(aPath + looked*aLook + len(list)*aPath) {
		return nil
	}
	return list
}

// folder answers the files an import of a folder brings in.
func (at importer) folder(dir string) []int64 {
	language := lang.Of(at.file.Language)
	var found []int64
	if language.FileImports || language.EntryFiles != nil {
		for _, stem := range language.EntryFiles {
			for _, id := range at.in(dir, stem) {
				f := at.tree.File(id)
				if base := path.Base(f.Path); f.Family == at.family && strings.TrimSuffix(base, path.Ext(base)) == stem {
					found = append(found, id)
				}
			}
		}
		return found
	}
	all := at.tree.Dir(dir)
	if !at.work.take(len(all) * aPath) {
		return nil
	}
	for _, id := range all {
		f := at.tree.File(id)
		if f.Family == at.family && !(at.family == "go" && strings.HasSuffix(f.Path, "_test.go")) {
			found = append(found, id)
		}
	}
	if len(found) > maxImported {
		return nil
	}
	return found
}

// endingIn answers the files whose path ends in p.
func (at importer) endingIn(p string) []int64 {
	base := path.Base(p)
	stem, _, _ := strings.Cut(base, ".")
	var found []int64
	named := at.tree.Stem(stem)
	if !at.work.take(len(named) * aPath) {
		return nil
	}
	for _, id := range named {
		if name := at.tree.File(id).Path; name == p || strings.HasSuffix(name, "/"+p) {
			found = append(found, id)
		}
	}
	return found
}

// endsInAll answers the files and folders whose path ends in all of parts.
func (at importer) endsInAll(parts []string) []int64 {
	last := parts[len(parts)-1]
	full := strings.Join(parts, "/")
	fits := func(p string) bool { return p == full || strings.HasSuffix(p, "/"+full) }
	var found []int64
	named, dirs := at.tree.Stem(last), at.tree.Dirs(last)
	if !at.work.take((len(named) + len(dirs)) * aPath) {
		return nil
	}
	for _, id := range named {
		f := at.tree.File(id)
		if f.Family == at.family && fits(strings.TrimSuffix(f.Path, path.Ext(f.Path))) {
			found = append(found, id)
		}
	}
	for _, dir := range dirs {
		if fits(dir) {
			found = append(found, at.folder(dir)...)
		}
	}
	return found
}

// sourceRoots are folders that imports may start from.
var sourceRoots = []string{"src", "lib", "app", "python", "Sources"}

// rooted keeps of the files that parts may mean those that lie where imports start
// from: at the root, in a folder of sources, or in one that the importing file lies
// below too. Of longer paths it keeps all: no two modules by chance share more than
// one name.
func (at importer) rooted(parts []string, ids []int64) []int64 {
	if len(parts) > 1 {
		return ids
	}
	return slices.DeleteFunc(ids, func(id int64) bool {
		f := at.tree.File(id)
		dir := f.Dir
		if base := path.Base(f.Path); strings.TrimSuffix(base, path.Ext(base)) != parts[0] { // a folder's face
			dir = parent(dir)
		}
		below := dir == "" || at.file.Dir == dir || strings.HasPrefix(at.file.Dir, dir+"/")
		return !below && !slices.Contains(sourceRoots, path.Base(dir))
	})
}

// near keeps the files that share the longest way from the root with the
// importing file.
func (at importer) near(ids []int64) []int64 {
	best := -1
	var kept []int64
	if !at.work.take(len(ids) * aPath) {
		return nil
	}
	for _, id := range ids {
		n := shared(at.file.Dir, at.tree.File(id).Dir)
		if n > best {
			best, kept = n, nil
		}
		if n == best {
			kept = append(kept, id)
		}
	}
	return kept
}

// shared counts the leading components two folders have in common.
func shared(a, b string) int {
	n := 0
	pa, pb := strings.Split(a, "/"), strings.Split(b, "/")
	for n < len(pa) && n < len(pb) && pa[n] == pb[n] {
		n++
	}
	return n
}

// order sorts files by path, each once, without the importing one.
func (at importer) order(ids []int64) []int64 {
	return at.others(at.byPath(ids))
}

func (at importer) byPath(ids []int64) []int64 {
	ids = slices.Clone(ids)
	slices.SortFunc(ids, func(a, b int64) int {
		return strings.Compare(at.tree.File(a).Path, at.tree.File(b).Path)
	})
	return slices.Compact(ids)
}

// others are files without the importing one.
func (at importer) others(ids []int64) []int64 {
	if !slices.Contains(ids, at.file.ID) {
		return ids
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return id == at.file.ID })
}

// namesSomething tells whether a component of an import's path is what a file or
// folder is called here.
func (at importer) namesSomething(p string) bool {
	parts := store.ImportComponents(p)
	if len(parts) < 2 {
		return false
	}
	for _, c := range parts {
		if !at.work.take(aPath + len(at.tree.Stem(c))*aLook) {
			return false
		}
		if slices.ContainsFunc(at.tree.Stem(c), func(id int64) bool { return at.tree.File(id).Family == at.family }) || len(at.tree.Dirs(c)) > 0 {
			return true
		}
	}
	return false
}

// localName is what an import as a whole is called in the file that has it, if the
// file says nothing else.
func localName(p string) string {
	parts := store.ImportComponents(p)
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
