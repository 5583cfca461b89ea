package store

import (
	"context"
	"database/sql"
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
