package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"sync"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
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

// hosted says of a document that is opened that its URI named the host. It is in the message, and not
// noted beside it, because Keep sees messages in the order in which they are handled; a batch is read whole.
const hosted = `,"quarryHosted":true`

// WithoutHost takes the host out of a message's URIs, and leaves word of it for Keep.
func WithoutHost(body []byte) []byte {
	if !bytes.Contains(body, []byte(localhost)) {
		return body
	}
	opens := bytes.Contains(body, []byte(`"textDocument/didOpen"`))
	return localFile.ReplaceAllFunc(body, func(property []byte) []byte {
		property = bytes.Replace(property, []byte(localhost), []byte(noHost), 1)
		if opens {
			property = append(property, hosted...)
		}
		return property
	})
}

// Spellings are a client's own URIs of the documents it has open, where they differ from
// the canonical ones: edits must name a document as the client does.
type Spellings struct{ own sync.Map } // the client's uri.URI by the canonical one

// Keep remembers how the client spells the URI of a document it opens:
// decoding makes URIs canonical, and an edit must name a document as the client
// does.
func (s *Spellings) Keep(next jsonrpc2.Handler) jsonrpc2.Handler {
	return func(ctx context.Context, req *jsonrpc2.Request) (any, error) {
		if req.Method() != protocol.MethodTextDocumentDidOpen {
			return next(ctx, req)
		}
		var p struct {
			TextDocument struct {
				URI    string
				Hosted bool `json:"quarryHosted"` // see hosted
			}
		}
		if json.Unmarshal(req.Params(), &p) == nil { // else next says what is wrong
			own := p.TextDocument.URI
			if u, err := ParseURI(own); err == nil {
				if p.TextDocument.Hosted {
					own = localhost + strings.TrimPrefix(own, noHost)
				}
				if own != string(u) {
					s.own.Store(u, uri.URI(own))
				} else { // it may be open already, and spelled otherwise
					s.Forget(u)
				}
			}
		}
		return next(ctx, req)
	}
}

// Spelled is the URI of an open document as the client writes it.
func (s *Spellings) Spelled(u uri.URI) uri.URI {
	if own, ok := s.own.Load(u); ok {
		return own.(uri.URI)
	}
	return u
}

// Forget drops the spelling of a closed document.
func (s *Spellings) Forget(u uri.URI) { s.own.Delete(u) }

// ParseURI is uri.Parse with the host taken out.
func ParseURI(raw string) (uri.URI, error) {
	if rest, ok := strings.CutPrefix(raw, localhost); ok {
		raw = noHost + rest
	}
	return uri.Parse(raw)
}
