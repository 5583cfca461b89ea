package store

import (
	"context"
	"crypto/sha256"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry/index/syntax"
)

// document analyses a toy language: "def NAME" declares, "call NAME" refers,
// "import PATH" imports, and each line is a chunk.
func document(path, text string) *Document {
	f := &syntax.File{Language: "toy"}
	d := &Document{Path: path, Language: "toy", Size: int64(len(text)), ModTime: 1, Syntax: f}
	d.Hash = hashOf(text)
	at, line := uint32(0), uint32(1)
	for _, l := range strings.SplitAfter(text, "\n") {
		if l == "" {
			break
		}
		span := syntax.Span{Start: at, End: at + uint32(len(l)), StartLine: line, EndLine: line}
		var names []int
		for _, part := range strings.Split(strings.TrimSpace(l), ";") {
			word, name, _ := strings.Cut(strings.TrimSpace(part), " ")
			switch word {
			case "def":
				names = append(names, len(f.Symbols))
				f.Symbols = append(f.Symbols, syntax.Symbol{Kind: syntax.KindFunction, Name: name, Signature: l, Doc: "about " + name, Span: span, NameSpan: span})
			case "call":
				f.Refs = append(f.Refs, syntax.Ref{Kind: syntax.RefCall, Name: name, From: len(f.Symbols) - 1, Span: span})
			case "import":
				f.Imports = append(f.Imports, syntax.Import{Path: name, Span: span})
			}
		}
		f.Chunks = append(f.Chunks, syntax.Chunk{Span: span, Content: syntax.ContentCode, Symbols: names, Hash: hashOf(l)})
		at, line = at+uint32(len(l)), line+1
	}
	return d
}

func hashOf(s string) (h Hash) {
	sum := sha256.Sum256([]byte(s))
	copy(h[:], sum[:])
	return h
}

// called answers the declarations of a name, as "path:container.name", and the files that
// refer to it, as one view of the index has them.
func called(t *testing.T, s *Store, name string) (declared, users []string) {
	t.Helper()
	err := s.View(t.Context(), func(v *View) error {
		for _, c := range v.Named(name) {
			declared = append(declared, fmt.Sprintf("%s#%d", c.In.Path, c.ID))
		}
		names := func([]syntax.Import) []string { return []string{name} }
		err := v.Mentioning([]string{name}, names, func(f *Referring) error {
			for _, r := range f.Refs {
				users = append(users, fmt.Sprintf("%s:%d %s", f.Path, r.Line, r.Name))
			}
			return nil
		})
		return errors.Join(err, v.Err())
	})
	if err != nil {
		t.Fatal(err)
	}
	return declared, users
}

func open(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func apply(t *testing.T, s *Store, b Batch) {
	t.Helper()
	if err := s.Apply(b); err != nil {
		t.Fatal(err)
	}
}

func load(t *testing.T, s *Store) map[string]*File {
	t.Helper()
	files := map[string]*File{}
	_, err := s.Load(context.Background(), nil, func(f *File) error { files[f.Path] = f; return nil })
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func eachStore(t *testing.T, f func(t *testing.T, s *Store)) {
	t.Run("disk", func(t *testing.T) { f(t, open(t, filepath.Join(t.TempDir(), "state # 1%", "index.db"))) })
	t.Run("memory", func(t *testing.T) { f(t, open(t, "")) })
}

func TestRoundTrip(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		d := document("a/one.toy", "import b/two\ndef readFile\ncall parse_it\n")
		apply(t, s, Batch{Put: []*Document{d, document("b/two.toy", "def parse_it\n")}})
		f := load(t, s)["a/one.toy"]
		if f == nil || f.Hash != d.Hash || f.Size != d.Size || f.Syntax.Language != "toy" || len(f.Syntax.Chunks) != 3 {
			t.Fatalf("loaded %+v", f)
		}
		if got, want := f.Syntax.Symbols[0], d.Syntax.Symbols[0]; got != want {
			t.Errorf("symbol %+v, want %+v", got, want)
		}
		if f.Syntax.Imports[0].Path != "b/two" || !slices.Equal(f.Syntax.Chunks[1].Symbols, []int{0}) {
			t.Errorf("loaded %+v", f)
		}
		totals, err := s.Totals(context.Background())
		if want := (Totals{Files: 2, Chunks: 4, Symbols: 2, References: 1, Bytes: d.Size + 13}); err != nil || totals != want {
			t.Errorf("totals %+v, %v; want %+v", totals, err, want)
		}
	})
}

