package wire

import "testing"

// A message is read before the one before it has been handled.
func TestSpellingOfADocumentThatIsOpenedAgainAtOnce(t *testing.T) {
	const own, canonical = "file://localhost/a.go", "file:///a.go"
	open := []byte(`{"method":"textDocument/didOpen","params":{"textDocument":{"uri":"` + own + `"}}}`)
	var s Spellings
	expect := func(when, want string) {
		t.Helper()
		if got := s.Spelled(canonical); string(got) != want {
			t.Errorf("%s: spelled %s, want %s", when, got, want)
		}
	}
	s.WithoutHost(open)
	s.WithoutHost(open)
	s.Forget(canonical)
	expect("opened again before it was closed", own)
	s.Forget(canonical)
	expect("closed", canonical)
	s.Forget(canonical)
	s.WithoutHost(open)
	expect("closed without being open, then opened", own)
}
