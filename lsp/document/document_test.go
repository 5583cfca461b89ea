package document

import (
	"testing"

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
