package document

import (
	"strings"
	"testing"

	"quarry/lsp/text"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

// eglot sends the name of a parent mode where it was set up for all modes of it.
func TestLanguageOfADocument(t *testing.T) {
	for _, tt := range []struct{ uri, told, text, want string }{
		{"file:///w/shop.go", "prog", "", "go"},
		{"file:///w/run", "prog", "#!/usr/bin/env python3\n", "python"},
		{"file:///w/notes.md", "text", "", "markdown"},
		{"file:///w/notes", "prog", "", "plaintext"},
		{"untitled:1", "prog", "", "plaintext"},
		{"file:///w/shop.go", "templ", "", "templ"},
		{"file:///w/shop.go", "", "", ""},
	} {
		doc := Open(protocol.TextDocumentItem{URI: uri.URI(tt.uri), LanguageID: protocol.LanguageKind(tt.told), Text: tt.text})
		if doc.Language != tt.want {
			t.Errorf("%s told as %q: %q, want %q", tt.uri, tt.told, doc.Language, tt.want)
		}
	}
}

// A document keeps the text it was opened with, masked, unless that is large.
func TestOpenedTextIsKept(t *testing.T) {
	for _, n := range []int{10, largestOpened, largestOpened + 1} {
		first := strings.Repeat("x", n)
		doc := Open(protocol.TextDocumentItem{URI: "file:///a.go", LanguageID: "go", Version: 1, Text: first})
		next, err := doc.Changed(2, []protocol.TextDocumentContentChangeEvent{&protocol.TextDocumentContentChangeWholeDocument{Text: "y"}}, text.UTF8)
		if err != nil || next.Shown() != "y" {
			t.Fatalf("%q, %v", next.Shown(), err)
		}
		if kept := next.Opened() == first; kept != (n <= largestOpened) || !kept && next.Opened() != "" {
			t.Errorf("of %d bytes %d were kept", n, len(next.Opened()))
		}
	}
}
