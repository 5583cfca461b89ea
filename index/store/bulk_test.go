package store

import (
	"database/sql/driver"
	"errors"
	"path/filepath"
	"slices"
	"testing"
)

// TestBulkIsFinishedByTheNext leaves an index in bulk, as a process does that is
// killed in its first index, and goes on with it.
func TestBulkIsFinishedByTheNext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	s := open(t, path)
	if err := s.BeginBulk(); err != nil {
		t.Fatal(err)
	}
	if got := lookups(t, s); len(got) != 0 {
		t.Errorf("in bulk there is %v", got)
	}
	apply(t, s, Batch{Put: []*Document{document("a.toy", "def f\n"), document("b.toy", "call f\n")}})
	if err := s.View(t.Context(), func(*View) error { return errors.New("a view in bulk") }); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, path)
	apply(t, s, Batch{Put: []*Document{document("c.toy", "def g; call f\n")}})
	if err := s.EndBulk(); err != nil {
		t.Fatal(err)
	}
	if got, want := lookups(t, s), []string{"symbols_by_name"}; !slices.Equal(got, want) {
		t.Errorf("after bulk there is %v, want %v", got, want)
	}
	if declared, users := called(t, s, "f"); len(declared) != 1 || len(users) != 2 {
		t.Errorf("f is declared by %v and used by %v, want one and two", declared, users)
	}
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// lookups answers which of the indexes made at the end are there.
func lookups(t *testing.T, s *Store) (names []string) {
	t.Helper()
	err := s.w.query("SELECT name FROM sqlite_schema WHERE type = 'index' ORDER BY name", func(row []driver.Value) error {
		if name := row[0].(string); bulkIndexes[name] != "" {
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
