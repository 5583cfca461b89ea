package store

import (
	"context"
	"database/sql"
	"errors"

	"quarry/index/syntax"
)

// ByPath answers the record of one file, nil if it is not indexed.
func (s *Store) ByPath(ctx context.Context, path string) (file *File, err error) {
	err = s.snapshot(ctx, "read the index", func(tx *sql.Tx) error {
		return each(ctx, tx, func(rows *sql.Rows) error {
			var id int64
			if err := rows.Scan(&id); err != nil {
				return err
			}
			return loadRange(ctx, tx, id, id+1, func(f *File) error {
				file = f
				return nil
			})
		}, "SELECT id FROM files WHERE path = ?", path)
	})
	return file, err
}

// SymbolsIn answers the declarations of a file with their ids, none if there is no such file.
func (s *Store) SymbolsIn(ctx context.Context, path string) (list []syntax.Symbol, ids []int64, err error) {
	err = s.snapshot(ctx, "read the declarations", func(tx *sql.Tx) error {
		return each(ctx, tx, func(rows *sql.Rows) error {
			f := &File{Syntax: &syntax.File{}}
			var n int
			if err := rows.Scan(&f.ID, &n); err != nil {
				return err
			}
			f.Syntax.Symbols, f.SymbolIDs = make([]syntax.Symbol, n), make([]int64, n)
			symbols, err := symbolRows(ctx, tx, f.ID, f.ID+1)
			if err != nil {
				return err
			}
			defer symbols.Close()
			for range n {
				if err := scanSymbol(symbols, f); err != nil {
					return err
				}
			}
			list, ids = f.Syntax.Symbols, f.SymbolIDs
			return nil
		}, "SELECT id, symbols FROM files WHERE path = ?", path)
	})
	return list, ids, err
}

// Declared answers the names, containers and spans of the declarations with the given ids; ids that
// do not exist are left out.
func (s *Store) Declared(ctx context.Context, ids []int64) (map[int64]syntax.Symbol, error) {
	found := make(map[int64]syntax.Symbol, len(ids))
	err := s.snapshot(ctx, "read the declarations", func(tx *sql.Tx) error {
		return eachID(ctx, tx, "SELECT name, container, spans FROM symbols WHERE id = ?", ids, func(id int64, row *sql.Row) error {
			var d syntax.Symbol
			var spans []byte
			if err := row.Scan(&d.Name, &d.Container, &spans); err != nil {
				return err
			}
			at := decoder{b: spans}
			d.Span, d.NameSpan = at.span(), at.span()
			found[id] = d
			return at.err()
		})
	})
	return found, err
}

// eachID calls fn with the row of each id that has one.
func eachID(ctx context.Context, tx *sql.Tx, query string, ids []int64, fn func(id int64, row *sql.Row) error) error {
	find, err := tx.PrepareContext(ctx, query)
	if err != nil {
		return err
	}
	defer find.Close()
	for _, id := range ids {
		if err := fn(id, find.QueryRowContext(ctx, id)); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
	}
	return nil
}

// Paths answers the paths of files by id; ids that do not exist are left out.
func (s *Store) Paths(ctx context.Context, ids []int64) (map[int64]string, error) {
	paths := make(map[int64]string, len(ids))
	err := s.snapshot(ctx, "read the file list", func(tx *sql.Tx) error {
		return eachID(ctx, tx, "SELECT path FROM files WHERE id = ?", ids, func(id int64, row *sql.Row) error {
			var path string
			err := row.Scan(&path)
			if err == nil {
				paths[id] = path
			}
			return err
		})
	})
	return paths, err
}
