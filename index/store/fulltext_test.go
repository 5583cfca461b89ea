package store

import (
	"database/sql"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry/index/token"
)

// putText writes the full-text rows of the files named, which are due.
func putText(t *testing.T, s *Store, texts map[string]string) {
	t.Helper()
	due, err := s.TextDue(t.Context(), 1000)
	if err != nil {
		t.Fatal(err)
	}
	var a token.Analyzer
	var list []FileText
	for _, d := range due {
		if text, ok := texts[d.Path]; ok {
			list = append(list, FileText{d.ID, string(a.AppendText(nil, text))})
		}
	}
	if len(list) != len(texts) {
		t.Fatalf("of %v only %v are due", texts, due)
	}
	if err := s.PutText(list); err != nil {
		t.Fatal(err)
	}
}

func matching(t *testing.T, s *Store, terms ...string) TextMatch {
	t.Helper()
	m, err := s.MatchAny(t.Context(), terms, 100, 100)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// named turns a match into paths: those found, best first, and those that are due.
func named(t *testing.T, s *Store, m TextMatch) (found, due []string) {
	t.Helper()
	paths := map[int64]string{}
	for name, f := range load(t, s) {
		paths[f.ID] = name
	}
	for _, id := range m.Files {
		found = append(found, paths[id])
	}
	for _, d := range m.Due {
		if paths[d.ID] != d.Path {
			t.Errorf("%+v is due, which is %q", d, paths[d.ID])
		}
		due = append(due, d.Path)
	}
	return found, due
}

// A file has a full-text row or is due, never both and never neither, whatever becomes of
// it; and what is found is what the rows say.
func TestTextOfEachFileIsThereOrDue(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		check := func(what string, term string, found, due []string) {
			t.Helper()
			gotFound, gotDue := named(t, s, matching(t, s, term))
			slices.Sort(gotDue)
			if !slices.Equal(gotFound, found) || !slices.Equal(gotDue, due) {
				t.Errorf("%s: %s is found in %q while %q are due, want %q and %q", what, term, gotFound, gotDue, found, due)
			}
			if err := s.Check(t.Context()); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		apply(t, s, Batch{Put: []*Document{document("a.toy", "def zebra\n"), document("b.toy", "call zebra\n"), document("c.toy", "def other\n")}})
		check("new", "zebra", nil, []string{"a.toy", "b.toy", "c.toy"})
		putText(t, s, map[string]string{"b.toy": "call zebra\n"})
		check("some written", "zebra", []string{"b.toy"}, []string{"a.toy", "c.toy"})
		putText(t, s, map[string]string{"a.toy": "def zebra\n", "c.toy": "def other\n"})
		check("all written", "zebra", []string{"a.toy", "b.toy"}, nil) // what declares it first
		apply(t, s, Batch{Put: []*Document{document("b.toy", "call lemur\n")}})
		check("changed", "zebra", []string{"a.toy"}, []string{"b.toy"})
		putText(t, s, map[string]string{"b.toy": "call lemur\n"})
		check("changed and written", "lemur", []string{"b.toy"}, nil)
		apply(t, s, Batch{Remove: []string{"a.toy"}})
		check("removed", "zebra", nil, nil)
		apply(t, s, Batch{Put: []*Document{document("dir/d.toy", "def other\n")}, Remove: []string{"c.toy"}})
		check("renamed", "other", nil, []string{"dir/d.toy"})
		putText(t, s, map[string]string{"dir/d.toy": "def other\n"})
		check("renamed and written", "dir", []string{"dir/d.toy"}, nil)
		if _, due := named(t, s, matching(t, s, "c")); len(due) > 0 {
			t.Errorf("%q are due", due)
		}
		apply(t, s, Batch{Put: []*Document{document("e.toy", "def e\n")}})
		apply(t, s, Batch{Remove: []string{"e.toy"}})
		check("gone before it was written", "e", nil, nil)
	})
}

