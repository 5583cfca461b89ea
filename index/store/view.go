package store

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strings"
	"sync/atomic"

	"quarry/index/lang"
	"quarry/index/syntax"
)

// Candidate is a declaration that a reference may mean.
type Candidate struct {
	ID        int64
	Kind      syntax.Kind
	Container string
	// In is the file it stands in.
	In *TreeFile
}

// Referring is a file with what it refers to.
type Referring struct {
	TreeFile
	Imports []syntax.Import
	Refs    []Reference
}

// View is what references are resolved by: one state of the index.
type View struct {
	Tree *Tree

	ctx     context.Context
	tx      *sql.Tx
	cache   *viewCache
	symbols *sql.Stmt // ids of a file
	err     error     // of Named, which answers none
}

// viewCache is what views keep from one to the next.
type viewCache struct {
	// busy holds one token while a view is at work.
	busy       chan struct{}
	generation int64
	tree       *Tree // nil until the first view
	names      map[string][]Candidate
	// ending are the edges that end at symbols which were asked for, kept of them in all.
	ending map[endingKey][]Edge
	kept   int
	// known are the files that the first view begins with, nil if it reads them.
	known atomic.Pointer[KnownFiles]
}

// KnownFiles are the files of one state of the index, as somebody has them already.
type KnownFiles struct {
	Generation       int64
	IDs              []int64
	Paths, Languages []string
}

// BeginViews has views begin with files that are known, so that only what changed since
// is read.
func (s *Store) BeginViews(k *KnownFiles) { s.views.known.Store(k) }

// maxNames bounds the cache of declarations by name, maxEnding that of edges by symbol.
const (
	maxNames  = 1 << 16
	maxEnding = 1 << 16
)

// forget leaves nothing of what was looked up before a generation.
func (l *viewCache) forget(generation int64) {
	l.generation, l.names = generation, map[string][]Candidate{}
	l.ending, l.kept = map[endingKey][]Edge{}, 0
}

// View calls fn with the present state of the index; one at a time. While a first index
// is being made, nothing can be looked up by name, and fn is not called.
func (s *Store) View(ctx context.Context, fn func(*View) error) error {
	l := &s.views
	select {
	case l.busy <- struct{}{}:
		defer func() { <-l.busy }()
	case <-ctx.Done():
		return ctx.Err()
	}
	return s.snapshot(ctx, "resolve references", func(tx *sql.Tx) error {
		var usable bool
		err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'index' AND name = 'symbols_by_name')").Scan(&usable)
		if err != nil || !usable {
			return err
		}
		v := &View{ctx: ctx, tx: tx, cache: l}
		if err := v.refresh(); err != nil {
			l.tree = nil
			return err
		}
		v.Tree = l.tree
		if v.symbols, err = tx.PrepareContext(ctx, "SELECT id, ordinal FROM symbols WHERE id >= ? AND id < ?"); err != nil {
			return err
		}
		defer v.symbols.Close()
		return fn(v)
	})
}

// refresh brings what earlier views looked up to the state of this one.
func (v *View) refresh() error {
	l := v.cache
	if k := l.known.Swap(nil); k != nil && l.tree == nil {
		l.forget(k.Generation)
		l.tree = newTree()
		if err := v.take(k); err != nil {
			return err
		}
	}
	if l.tree != nil {
		ids, now, all, err := since(v.ctx, v.tx, l.generation)
		switch {
		case err != nil:
			return err
		case now == l.generation:
			return nil
		case !all:
			l.forget(now)
			return v.readFiles(ids)
		}
	}
	now, err := readGeneration(v.ctx, v.tx)
	if err != nil {
		return err
	}
	l.forget(now)
	l.tree = newTree()
	return v.readFiles(nil)
}

// take puts files that are known into the tree. What others can have from them is read.
func (v *View) take(k *KnownFiles) error {
	order := make([]int, len(k.IDs)) // as readFiles has them
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(k.IDs[i], k.IDs[j]) })
	for _, i := range order {
		v.cache.tree.put(k.IDs[i], k.Paths[i], k.Languages[i])
	}
	for _, i := range order {
		if k.Languages[i] != goMod && !lang.PassesOn(k.Paths[i]) {
			continue
		}
		if err := v.readHanded(k.IDs[i]); err != nil {
			return err
		}
	}
	return nil
}

