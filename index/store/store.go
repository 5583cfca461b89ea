// Package store keeps one workspace root's index in SQLite: files, symbols,
// chunks, the full-text table, and what files refer to. It is the only
// importer of the SQLite driver. It knows no disk layout of the workspace, no
// parser and no editor; package index feeds it.
//
// A Store has one writer at a time (Apply and the other writing methods take a
// mutex) and any number of readers, which go on with the last commit while a
// write runs (WAL). All methods are safe for concurrent use. A second process may
// open the same database to read; who writes is settled outside, by a file lock.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	sqlite3 "github.com/mattn/go-sqlite3"
)

// Store is one open database.
type Store struct {
	path    string // "" for an index in memory
	readDSN string
	reads   *sql.DB
	onSave  func() // after each commit of this process

	// mu guards the writer below and makes writes one at a time.
	mu     sync.Mutex
	w      *writer
	keeper *sql.DB    // owns the writer's connection
	wiping sync.Mutex // held by Wipe
	// rewriting stops who writes the file anew, with mu held; nil while nobody does.
	rewriting atomic.Pointer[context.CancelFunc]

	moving sync.Mutex // held by Checkpoint; Close waits for it

	views viewCache
}

// ErrCorrupt says that the database cannot be trusted any more.
var ErrCorrupt = errors.New("the index is damaged")

// ErrFull says that nothing more can be written: the disk is full, or the state
// folder cannot be written to.
var ErrFull = errors.New("the index cannot be written")

// ErrRefused says that the database does not take some file as it is.
var ErrRefused = errors.New("the index cannot hold this")

// busyTimeout is how long a connection waits for another, in ms.
const busyTimeout = "5000"

const pragmas = "_busy_timeout=" + busyTimeout + "&_foreign_keys=on&_synchronous=NORMAL"

var memoryNames atomic.Int64

// Open opens the database at path to write, creating it and its folder if need
// be, and brings its schema up to date. An empty path opens an index in memory.
// saved, if not nil, is called after each commit; it must not call the store.
func Open(path string, saved func()) (*Store, error) {
	return openAt(path, saved, true)
}

// OpenToRead opens a database that another process writes. It fails if there is
// none yet, or one with another schema.
func OpenToRead(path string) (*Store, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("open the index: %w", err)
	}
	return openAt(path, nil, false)
}

func openAt(path string, saved func(), write bool) (*Store, error) {
	if path != "" {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrFull, err)
		}
		if err := checkLength(path); err != nil {
			return nil, fmt.Errorf("open the index: %w", err)
		}
		if write {
			if err := private(path); err != nil {
				return nil, fmt.Errorf("%w: %w", ErrFull, err)
			}
		}
	}
	s, err := connect(path, saved)
	if err != nil {
		return nil, fmt.Errorf("open the index: %w", classify(err))
	}
	if err := s.start(write); err != nil {
		return nil, errors.Join(fmt.Errorf("open the index: %w", classify(err)), s.Close())
	}
	return s, nil
}

// connect prepares a store that has yet to start.
func connect(path string, saved func()) (*Store, error) {
	if saved == nil {
		saved = func() {}
	}
	s := &Store{path: path, onSave: saved, views: viewCache{busy: make(chan struct{}, 1)}}
	writeDSN := ""
	if path == "" {
		s.readDSN = "file:/quarry-" + strconv.FormatInt(memoryNames.Add(1), 10) + "?vfs=memdb&" + pragmas
		writeDSN = s.readDSN + "&_txlock=immediate"
	} else {
		name := "file:" + escapePath(path) + "?" + pragmas
		writeDSN, s.readDSN = name+"&_journal_mode=WAL&_txlock=immediate", name+"&_query_only=on"
	}
	var err error
	if s.keeper, err = sql.Open("sqlite3", writeDSN); err != nil {
		return nil, err
	}
	s.keeper.SetMaxOpenConns(1)
	return s, nil
}

// Copy opens an index in memory with the content of this one. It writes nothing to
// the disk, so that it works where that is full.
func (s *Store) Copy(saved func()) (*Store, error) {
	s.lock()
	defer s.mu.Unlock()
	if s.w == nil {
		return nil, errClosed
	}
	to, err := connect("", saved)
	if err == nil {
		if err = to.keeper.Ping(); err == nil { // what is in memory lives as long as a connection
			// Not SQLite's backup: it copies the mark that says there is a write-ahead
			// log beside, which nothing in memory can have.
			err = s.w.execOnce("VACUUM INTO '" + to.readDSN + "'")
		}
		if err == nil {
			err = to.start(true)
		}
		if err != nil {
			err = errors.Join(err, to.Close())
		}
	}
	if err != nil {
		return nil, fmt.Errorf("copy the index into memory: %w", classify(err))
	}
	return to, nil
}

func (s *Store) start(write bool) error {
	if err := probe(s.keeper); err != nil {
		return err
	}
	if !write {
		if err := checkSchema(s.keeper); err != nil {
			return err
		}
	} else if err := migrate(s.keeper); err != nil {
		return err
	}
	var err error
	if s.reads, err = sql.Open("sqlite3", s.readDSN); err != nil {
		return err
	}
	s.reads.SetMaxOpenConns(8)
	s.reads.SetMaxIdleConns(8)
	if write {
		s.w, err = newWriter(s.keeper)
	}
	return err
}

