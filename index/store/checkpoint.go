package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
)

// longLog is the size of the write-ahead log, in bytes, above which it is worth
// moving into the database. The first write after a checkpoint cuts it to that.
const longLog = 4 << 20

// Left to itself, SQLite moves the log within the commit that makes it longer than
// this many pages, and whoever committed waits for the disk. While the index is
// filled nobody else does, and 32 MB halve what is written twice; afterwards
// Checkpoint comes first, and this only bounds the log of somebody who never pauses.
const (
	bulkLogPages = 8_000
	keptLogPages = 32_000
)

// LogIsLong answers whether Checkpoint has something to do.
func (s *Store) LogIsLong() bool {
	if s.path == "" {
		return false
	}
	info, err := os.Stat(s.path + "-wal")
	return err == nil && info.Size() > longLog
}

// TruncateLog is CutLog that waits, for a command whose user sees that it is at work.
func (s *Store) TruncateLog(ctx context.Context) error {
	if !s.HasLog() {
		return nil
	}
	s.moving.Lock()
	defer s.moving.Unlock()
	if _, err := s.reads.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		return fmt.Errorf("tidy the index: %w", classify(err))
	}
	return nil
}

// HasLog answers whether there is something for CutLog.
func (s *Store) HasLog() bool {
	if s.path == "" {
		return false
	}
	info, err := os.Stat(s.path + "-wal")
	return err == nil && info.Size() > 0
}

// CutLog is Checkpoint that leaves an empty log, in which nothing is of what was removed or
// written over. It answers false if somebody reads or writes just now; nobody waits for it.
func (s *Store) CutLog(ctx context.Context) (done bool, err error) {
	if !s.HasLog() {
		return true, nil
	}
	if err := s.Checkpoint(ctx); err != nil { // so that there is nothing left to move when writers have to wait
		return false, err
	}
	s.moving.Lock()
	defer s.moving.Unlock()
	conn, err := s.reads.Conn(ctx)
	if err != nil {
		return false, fmt.Errorf("tidy the index: %w", classify(err))
	}
	defer conn.Close()
	_, err = conn.ExecContext(ctx, "PRAGMA busy_timeout = 0")
	busy := true
	if err == nil {
		var pages, moved int
		err = conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved)
	}
	_, restored := conn.ExecContext(context.WithoutCancel(ctx), "PRAGMA busy_timeout = "+busyTimeout)
	if err = errors.Join(err, restored); err != nil {
		return false, fmt.Errorf("tidy the index: %w", classify(err))
	}
	return !busy, nil
}

// keepLog opens a connection that lets the others close without moving the log, for a
// process that is to end at once: the last one to close moves all of it, whatever that
// takes, unless it may not write. The next process finds the log where it is, and its
// first pause moves it.
func (s *Store) keepLog() (*sql.DB, error) {
	keep, err := sql.Open("sqlite3", "file:"+escapePath(s.path)+"?mode=ro&_synchronous=OFF")
	if err != nil {
		return nil, fmt.Errorf("close the index: %w", classify(err))
	}
	keep.SetMaxOpenConns(1)
	var n int
	if err := keep.QueryRow("SELECT count(*) FROM meta").Scan(&n); err != nil { // only who has read holds on to the log
		return nil, errors.Join(fmt.Errorf("close the index: %w", classify(err)), keep.Close())
	}
	return keep, nil
}

// Checkpoint moves what was written lately into the database proper. It waits for
// the disk, up to tenths of a second, on a connection of its own: no read and no
// write waits for it. What is written meanwhile stays for the next one.
func (s *Store) Checkpoint(ctx context.Context) error {
	s.moving.Lock()
	defer s.moving.Unlock()
	if _, err := s.reads.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)"); err != nil {
		return fmt.Errorf("tidy the index: %w", classify(err))
	}
	return nil
}
