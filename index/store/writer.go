package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strconv"

	sqlite3 "github.com/mattn/go-sqlite3"

	"quarry/index/addresses"
	"quarry/index/token"
)

// writer is the one connection that writes. It talks to the driver directly:
// database/sql costs as much a row as SQLite itself. Store.mu guards it.
type writer struct {
	conn *sql.Conn
	raw  *sqlite3.SQLiteConn
	// stmts caches prepared statements by their text.
	stmts map[string]driver.Stmt
	args  []driver.NamedValue // of the statement at work
	terms token.Analyzer      // of names and paths, which repeat from batch to batch
	// generation is that of the last commit.
	generation int64
	// bulk: the index is being filled (bulk.go).
	bulk bool
}

var errClosed = errors.New("the index is not open for writing")

// writerPragmas: what is removed is written over; the cache, in KB, holds the inner pages of the indexes over names.
var writerPragmas = []string{
	"PRAGMA secure_delete = ON",
	fmt.Sprintf("PRAGMA cache_size = -%d", cacheSize()),
	"PRAGMA journal_size_limit = " + strconv.Itoa(longLog),
}

// cacheSize is in KB. Where addresses are limited there is no room for speed.
func cacheSize() int {
	if addresses.Limited() {
		return 4 << 10
	}
	return 32 << 10
}

func newWriter(db *sql.DB) (*writer, error) {
	conn, err := db.Conn(context.Background())
	if err != nil {
		return nil, err
	}
	w := &writer{conn: conn, stmts: map[string]driver.Stmt{}}
	err = conn.Raw(func(c any) error {
		w.raw = c.(*sqlite3.SQLiteConn)
		return nil
	})
	for _, pragma := range writerPragmas {
		if err == nil {
			err = w.execOnce(pragma)
		}
	}
	if err == nil {
		err = errors.Join(w.readGeneration(), w.readBulk(), w.setLogPages())
	}
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

func (w *writer) readGeneration() error {
	w.generation = 0
	return w.query("SELECT value FROM meta WHERE key = 'generation'", func(row []driver.Value) error {
		var err error
		w.generation, err = strconv.ParseInt(row[0].(string), 10, 64)
		return err
	})
}

func (w *writer) close() error {
	var errs []error
	for _, s := range w.stmts {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, w.conn.Close())...)
}

func (w *writer) stmt(text string) (driver.Stmt, error) {
	if s, ok := w.stmts[text]; ok {
		return s, nil
	}
	s, err := w.raw.Prepare(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	w.stmts[text] = s
	return s, nil
}

// execOnce is exec for a statement that will not come again.
func (w *writer) execOnce(text string) error {
	_, err := w.raw.ExecContext(context.Background(), text, nil)
	return err
}

func (w *writer) exec(text string, args ...driver.Value) error {
	_, err := w.insert(text, args...)
	return err
}

// insert is exec that answers the rowid of the inserted row.
func (w *writer) insert(text string, args ...driver.Value) (int64, error) {
	s, err := w.stmt(text)
	if err != nil {
		return 0, err
	}
	w.args = w.args[:0]
	for i, a := range args {
		if b, ok := a.([]byte); ok && b == nil {
			a = []byte{} // the driver takes nil for NULL
		}
		w.args = append(w.args, driver.NamedValue{Ordinal: i + 1, Value: a})
	}
	// A context that is never done costs the driver no goroutine.
	r, err := s.(driver.StmtExecContext).ExecContext(context.Background(), w.args)
	if err != nil {
		return 0, err
	}
	return r.LastInsertId()
}

// query calls row for each row. Byte slices in it are valid during the call.
func (w *writer) query(text string, row func([]driver.Value) error, args ...driver.Value) error {
	s, err := w.stmt(text)
	if err != nil {
		return err
	}
	rows, err := s.Query(args) //nolint:staticcheck // as above
	if err != nil {
		return err
	}
	values := make([]driver.Value, len(rows.Columns()))
	for {
		if err := rows.Next(values); errors.Is(err, io.EOF) {
			return rows.Close()
		} else if err != nil {
			return errors.Join(err, rows.Close())
		}
		if err := row(values); err != nil {
			return errors.Join(err, rows.Close())
		}
	}
}

// transaction runs f and commits, all or nothing. A commit makes a new generation.
func (w *writer) transaction(f func() error) error {
	return w.transactionIf(func() (bool, error) { return true, f() })
}

// quietly is a transaction that changes no file. It makes no new generation: nobody
// who follows the index is told of it, and would wait for ever to reach that.
func (w *writer) quietly(f func() error) error {
	return w.transactionIf(func() (bool, error) { return false, f() })
}

// transactionIf is a transaction that makes a new generation if f says that files
// changed.
func (w *writer) transactionIf(f func() (changed bool, err error)) error {
	if err := w.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	before := w.generation
	w.generation++
	changed, err := f()
	if !changed {
		w.generation = before
	}
	if err == nil && changed {
		err = w.exec("INSERT INTO meta VALUES ('generation', ?) ON CONFLICT DO UPDATE SET value = excluded.value", strconv.FormatInt(w.generation, 10))
	}
	if err == nil {
		err = w.exec("COMMIT")
	}
	if err != nil {
		w.generation = before
		if !w.raw.AutoCommit() { // a full disk rolls back by itself
			err = errors.Join(err, w.exec("ROLLBACK"))
		}
	}
	return err
}
