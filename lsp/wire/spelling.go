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

// Spellings are a client's own URIs of the documents it has open, where they differ from
// the canonical ones: edits must name a document as the client does.
type Spellings struct {
	mu  sync.Mutex
	own map[uri.URI]spelling // by the canonical URI
}

// A spelling is how the client writes a URI. A document that is closed and opened again at once
// is opened for WithoutHost, which sees messages as they are read, before Forget hears that it is
// closed: so the openings are counted.
type spelling struct {
	own   uri.URI
	opens int
}

// open notes how a document is spelled that is opened; again: also if that is known.
func (s *Spellings) open(u, own uri.URI, again bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.own[u]
	if known.opens > 0 && !again {
		return
	}
	if s.own == nil {
		s.own = map[uri.URI]spelling{}
	}
	s.own[u] = spelling{own, known.opens + 1}
}

// WithoutHost takes the host out of a message's URIs. Edits will name a
// document that is opened as the client does.
func (s *Spellings) WithoutHost(body []byte) []byte {
	if !bytes.Contains(body, []byte(localhost)) {
		return body
	}
	opens := bytes.Contains(body, []byte(`"textDocument/didOpen"`))
	return localFile.ReplaceAllFunc(body, func(property []byte) []byte {
		at := bytes.Index(property, []byte(localhost))
		own := string(property[at : len(property)-1])
		if u, err := ParseURI(own); err == nil && opens {
			s.open(u, uri.URI(own), true)
		}
		return bytes.Replace(property, []byte(localhost), []byte(noHost), 1)
	})
}

// Keep remembers how the client spells the URI of a document it opens:
// decoding makes URIs canonical, and an edit must name a document as the client
// does.
func (s *Spellings) Keep(next jsonrpc2.Handler) jsonrpc2.Handler {
	return func(ctx context.Context, req *jsonrpc2.Request) (any, error) {
		if req.Method() != protocol.MethodTextDocumentDidOpen {
			return next(ctx, req)
		}
		var p struct{ TextDocument struct{ URI string } }
		if json.Unmarshal(req.Params(), &p) == nil { // else next says what is wrong
			if u, err := ParseURI(p.TextDocument.URI); err == nil && string(u) != p.TextDocument.URI {
				s.open(u, uri.URI(p.TextDocument.URI), false) // not over what WithoutHost has seen of it
			}
		}
		return next(ctx, req)
	}
}

// Spelled is the URI of an open document as the client writes it.
func (s *Spellings) Spelled(u uri.URI) uri.URI {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.own[u]; known.opens > 0 {
		return known.own
	}
	return u
}

// Forget drops the spelling of a closed document.
func (s *Spellings) Forget(u uri.URI) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.own[u]
	if known.opens--; known.opens > 0 {
		s.own[u] = known
	} else {
		delete(s.own, u)
	}
}

// ParseURI is uri.Parse with the host taken out.
func ParseURI(raw string) (uri.URI, error) {
	if rest, ok := strings.CutPrefix(raw, localhost); ok {
		raw = noHost + rest
	}
	return uri.Parse(raw)
}
