package store

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
)

// A file that has been edited until its local ids are used up goes on under another
// id, and what refers to it, to that.
func TestLocalIDsAreUsedUp(t *testing.T) {
	for _, column := range []string{"next_symbol", "next_chunk"} {
		t.Run(column, func(t *testing.T) {
			ctx := t.Context()
			s := open(t, filepath.Join(t.TempDir(), "index.db"))
			apply(t, s, Batch{Put: []*Document{document("a.toy", "def one\ndef two\n"), document("use.toy", "def main; call two\n")}})
			before := load(t, s)["a.toy"]
			set := func(next int64) {
				t.Helper()
				if err := s.write("use ids up", func() error { return s.w.exec("UPDATE files SET "+column+" = ? WHERE path = 'a.toy'", next) }); err != nil {
					t.Fatal(err)
				}
			}
			set(1<<localBits - 3)
			apply(t, s, Batch{Put: []*Document{document("a.toy", "def one\ndef two\ndef three\n")}})
			if got := load(t, s)["a.toy"]; got.ID != before.ID || got.SymbolIDs[0] != before.SymbolIDs[0] {
				t.Fatalf("as long as there are ids, the file is %d with %v, want %d", got.ID, got.SymbolIDs, before.ID)
			}
			set(1<<localBits - 3)
			_, generation, _, err := s.Since(ctx, 0)
			if err != nil {
				t.Fatal(err)
			}
			apply(t, s, Batch{Put: []*Document{document("a.toy", "def one\ndef two\ndef four\ndef five\n")}})
			files := load(t, s)
			after := files["a.toy"]
			if len(files) != 2 || after.ID == before.ID || len(after.Syntax.Symbols) != 4 || len(after.Syntax.Chunks) != 4 {
				t.Fatalf("%d files; %d became %d with %d declarations", len(files), before.ID, after.ID, len(after.Syntax.Symbols))
			}
			if changed, _, _, err := s.Since(ctx, generation); err != nil || len(changed) < 2 || changed[0] != before.ID {
				t.Errorf("who follows is told of %v (%v), want the old id first", changed, err)
			}
			declared, users := called(t, s, "two")
			if want := fmt.Sprintf("a.toy#%d", after.SymbolIDs[1]); !slices.Equal(declared, []string{want}) || len(users) != 1 {
				t.Errorf("two is declared by %v and used by %v, want %s", declared, users, want)
			}
			if err := s.Check(ctx); err != nil {
				t.Error(err)
			}
		})
	}
}
