package syntax

import (
	"bytes"
	"slices"
	"testing"
)

func TestNearDuplicatesAreRenamedCopies(t *testing.T) {
	_, code := fixture(t, "go")
	_, other := fixture(t, "java")
	code, other = code[:1200], other[:1200]
	spaced := bytes.ReplaceAll(code, []byte("\n"), []byte("\n  "))
	renamed := bytes.ReplaceAll(code, []byte("Account"), []byte("Customer"))
	short := []byte("func f() {}")
	var prints []uint64
	for _, text := range [][]byte{code, other, spaced, renamed, short, short} {
		prints = append(prints, Fingerprint(text))
	}
	if got, want := NearDuplicates(prints), []int{0, 1, 0, 0, 4, 5}; !slices.Equal(got, want) {
		t.Errorf("folded to %v, want %v; fingerprints %x", got, want, prints)
	}
}
