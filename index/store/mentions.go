package store

import (
	"database/sql/driver"
	"hash/fnv"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"quarry/index/syntax"
)

// The mentions table says which files a change of declarations concerns. Names are
// stored as hashes: any characters of any language then make one plain token. Two
// names that share a hash cost a needless look at a file, never a missed one.

func nameToken(name string) string { return hashToken('n', name) }

// pathToken is for a component of an import's path: an import can mean a file
// only if it contains the file's stem or its folder's name.
func pathToken(component string) string { return hashToken('i', comparableName(component)) }

func hashToken(kind byte, s string) string {
	h := fnv.New64a()
	h.Write([]byte(s))
	return string(strconv.AppendUint([]byte{kind}, h.Sum64(), 36))
}

// folderToken stands for a whole folder; an import that starts from the importing
// file's own place names no component of the way.
func folderToken(dir string) string { return "/" + strings.Trim(dir, "/") }

func mentionText(name string, refs []Reference, imports []syntax.Import) string {
	var b strings.Builder
	seen := map[string]bool{}
	add := func(token string) {
		if !seen[token] {
			seen[token] = true
			b.WriteString(token)
			b.WriteByte(' ')
		}
	}
	for _, r := range refs {
		add(nameToken(r.Name))
	}
	if len(imports) > 0 && path.Ext(name) == ".go" {
		add(pathToken("mod")) // which go.mod there are, says what imports can mean
	}
	for _, i := range imports {
		parts := ImportComponents(i.Path)
		for _, c := range parts {
			add(pathToken(c))
		}
		if i.Alias != "" && len(i.Names) == 0 && len(parts) > 0 { // Rust's use a::b as c
			add(nameToken(parts[len(parts)-1]))
		}
		if startsHere(i.Path) {
			for dir := dirOf(name); ; dir = dirOf(dir) {
				add(pathToken(folderToken(dir)))
				if dir == "" {
					break
				}
			}
		}
		for _, n := range i.Names {
			add(nameToken(n))
			add(pathToken(n))
		}
	}
	return b.String()
}

// startsHere tells the imports that start from the importing file's own place.
func startsHere(p string) bool {
	if strings.HasPrefix(p, ".") {
		return true
	}
	first, _, _ := strings.Cut(p, "::") // Rust's
	return first == "crate" || first == "self" || first == "super"
}

// ImportComponents cuts an import's path as any language writes it into the names
// of folders and files, outermost first: "a/b.h", "a.b.C", "crate::a::b", "A\B".
func ImportComponents(importPath string) []string {
	return strings.FieldsFunc(importPath, func(r rune) bool {
		return strings.ContainsRune(`/.:\*@~`, r)
	})
}

func (p *put) touchName(name string) {
	if p.resolved {
		p.touched[nameToken(name)] = true
	}
	// A cached name is read again on demand.
	delete(p.w.names, name)
	if p.w.allNames {
		p.w.changed[name] = true
	}
}

// touch touches a declaration. Types and modules are also named by the paths of
// imports.
func (p *put) touch(key symbolKey) {
	p.touchName(key.name)
	if !p.resolved || !IsType(key.kind) && key.kind != syntax.KindModule {
		return
	}
	if parts := ImportComponents(key.name); len(parts) > 0 {
		p.touched[pathToken(parts[len(parts)-1])] = true
	}
}

func (p *put) touchFile(name string) error {
	if !p.resolved {
		return nil
	}
	for _, token := range fileTokens(name) {
		p.touched[token] = true
	}
	if path.Ext(name) == ".go" {
		return p.touchModule(dirOf(name))
	}
	return nil
}

// touchModule touches the Go module of a folder: its root package is imported by the
// module's name, which need not be the folder's.
func (p *put) touchModule(dir string) error {
	var id int64
	err := p.w.query("SELECT id FROM files WHERE path = ?", func(r []driver.Value) error { id = r[0].(int64); return nil }, path.Join(dir, "go.mod"))
	if err != nil || id == 0 {
		return err
	}
	return p.touchSymbols(id)
}

// fileTokens are what an import that may mean a file mentions at least one of.
func fileTokens(name string) []string {
	dir, base := path.Split(name)
	dir = strings.TrimSuffix(dir, "/")
	parts := append(ImportComponents(base), ImportComponents(path.Base(dir))...)
	if last := path.Base(dir); last == "src" || last == "lib" { // a package's folder stands for its src/index.ts
		parts = append(parts, ImportComponents(path.Base(path.Dir(dir)))...)
	}
	tokens := []string{pathToken(folderToken(dir))}
	for _, c := range parts {
		tokens = append(tokens, pathToken(c))
	}
	return tokens
}

// touchHanded touches a file that hands names on if its imports change.
func (p *put) touchHanded(id int64, name string, imports []syntax.Import) error {
	old, err := p.w.imports(id)
	if err != nil {
		return err
	}
	same := slices.EqualFunc(old, imports, func(a, b syntax.Import) bool {
		return a.Path == b.Path && a.Alias == b.Alias && slices.Equal(a.Names, b.Names)
	})
	if same {
		return nil
	}
	return p.touchFile(name)
}

// touchSymbols touches every name a file declares.
func (p *put) touchSymbols(file int64) error {
	old, err := p.symbols(file)
	for _, o := range old {
		p.touch(o.key)
	}
	return err
}

// mark sets linked = 0 for the files that mention what the batch touched. What a file
// hands on may mean something else then too, so those that mention it follow.
func (p *put) mark() error {
	if len(p.touched) == 0 {
		return nil
	}
	if err := p.w.prepareLookups(false); err != nil {
		return err
	}
	tokens := slices.Collect(maps.Keys(p.touched))
	handed := map[int64]bool{}
	for len(tokens) > 0 {
		if len(p.touched) > markAllAbove {
			return p.w.exec("UPDATE files SET linked = 0 WHERE linked = 1")
		}
		t := tokens[len(tokens)-1]
		tokens = tokens[:len(tokens)-1]
		var ids []int64
		err := p.w.query("SELECT rowid FROM mentions WHERE mentions MATCH ?", func(r []driver.Value) error {
			ids = append(ids, r[0].(int64))
			return nil
		}, t)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err := p.w.exec("UPDATE files SET linked = 0 WHERE id = ? AND linked = 1", id); err != nil {
				return err
			}
			if handed[id] || !p.w.tree.handsOnTouched(id, t) {
				continue
			}
			handed[id] = true
			for _, next := range fileTokens(p.w.tree.File(id).Path) {
				if !p.touched[next] {
					p.touched[next] = true
					tokens = append(tokens, next)
				}
			}
		}
	}
	return nil
}

// handsOnTouched tells whether a file's imports, and not only its other references,
// mention a token.
func (t *Tree) handsOnTouched(file int64, token string) bool {
	for _, i := range t.HandedOn(file) {
		parts := ImportComponents(i.Path)
		if startsHere(i.Path) {
			dir := t.File(file).Dir
			for range 3 { // a few levels up are as far as names are handed on from
				if token == pathToken(folderToken(dir)) {
					return true
				}
				dir = dirOf(dir)
			}
		}
		for _, c := range append(parts, i.Names...) {
			if token == pathToken(c) {
				return true
			}
		}
		if i.Alias == "" {
			continue
		}
		// Others know what it names by the alias alone.
		for _, n := range append(i.Names, parts...) {
			if token == nameToken(n) {
				return true
			}
		}
	}
	return false
}
