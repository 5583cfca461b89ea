package store

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"path/filepath"
	"testing"
)

func numbered(n int) (h Hash) {
	sum := sha256.Sum256(binary.LittleEndian.AppendUint64(nil, uint64(n)))
	copy(h[:], sum[:])
	return h
}

func TestEmbeddings(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "index.db"))
	ctx := t.Context()
	apply(t, s, Batch{Put: []*Document{document("a.toy", "def one\ndef two\ncall three\n"), document("b.toy", "def one\ndef four\n")}})
	id, err := s.AddEmbeddingModel(EmbeddingModel{Name: "m", Version: "v", Dim: 3, File: "f"})
	if err != nil {
		t.Fatal(err)
	}
	pending := func(model int64, ids []int64) (list []string) {
		t.Helper()
		files, err := s.Unembedded(ctx, model, ids)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			list = append(list, fmt.Sprintf("%s %d", f.Path, f.Chunks))
		}
		return list
	}
	check := func(what string, got any, want string) {
		t.Helper()
		if fmt.Sprint(got) != want {
			t.Errorf("%s: %v, want %s", what, got, want)
		}
	}
	check("at first", pending(id, nil), "[a.toy 3 b.toy 2]")
	check("without a model", pending(0, nil), "[a.toy 3 b.toy 2]")
	one := []Embedding{{hashOf("def one\n"), 0}, {hashOf("def two\n"), 1}, {hashOf("call three\n"), Refused}}
	if err := s.PutEmbeddings(id, 2, one); err != nil {
		t.Fatal(err)
	}
	check("then", pending(id, nil), "[b.toy 1]")
	check("of some files", pending(id, []int64{1}), "[]")
	check("of all files by id", pending(id, []int64{1, 2, 77}), "[b.toy 1]")
	c, err := s.Coverage(ctx, id)
	check("coverage", fmt.Sprint(c, err), "{4 2 1} <nil>")

	// Another file: the refused text stays refused.
	if err := s.ReplaceEmbeddings(id, "g", 9, []Embedding{{hashOf("def four\n"), 8}}); err != nil {
		t.Fatal(err)
	}
	got := map[Hash]int{}
	if err := s.Embeddings(ctx, id, func(e Embedding) { got[e.Hash] = e.Slot }); err != nil {
		t.Fatal(err)
	}
	if want := (map[Hash]int{hashOf("def four\n"): 8, hashOf("call three\n"): Refused}); !maps.Equal(got, want) {
		t.Errorf("after a replacement %v, want %v", got, want)
	}
	models, err := s.EmbeddingModels(ctx)
	check("models", fmt.Sprint(models, err), "[{1 m v 3 g 9}] <nil>")
	if err := s.DropEmbeddingModel(id); err != nil {
		t.Fatal(err)
	}
	check("of a dropped model", pending(id, nil), "[a.toy 3 b.toy 2]")
	if texts, err := s.Texts(ctx); err != nil || len(texts) != 4 || !texts[hashOf("def one\n")] {
		t.Errorf("texts: %v, %v", texts, err)
	}
}

// A database of the first schema is taken over with what it holds, but for what its
// references were resolved to.
func TestFirstSchemaIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	all := migrations
	defer func() { migrations = all }()
	migrations = all[:1]
	s, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = s.write("fill", func() error {
		for _, q := range []string{
			"INSERT INTO files VALUES (1, 'a.toy', 'toy', 9, 1, x'00', '', '', 2, 1, 1, 1, 3, 1, 1)",
			"INSERT INTO symbols VALUES ((1 << 20) | 1, 0, 'function', 'one', '', '', '', x'0000000000000000')",
			"INSERT INTO chunks VALUES (1 << 20, 0, 'code', x'00000000', x'', x'00')",
			"INSERT INTO chunk_text (rowid, body, comment, names, stem, dirs) VALUES (1 << 20, 'def one', '', 'one', 'a', '')",
			"INSERT INTO file_refs VALUES (1, x'00', x'0000')",
			"INSERT INTO file_targets VALUES (1, x'')",
			"INSERT INTO edges VALUES (1, 1, 'call', 1)",
		} {
			if err := s.w.exec(q); err != nil {
				return fmt.Errorf("%s: %w", q, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	migrations = all
	s = open(t, path)
	if declared, _ := called(t, s, "one"); len(declared) != 1 {
		t.Errorf("after the migration one is declared by %v", declared)
	}
	if f := load(t, s)["a.toy"]; f == nil || len(f.Syntax.Symbols) != 1 || len(f.ChunkIDs) != 1 {
		t.Errorf("after the migration a.toy is %+v", f)
	}
	if due, err := s.TextDue(t.Context(), 9); err != nil || len(due) != 1 || due[0].Path != "a.toy" {
		t.Errorf("after the migration full text is due of %v, %v", due, err)
	}
	if needs, _, err := s.NeedsWipe(t.Context()); err != nil || !needs {
		t.Errorf("after the migration the room of the old table is to be given back: %v, %v", needs, err)
	}
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
	totals, err := s.Totals(t.Context())
	if err != nil || totals.Files != 1 || totals.Chunks != 1 {
		t.Errorf("after the migration: %+v, %v", totals, err)
	}
	if _, err := s.AddEmbeddingModel(EmbeddingModel{Name: "m", Dim: 3, File: "f"}); err != nil {
		t.Error(err)
	}
}

// BenchmarkPutEmbeddings notes 100,000 vectors, 64 at a time, and reports what
// each adds to the database.
func BenchmarkPutEmbeddings(b *testing.B) {
	const rows, step = 100_000, 64
	dir := b.TempDir()
	for n := 0; b.Loop(); n++ {
		s, err := Open(filepath.Join(dir, fmt.Sprint(n), "index.db"), nil)
		if err != nil {
			b.Fatal(err)
		}
		before, err := s.Size(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		id, err := s.AddEmbeddingModel(EmbeddingModel{Name: "m", Dim: 384, File: "f"})
		if err != nil {
			b.Fatal(err)
		}
		for at := 0; at < rows; at += step {
			list := make([]Embedding, step)
			for i := range list {
				list[i] = Embedding{numbered(at + i), at + i}
			}
			if err := s.PutEmbeddings(id, at+step, list); err != nil {
				b.Fatal(err)
			}
		}
		if err := s.Checkpoint(b.Context()); err != nil {
			b.Fatal(err)
		}
		var size int64
		if err := s.reads.QueryRow("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").Scan(&size); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(size-before)/rows, "B/vector")
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
