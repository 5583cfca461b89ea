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

// TruncateLog moves all of a long log into the database and cuts it, for a command that wrote
// much and whose user sees that it is at work.
func (s *Store) TruncateLog(ctx context.Context) error {
	if !s.LogIsLong() {
		return nil
	}
	s.moving.Lock()
	defer s.moving.Unlock()
	if _, err := s.reads.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		return fmt.Errorf("tidy the index: %w", classify(err))
	}
	return nil
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