func TestIDsSurviveEditsAndRenames(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		apply(t, s, Batch{Put: []*Document{document("x.toy", "def a\ndef b\ndef c\n")}})
		before := load(t, s)["x.toy"]
		apply(t, s, Batch{Put: []*Document{document("x.toy", "def new\ndef a\ndef c\n")}})
		after := load(t, s)["x.toy"]
		if after.ID != before.ID || after.ChunkIDs[1] != before.ChunkIDs[0] || after.ChunkIDs[2] != before.ChunkIDs[2] {
			t.Errorf("chunk ids moved: %v -> %v", before.ChunkIDs, after.ChunkIDs)
		}
		if after.SymbolIDs[1] != before.SymbolIDs[0] || after.SymbolIDs[2] != before.SymbolIDs[2] {
			t.Errorf("symbol ids moved: %v -> %v", before.SymbolIDs, after.SymbolIDs)
		}
		if id := after.ChunkIDs[0]; id == before.ChunkIDs[1] {
			t.Errorf("the id %d of a vanished chunk was used again", id)
		}
		apply(t, s, Batch{Put: []*Document{document("dir/y.toy", "def new\ndef a\ndef c\n")}, Remove: []string{"x.toy"}})
		renamed := load(t, s)["dir/y.toy"]
		if renamed == nil || renamed.ID != after.ID || renamed.ChunkIDs[0] != after.ChunkIDs[0] {
			t.Fatalf("a rename changed ids: %+v -> %+v", after, renamed)
		}
	})
}

// TestViewsFollowChanges holds that what a view keeps for the next is as true as what a
// new process reads.
func TestViewsFollowChanges(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		check := func(declared, users []string) {
			t.Helper()
			for _, what := range []string{"again", "anew"} {
				gotDeclared, gotUsers := called(t, s, "helper")
				if !slices.Equal(gotDeclared, declared) || !slices.Equal(gotUsers, users) {
					t.Errorf("%s: helper is declared by %v and used by %v, want %v and %v", what, gotDeclared, gotUsers, declared, users)
				}
				s.views.tree = nil
			}
		}
		apply(t, s, Batch{Put: []*Document{document("use.toy", "import lib\ndef main; call helper\n"), document("other.toy", "call nothing\n")}})
		check(nil, []string{"use.toy:2 helper"})
		use := load(t, s)["use.toy"]
		_, mark, _, err := s.Since(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		called(t, s, "helper") // so that the next view has something to bring up to date
		apply(t, s, Batch{Put: []*Document{document("lib.toy", "def helper\n")}})
		lib := load(t, s)["lib.toy"]
		check([]string{fmt.Sprintf("lib.toy#%d", lib.SymbolIDs[0])}, []string{"use.toy:2 helper"})
		// What refers to a declaration has not changed by it.
		changed, now, all, err := s.Since(t.Context(), mark)
		if err != nil || all || !slices.Equal(changed, []int64{lib.ID}) {
			t.Errorf("changed since %d: %v, %v, %v; want lib.toy only", mark, changed, all, err)
		}
		called(t, s, "helper")
		apply(t, s, Batch{Put: []*Document{document("moved/lib.toy", "def helper\n")}, Remove: []string{"lib.toy"}})
		check([]string{fmt.Sprintf("moved/lib.toy#%d", lib.SymbolIDs[0])}, []string{"use.toy:2 helper"})
		called(t, s, "helper")
		apply(t, s, Batch{Put: []*Document{document("use.toy", "def main\n")}, Remove: []string{"moved/lib.toy"}})
		check(nil, nil)
		if changed, _, _, err = s.Since(t.Context(), now); err != nil || !slices.Equal(changed, []int64{use.ID, lib.ID}) {
			t.Errorf("changed by the removal: %v, %v", changed, err)
		}
	})
}

func TestUses(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		apply(t, s, Batch{Put: []*Document{document("a.toy", "import lib\ndef main; call one\ncall two\ndef more; call one\n"), document("lib.toy", "def one\n")}})
		got := map[string]string{}
		err := s.Uses(t.Context(), func(path string, names []string, imports []syntax.Import) {
			slices.Sort(names)
			got[path] = fmt.Sprint(names, len(imports))
		})
		if want := map[string]string{"a.toy": "[one two] 1", "lib.toy": "[] 0"}; err != nil || !maps.Equal(got, want) {
			t.Errorf("uses %v, %v; want %v", got, err, want)
		}
	})
}

