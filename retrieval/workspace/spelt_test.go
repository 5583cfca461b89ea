package workspace

import (
	"path/filepath"
	"reflect"
	"testing"

	"quarry/index/link"
)

// Where uses are told by how a name is spelt, they are those that the parser finds.
func TestSpeltUsesAreUses(t *testing.T) {
	spelt, several := 0, 0
	for _, dir := range []string{"agent", "index/syntax", "testdata", "editors"} {
		root, err := filepath.Abs(filepath.Join("..", "..", filepath.FromSlash(dir)))
		if err != nil {
			t.Fatal(err)
		}
		w := New(Options{StateDir: t.TempDir()})
		defer w.Close()
		w.SetRoots([]string{root})
		if err := w.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		f := w.snapshot()[0]
		x, err := f.ready()
		if err != nil {
			t.Fatal(err)
		}
		stats, err := x.Store().Stats(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		for rel := range stats {
			record, err := x.Store().ByPath(t.Context(), rel)
			if err != nil {
				t.Fatal(err)
			}
			edges, err := link.From(t.Context(), x.Store(), record.ID)
			if err != nil {
				t.Fatal(err)
			}
			fast, plain := &referring{folder: f, rel: rel}, &referring{folder: f, rel: rel}
			if err := fast.declarations(t.Context(), edges); err != nil {
				t.Fatal(err)
			}
			for _, e := range edges {
				if e.Count < 2 {
					continue
				}
				several++
				got := fast.spelt(e)
				if got == nil {
					continue
				}
				spelt++
				want, err := plain.lines(t.Context(), e)
				if err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%s: %s in %d: %v, want %v, %v", rel, e.Name, e.FromSymbol, got, want, err)
				}
			}
		}
	}
	t.Logf("%d of %d edges with several uses are spelt", spelt, several)
	if spelt < 500 {
		t.Errorf("only %d edges of %d were looked at", spelt, several)
	}
}
