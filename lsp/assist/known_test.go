package assist

import (
	"testing"

	"go.lsp.dev/protocol"

	"quarry/lsp/document"
	"quarry/lsp/text"
)

// Whoever holds a version of a document while the user types on gets no offset
// past its end.
func TestFindingsOfANewerVersionAreLeftOut(t *testing.T) {
	older := &document.Document{URI: "file:///a.go", Text: text.New("x foo")}
	newer := &document.Document{URI: older.URI, Text: text.New("x foo()\ny bar()\n")}
	fs := newKnownDiagnostics()
	said := func(message string, start, end int) knownDiagnostic {
		return knownDiagnostic{Diagnostic: protocol.Diagnostic{Message: protocol.String(message)}, start: start, end: end}
	}
	fs.saw(newer.URI, 0, newer.Text.Len(), []knownDiagnostic{said("foo", 2, 5), said("bar", 10, 13)})
	if got := fs.in(newer); len(got) != 2 {
		t.Errorf("in the newer version: %+v", got)
	}
	if got := fs.in(older); len(got) != 1 || messageOf(got[0].Diagnostic) != "foo" {
		t.Errorf("in the older version: %+v", got)
	}
}