// Rows of files that are not due, and of files that do not exist, are not written.
func TestOnlyDueTextIsWritten(t *testing.T) {
	s := open(t, "")
	apply(t, s, Batch{Put: []*Document{document("a.toy", "def zebra\n")}})
	putText(t, s, map[string]string{"a.toy": "def zebra\n"})
	id := load(t, s)["a.toy"].ID
	if err := s.PutText([]FileText{{id, "lemur"}, {id + 1, "lemur"}}); err != nil {
		t.Fatal(err)
	}
	if m := matching(t, s, "lemur"); len(m.Files) > 0 {
		t.Errorf("found in %v", m.Files)
	}
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// Rows make no new generation: nobody who follows the index waits for one, or is woken.
func TestTextMakesNoGeneration(t *testing.T) {
	saves := 0
	s, err := Open(filepath.Join(t.TempDir(), "index.db"), func() { saves++ })
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	apply(t, s, Batch{Put: []*Document{document("a.toy", "def zebra\n")}})
	_, before, _, err := s.Since(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	saved := saves
	putText(t, s, map[string]string{"a.toy": "def zebra\n"})
	if _, after, _, err := s.Since(t.Context(), 0); err != nil || after != before || saves != saved {
		t.Errorf("generation %d and %d saves, %v; want %d and %d", after, saves, err, before, saved)
	}
}

// Rare terms count more than frequent ones, and names and paths more than text.
func TestWeightsOfTerms(t *testing.T) {
	s := open(t, "")
	texts := map[string]string{"both.toy": "common rare\n", "declares.toy": "def rare\n", "zebra/x.toy": "rare\n"}
	for i := range 20 {
		texts[fmt.Sprintf("f%02d.toy", i)] = "common\n"
	}
	var b Batch
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		b.Put = append(b.Put, document(name, texts[name]))
	}
	apply(t, s, b)
	putText(t, s, texts)
	m := matching(t, s, "common", "rare", "nowhere", "rare")
	found, _ := named(t, s, m)
	if len(found) != 23 || !slices.Equal(found[:3], []string{"declares.toy", "both.toy", "zebra/x.toy"}) {
		t.Errorf("found %q", found)
	}
	if w := m.Weights; len(w) != 3 || w["nowhere"] <= w["rare"] || w["rare"] <= w["common"] || w["common"] <= 0 {
		t.Errorf("weights %v", w)
	}
	if found, _ := named(t, s, matching(t, s, "zebra")); !slices.Equal(found, []string{"zebra/x.toy"}) {
		t.Errorf("the folder finds %q", found)
	}
}

// The number of files and of due files that are answered is bounded, and so are the rows
// that a query reads: what most files have is left out where something rarer tells more.
func TestMatchIsBounded(t *testing.T) {
	s := open(t, "")
	var b Batch
	for i := range 10 {
		b.Put = append(b.Put, document(fmt.Sprintf("f%d.toy", i), "def f\n"))
	}
	apply(t, s, b)
	m, err := s.MatchAny(t.Context(), []string{"f"}, 3, 4)
	if err != nil || len(m.Files) != 0 || len(m.Due) != 5 {
		t.Errorf("%d files and %d due, %v; want none and one more than 4", len(m.Files), len(m.Due), err)
	}
	texts := map[string]string{}
	for i := range 10 {
		texts[fmt.Sprintf("f%d.toy", i)] = "def f\n"
	}
	putText(t, s, texts)
	if m, err = s.MatchAny(t.Context(), []string{"f"}, 3, 4); err != nil || len(m.Files) != 3 || len(m.Due) != 0 {
		t.Errorf("%d files and %d due, %v; want 3 and none", len(m.Files), len(m.Due), err)
	}
	apply(t, s, Batch{Put: []*Document{document("rare.toy", "call rare\n")}})
	putText(t, s, map[string]string{"rare.toy": "call rare\n"})
	for rows, want := range map[int]int{5: 1, 11: 11} {
		err := s.snapshot(t.Context(), "test", func(tx *sql.Tx) error {
			q := textQuery{ctx: t.Context(), tx: tx, scores: map[int64]float64{}}
			_, err := q.weigh([]string{"f", "rare"})
			if err != nil {
				return err
			}
			files, err := q.best(100, rows)
			if len(files) != want {
				t.Errorf("of %d rows %d files are found, want %d", rows, len(files), want)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestMatchAnyTakesAnyText(t *testing.T) {
	s := open(t, "")
	apply(t, s, Batch{Put: []*Document{document("a.toy", "def open\n")}})
	putText(t, s, map[string]string{"a.toy": "def open\n"})
	for _, term := range []string{`"`, `a" OR "b`, "NEAR(", "*", "", "\x00", "col:x", "日本", "a\U0001E030b", "AND", "open open"} {
		if m := matching(t, s, term, "open"); len(m.Files) != 1 {
			t.Errorf("%q or open finds %v", term, m.Files)
		}
	}
}

func TestTermsOfAnyScriptAreFound(t *testing.T) {
	s := open(t, "")
	words := []string{"नमस्ते", "naïveCafé", "été", "file_name", "x86", "日本語", "ÅngströmUnit", "e\u0301clair"}
	for i, w := range words {
		name := fmt.Sprintf("f%d.toy", i)
		apply(t, s, Batch{Put: []*Document{document(name, "def "+w+"\n")}})
		putText(t, s, map[string]string{name: "def " + w + "\n"})
	}
	var a token.Analyzer
	for _, w := range words {
		for _, term := range strings.Fields(string(a.AppendText(nil, w))) {
			if m := matching(t, s, term); len(m.Files) != 1 {
				t.Errorf("%q of %q finds %v; want its file", term, w, m.Files)
			}
		}
	}
}

// What the check counts: rows that are missing, and rows too many.
func TestCheckCountsRows(t *testing.T) {
	for _, spoil := range []string{
		"DELETE FROM chunks WHERE id = (SELECT min(id) FROM chunks)",
		"DELETE FROM symbols WHERE id = (SELECT min(id) FROM symbols)",
		"DELETE FROM text_due",
		"INSERT INTO file_text (rowid, text) VALUES (1, 'zebra')",
	} {
		path := filepath.Join(t.TempDir(), "index.db")
		s := open(t, path)
		apply(t, s, Batch{Put: []*Document{document("a.toy", "def zebra\ndef other\n")}})
		if err := s.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		db, err := sql.Open("sqlite3", path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(spoil); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if err := s.Check(t.Context()); err == nil {
			t.Errorf("nothing is wrong after %s", spoil)
		}
	}
}
