package lsp

import (
	"fmt"
	"slices"
	"testing"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

// A workspace on Windows is one folder, however a client spells it.
func TestRootsOnWindows(t *testing.T) {
	for params, want := range map[string][]string{
		`{"workspaceFolders": [{"uri": "file:///C:/ws", "name": "a"}, {"uri": "file:///d%3A/other%20ws", "name": "b"}, {"uri": "untitled:x", "name": "c"}]}`: {`C:\ws`, `D:\other ws`},
		`{"rootUri": "file:///c:/ws", "rootPath": "c:\\other"}`:  {`C:\ws`},
		`{"rootUri": "file:///C%3A/ws"}`:                         {`C:\ws`},
		`{"rootUri": null, "rootPath": "c:\\ws\\a b"}`:           {`C:\ws\a b`},
		`{"rootUri": null, "rootPath": "c:/ws"}`:                 {`C:\ws`},
		`{"rootUri": "file://server/share/ws"}`:                  {`\\server\share\ws`},
		`{"rootUri": null, "rootPath": "\\\\server\\share\\ws"}`: {`\\server\share\ws`},
		`{"rootUri": null, "rootPath": null}`:                    nil,
	} {
		p := new(protocol.InitializeParams)
		if err := protocol.Unmarshal([]byte(fmt.Sprintf(`{"capabilities": {}, "processId": null, %s`, params[1:])), p); err != nil {
			t.Fatalf("%s: %v", params, err)
		}
		if got := rootsOf(p, uri.PlatformWindows); !slices.Equal(got, want) {
			t.Errorf("%s: %q; want %q", params, got, want)
		}
	}
}
