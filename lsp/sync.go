package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

// keepSpelling remembers how the client spells the URI of a document it opens:
// decoding makes URIs canonical, and an edit must name a document as the client
// does.
func (s *Server) keepSpelling(next jsonrpc2.Handler) jsonrpc2.Handler {
	return func(ctx context.Context, req *jsonrpc2.Request) (any, error) {
		if req.Method() != protocol.MethodTextDocumentDidOpen {
			return next(ctx, req)
		}
		var p struct{ TextDocument struct{ URI string } }
		if json.Unmarshal(req.Params(), &p) == nil { // else next says what is wrong
			if u, err := parseURI(p.TextDocument.URI); err == nil && string(u) != p.TextDocument.URI {
				s.spellings.Store(u, uri.URI(p.TextDocument.URI))
			}
		}
		return next(ctx, req)
	}
}

// spelled is the URI of an open document as the client writes it.
func (s *Server) spelled(u uri.URI) uri.URI {
	if own, ok := s.spellings.Load(u); ok {
		return own.(uri.URI)
	}
	return u
}

// DidOpen implements textDocument/didOpen.
func (s *Server) DidOpen(_ context.Context, params *protocol.DidOpenTextDocumentParams) error {
	doc := openDocument(params.TextDocument)
	// A client may open again what is open: then what was begun for the text
	// before is of no use.
	s.inline.cancel(string(doc.URI))
	s.docs.set(doc)
	if path := doc.Path(); path != "" {
		s.currentCore().DidOpen(path, doc.Text.String())
	}
	s.check(doc.URI)
	return nil
}

// DidChange implements textDocument/didChange.
func (s *Server) DidChange(_ context.Context, params *protocol.DidChangeTextDocumentParams) error {
	u := params.TextDocument.URI
	doc := s.docs.get(u)
	if doc == nil {
		s.note("unknown "+string(u), fmt.Sprintf("%s was changed but never opened; the change is ignored", u))
		return nil
	}
	next, err := doc.changed(params.TextDocument.Version, params.ContentChanges, s.encoding)
	s.docs.set(next)
	s.typing.note()
	s.findings.moved(u, doc.Text, next.Text)
	// An answer for the text before is of no use to anybody.
	s.inline.cancel(string(u))
	core := s.currentCore()
	core.Busy()()
	if path := next.Path(); path != "" && !next.Stale {
		core.DidChange(path, next.Text.String())
	}
	s.check(u)
	switch {
	case errors.Is(err, errVersionBack):
		s.note("version "+string(u), fmt.Sprintf("%s: %v; its changes are applied in the order they came", u, err))
	case err != nil && !doc.Stale:
		s.tell(Warning, "stale "+string(u), fmt.Sprintf(
			"the editor sent a change of %s that does not fit (%v). quarry is silent in this file until its whole text comes, as when it is reopened.", u, err))
	}
	return nil
}

// DidSave implements textDocument/didSave.
func (s *Server) DidSave(_ context.Context, params *protocol.DidSaveTextDocumentParams) error {
	if u := params.TextDocument.URI; u.IsFile() {
		s.currentCore().DidSave(u.FsPath())
	}
	return nil
}

// DidClose implements textDocument/didClose.
func (s *Server) DidClose(_ context.Context, params *protocol.DidCloseTextDocumentParams) error {
	u := params.TextDocument.URI
	s.inline.cancel(string(u))
	doc := s.docs.get(u)
	s.docs.remove(u)
	s.spellings.Delete(u)
	s.findings.forget(u)
	s.ledgers.Delete(string(u))
	core := s.currentCore()
	core.Forget(string(u))
	if u.IsFile() {
		core.DidClose(u.FsPath())
	}
	if now, _ := s.current(); doc != nil && now.Diagnostics.Syntax {
		return s.uncheck(doc)
	}
	return nil
}
