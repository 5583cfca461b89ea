package store

import (
	"context"
	"fmt"
	"os"
	"strconv"
)

// private makes a database, and what SQLite writes beside it, readable by the user
// alone. SQLite gives its other files the rights of the first.
func private(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		if info, err := os.Stat(name); err == nil && info.Mode().Perm()&0o077 != 0 {
			if err := os.Chmod(name, 0o600); err != nil {
				return err
			}
		}
	}
	return nil
}

// wiped is the meta key that tells whether a removed file may have left text in the
// database's free pages or its log.
const wiped = "wiped"

const (
	wipeDue  = "due"
	wipeDone = "1"
)

// WipeLater notes that something was removed, or is about to be, that nobody may read any
// more. It outlives the process.
func (s *Store) WipeLater() error {
	return s.write("note in the index", func() error {
		return s.w.exec("UPDATE meta SET value = ? WHERE key = ? AND value = ?", wipeDue, wiped, wipeDone)
	})
}

// forgotten is the meta key of the first generation that has nothing of what nobody may read
// any more. It is noted in the commit that removes that (Batch.Private), so that no state is
// taken for a later one.
const forgotten = "forgotten"

// Forgotten answers the first state of the index from which something may be kept beside it: all
// before have what nobody may read any more. noted is false in a database of which that
// was never said.
func (s *Store) Forgotten(ctx context.Context) (generation int64, noted bool, err error) {
	value, err := s.Meta(ctx, forgotten)
	if err != nil || value == "" {
		return 0, false, err
	}
	generation, err = strconv.ParseInt(value, 10, 64)
	return generation, true, err
}

// ForgetBefore notes that what the index was before its present state must not be kept.
func (s *Store) ForgetBefore() error {
	return s.write("note in the index", func() error {
		return s.w.exec(`INSERT INTO meta VALUES (?, coalesce((SELECT value FROM meta WHERE key = 'generation'), '0'))
			ON CONFLICT DO UPDATE SET value = excluded.value`, forgotten)
	})
}

// NeedsWipe answers whether Wipe has something to do: after WipeLater, and in a
// database that a quarry wrote which left removed rows where they were.
func (s *Store) NeedsWipe(ctx context.Context) (bool, error) {
	if s.path == "" {
		return false, nil
	}
	value, err := s.Meta(ctx, wiped)
	return value != wipeDone, err
}

// Wipe takes removed text out of the database's file and its log. It answers false if
// somebody reads who must have ended first; no write waits for that.
func (s *Store) Wipe(ctx context.Context) (done bool, err error) {
	value, err := s.Meta(ctx, wiped)
	if err == nil && value == "" {
		err = s.rewrite()
	}
	if err == nil {
		done, err = s.CutLog(ctx)
	}
	if done && err == nil {
		err = s.PutMeta(wiped, wipeDone)
	}
	if err != nil {
		return false, fmt.Errorf("wipe the index: %w", err)
	}
	return done, nil
}

// rewrite takes out of the file what was removed without secure_delete. It is noted that this is
// done: all of the file goes through the log, which grows as long as somebody reads.
func (s *Store) rewrite() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.w == nil {
		return errClosed
	}
	err := s.w.execOnce("VACUUM")
	if err == nil {
		err = s.w.quietly(func() error { return s.w.putMeta(wiped, wipeDue) })
	}
	return classify(err)
}