// A view that waits for another ends with its context.
func TestViewsWaitForEachOther(t *testing.T) {
	s := open(t, "")
	ctx, cancel := context.WithCancel(t.Context())
	err := s.View(t.Context(), func(*View) error {
		cancel()
		return s.View(ctx, func(*View) error { return errors.New("two views at once") })
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the second view ends with %v", err)
	}
}

func TestNewerSchemaIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	s := open(t, path)
	if err := s.w.exec(fmt.Sprintf("PRAGMA user_version = %d", len(migrations)+1)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, nil); !errors.Is(err, ErrNewerSchema) || !strings.Contains(err.Error(), "update quarry") {
		t.Errorf("opening a newer index: %v", err)
	}
}

func TestMigrationThatFailsItsCheckLeavesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	good := migrations[0].verify
	migrations[0].verify = "SELECT 'one thing' UNION SELECT 'another'"
	_, err := Open(path, nil)
	migrations[0].verify = good
	if err == nil || !strings.Contains(err.Error(), "schema 1: verify: another; one thing") {
		t.Fatalf("a migration that fails its check: %v", err)
	}
	s := open(t, path) // runs it again, which it could not had a table been left
	apply(t, s, Batch{Put: []*Document{document("a.toy", "def a\n")}})
}

func TestAnotherSchemaIsNotRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	if _, err := OpenToRead(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("reading no index: %v", err)
	}
	s := open(t, path)
	reader, err := OpenToRead(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := reader.Apply(Batch{Remove: []string{"x"}}); err == nil {
		t.Error("a reader could write")
	}
	if err := reader.Close(); err != nil {
		t.Error(err)
	}
	for version, want := range map[string]string{"2": "older quarry (schema 2", "0": "is about to make it"} {
		if err := s.w.exec("PRAGMA user_version = " + version); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenToRead(path); err == nil || errors.Is(err, ErrOlderSchema) != (version == "2") || !strings.Contains(err.Error(), want) {
			t.Errorf("reading an index of schema %s: %v", version, err)
		}
	}
}

func TestDamageIsTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	if err := os.WriteFile(path, []byte(strings.Repeat("not a database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, nil); !errors.Is(err, ErrCorrupt) {
		t.Errorf("opening rubbish: %v, want ErrCorrupt", err)
	}
}

func TestFailedWriteLeavesTheLastCommit(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "index.db"))
	apply(t, s, Batch{Put: []*Document{document("a.toy", "def keep\n")}})
	var pages int64
	if err := s.reads.QueryRow("PRAGMA page_count").Scan(&pages); err != nil {
		t.Fatal(err)
	}
	if err := s.w.query(fmt.Sprintf("PRAGMA max_page_count = %d", pages+2), nop); err != nil {
		t.Fatal(err)
	}
	var big strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&big, "def someNewName%d\n", i)
	}
	if err := s.Apply(Batch{Put: []*Document{document("b.toy", big.String())}}); !errors.Is(err, ErrFull) {
		t.Fatalf("a write to a full disk: %v, want ErrFull", err)
	}
	if files := load(t, s); len(files) != 1 || files["a.toy"] == nil {
		t.Errorf("after a failed write: %v", files)
	}
	if err := s.w.query("PRAGMA max_page_count = 1000000", nop); err != nil {
		t.Fatal(err)
	}
	apply(t, s, Batch{Put: []*Document{document("b.toy", big.String())}})
	if f := load(t, s)["b.toy"]; f == nil || len(f.ChunkIDs) != 5000 {
		t.Error("the write did not succeed once there was room")
	}
}

func nop([]driver.Value) error { return nil }

// TestCheckAfterManyWrites: the check must not take another connection's writes for
// damage.
func TestCheckAfterManyWrites(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		for step := range 12 {
			var b Batch
			for i := range 40 {
				name := fmt.Sprintf("d/f%d.toy", (i*7+step)%60)
				if (i+step)%5 == 0 {
					b.Remove = append(b.Remove, name)
				} else {
					b.Put = append(b.Put, document(name, fmt.Sprintf("def f%d; call g%d\ndef h%d\n", i*step, i, step)))
				}
			}
			apply(t, s, b)
			if err := s.Check(t.Context()); err != nil {
				t.Fatalf("step %d: %v", step, err)
			}
		}
	})
}
