package assist

import "testing"

// An older document that is written to its end late does not take the place of a newer one.
func TestANewerDocumentKeepsItsPlace(t *testing.T) {
	s := &Screen{}
	older, newer := s.newDocument(t.Context(), "explanation"), s.newDocument(t.Context(), "explanation")
	if was, placed := older.place(); was || !placed {
		t.Fatalf("the first: was %v, placed %v", was, placed)
	}
	if was, placed := newer.place(); !was || !placed {
		t.Fatalf("the newer: was %v, placed %v", was, placed)
	}
	if _, placed := older.place(); placed {
		t.Fatal("the older took the newer one's place")
	}
	if now, _ := s.documents.Load(newer.uri); now != newer {
		t.Fatalf("shown is %v", now)
	}
}
