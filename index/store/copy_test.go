package store

import (
	"errors"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
)

func TestCopy(t *testing.T) {
	ctx := t.Context()
	from := open(t, filepath.Join(t.TempDir(), "index.db"))
	apply(t, from, Batch{Put: []*Document{
		document("a.toy", "def open; call close\n"), document("b.toy", "def close\n"), document("c.toy", "def old\n"),
	}})
	newest := load(t, from)["c.toy"].ID
	apply(t, from, Batch{Remove: []string{"c.toy"}})
	if err := from.PutMeta("key", "value"); err != nil {
		t.Fatal(err)
	}
	saves := 0
	to, err := from.Copy(func() { saves++ })
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := to.Close(); err != nil {
			t.Error(err)
		}
	}()
	same := func(what string, got, want any) {
		t.Helper()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", what, got, want)
		}
	}
	totals := func(s *Store) Totals {
		t.Helper()
		n, err := s.Totals(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	same("files", load(t, to), load(t, from))
	same("totals", totals(to), totals(from))
	_, generation, _, err := from.Since(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	changed, now, _, err := to.Since(ctx, generation)
	if err != nil || len(changed) > 0 || now != generation {
		t.Errorf("the copy is of generation %d with %d changes since (%v), want %d with none", now, len(changed), err, generation)
	}
	if value, err := to.Meta(ctx, "key"); err != nil || value != "value" || !to.InMemory() {
		t.Errorf("kept %q (%v), in memory %v", value, err, to.InMemory())
	}
	// The two go on apart, and no id is given away a second time.
	apply(t, to, Batch{Put: []*Document{document("d.toy", "def new; call open\n")}, Remove: []string{"b.toy"}})
	if got, want := slices.Sorted(maps.Keys(load(t, to))), []string{"a.toy", "d.toy"}; !slices.Equal(got, want) || saves == 0 {
		t.Errorf("the copy has %q after %d commits, want %q", got, saves, want)
	}
	if id := load(t, to)["d.toy"].ID; id <= newest {
		t.Errorf("the id %d was given a second time", id)
	}
	if got := len(load(t, from)); got != 2 {
		t.Errorf("what was copied has %d files now", got)
	}
	if err := errors.Join(to.Check(ctx), from.Check(ctx)); err != nil {
		t.Error(err)
	}
}
