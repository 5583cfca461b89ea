package link

import (
	"path"
	"slices"
	"strings"

	"quarry/index/store"
	"quarry/index/syntax"
)

// imported answers the files an import may mean, ordered by path: those the path
// leads to from the importing file's folder, or else those whose own path ends as
// the import's does. Of several the ones nearest to the importing file are kept.
func (r *resolver) imported(im *syntax.Import) []int64 {
	if rel, ok := r.relative(im.Path); ok {
		return r.order(r.at(rel))
	}
	parts := store.ImportComponents(im.Path)
	for len(parts) > 0 && (parts[0] == "crate" || parts[0] == "self" || parts[0] == "super") { // Rust
		parts = parts[1:]
	}
	if len(parts) == 0 {
		return nil
	}
	if hasSourceExt(im.Path) && len(parts) > 1 { // C's "dir/file.h"
		return r.order(r.near(r.endingIn(path.Clean(im.Path))))
	}
	found := r.near(r.module(parts))
	if len(found) == 0 && len(parts) > 1 && r.family != "go" {
		// The last component may name a declaration of the module before it.
		found = r.near(r.module(parts[:len(parts)-1]))
	}
	return r.order(found)
}

// relative answers the path an import means if it starts from the file's folder:
// "./x", "../x", Python's ".x" and "..x", and C's "x.h" where that exists.
func (r *resolver) relative(p string) (string, bool) {
	switch {
	case strings.HasPrefix(p, "./"), strings.HasPrefix(p, "../"), p == ".", p == "..":
		if r.family != "python" || strings.Contains(p, "/") {
			return path.Join(r.file.Dir, p), true
		}
	}
	if r.family == "python" && strings.HasPrefix(p, ".") {
		dir, rest := r.file.Dir, p[1:]
		for strings.HasPrefix(rest, ".") {
			dir, rest = parent(dir), rest[1:]
		}
		return path.Join(dir, strings.ReplaceAll(rest, ".", "/")), true
	}
	if r.family == "c" {
		if at := path.Join(r.file.Dir, p); len(r.at(at)) > 0 {
			return at, true
		}
	}
	return "", false
}

func parent(dir string) string {
	if up := path.Dir(dir); up != "." {
		return up
	}
	return ""
}

func hasSourceExt(p string) bool {
	switch path.Ext(p) {
	case ".h", ".hpp", ".hh", ".hxx", ".inc", ".c", ".cc", ".cpp", ".m", ".proto", ".rb", ".php", ".sh", ".css", ".scss", ".js", ".mjs", ".ts", ".tsx", ".jsx", ".lua":
		return true
	}
	return false
}

// at answers what stands at a path: the file itself, the file but for its
// extension, the package face of a folder, or for a package of files all of it.
func (r *resolver) at(p string) []int64 {
	dir, base := path.Split(p)
	dir = strings.TrimSuffix(dir, "/")
	stem := strings.TrimSuffix(base, path.Ext(base))
	var exact, same []int64
	for _, id := range r.view.Tree.Dir(dir) {
		f := r.view.Tree.File(id)
		name := path.Base(f.Path)
		switch {
		case name == base:
			exact = append(exact, id)
		case family(f.Language) == r.family && (strings.TrimSuffix(name, path.Ext(name)) == base ||
			// TypeScript imports "./x.js" and means x.ts.
			r.family == "js" && strings.HasSuffix(base, "js") && strings.TrimSuffix(name, path.Ext(name)) == stem):
			same = append(same, id)
		}
	}
	if len(exact) > 0 {
		return exact
	}
	if len(same) > 0 {
		return same
	}
	return r.folder(p)
}

// faces are the files that stand for their folder when it is imported.
var faces = map[string][]string{
	"js": {"index"}, "python": {"__init__"}, "rust": {"mod", "lib"}, "ruby": nil, "lua": {"init"}, "php": {"index"},
}

// folder answers the files an import of a folder brings in.
func (r *resolver) folder(dir string) []int64 {
	var face, all []int64
	for _, id := range r.view.Tree.Dir(dir) {
		f := r.view.Tree.File(id)
		if family(f.Language) != r.family {
			continue
		}
		stem := strings.TrimSuffix(path.Base(f.Path), path.Ext(f.Path))
		if slices.Contains(faces[r.family], stem) {
			face = append(face, id)
		}
		if r.family != "go" || !strings.HasSuffix(stem, "_test") {
			all = append(all, id)
		}
	}
	if _, faced := faces[r.family]; faced {
		return face
	}
	if len(all) > maxImported {
		return nil
	}
	return all
}

// endingIn answers the files whose path ends in p.
func (r *resolver) endingIn(p string) []int64 {
	base := path.Base(p)
	stem, _, _ := strings.Cut(base, ".")
	var found []int64
	for _, id := range r.view.Tree.Stem(stem) {
		if name := r.view.Tree.File(id).Path; name == p || strings.HasSuffix(name, "/"+p) {
			found = append(found, id)
		}
	}
	return found
}

// module answers the files and folders whose path ends in all of parts, or is all
// of what parts ends in: the module's own name comes before the path in it.
func (r *resolver) module(parts []string) []int64 {
	last := parts[len(parts)-1]
	full := strings.Join(parts, "/")
	fits := func(p string) bool {
		return p == full || strings.HasSuffix(p, "/"+full) || p != "" && strings.HasSuffix(full, "/"+p)
	}
	var found []int64
	for _, id := range r.view.Tree.Stem(last) {
		f := r.view.Tree.File(id)
		if family(f.Language) == r.family && r.family != "go" && fits(strings.TrimSuffix(f.Path, path.Ext(f.Path))) {
			found = append(found, id)
		}
	}
	for _, dir := range r.view.Tree.Dirs(last) {
		if fits(dir) {
			found = append(found, r.folder(dir)...)
		}
	}
	return found
}

// near keeps the files that share the longest way from the root with the
// importing file.
func (r *resolver) near(ids []int64) []int64 {
	best := -1
	var kept []int64
	for _, id := range ids {
		n := shared(r.file.Dir, r.view.Tree.File(id).Dir)
		if n > best {
			best, kept = n, nil
		}
		if n == best && !slices.Contains(kept, id) {
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

func (r *resolver) order(ids []int64) []int64 {
	ids = slices.DeleteFunc(ids, func(id int64) bool { return id == r.file.ID })
	slices.SortFunc(ids, func(a, b int64) int {
		return strings.Compare(r.view.Tree.File(a).Path, r.view.Tree.File(b).Path)
	})
	if len(ids) > maxImported {
		return nil
	}
	return ids
}
