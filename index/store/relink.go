package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"runtime"
	"sync"

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

// Unresolved is one file whose references wait to be resolved.
type Unresolved struct {
	TreeFile
	Imports []syntax.Import
	Refs    []Reference
	targets []byte // as they were resolved before, nil if they were not
}

// View is what a resolver may ask while Relink runs.
type View struct {
	Tree *Tree
	w    *writer
	err  error
}

// maxNames bounds the cache of declarations by name.
const maxNames = 1 << 16

// preloadAbove is the number of waiting files from which reading every symbol
// once is cheaper than looking names up one by one. In bulk there is no index to
// look them up by.
const preloadAbove = 500

// Named returns the declarations of a name in the whole index, headings and
// configuration keys apart. The slice must not be changed.
func (v *View) Named(name string) []Candidate {
	if list, ok := v.w.names[name]; ok || v.err != nil {
		return list
	}
	if v.w.allNames && !v.w.changed[name] {
		return nil
	}
	var list []Candidate
	v.err = v.w.query("SELECT id, kind, container FROM symbols WHERE name = ? AND kind <> 'section' ORDER BY id", func(r []driver.Value) error {
		list = append(list, v.w.candidate(r))
		return nil
	}, name)
	if len(v.w.names) >= maxNames && !v.w.allNames {
		clear(v.w.names)
	}
	v.w.names[name] = list
	delete(v.w.changed, name)
	return list
}

// cores is how many threads can compute at once; the setting may be raised later.
var cores = runtime.GOMAXPROCS(0)

// Relink resolves the references of up to limit files that wait for it, in one
// transaction, and answers how many files still wait. resolve, which may be called
// for several files at once, returns the targets of each import and then of each
// reference, in order; its answer must depend on the set of files and declarations
// alone, not on their ids, so that an index grown by edits equals one built at
// once.
func (s *Store) Relink(ctx context.Context, limit int, resolve func(*View, *Unresolved) [][]Target) (left int, err error) {
	s.mu.Lock()
	left, changed, err := s.relink(ctx, limit, resolve)
	s.mu.Unlock()
	if err != nil {
		return left, fmt.Errorf("resolve references: %w", classify(err))
	}
	if changed {
		s.onSave()
	}
	return left, nil
}

func (s *Store) relink(ctx context.Context, limit int, resolve func(*View, *Unresolved) [][]Target) (left int, changed bool, err error) {
	w := s.w
	if w == nil {
		return 0, false, errClosed
	}
	var ids []int64
	err = w.query("SELECT id, (SELECT count(*) FROM files WHERE linked = 0) FROM files WHERE linked = 0 ORDER BY id LIMIT ?", func(r []driver.Value) error {
		ids = append(ids, r[0].(int64))
		left = int(r[1].(int64))
		return nil
	}, int64(limit))
	if err != nil || len(ids) == 0 {
		return 0, false, err
	}
	err = w.transactionIf(func() (bool, error) {
		view := View{w: w}
		if err := w.prepareLookups(left > preloadAbove || w.bulk); err != nil {
			return changed, err
		}
		view.Tree = w.tree
		err := w.resolveAll(&view, ids, resolve, func(f *Unresolved, lists [][]Target) error {
			moved, err := w.putTargets(f, lists)
			changed = changed || moved
			return errors.Join(err, ctx.Err())
		})
		return changed, err
	})
	if left == len(ids) && w.allNames {
		w.dropNames() // what single edits look up, they read
	}
	return left - len(ids), changed, err
}

// prepareLookups fills the caches that outlive a transaction.
func (w *writer) prepareLookups(preload bool) error {
	if w.tree == nil {
		t := newTree()
		err := w.query("SELECT id, path, language FROM files", func(r []driver.Value) error {
			t.put(r[0].(int64), r[1].(string), r[2].(string))
			return nil
		})
		if err == nil {
			err = w.loadHanded(t)
		}
		if err != nil {
			return err
		}
		w.tree = t
	}
	if w.names == nil {
		w.names = map[string][]Candidate{}
	}
	if !preload || w.allNames {
		return nil
	}
	w.names = map[string][]Candidate{}
	err := w.query("SELECT id, kind, container, name FROM symbols WHERE kind <> 'section' ORDER BY id", func(r []driver.Value) error {
		name := r[3].(string)
		w.names[name] = append(w.names[name], w.candidate(r))
		return nil
	})
	w.allNames, w.changed = err == nil, map[string]bool{}
	return err
}

// loadHanded reads the imports of the files that hand names on, and Go's modules.
func (w *writer) loadHanded(t *Tree) error {
	for id, f := range t.files {
		if f.Language == goMod {
			err := w.query("SELECT name FROM symbols WHERE id >= ? AND id < ? AND kind = 'module' ORDER BY ordinal LIMIT 1", func(r []driver.Value) error {
				t.setModule(id, r[0].(string))
				return nil
			}, id<<localBits, (id+1)<<localBits)
			if err != nil {
				return err
			}
		}
		if !handsOn(f.Path) {
			continue
		}
		imports, err := w.imports(id)
		if err != nil {
			return err
		}
		t.handed[id] = imports
	}
	return nil
}

