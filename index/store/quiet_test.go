package store

import (
	"testing"
)

// What changes no file makes no generation that those who follow would have to reach:
// they are not woken for it.
func TestQuietWritesMakeNoGeneration(t *testing.T) {
	s, err := Open(t.TempDir()+"/index.db", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	generation := func() int64 {
		t.Helper()
		now, err := s.Load(t.Context(), []int64{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return now
	}
	before := generation()
	if err := s.EndScan(map[string]string{"k": "v"}, []Skipped{{Path: "a", Reason: "binary"}}); err != nil {
		t.Fatal(err)
	}
	if err := s.setBulk(true); err != nil {
		t.Fatal(err)
	}
	if err := s.EndBulk(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Wipe(t.Context()); err != nil {
		t.Fatal(err)
	}
	if now := generation(); now != before {
		t.Errorf("generation %d, want %d", now, before)
	}
	if value, err := s.Meta(t.Context(), "k"); err != nil || value != "v" {
		t.Errorf("meta %q, %v", value, err)
	}
}
