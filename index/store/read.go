package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"quarry/index/syntax"
)

// snapshot runs f on one consistent state of the database. When it returns, its
// connection is free: a transaction that its context ends is rolled back by a goroutine
// of its own, whose connection Close would not wait for, and which would write the log
// into a database that somebody else may have made meanwhile.
func (s *Store) snapshot(ctx context.Context, doing string, f func(*sql.Tx) error) error {
	conn, err := s.reads.Conn(ctx)
	if err == nil {
		var tx *sql.Tx
		if tx, err = conn.BeginTx(context.WithoutCancel(ctx), nil); err == nil {
			err = f(tx)
			tx.Rollback() // it only read
		}
		conn.Close() // gives it back
	}
	if err != nil {
		return fmt.Errorf("%s: %w", doing, classify(err))
	}
	return nil
}

// each runs a query and scans every row.
func each(ctx context.Context, tx *sql.Tx, row func(*sql.Rows) error, query string, args ...any) error {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Load calls fn with the records of the files with the given ids, or of all files
// if ids is nil, in the order of ids, on one state of the index. Ids that do not
// exist are left out. It answers the generation of that state. fn must not call
// the store; it may keep the record.
func (s *Store) Load(ctx context.Context, ids []int64, fn func(*File) error) (generation int64, err error) {
	err = s.snapshot(ctx, "read the index", func(tx *sql.Tx) error {
		var err error
		if generation, err = readGeneration(ctx, tx); err != nil {
			return err
		}
		if ids == nil {
			return loadRange(ctx, tx, 0, 1<<(63-localBits)-1, fn)
		}
		for group := range slices.Chunk(ids, loadGroup) {
			if err := loadSome(ctx, tx, group, fn); err != nil {
				return err
			}
		}
		return nil
	})
	return generation, err
}

const loadGroup = 512

// loadSome reads files by id, in one pass over the range if most of it is wanted.
func loadSome(ctx context.Context, tx *sql.Tx, ids []int64, fn func(*File) error) error {
	lo, hi := ids[0], ids[len(ids)-1]
	if len(ids) < 8 || !slices.IsSorted(ids) || hi-lo >= 2*int64(len(ids)) {
		for _, id := range ids {
			if err := loadRange(ctx, tx, id, id+1, fn); err != nil {
				return err
			}
		}
		return nil
	}
	return loadRange(ctx, tx, lo, hi+1, func(f *File) error {
		if _, wanted := slices.BinarySearch(ids, f.ID); !wanted {
			return nil
		}
		return fn(f)
	})
}

func readGeneration(ctx context.Context, tx *sql.Tx) (generation int64, err error) {
	err = tx.QueryRowContext(ctx, "SELECT coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'generation'), 0)").Scan(&generation)
	return generation, err
}

// loadRange reads the files with lo <= id < hi: three cursors in the order of
// ids, each advanced as far as the current file.
func loadRange(ctx context.Context, tx *sql.Tx, lo, hi int64, fn func(*File) error) error {
	symbols, err := symbolRows(ctx, tx, lo, hi)
	if err != nil {
		return err
	}
	defer symbols.Close()
	chunks, err := tx.QueryContext(ctx, `SELECT id, ordinal, content, span, symbols, hash
		FROM chunks WHERE id >= ? AND id < ? ORDER BY id`, lo<<localBits, hi<<localBits)
	if err != nil {
		return err
	}
	defer chunks.Close()
	return each(ctx, tx, func(rows *sql.Rows) error {
		f := &File{Syntax: &syntax.File{}}
		var imports, refs, hash sql.RawBytes
		var nSymbols, nChunks int
		if err := rows.Scan(&f.ID, &f.Path, &f.Syntax.Language, &f.Size, &f.ModTime, &hash, &f.Summary, &nSymbols, &nChunks, &imports, &refs); err != nil {
			return err
		}
		copy(f.Hash[:], hash)
		var err error
		if f.Syntax.Imports, err = decodeImports(imports); err != nil {
			return err
		}
		if f.Syntax.Refs, err = decodeRefs(refs); err != nil {
			return err
		}
		f.SymbolIDs, f.ChunkIDs = make([]int64, nSymbols), make([]int64, nChunks)
		f.Syntax.Symbols, f.Syntax.Chunks = make([]syntax.Symbol, nSymbols), make([]syntax.Chunk, nChunks)
		for range nSymbols {
			if err := scanSymbol(symbols, f); err != nil {
				return err
			}
		}
		for range nChunks {
			if err := scanChunk(chunks, f); err != nil {
				return err
			}
		}
		return fn(f)
	}, `SELECT f.id, path, language, size, mtime, hash, summary, symbols, chunks, r.imports, r.refs
		FROM files f JOIN file_refs r ON r.file_id = f.id WHERE f.id >= ? AND f.id < ? ORDER BY f.id`, lo, hi)
}

// symbolRows are the declarations of files whose ids are in a range, for scanSymbol.
func symbolRows(ctx context.Context, tx *sql.Tx, lo, hi int64) (*sql.Rows, error) {
	return tx.QueryContext(ctx, `SELECT id, ordinal, kind, name, container, signature, doc, spans
		FROM symbols WHERE id >= ? AND id < ? ORDER BY id`, lo<<localBits, hi<<localBits)
}

func decodeRefs(b []byte) ([]syntax.Ref, error) {
	list, err := decodeReferences(b, nil, nil)
	refs := make([]syntax.Ref, len(list))
	for i, r := range list {
		refs[i] = syntax.Ref{Kind: r.Kind, Name: r.Name, Qualifier: r.Qualifier, From: r.From, Span: syntax.Span{StartLine: r.Line, EndLine: r.Line}}
	}
	return refs, err
}

func scanSymbol(rows *sql.Rows, f *File) error {
	var s syntax.Symbol
	var id int64
	var ordinal int
	var spans sql.RawBytes
	if !rows.Next() {
		return missing(rows, f)
	}
	if err := rows.Scan(&id, &ordinal, &s.Kind, &s.Name, &s.Container, &s.Signature, &s.Doc, &spans); err != nil {
		return err
	}
	d := decoder{b: spans}
	s.Span, s.NameSpan = d.span(), d.span()
	if err := d.err(); err != nil {
		return err
	}
	if FileOf(id) != f.ID || ordinal >= len(f.SymbolIDs) {
		return missing(rows, f)
	}
	f.Syntax.Symbols[ordinal], f.SymbolIDs[ordinal] = s, id
	return nil
}

func scanChunk(rows *sql.Rows, f *File) error {
	var c syntax.Chunk
	var id int64
	var ordinal int
	var span, symbols, hash sql.RawBytes
	if !rows.Next() {
		return missing(rows, f)
	}
	if err := rows.Scan(&id, &ordinal, &c.Content, &span, &symbols, &hash); err != nil {
		return err
	}
	d := decoder{b: span}
	c.Span = d.span()
	if err := d.err(); err != nil {
		return err
	}
	var err error
	if c.Symbols, err = decodeInts(symbols); err != nil {
		return err
	}
	copy(c.Hash[:], hash)
	if FileOf(id) != f.ID || ordinal >= len(f.ChunkIDs) {
		return missing(rows, f)
	}
	f.Syntax.Chunks[ordinal], f.ChunkIDs[ordinal] = c, id
	return nil
}

// missing reports that the counts of a file do not fit its rows.
func missing(rows *sql.Rows, f *File) error {
	if err := rows.Err(); err != nil {
		return err
	}
	return fmt.Errorf("%w: the records of %s are incomplete", ErrCorrupt, f.Path)
}

// Since answers the files that changed after generation: ids of changed and of
// removed files alike (Load leaves the latter out), and the generation up to
// which the answer holds. all is true if too much was forgotten to say: everything
// may have changed.
func (s *Store) Since(ctx context.Context, generation int64) (ids []int64, now int64, all bool, err error) {
	err = s.snapshot(ctx, "follow the index", func(tx *sql.Tx) error {
		ids, now, all, err = since(ctx, tx, generation)
		return err
	})
	return ids, now, all, err
}

func since(ctx context.Context, tx *sql.Tx, generation int64) (ids []int64, now int64, all bool, err error) {
	if now, err = readGeneration(ctx, tx); err != nil {
		return nil, now, false, err
	}
	var floor int64
	err = tx.QueryRowContext(ctx, "SELECT coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'removed_floor'), 0)").Scan(&floor)
	if err != nil {
		return nil, now, false, err
	}
	if all = generation < floor || generation > now; all {
		return nil, now, true, nil
	}
	err = each(ctx, tx, func(rows *sql.Rows) error {
		var id int64
		err := rows.Scan(&id)
		ids = append(ids, id)
		return err
	}, "SELECT id FROM files WHERE generation > ?1 UNION SELECT file_id FROM removed WHERE generation > ?1 ORDER BY 1", generation)
	return ids, now, false, err
}

// Totals answers how much is indexed.
func (s *Store) Totals(ctx context.Context) (t Totals, err error) {
	err = s.snapshot(ctx, "count the index", func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `SELECT count(*), coalesce(sum(chunks), 0), coalesce(sum(symbols), 0), coalesce(sum(refs), 0),
			coalesce(sum(size), 0) FROM files`).
			Scan(&t.Files, &t.Chunks, &t.Symbols, &t.References, &t.Bytes)
	})
	return t, err
}