func (w *writer) imports(file int64) (list []syntax.Import, err error) {
	err = w.query("SELECT imports FROM file_refs WHERE file_id = ?", func(r []driver.Value) error {
		list, err = decodeImports(r[0].([]byte))
		return err
	}, file)
	return list, err
}

// resolveAll reads files, resolves them and hands the targets of each to put, in any
// order. If every name is in the cache, so that looking one up changes nothing,
// files are resolved at once and while others are read and put.
func (w *writer) resolveAll(view *View, ids []int64, resolve func(*View, *Unresolved) [][]Target, put func(f *Unresolved, lists [][]Target) error) error {
	if !w.allNames || len(w.changed) > 0 {
		for _, id := range ids {
			f, err := w.unresolved(id)
			if err != nil {
				return err
			}
			lists := resolve(view, f)
			if view.err != nil {
				return view.err
			}
			if err := put(f, lists); err != nil {
				return err
			}
		}
		return nil
	}
	type resolved struct {
		file  *Unresolved
		lists [][]Target
	}
	// So that nobody waits when put fails.
	files, results := make(chan *Unresolved, len(ids)), make(chan resolved, len(ids))
	var group sync.WaitGroup
	defer group.Wait()
	defer close(files)
	for range min(cores, len(ids)) {
		group.Go(func() {
			for f := range files {
				results <- resolved{f, resolve(view, f)}
			}
		})
	}
	for _, id := range ids {
		f, err := w.unresolved(id)
		if err != nil {
			return err
		}
		files <- f
	}
	for range ids {
		r := <-results
		if err := put(r.file, r.lists); err != nil {
			return err
		}
	}
	return nil
}

// putTargets stores what a file's references were resolved to; changed is false if
// that is what they meant before.
func (w *writer) putTargets(f *Unresolved, lists [][]Target) (changed bool, err error) {
	id := f.ID
	targets := encodeTargets(lists)
	if len(lists) > 0 && string(targets) == string(f.targets) {
		return false, w.exec("UPDATE files SET linked = 1 WHERE id = ?", id)
	}
	type pair struct {
		file int64
		kind EdgeKind
	}
	sums := map[pair]float64{}
	var order []pair
	count := 0
	for i, list := range lists {
		kind := EdgeImport
		if i >= len(f.Imports) {
			kind = EdgeKind(f.Refs[i-len(f.Imports)].Kind)
		}
		count += len(list)
		for _, t := range list {
			if t.File == id {
				continue
			}
			k := pair{t.File, kind}
			if _, ok := sums[k]; !ok {
				order = append(order, k)
			}
			sums[k] += float64(t.Weight)
		}
	}
	if err := w.exec("DELETE FROM edges WHERE src = ?", id); err != nil {
		return false, err
	}
	for _, k := range order {
		if err := w.exec("INSERT INTO edges VALUES (?, ?, ?, ?)", id, k.file, string(k.kind), sums[k]); err != nil {
			return false, err
		}
	}
	if err := w.exec("INSERT INTO file_targets VALUES (?, ?) ON CONFLICT DO UPDATE SET targets = excluded.targets", id, targets); err != nil {
		return false, err
	}
	return true, w.exec("UPDATE files SET linked = 1, edges = ?, generation = ? WHERE id = ?", int64(count), w.generation, id)
}

func (w *writer) unresolved(id int64) (*Unresolved, error) {
	f := &Unresolved{TreeFile: *w.tree.File(id)}
	err := w.query("SELECT imports, refs, targets FROM file_refs LEFT JOIN file_targets USING (file_id) WHERE file_id = ?", func(r []driver.Value) error {
		var err error
		if f.Imports, err = decodeImports(r[0].([]byte)); err != nil {
			return err
		}
		if f.Refs, err = decodeReferences(r[1].([]byte)); err != nil {
			return err
		}
		if b, ok := r[2].([]byte); ok { // NULL: not resolved since it changed
			f.targets = append(f.targets, b...)
		}
		return nil
	}, id)
	return f, err
}

// candidate reads id, kind and container. The caches are dropped for a name when
// its declaration or the file of one changes, so In stays true.
func (w *writer) candidate(row []driver.Value) Candidate {
	id := row[0].(int64)
	return Candidate{id, kindOf(row[1].(string)), row[2].(string), w.tree.File(FileOf(id))}
}

// kindOf answers the constant for a kind, so that not every row keeps a string.
func kindOf(s string) syntax.Kind {
	for _, k := range kinds {
		if string(k) == s {
			return k
		}
	}
	return syntax.Kind(s)
}

var kinds = []syntax.Kind{
	syntax.KindFunction, syntax.KindMethod, syntax.KindClass, syntax.KindStruct, syntax.KindInterface, syntax.KindEnum, syntax.KindVar,
	syntax.KindConst, syntax.KindType, syntax.KindModule, syntax.KindField, syntax.KindMacro, syntax.KindSection,
}
