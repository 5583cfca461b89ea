package link

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"quarry/index/lang"
	"quarry/index/store"
	"quarry/index/syntax"
)

// goPackage answers the folder of a package: its path starts with the name of a
// module whose go.mod is here. The standard library's own is called std.
func (at importer) goPackage(p string) importTarget {
	for prefix := p; prefix != "." && prefix != "/" && at.work.take(len(prefix)); prefix = path.Dir(prefix) {
		if root, ok := at.goModule(prefix); ok {
			return at.goFolder(path.Join(root, strings.TrimPrefix(p[len(prefix):], "/")))
		}
	}
	if root, ok := at.goModule("std"); ok {
		for _, dir := range []string{path.Join(root, p), path.Join(root, "vendor", p)} {
			if m := at.goFolder(dir); len(m.files) > 0 || len(at.tree.Dir(dir)) > 0 {
				return m
			}
		}
	}
	if gos := at.tree.Stem("go"); !at.work.take(len(gos)*aLook) || slices.ContainsFunc(gos, func(id int64) bool { return path.Base(at.tree.File(id).Path) == "go.mod" }) {
		return importTarget{}
	}
	// Without any go.mod a path of more than one name is as good as it gets.
	parts := store.ImportComponents(p)
	if len(parts) < 2 {
		return importTarget{}
	}
	var found []int64
	dirs := at.tree.Dirs(path.Base(p))
	if !at.work.take(len(dirs) * aPath) {
		return importTarget{}
	}
	for _, dir := range dirs {
		if dir == p || strings.HasSuffix(dir, "/"+p) || strings.HasSuffix(p, "/"+dir) {
			found = append(found, at.folder(dir)...)
		}
	}
	return importTarget{files: at.near(found)}
}

// oneModule tells whether a Go package's path means the same in every folder: it has a
// module, and no two of them share its name.
func (at importer) oneModule(p string) bool {
	for prefix := p; prefix != "." && prefix != "/" && at.work.take(len(prefix)); prefix = path.Dir(prefix) {
		if n := len(at.tree.GoModule(prefix)); n > 0 {
			return n == 1
		}
	}
	return len(at.tree.GoModule("std")) == 1
}

func (at importer) goFolder(dir string) importTarget {
	return importTarget{files: at.folder(dir), dir: &dir}
}

// goModule answers the folder of the nearest module of a name.
func (at importer) goModule(name string) (root string, ok bool) {
	best := -1
	modules := at.tree.GoModule(name)
	if !at.work.take(len(modules) * aPath) {
		return "", false
	}
	for _, id := range modules {
		dir := at.tree.File(id).Dir
		if n := shared(at.file.Dir, dir); n > best || n == best && dir < root {
			root, ok, best = dir, true, n
		}
	}
	return root, ok
}

// pythonModule answers the files of "a.b", or of ".b" from the importing file's
// folder.
func (at importer) pythonModule(p string) []int64 {
	if strings.HasPrefix(p, ".") {
		dir, rest := at.file.Dir, p[1:]
		for strings.HasPrefix(rest, ".") {
			dir, rest = parent(dir), rest[1:]
		}
		if rest == "" {
			return at.folder(dir)
		}
		return at.standing(path.Join(dir, strings.ReplaceAll(rest, ".", "/")))
	}
	if at.foreign(p) {
		return nil
	}
	parts := store.ImportComponents(p)
	if len(parts) == 0 {
		return nil
	}
	return at.near(at.rooted(parts, at.endsInAll(parts)))
}