// readFiles reads the files with the given ids, which may be gone, into the tree; nil
// means all.
func (v *View) readFiles(ids []int64) error {
	t := v.cache.tree
	var changed []int64 // and there
	row := func(rows *sql.Rows) error {
		var id int64
		var path, language string
		err := rows.Scan(&id, &path, &language)
		t.put(id, path, language)
		if err == nil && (language == goMod || lang.PassesOn(path)) {
			changed = append(changed, id)
		}
		return err
	}
	const files = "SELECT id, path, language FROM files"
	if ids == nil {
		if err := each(v.ctx, v.tx, row, files); err != nil {
			return err
		}
	}
	for _, id := range ids {
		t.remove(id)
		if err := each(v.ctx, v.tx, row, files+" WHERE id = ?", id); err != nil {
			return err
		}
	}
	for _, id := range changed {
		if err := v.readHanded(id); err != nil {
			return err
		}
	}
	return nil
}

// readHanded reads what others can have from a file: its imports, and the name of its
// module.
func (v *View) readHanded(id int64) error {
	t := v.cache.tree
	if t.files[id].Language == goMod {
		var name string
		err := each(v.ctx, v.tx, func(rows *sql.Rows) error { return rows.Scan(&name) },
			"SELECT name FROM symbols WHERE id >= ? AND id < ? AND kind = 'module' ORDER BY ordinal LIMIT 1", id<<localBits, (id+1)<<localBits)
		t.setModule(id, name)
		return err
	}
	return each(v.ctx, v.tx, func(rows *sql.Rows) error {
		var imports sql.RawBytes
		err := rows.Scan(&imports)
		if err == nil {
			t.handed[id], err = decodeImports(imports)
		}
		return err
	}, "SELECT imports FROM file_refs WHERE file_id = ?", id)
}

// Named returns the declarations of a name in the whole index, headings and
// configuration keys apart. The slice must not be changed.
func (v *View) Named(name string) []Candidate {
	l := v.cache
	if list, ok := l.names[name]; ok || v.err != nil {
		return list
	}
	var list []Candidate
	v.err = each(v.ctx, v.tx, func(rows *sql.Rows) error {
		var c Candidate
		err := rows.Scan(&c.ID, &c.Kind, &c.Container)
		c.In = v.Tree.File(FileOf(c.ID))
		list = append(list, c)
		return err
	}, "SELECT id, kind, container FROM symbols WHERE name = ? AND kind <> 'section' ORDER BY id", name)
	if v.err != nil {
		return nil
	}
	if len(l.names) >= maxNames {
		clear(l.names)
	}
	l.names[name] = list
	return list
}

// endingKey is a symbol, and whether vague edges are wanted.
type endingKey struct {
	symbol int64
	vague  bool
}

// Ending answers the edges that end at a symbol, with the vague ones or without, which find looks
// for if they are not known from a view of the same state: a list is asked for page by page, and
// a graph from many sides.
func (v *View) Ending(symbol int64, vague bool, find func() ([]Edge, error)) ([]Edge, error) {
	l, key := v.cache, endingKey{symbol, vague}
	if list, ok := l.ending[key]; ok {
		return slices.Clone(list), nil
	}
	list, err := find()
	if err != nil {
		return nil, err
	}
	if l.kept += len(list); l.kept > maxEnding {
		clear(l.ending)
		l.kept = len(list)
	}
	l.ending[key] = list
	return slices.Clone(list), nil
}

// Err is what went wrong in Named, which answers no declaration then, or that the question has
// ended.
func (v *View) Err() error {
	if v.err != nil {
		return v.err
	}
	return v.ctx.Err()
}

// NameOf answers what a symbol is called, "" if there is no such symbol.
func (v *View) NameOf(symbol int64) (name string, err error) {
	err = each(v.ctx, v.tx, func(rows *sql.Rows) error { return rows.Scan(&name) }, "SELECT name FROM symbols WHERE id = ?", symbol)
	return name, err
}

// Declared is a declaration with its id, without its comment and its place.
type Declared struct {
	ID int64
	syntax.Symbol
}

// Declared answers the declarations of a file in the order of its text.
func (v *View) Declared(file int64) ([]Declared, error) {
	return v.declared("id >= ? AND id < ? ORDER BY ordinal", file<<localBits, (file+1)<<localBits)
}

// Symbol answers one declaration, none with an id if there is none.
func (v *View) Symbol(id int64) (d Declared, err error) {
	list, err := v.declared("id = ?", id)
	if len(list) > 0 {
		d = list[0]
	}
	return d, err
}

