package store

import (
	"database/sql/driver"
	"fmt"
)

// mergePages bounds what one Merge writes, in pages: 3 ms of work at the median, on a
// busy machine; four times as many take 40.
const mergePages = 50

// Merge does a small part of what brings a full-text table's segments together, for
// the full-text tables one after the other, and answers whether there is nothing
// left to do. Queries are quicker afterwards; their answers are the same. begin
// marks the first call after a large change.
func (s *Store) Merge(begin bool) (done bool, err error) {
	s.lock()
	defer s.mu.Unlock()
	if s.w == nil {
		return false, errClosed
	}
	for _, table := range fullTextTables {
		more, err := s.w.merge(table, begin)
		if err != nil {
			return false, fmt.Errorf("tidy the index: %w", classify(err))
		}
		if more && !begin {
			return false, nil
		}
	}
	if begin {
		return false, nil
	}
	if err := s.w.exec("PRAGMA optimize"); err != nil {
		return false, fmt.Errorf("tidy the index: %w", classify(err))
	}
	return true, nil
}

// merge answers whether there may be more to merge. As FTS5 has it, a negative
// number of pages begins to merge all segments, a positive one goes on, and less
// than two changes mean that there was nothing to do.
func (w *writer) merge(table string, begin bool) (more bool, err error) {
	pages := int64(mergePages)
	if begin {
		pages = -pages
	}
	before, err := w.changes()
	if err == nil {
		err = w.exec("INSERT INTO "+table+" ("+table+", rank) VALUES ('merge', ?)", pages)
	}
	after, errAfter := w.changes()
	if err == nil {
		err = errAfter
	}
	return after-before >= 2, err
}

// changes counts the rows this connection has changed.
func (w *writer) changes() (n int64, err error) {
	err = w.query("SELECT total_changes()", func(row []driver.Value) error { n = row[0].(int64); return nil })
	return n, err
}