// scriptModule answers the files of a JavaScript or TypeScript specifier: a path from
// the importing file, a package of the workspace, or what a configured path may mean.
func (at importer) scriptModule(p string) []int64 {
	if strings.HasPrefix(p, "./") || strings.HasPrefix(p, "../") || p == "." || p == ".." {
		return at.standing(path.Join(at.file.Dir, p))
	}
	if at.foreign(p) {
		return nil
	}
	rest := strings.Split(strings.Trim(p, "/"), "/")
	if mapped := rest[0] == "@" || rest[0] == "~" || rest[0] == "#"; mapped && len(rest) > 1 {
		rest = rest[1:]
	} else {
		if found := at.near(at.scriptPackage(rest)); len(found) > 0 {
			return found
		}
		rest[0] = strings.TrimLeft(rest[0], "@~#")
	}
	if hasSourceExt(p) {
		return at.near(at.endingIn(strings.Join(rest, "/")))
	}
	return at.near(at.rooted(rest, at.endsInAll(rest)))
}

// scriptPackage answers the files of a package of the workspace, a folder with a
// package.json that is called like it, or of a path in one.
func (at importer) scriptPackage(parts []string) (found []int64) {
	name := parts[0]
	if rest := parts[1:]; strings.HasPrefix(name, "@") && len(rest) > 0 {
		name, parts = rest[0], rest
	}
	inside := path.Join(parts[1:]...)
	best := -1 // what the nearest that has something shares with the importing file
	for _, dir := range at.packages(name) {
		n := shared(at.file.Dir, dir)
		if n < best && !strings.HasPrefix(at.file.Dir, dir+"/") {
			continue // near would keep none of its files
		}
		for _, sources := range []string{"src", "", "lib"} {
			if files := at.standing(path.Join(dir, sources, inside)); len(files) > 0 {
				found, best = append(found, files...), max(best, n)
				break
			}
		}
	}
	return found
}

// packages are the folders of a name that have a package.json, the nearest first.
func (at importer) packages(name string) []string {
	key := packageKey{at.file.Dir, name}
	list, ok := at.known.packages[key]
	if ok {
		return list
	}
	for _, dir := range at.tree.Dirs(name) {
		if slices.ContainsFunc(at.in(dir, "package"), func(id int64) bool { return path.Base(at.tree.File(id).Path) == "package.json" }) {
			list = append(list, dir)
		}
	}
	if !at.work.take(len(list) * 8 * aPath) { // each is compared some times
		return nil
	}
	slices.SortStableFunc(list, func(a, b string) int {
		return cmp.Or(cmp.Compare(shared(at.file.Dir, b), shared(at.file.Dir, a)), strings.Compare(a, b))
	})
	list = slices.Clone(list[:min(len(list), maxPackages)])
	at.known.packages[key] = list
	return list
}

// rustPath answers what a path of Rust means: from the crate, from the file's own
// module, from the one around it, or from another crate of the workspace. What is
// left of the path is the name of a declaration.
func (at importer) rustPath(p string) importTarget {
	parts := strings.Split(p, "::")
	base := path.Base(at.file.Path)
	own := at.file.Dir // the folder of the file's submodules
	if stem := strings.TrimSuffix(base, path.Ext(base)); stem != "mod" && stem != "lib" && stem != "main" {
		own = path.Join(own, stem)
	}
	crate := at.file.Dir
	for dir := crate; dir != ""; dir = parent(dir) {
		if path.Base(dir) == "src" {
			crate = dir
			break
		}
	}
	switch parts[0] {
	case "crate":
		return at.rustModule(crate, parts[1:], true)
	case "self":
		return at.rustModule(own, parts[1:], true)
	case "super":
		dir := own
		for len(parts) > 0 && parts[0] == "super" {
			dir, parts = parent(dir), parts[1:]
		}
		return at.rustModule(dir, parts, true)
	}
	for _, dir := range []string{own, crate} {
		if m := at.rustModule(dir, parts, false); m.known() {
			return m
		}
	}
	if at.foreign(p) {
		return importTarget{}
	}
	var of importTarget
	best := -1
	for _, dir := range at.tree.Dirs(parts[0]) {
		root := path.Join(dir, "src")
		if len(at.in(root, "lib")) == 0 {
			continue
		}
		n := shared(at.file.Dir, dir)
		if m := at.rustModule(root, parts[1:], true); m.known() && n > best {
			of, best = m, n
		} else if m.known() && n == best {
			of.files = append(of.files, m.files...)
		}
	}
	return of
}

