package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
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
	if runtime.GOOS == "windows" {
		return nil // which has no such rights, and may refuse to touch what another process has open
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

// wiped is the meta key that tells whether the database's file, its free room or its log may have
// text of rows that are gone.
const wiped = "wiped"

const (
	wipeDue  = "due"     // it has text that nobody may read any more
	wipeLeft = "left"    // it has text that is gone
	wipedNow = "written" // the file is written anew, and the log not yet emptied
	wipeDone = "1"
)

// WipeLater notes that something was removed, or is about to be, that nobody may read any
// more. It outlives the process.
func (s *Store) WipeLater() error {
	return s.write("note in the index", func() error { return s.w.leaves(true) })
}

// leaves notes, in the commit in which they go, that rows go; private: some that nobody may read
// any more. What was noted of these before may have been wiped meanwhile.
func (w *writer) leaves(private bool) error {
	if private {
		return w.exec("UPDATE meta SET value = ? WHERE key = ? AND value IN (?, ?, ?)", wipeDue, wiped, wipeDone, wipeLeft, wipedNow)
	}
	return w.exec("UPDATE meta SET value = ? WHERE key = ? AND value IN (?, ?)", wipeLeft, wiped, wipeDone, wipedNow)
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

// NeedsWipe answers whether Wipe has something to do: now, after WipeLater and in a database that
// a quarry wrote which left removed rows where they were, or later, after any other removal.
func (s *Store) NeedsWipe(ctx context.Context) (now, later bool, err error) {
	if s.path == "" {
		return false, false, nil
	}
	value, err := s.Meta(ctx, wiped)
	return value != wipeDone && value != wipeLeft && err == nil, value == wipeLeft, err
}

// Wipe takes text that is gone out of the database's file and its log, of which one in memory has
// none. It answers false if somebody reads who must have ended first, or somebody wrote meanwhile,
// for whom it stops.
func (s *Store) Wipe(ctx context.Context) (done bool, err error) {
	if s.path == "" {
		return true, nil
	}
	s.wiping.Lock()
	defer s.wiping.Unlock()
	value, err := s.Meta(ctx, wiped)
	if err != nil || value == wipeDone {
		return err == nil, err
	}
	if value != wipedNow {
		if err := s.rewrite(ctx); errors.Is(err, errInterrupted) && ctx.Err() == nil {
			return false, nil
		} else if err != nil {
			if errors.Is(err, ErrFull) { // what the log took before stays taken until somebody writes
				_, left := s.CutLog(ctx)
				err = cmp.Or(left, err)
			}
			return false, fmt.Errorf("wipe the index: %w", err)
		}
	}
	if done, err = s.CutLog(ctx); done && err == nil {
		err = s.write("note in the index", func() error {
			return s.w.exec("UPDATE meta SET value = ? WHERE key = ? AND value = ?", wipeDone, wiped, wipedNow)
		})
	}
	if err != nil {
		return false, fmt.Errorf("wipe the index: %w", err)
	}
	return done, nil
}

// rewrite writes the file anew. SQLite writes over rows that it removes, and leaves copies of them
// where it moved them from before, in the room between a page's rows; in a database that was written
// without secure_delete the rows themselves are left. That it is done is noted at once: all of
// the file goes through the log, which grows as long as somebody reads.
func (s *Store) rewrite(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.rewriting.Store(&cancel) // before mu: whoever waits for that looks here
	defer s.rewriting.Store(nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.w == nil {
		return errClosed
	}
	if ctx.Err() != nil {
		return errInterrupted
	}
	_, err := s.w.raw.ExecContext(ctx, "VACUUM", nil)
	if err == nil {
		err = s.w.quietly(func() error { return s.w.putMeta(wiped, wipedNow) })
	} else if ctx.Err() != nil {
		return errInterrupted
	}
	return classify(err)
}

// errInterrupted says that who writes did not wait.
var errInterrupted = errors.New("interrupted")

// lock is mu.Lock for who writes, and stops a rewrite. It waits for one only while SQLite copies
// what is written anew over the database, which it does not break off.
func (s *Store) lock() {
	if s.mu.TryLock() {
		return
	}
	if stop := s.rewriting.Load(); stop != nil {
		(*stop)()
	}
	s.mu.Lock()
}
