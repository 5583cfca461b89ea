package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Stats answers what the index knows of the files in a folder and below it, by
// path; "" is the root.
func (s *Store) Stats(ctx context.Context, dir string) (map[string]Stat, error) {
	stats := map[string]Stat{}
	where, args := under(dir)
	err := s.snapshot(ctx, "read the file list", func(tx *sql.Tx) error {
		return each(ctx, tx, func(rows *sql.Rows) error {
			var name string
			var st Stat
			err := scanStat(rows.Scan, &name, &st)
			stats[name] = st
			return err
		}, "SELECT path, size, mtime, changed, hash FROM files"+where, args...)
	})
	return stats, err
}

// Listed is one file as a listing of all files has it.
type Listed struct {
	ID                     int64
	Path                   string
	Size, ModTime, Changed int64
}

// Listed answers all files and the generation that they are of.
func (s *Store) Listed(ctx context.Context) (list []Listed, generation int64, err error) {
	err = s.snapshot(ctx, "read the file list", func(tx *sql.Tx) error {
		var err error
		if generation, err = readGeneration(ctx, tx); err != nil {
			return err
		}
		return each(ctx, tx, func(rows *sql.Rows) error {
			var l Listed
			err := rows.Scan(&l.ID, &l.Path, &l.Size, &l.ModTime, &l.Changed)
			list = append(list, l)
			return err
		}, "SELECT id, path, size, mtime, changed FROM files")
	})
	return list, generation, err
}

// StatsOf answers, by path, what the index knows of the files with the given ids; ids
// that do not exist are left out.
func (s *Store) StatsOf(ctx context.Context, ids []int64) (map[string]Stat, error) {
	stats := make(map[string]Stat, len(ids))
	err := s.snapshot(ctx, "read the file list", func(tx *sql.Tx) error {
		for _, id := range ids {
			var name string
			var st Stat
			switch err := scanStat(tx.QueryRowContext(ctx, "SELECT path, size, mtime, changed, hash FROM files WHERE id = ?", id).Scan, &name, &st); {
			case errors.Is(err, sql.ErrNoRows):
			case err != nil:
				return err
			default:
				stats[name] = st
			}
		}
		return nil
	})
	return stats, err
}

// under is the condition for a folder. A range, not LIKE: paths hold any
// character, and the index on path serves it. "0" follows "/".
func under(dir string) (where string, args []any) {
	if dir == "" {
		return "", nil
	}
	return " WHERE path >= ? AND path < ?", []any{dir + "/", dir + "0"}
}

func scanStat(scan func(...any) error, name *string, st *Stat) error {
	var hash []byte
	err := scan(name, &st.Size, &st.ModTime, &st.Changed, &hash)
	copy(st.Hash[:], hash)
	return err
}

// Stat answers what the index knows of one file; ok is false if nothing.
func (s *Store) Stat(ctx context.Context, name string) (st Stat, ok bool, err error) {
	err = s.snapshot(ctx, "read the index", func(tx *sql.Tx) error {
		err := scanStat(tx.QueryRowContext(ctx, "SELECT path, size, mtime, changed, hash FROM files WHERE path = ?", name).Scan, &name, &st)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		ok = err == nil
		return err
	})
	return st, ok, err
}

// Meta answers a value kept with the index, "" if there is none.
func (s *Store) Meta(ctx context.Context, key string) (value string, err error) {
	err = s.snapshot(ctx, "read the index", func(tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, "SELECT value FROM meta WHERE key = ?", key).Scan(&value)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return value, err
}

// PutMeta keeps a value with the index.
func (s *Store) PutMeta(key, value string) error {
	return s.write("note in the index", func() error { return s.w.putMeta(key, value) })
}

func (w *writer) putMeta(key, value string) error {
	return w.exec("INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value", key, value)
}

// maxSkipped is how many paths that were left out are kept; the counts by reason
// are whole.
const maxSkipped = 1000

// Skipped is one path that the last whole scan left out.
type Skipped struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// EndScan notes the outcome of a scan of the whole root.
func (s *Store) EndScan(meta map[string]string, skipped []Skipped) error {
	s.lock()
	defer s.mu.Unlock()
	if s.w == nil {
		return errClosed
	}
	err := s.w.quietly(func() error {
		for key, value := range meta {
			if err := s.w.putMeta(key, value); err != nil {
				return err
			}
		}
		if err := s.w.exec("DELETE FROM skipped"); err != nil {
			return err
		}
		for _, k := range skipped[:min(len(skipped), maxSkipped)] {
			if err := s.w.exec("INSERT OR REPLACE INTO skipped VALUES (?, ?)", k.Path, k.Reason); err != nil {
				return err
			}
		}
		return s.w.forgetRemoved()
	})
	if err != nil {
		return fmt.Errorf("write to the index: %w", classify(err))
	}
	return nil
}

// maxRemoved is how many removed files are remembered for those who follow.
const maxRemoved = 20_000

// forgetRemoved keeps the list of removed files short. Who follows from before the
// forgotten ones is told that everything may have changed.
func (w *writer) forgetRemoved() error {
	return errors.Join(
		w.exec(`INSERT INTO meta SELECT 'removed_floor', generation FROM removed ORDER BY generation DESC LIMIT 1 OFFSET ?
			ON CONFLICT DO UPDATE SET value = excluded.value`, int64(maxRemoved)),
		w.exec("DELETE FROM removed WHERE generation <= (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'removed_floor')"))
}

// SkippedPaths answers, never nil, the first paths that the last whole scan left out.
func (s *Store) SkippedPaths(ctx context.Context) (list []Skipped, err error) {
	list = []Skipped{}
	err = s.snapshot(ctx, "read the index", func(tx *sql.Tx) error {
		return each(ctx, tx, func(rows *sql.Rows) error {
			var k Skipped
			err := rows.Scan(&k.Path, &k.Reason)
			list = append(list, k)
			return err
		}, "SELECT path, reason FROM skipped ORDER BY path")
	})
	return list, err
}

// Problem is a file that could be indexed by lines only.
type Problem struct {
	Path    string `json:"path"`
	Problem string `json:"problem"`
}

// Problems answers, never nil, the files that could be indexed by lines only.
func (s *Store) Problems(ctx context.Context) (list []Problem, err error) {
	list = []Problem{}
	err = s.snapshot(ctx, "read the index", func(tx *sql.Tx) error {
		return each(ctx, tx, func(rows *sql.Rows) error {
			var p Problem
			err := rows.Scan(&p.Path, &p.Problem)
			list = append(list, p)
			return err
		}, "SELECT path, problem FROM files WHERE problem <> '' ORDER BY path")
	})
	return list, err
}