// rustModule descends from a module, whose submodules lie in dir, along parts. whole
// tells that the module itself may be meant.
func (at importer) rustModule(dir string, parts []string, whole bool) importTarget {
	for k := len(parts); k > 0 && k >= len(parts)-2; k-- { // an enum's variant is two names below its module
		files := at.standing(path.Join(dir, path.Join(parts[:k]...)))
		if len(files) == 0 {
			continue
		}
		m := importTarget{files: files}
		if k < len(parts) {
			m.rest = parts[len(parts)-1]
		}
		return m
	}
	if !whole || len(parts) > 2 {
		return importTarget{}
	}
	m := importTarget{files: at.standing(dir)}
	if len(m.files) == 0 {
		m.files = at.standing(path.Join(dir, "main"))
	}
	if len(parts) > 0 {
		m.rest = parts[len(parts)-1]
	}
	return m
}

// namespace answers the files of a package, namespace or module of Java, C#, PHP or
// Elixir, which are what their declarations say and not where they lie; or else those
// that declare the last name of the path, or the last but one, in the namespace
// before it.
func (at importer) namespace(p string) importTarget {
	if files := at.namespaceFiles(p); len(files) > 0 {
		return importTarget{files: files}
	}
	var rest string
	space := p
	for range 2 {
		cut := strings.LastIndexAny(space, `.\`)
		if cut < 0 {
			break
		}
		name := space[cut+1:]
		space = space[:cut]
		if rest == "" {
			rest = name
		}
		var found []int64
		if in := at.namespaceFiles(space); len(in) > 0 {
			named := at.view.Named(name)
			if !at.work.take(len(named) * aPath) {
				break
			}
			for i := range named {
				c := &named[i]
				if _, ok := slices.BinarySearch(in, c.In.ID); ok && c.Kind != syntax.KindMethod && c.Kind != syntax.KindField {
					found = append(found, c.In.ID)
				}
			}
		}
		if len(found) > 0 {
			return importTarget{files: found, rest: rest}
		}
	}
	return importTarget{}
}

// namespaceFiles are the files that declare a namespace, by id, each once.
func (at importer) namespaceFiles(name string) (files []int64) {
	named := at.view.Named(name)
	if !at.work.take(aPath + len(named)*aLook) {
		return nil
	}
	for i := range named {
		c := &named[i]
		if (c.Kind == syntax.KindModule || at.family == "elixir" && store.IsType(c.Kind)) && c.Container == "" && c.In.Family == at.family {
			files = append(files, c.In.ID)
		}
	}
	return slices.Compact(files) // Named has them in order
}

// foreign tells the paths that mean the standard library, whatever files are called
// here.
func (at importer) foreign(p string) bool {
	switch at.family {
	case "python":
		_, sure := lang.PythonLibrary(firstOf(p))
		return sure && !strings.HasPrefix(p, ".")
	case "js":
		first, _, _ := strings.Cut(p, "/")
		return strings.HasPrefix(p, "node:") || isWord(nodeLibrary, first)
	case "rust":
		return isWord(" std core alloc proc_macro ", firstOf(p))
	case "jvm":
		return isWord(" java javax kotlin scala ", firstOf(p))
	case "csharp":
		return firstOf(p) == "System"
	}
	return false
}

// isWord tells whether a word is among those of a list with blanks on all sides.
func isWord(list, word string) bool {
	return word != "" && strings.Contains(list, " "+word+" ")
}

// nodeLibrary are the modules of Node.js.
const nodeLibrary = " assert buffer child_process cluster console constants crypto dgram dns domain events fs http http2 https inspector module net os " +
	"path perf_hooks process punycode querystring readline repl stream string_decoder sys timers tls tty url util v8 vm worker_threads " +
	"zlib "
