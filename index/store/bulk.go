package store

import (
	"database/sql/driver"
	"fmt"
)

// Filling an empty index is writing in bulk. The index that only names are looked up
// by is then made at the end, by sorting, and the table of mentions gathers more before
// it writes a segment and leaves merging to Merge. A process that ends before EndBulk
// leaves an index that is slower to look up, not wrong; the next EndBulk makes it whole.

var bulkIndexes = map[string]string{
	"symbols_by_name": "symbols (name)",
}

// fullTextTables are what Merge merges.
var fullTextTables = []string{"file_text", "mentions"}

// mentionsSettings are settings of the table of mentions, and what bulk sets them to. The
// other full-text table is filled later, a little at a time.
var mentionsSettings = []struct {
	name      string
	kept, set int64
}{
	{"hashsize", 1 << 20, 8 << 20}, // bytes before a segment is written
	{"automerge", 4, 0},            // segments of a level that are merged a little at each write
	// ... and that are merged at once, whatever that takes: Merge gathers all of them
	// in one level, and the first edit afterwards would wait for a second.
	{"crisismerge", 256, 256},
}

// BeginBulk prepares for a first index.
func (s *Store) BeginBulk() error {
	return s.setBulk(true)
}

// EndBulk ends what BeginBulk began, in this process or in one before; it is
// nothing to do otherwise.
func (s *Store) EndBulk() error {
	return s.setBulk(false)
}

func (s *Store) setBulk(bulk bool) error {
	s.lock()
	defer s.mu.Unlock()
	if s.w == nil {
		return errClosed
	}
	if s.w.bulk == bulk {
		return nil
	}
	if err := s.w.quietly(func() error { return s.w.setBulk(bulk) }); err != nil {
		return fmt.Errorf("write to the index: %w", classify(err))
	}
	s.w.bulk = bulk
	if err := s.w.setLogPages(); err != nil {
		return fmt.Errorf("write to the index: %w", classify(err))
	}
	return nil
}

func (w *writer) setLogPages() error {
	pages := keptLogPages
	if w.bulk {
		pages = bulkLogPages
	}
	return w.execOnce(fmt.Sprintf("PRAGMA wal_autocheckpoint = %d", pages))
}

func (w *writer) setBulk(bulk bool) error {
	for name, on := range bulkIndexes {
		query := "CREATE INDEX IF NOT EXISTS " + name + " ON " + on
		if bulk {
			query = "DROP INDEX " + name
		}
		if err := w.execOnce(query); err != nil {
			return err
		}
	}
	for _, m := range mentionsSettings {
		value := m.kept
		if bulk {
			value = m.set
		}
		if err := w.exec("INSERT INTO mentions (mentions, rank) VALUES (?, ?)", m.name, value); err != nil {
			return err
		}
	}
	return nil
}

// readBulk finds out whether a process before left the index in bulk.
func (w *writer) readBulk() error {
	found := 0
	err := w.query("SELECT name FROM sqlite_schema WHERE type = 'index'", func(row []driver.Value) error {
		if _, ok := bulkIndexes[row[0].(string)]; ok {
			found++
		}
		return nil
	})
	w.bulk = found < len(bulkIndexes)
	return err
}