// probe finds out whether this binary can do full-text search at all, before a
// migration fails with a less helpful message.
func probe(db *sql.DB) error {
	var on bool
	if err := db.QueryRow("SELECT sqlite_compileoption_used('ENABLE_FTS5')").Scan(&on); err != nil {
		return err
	}
	if !on {
		return errors.New("this quarry was built without full-text search; build it with `make build` or `go build -tags sqlite_fts5 ./cmd/quarry`")
	}
	return nil
}

// Engine is the version of SQLite in this binary, and whether it can do full-text search.
func Engine() (version string, fullText bool, err error) {
	db, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		return "", false, err
	}
	defer db.Close()
	err = db.QueryRow("SELECT sqlite_version(), sqlite_compileoption_used('ENABLE_FTS5')").Scan(&version, &fullText)
	return version, fullText, err
}

// escapePath makes a file name safe inside a SQLite URI.
func escapePath(path string) string {
	path = filepath.ToSlash(path)
	if len(path) > 1 && path[1] == ':' {
		path = "/" + path // a drive letter
	}
	return strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path)
}

// Close waits for a running write or checkpoint and closes the database.
func (s *Store) Close() error {
	s.moving.Lock()
	defer s.moving.Unlock()
	s.lock()
	defer s.mu.Unlock()
	var errs []error
	if s.LogIsLong() {
		keep, err := s.keepLog()
		if err != nil {
			errs = append(errs, err)
		} else {
			defer keep.Close() // it only reads, and its error would be that it may not write
		}
	}
	if s.w != nil {
		errs = append(errs, s.w.close())
		s.w = nil
	}
	if s.reads != nil {
		errs = append(errs, s.reads.Close())
	}
	errs = append(errs, s.keeper.Close())
	return errors.Join(errs...)
}

// InMemory answers whether the index is lost when the process ends.
func (s *Store) InMemory() bool { return s.path == "" }

// FileSize is the size of the database in bytes when its log is moved into it.
func (s *Store) FileSize(ctx context.Context) (int64, error) {
	var pages, size int64
	err := s.reads.QueryRowContext(ctx, "SELECT page_count, page_size FROM pragma_page_count, pragma_page_size").Scan(&pages, &size)
	if err != nil {
		return 0, fmt.Errorf("size of the index: %w", classify(err))
	}
	return pages * size, nil
}

// Size is the size of the database in bytes, its write-ahead log included.
func (s *Store) Size(ctx context.Context) (int64, error) {
	total, err := s.FileSize(ctx)
	if err != nil {
		return 0, err
	}
	if s.path != "" {
		if info, err := os.Stat(s.path + "-wal"); err == nil {
			total += info.Size()
		}
	}
	return total, nil
}

// Check runs SQLite's and FTS5's own integrity checks, and counts. It answers
// ErrCorrupt, wrapped with the first finding, if the database is damaged.
//
// It uses a connection of its own: FTS5's check, unlike its queries, trusts what a
// connection remembers of the table's structure, and so finds damage where only
// another connection has written since (SQLite 3.53).
func (s *Store) Check(ctx context.Context) error {
	db, err := sql.Open("sqlite3", s.readDSN)
	if err != nil {
		return fmt.Errorf("check the index: %w", classify(err))
	}
	defer db.Close()
	var finding string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&finding); err != nil {
		return fmt.Errorf("check the index: %w", classify(err))
	}
	if finding != "ok" {
		return fmt.Errorf("%w: %s", ErrCorrupt, finding)
	}
	return checkCounts(ctx, db)
}

// counts must answer the same two numbers for each kind of row.
const counts = `SELECT 'chunks', coalesce(sum(chunks), 0), (SELECT count(*) FROM chunks) FROM files
	UNION ALL SELECT 'symbols', coalesce(sum(symbols), 0), (SELECT count(*) FROM symbols) FROM files
	UNION ALL SELECT 'full-text rows', count(*), (SELECT count(*) FROM file_text) + (SELECT count(*) FROM text_due) FROM files`

func checkCounts(ctx context.Context, db *sql.DB) error {
	rows, err := db.QueryContext(ctx, counts)
	if err != nil {
		return fmt.Errorf("check the index: %w", classify(err))
	}
	defer rows.Close()
	for rows.Next() {
		var kind string
		var want, got int64
		if err := rows.Scan(&kind, &want, &got); err != nil {
			return fmt.Errorf("check the index: %w", classify(err))
		}
		if got != want {
			return fmt.Errorf("%w: it has %d %s of %d", ErrCorrupt, got, kind, want)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("check the index: %w", classify(err))
	}
	return nil
}

// classify wraps what the driver says into the errors a caller acts upon.
func classify(err error) error {
	var e sqlite3.Error
	if err == nil || !errors.As(err, &e) {
		return err
	}
	switch e.Code {
	case sqlite3.ErrCorrupt, sqlite3.ErrNotADB:
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	case sqlite3.ErrFull, sqlite3.ErrReadonly, sqlite3.ErrCantOpen, sqlite3.ErrIoErr, sqlite3.ErrPerm:
		return fmt.Errorf("%w: %w", ErrFull, err)
	case sqlite3.ErrConstraint, sqlite3.ErrTooBig, sqlite3.ErrMismatch, sqlite3.ErrRange:
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return err
}
