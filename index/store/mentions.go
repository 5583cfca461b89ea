package store

import (
	"database/sql/driver"
	"hash/fnv"
	"path"
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
func pathToken(component string) string { return hashToken('i', strings.ToLower(component)) }

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
	for _, i := range imports {
		for _, c := range ImportComponents(i.Path) {
			add(pathToken(c))
		}
		if strings.HasPrefix(i.Path, ".") {
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

func (p *put) touchFile(name string) {
	if !p.resolved {
		return
	}
	dir, base := path.Split(name)
	for _, c := range append(ImportComponents(base), ImportComponents(path.Base(dir))...) {
		p.touched[pathToken(c)] = true
	}
	p.touched[pathToken(folderToken(dir))] = true
}

// touchSymbols touches every name a file declares.
func (p *put) touchSymbols(file int64) error {
	old, err := p.symbols(file)
	for _, o := range old {
		p.touchName(o.key.name)
	}
	return err
}

// mark sets linked = 0 for the files that mention what the batch touched.
func (p *put) mark() error {
	if len(p.touched) == 0 {
		return nil
	}
	if len(p.touched) > markAllAbove {
		return p.w.exec("UPDATE files SET linked = 0 WHERE linked = 1")
	}
	for t := range p.touched {
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
		}
	}
	return nil
}
