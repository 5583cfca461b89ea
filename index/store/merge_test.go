package store

import (
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestMergeLeavesOneSegmentAndTheSameAnswers(t *testing.T) {
	s := open(t, "")
	if err := s.BeginBulk(); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		text := fmt.Sprintf("def f%d\ncall common\n", i)
		apply(t, s, Batch{Put: []*Document{document(fmt.Sprintf("f%d.toy", i), text)}})
		putText(t, s, map[string]string{fmt.Sprintf("f%d.toy", i): text})
	}
	match := func() []int64 { return matching(t, s, "common", "f7").Files }
	if n := segments(t, s, "mentions"); n < 20 {
		t.Fatalf("%d segments before merging, want one a batch", n)
	}
	before := match()
	if err := s.EndBulk(); err != nil {
		t.Fatal(err)
	}
	done, err := s.Merge(true)
	for steps := 1; !done; steps++ {
		if err != nil || steps > 200 {
			t.Fatalf("after %d steps: %v", steps, err)
		}
		done, err = s.Merge(false)
	}
	for _, table := range fullTextTables {
		if n := segments(t, s, table); n != 1 {
			t.Errorf("%s has %d segments", table, n)
		}
	}
	if after := match(); !slices.Equal(after, before) {
		t.Errorf("the answer was %v and is %v", before, after)
	}
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// segments counts what a full-text table is made of.
func segments(t *testing.T, s *Store, table string) (n int64) {
	t.Helper()
	err := s.w.query("SELECT count(DISTINCT segid) FROM "+table+"_idx", func(row []driver.Value) error { n = row[0].(int64); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestAnEditDoesNotDoTheMerging(t *testing.T) {
	s := open(t, "")
	if err := s.BeginBulk(); err != nil {
		t.Fatal(err)
	}
	const batches = 40 // more than SQLite lets lie by default
	for i := range batches {
		var text strings.Builder
		for j := range 1500 {
			fmt.Fprintf(&text, "call g%dx%d\n", i, j)
		}
		apply(t, s, Batch{Put: []*Document{document(fmt.Sprintf("f%d.toy", i), text.String())}})
	}
	if err := s.EndBulk(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Merge(true); err != nil {
		t.Fatal(err)
	}
	apply(t, s, Batch{Put: []*Document{document("edited.toy", "def f1\ncall another\n")}})
	if n := segments(t, s, "mentions"); n < batches/2 {
		t.Errorf("an edit left %d segments of mentions: it merged all of them", n)
	}
}
