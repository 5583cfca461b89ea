package store

import (
	"database/sql/driver"
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
	if err := s.Apply(Batch{Put: []*Document{document("a.toy", "def f\n"), document("b.toy", "call f\n")}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, path)
	apply(t, s, Batch{Put: []*Document{document("c.toy", "def g; call f\n")}}) // and resolves
	if err := s.EndBulk(); err != nil {
		t.Fatal(err)
	}
	if got, want := lookups(t, s), []string{"edges_by_target", "symbols_by_name"}; !slices.Equal(got, want) {
		t.Errorf("after bulk there is %v, want %v", got, want)
	}
	edges, err := s.EdgesTo(t.Context(), load(t, s)["a.toy"].SymbolIDs[0])
	if err != nil || len(edges) != 2 {
		t.Errorf("%d edges lead to f (%v), want 2", len(edges), err)
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
