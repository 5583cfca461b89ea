package document_test

import (
	"testing"

	"go.lsp.dev/uri"

	"quarry/lsp/document"
)

// A file has one path whatever its client's spelling, by the rules of either system, and
// the URI that is made of that path is the one the client's is known by.
func TestPathsOfURIs(t *testing.T) {
	for raw, want := range map[string]string{
		"file:///C:/ws/a.go":               `C:\ws\a.go`,
		"file:///c:/ws/a.go":               `C:\ws\a.go`,
		"file:///c%3A/ws/a.go":             `C:\ws\a.go`,
		"file:///C%3a/ws/a%20b/%C3%A9.go":  `C:\ws\a b\é.go`,
		"file:///Z:/":                      `Z:\`,
		"file:///c%3A/Users/x/a%23b%25.go": `C:\Users\x\a#b%.go`,
		"file://server/share/a.go":         `\\server\share\a.go`,
	} {
		u, err := uri.Parse(raw)
		if err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		path := document.PathFor(u, uri.PlatformWindows)
		if path != want {
			t.Errorf("%s is at %s; want %s", raw, path, want)
		}
		if back := uri.FileFor(uri.PlatformWindows, path); back != u {
			t.Errorf("%s, which is %s, comes back as %s", raw, u, back)
		}
	}
	for raw, want := range map[string]string{
		"file:///ws/a.go":          "/ws/a.go",
		"file:///ws/C%3A/a%20b.go": "/ws/C:/a b.go",
	} {
		u, err := uri.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if path := document.PathFor(u, uri.PlatformPOSIX); path != want {
			t.Errorf("%s is at %s; want %s", raw, path, want)
		}
	}
}
