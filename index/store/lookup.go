package store

import (
	"context"
	"database/sql"
	"errors"
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

// Paths answers the paths of files by id; ids that do not exist are left out.
func (s *Store) Paths(ctx context.Context, ids []int64) (map[int64]string, error) {
	paths := make(map[int64]string, len(ids))
	err := s.snapshot(ctx, "read the file list", func(tx *sql.Tx) error {
		find, err := tx.PrepareContext(ctx, "SELECT path FROM files WHERE id = ?")
		if err != nil {
			return err
		}
		defer find.Close()
		for _, id := range ids {
			var path string
			switch err := find.QueryRowContext(ctx, id).Scan(&path); {
			case err == nil:
				paths[id] = path
			case !errors.Is(err, sql.ErrNoRows):
				return err
			}
		}
		return nil
	})
	return paths, err
}
