package store

import (
	"database/sql/driver"
	"fmt"
	"strconv"

	"quarry/index/syntax"
)

// Batch is a set of changes that becomes visible at once.
type Batch struct {
	// Put are new or changed files. One whose path is new and whose text is that of
	// a file in Remove takes over its record: a rename.
	Put []*Document
	// Touch are files whose text is known to be unchanged.
	Touch []Touch
	// Remove are paths that are gone.
	Remove []string
	// Private: some of these go because nobody may read them any more.
	Private bool
}

// Touch notes a file's new size and times.
type Touch struct {
	Path                   string
	Size, ModTime, Changed int64
}

// Apply writes a batch in one transaction. Chunks whose text is unchanged and
// symbols that are still declared keep their ids. Nothing is written if something cannot be; where that is for what is in the batch, the error is ErrRefused.
func (s *Store) Apply(b Batch) error {
	if err := s.apply(b); err != nil {
		return fmt.Errorf("write to the index: %w", classify(err))
	}
	s.onSave()
	return nil
}

func (s *Store) apply(b Batch) error {
	s.lock()
	defer s.mu.Unlock()
	if s.w == nil {
		return errClosed
	}
	return s.w.transaction(func() error {
		p := put{w: s.w}
		return p.batch(b)
	})
}

// put is one running Apply.
type put struct {
	w    *writer
	left bool // rows go
}

func (p *put) batch(b Batch) error {
	for _, t := range b.Touch {
		if err := p.w.exec("UPDATE files SET size = ?, mtime = ?, changed = ? WHERE path = ?", t.Size, t.ModTime, t.Changed, t.Path); err != nil {
			return err
		}
	}
	gone, err := p.renames(b)
	if err != nil {
		return err
	}
	for _, name := range gone {
		if err := p.remove(name); err != nil {
			return err
		}
	}
	for _, d := range b.Put {
		if err := p.document(d); err != nil {
			return fmt.Errorf("%s: %w", d.Path, err)
		}
	}
	if p.left || b.Private {
		if err := p.w.leaves(b.Private); err != nil {
			return err
		}
	}
	if b.Private {
		return p.w.putMeta(forgotten, strconv.FormatInt(p.w.generation, 10))
	}
	return nil
}

func (p *put) remove(name string) error {
	var id int64
	if err := p.w.query("SELECT id FROM files WHERE path = ?", func(r []driver.Value) error { id = r[0].(int64); return nil }, name); err != nil || id == 0 {
		return err
	}
	p.left = true
	lo, hi := id<<localBits, (id+1)<<localBits
	for _, q := range []string{
		"DELETE FROM chunks WHERE id >= ? AND id < ?",
		"DELETE FROM symbols WHERE id >= ? AND id < ?",
	} {
		if err := p.w.exec(q, lo, hi); err != nil {
			return err
		}
	}
	for _, q := range []string{
		"DELETE FROM file_text WHERE rowid = ?",
		"DELETE FROM mentions WHERE rowid = ?",
		"DELETE FROM files WHERE id = ?", // references go with it
	} {
		if err := p.w.exec(q, id); err != nil {
			return err
		}
	}
	return p.w.exec("INSERT INTO removed VALUES (?, ?)", p.w.generation, id)
}

// oldChunk and oldSymbol are what a diff needs of the stored rows.
type oldChunk struct {
	id   int64
	hash Hash
}

type oldSymbol struct {
	id  int64
	key symbolKey
}

type symbolKey struct {
	kind            syntax.Kind
	container, name string
}

func (p *put) chunks(file int64) ([]oldChunk, error) {
	var list []oldChunk
	err := p.w.query("SELECT id, hash FROM chunks WHERE id >= ? AND id < ? ORDER BY ordinal", func(r []driver.Value) error {
		c := oldChunk{id: r[0].(int64)}
		copy(c.hash[:], r[1].([]byte))
		list = append(list, c)
		return nil
	}, file<<localBits, (file+1)<<localBits)
	return list, err
}

func (p *put) symbols(file int64) ([]oldSymbol, error) {
	var list []oldSymbol
	err := p.w.query("SELECT id, kind, container, name FROM symbols WHERE id >= ? AND id < ? ORDER BY ordinal", func(r []driver.Value) error {
		list = append(list, oldSymbol{r[0].(int64), symbolKey{syntax.Kind(r[1].(string)), r[2].(string), r[3].(string)}})
		return nil
	}, file<<localBits, (file+1)<<localBits)
	return list, err
}

