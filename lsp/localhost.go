package lsp

import (
	"bytes"
	"regexp"
	"strings"

	"go.lsp.dev/uri"
)

// file://localhost/x is file:///x (RFC 8089, section 2), and clients use both for
// one file. Inside the server there is the latter alone.

const (
	localhost = "file://localhost/"
	noHost    = "file:///"
)

// localFile finds the URIs of a message that name the host, by the properties LSP
// has for them: a document's text may begin with such a URI too. Quotes inside a
// text are escaped, so nothing in one matches.
var localFile = regexp.MustCompile(`"(?:uri|rootUri|oldUri|newUri)"\s*:\s*"` + localhost + `[^"]*"`)

// withoutLocalhost takes the host out of a message's URIs. Edits will name a
// document that is opened as the client does.
func (s *Server) withoutLocalhost(body []byte) []byte {
	if !bytes.Contains(body, []byte(localhost)) {
		return body
	}
	opens := bytes.Contains(body, []byte(`"textDocument/didOpen"`))
	return localFile.ReplaceAllFunc(body, func(property []byte) []byte {
		at := bytes.Index(property, []byte(localhost))
		own := string(property[at : len(property)-1])
		if u, err := parseURI(own); err == nil && opens {
			s.spellings.Store(u, uri.URI(own))
		}
		return bytes.Replace(property, []byte(localhost), []byte(noHost), 1)
	})
}

// parseURI is uri.Parse with the host taken out.
func parseURI(raw string) (uri.URI, error) {
	if rest, ok := strings.CutPrefix(raw, localhost); ok {
		raw = noHost + rest
	}
	return uri.Parse(raw)
}