func (v *View) declared(where string, args ...any) (list []Declared, err error) {
	err = each(v.ctx, v.tx, func(rows *sql.Rows) error {
		var d Declared
		err := rows.Scan(&d.ID, &d.Kind, &d.Name, &d.Container, &d.Signature)
		list = append(list, d)
		return err
	}, "SELECT id, kind, name, container, signature FROM symbols WHERE "+where, args...)
	return list, err
}

// Referring answers a file with what it refers to.
func (v *View) Referring(file int64) (f *Referring, err error) {
	f = &Referring{TreeFile: *v.Tree.File(file)}
	err = each(v.ctx, v.tx, func(rows *sql.Rows) error { return f.scan(rows, nil, nil) }, "SELECT file_id, imports, refs FROM file_refs WHERE file_id = ?", file)
	return f, err
}

// ReferringIn is Referring with the references that stand in declarations of the file alone.
func (v *View) ReferringIn(file int64, symbols []int64) (f *Referring, err error) {
	ids, err := v.SymbolIDs(file)
	if err != nil {
		return nil, err
	}
	in := func(symbol int) bool {
		return symbol >= 0 && symbol < len(ids) && slices.Contains(symbols, ids[symbol])
	}
	f = &Referring{TreeFile: *v.Tree.File(file)}
	err = each(v.ctx, v.tx, func(rows *sql.Rows) error { return f.scan(rows, nil, in) }, "SELECT file_id, imports, refs FROM file_refs WHERE file_id = ?", file)
	return f, err
}

// Mentioning calls fn with each file that mentions any of the names in a reference or an
// import, perhaps with others too, in the order of their ids. called says which names of
// references to keep in a file with these imports; a file of which none is left is left out.
func (v *View) Mentioning(names []string, called func(imports []syntax.Import) []string, fn func(*Referring) error) error {
	tokens := make([]string, len(names))
	for i, n := range names {
		tokens[i] = nameToken(n)
	}
	slices.Sort(tokens)
	return each(v.ctx, v.tx, func(rows *sql.Rows) error {
		f := &Referring{}
		if err := f.scan(rows, called, nil); err != nil || len(f.Refs) == 0 {
			return err
		}
		f.TreeFile = *v.Tree.File(f.ID)
		return fn(f)
	}, "SELECT file_id, imports, refs FROM mentions JOIN file_refs ON file_id = mentions.rowid WHERE mentions MATCH ?", strings.Join(tokens, " OR "))
}

func (f *Referring) scan(rows *sql.Rows, called func(imports []syntax.Import) []string, from func(symbol int) bool) error {
	var imports, refs sql.RawBytes
	err := rows.Scan(&f.ID, &imports, &refs)
	if err == nil {
		f.Imports, err = decodeImports(imports)
	}
	if err != nil {
		return err
	}
	var want func([]byte) bool
	if called != nil {
		names := called(f.Imports)
		want = func(name []byte) bool {
			return slices.ContainsFunc(names, func(n string) bool { return n == string(name) })
		}
	}
	f.Refs, err = decodeReferences(refs, want, from)
	return err
}

// SymbolIDs answers the ids of a file's symbols by ordinal.
func (v *View) SymbolIDs(file int64) (ids []int64, err error) {
	rows, err := v.symbols.QueryContext(v.ctx, file<<localBits, (file+1)<<localBits)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var ordinal int
		if err := rows.Scan(&id, &ordinal); err != nil {
			return nil, err
		}
		for len(ids) <= ordinal { // cheaper than to have SQLite sort
			ids = append(ids, 0)
		}
		ids[ordinal] = id
	}
	return ids, rows.Err()
}

// Uses calls fn with each file's path, the distinct names that it refers to, in any
// order, and its imports, on one state of the index.
func (s *Store) Uses(ctx context.Context, fn func(path string, names []string, imports []syntax.Import)) error {
	return s.snapshot(ctx, "read the references", func(tx *sql.Tx) error {
		return each(ctx, tx, func(rows *sql.Rows) error {
			var path string
			var rawImports, rawRefs sql.RawBytes
			if err := rows.Scan(&path, &rawImports, &rawRefs); err != nil {
				return err
			}
			imports, err := decodeImports(rawImports)
			if err != nil {
				return err
			}
			names, err := decodeNames(rawRefs)
			if err == nil {
				fn(path, names, imports)
			}
			return err
		}, "SELECT f.path, r.imports, r.refs FROM files f JOIN file_refs r ON r.file_id = f.id")
	})
}