func (p *put) document(d *Document) error {
	w := p.w
	var id, nextSymbol, nextChunk int64
	err := w.query("SELECT id, next_symbol, next_chunk FROM files WHERE path = ?", func(r []driver.Value) error {
		id, nextSymbol, nextChunk = r[0].(int64), r[1].(int64), r[2].(int64)
		return nil
	}, d.Path)
	if err != nil {
		return err
	}
	if id != 0 && (isUsedUp(nextSymbol, len(d.Syntax.Symbols)) || isUsedUp(nextChunk, len(d.Syntax.Chunks))) {
		// Edited a great many times. Under another id it starts anew.
		if err := p.remove(d.Path); err != nil {
			return err
		}
		id, nextChunk = 0, 0
	}
	fresh := id == 0
	p.left = p.left || !fresh
	if fresh {
		id, err = w.insert(`INSERT INTO files (path, language, size, mtime, hash, summary, problem, next_symbol, next_chunk, symbols, chunks, refs, generation)
			VALUES (?, ?, 0, 0, x'', '', '', 0, 0, 0, 0, 0, 0)`, d.Path, d.Language)
		if err != nil {
			return err
		}
		nextSymbol = 1 // so that no symbol's id equals its file's own base
	}
	var oldSymbols []oldSymbol
	var oldChunks []oldChunk
	if !fresh {
		if oldSymbols, err = p.symbols(id); err != nil {
			return err
		}
		if oldChunks, err = p.chunks(id); err != nil {
			return err
		}
	}
	if nextSymbol, err = p.putSymbols(id, nextSymbol, oldSymbols, d.Syntax.Symbols); err != nil {
		return err
	}
	if nextChunk, err = p.putChunks(id, nextChunk, oldChunks, d); err != nil {
		return err
	}
	if err := p.putTextLater(id, fresh); err != nil {
		return err
	}
	refs, err := p.putRefs(id, fresh, d.Syntax)
	if err != nil {
		return err
	}
	return w.exec(`UPDATE files SET language = ?, size = ?, mtime = ?, changed = ?, hash = ?, summary = ?, problem = ?,
		next_symbol = ?, next_chunk = ?, symbols = ?, chunks = ?, refs = ?, generation = ? WHERE id = ?`,
		d.Language, d.Size, d.ModTime, d.Changed, d.Hash[:], d.Summary, d.Problem,
		nextSymbol, nextChunk, int64(len(d.Syntax.Symbols)), int64(len(d.Syntax.Chunks)), int64(refs), w.generation, id)
}

// isUsedUp answers whether a file that has used the local ids below next may be short of
// ids for more.
func isUsedUp(next int64, more int) bool { return next+int64(more) > 1<<localBits }

func (p *put) putSymbols(file, next int64, old []oldSymbol, list []syntax.Symbol) (int64, error) {
	free := map[symbolKey][]int64{}
	for _, o := range old {
		free[o.key] = append(free[o.key], o.id)
	}
	var e encoder
	for i, s := range list {
		e.b = e.b[:0]
		e.span(s.Span)
		e.span(s.NameSpan)
		key := symbolKey{s.Kind, s.Container, s.Name}
		var err error
		if ids := free[key]; len(ids) > 0 {
			free[key] = ids[1:]
			err = p.w.exec("UPDATE symbols SET ordinal = ?, signature = ?, doc = ?, spans = ? WHERE id = ?",
				int64(i), s.Signature, s.Doc, e.b, ids[0])
		} else {
			err = p.w.exec("INSERT INTO symbols VALUES (?, ?, ?, ?, ?, ?, ?, ?)", file<<localBits|next,
				int64(i), string(s.Kind), s.Name, s.Container, s.Signature, s.Doc, e.b)
			next++
		}
		if err != nil {
			return 0, err
		}
	}
	for _, ids := range free {
		for _, id := range ids {
			if err := p.w.exec("DELETE FROM symbols WHERE id = ?", id); err != nil {
				return 0, err
			}
		}
	}
	return next, nil
}

func byHash(old []oldChunk) map[Hash][]*oldChunk {
	m := make(map[Hash][]*oldChunk, len(old))
	for i := range old {
		m[old[i].hash] = append(m[old[i].hash], &old[i])
	}
	return m
}

func takeHash(free map[Hash][]*oldChunk, h Hash) *oldChunk {
	list := free[h]
	if len(list) == 0 {
		return nil
	}
	free[h] = list[1:]
	return list[0]
}

func (p *put) putChunks(file, next int64, old []oldChunk, d *Document) (int64, error) {
	free := byHash(old)
	var e encoder
	for i, c := range d.Syntax.Chunks {
		e.b = e.b[:0]
		e.span(c.Span)
		symbols := encodeInts(c.Symbols)
		if o := takeHash(free, Hash(c.Hash)); o != nil {
			if err := p.w.exec("UPDATE chunks SET ordinal = ?, content = ?, span = ?, symbols = ? WHERE id = ?",
				int64(i), string(c.Content), e.b, symbols, o.id); err != nil {
				return 0, err
			}
			continue
		}
		id := file<<localBits | next
		next++
		if err := p.w.exec("INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?)",
			id, int64(i), string(c.Content), e.b, symbols, c.Hash[:]); err != nil {
			return 0, err
		}
	}
	for _, left := range free {
		for _, o := range left {
			if err := p.w.exec("DELETE FROM chunks WHERE id = ?", o.id); err != nil {
				return 0, err
			}
		}
	}
	return next, nil
}

// putRefs answers how many references there are.
func (p *put) putRefs(id int64, fresh bool, f *syntax.File) (int, error) {
	refs := mergeRefs(f.Refs, f.Symbols)
	if !fresh {
		if err := p.w.exec("DELETE FROM mentions WHERE rowid = ?", id); err != nil {
			return 0, err
		}
	}
	if err := p.w.exec("INSERT INTO mentions (rowid, names) VALUES (?, ?)", id, mentionText(refs, f.Imports)); err != nil {
		return 0, err
	}
	return len(refs), p.w.exec(`INSERT INTO file_refs VALUES (?, ?, ?)
		ON CONFLICT DO UPDATE SET imports = excluded.imports, refs = excluded.refs`,
		id, encodeImports(f.Imports), encodeReferences(refs))
}
