package lsp

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"

	"quarry/lsp/document"

	"go.lsp.dev/protocol"
)

// DidOpen implements textDocument/didOpen.
func (s *Server) DidOpen(_ context.Context, params *protocol.DidOpenTextDocumentParams) error {
	doc := document.Open(params.TextDocument)
	// A client may open again what is open: then what was begun for the text
	// before is of no use.
	s.inline.Cancel(string(doc.URI))
	s.docs.Put(doc)
	if path := doc.Path(); path != "" {
		s.currentCore().DidOpen(path, doc.Text.String())
	}
	s.check(doc.URI)
	return nil
}

// DidChange implements textDocument/didChange.
func (s *Server) DidChange(_ context.Context, params *protocol.DidChangeTextDocumentParams) error {
	u := params.TextDocument.URI
	doc := s.docs.Get(u)
	if doc == nil {
		s.note("unknown "+string(u), fmt.Sprintf("%s was changed but never opened; the change is ignored", u))
		return nil
	}
	next, err := doc.Changed(params.TextDocument.Version, params.ContentChanges, s.encoding)
	s.docs.Put(next)
	s.assist.Changed(doc, next)
	// An answer for the text before is of no use to anybody.
	s.inline.Cancel(string(u))
	core := s.currentCore()
	core.Busy()()
	if path := next.Path(); path != "" && !next.Stale {
		core.DidChange(path, next.Text.String())
	}
	s.check(u)
	switch {
	case errors.Is(err, document.ErrVersionBack):
		s.note("version "+string(u), fmt.Sprintf("%s: %v; its changes are applied in the order they came", u, err))
	case err != nil && !doc.Stale:
		s.notify(Warning, "stale "+string(u), fmt.Sprintf(
			"reopen %s: the editor sent a change that does not fit (%v), and until then quarry shows nothing in it.", filepath.Base(doc.Path()), err))
	}
	return nil
}

// DidSave implements textDocument/didSave.
func (s *Server) DidSave(_ context.Context, params *protocol.DidSaveTextDocumentParams) error {
	if u := params.TextDocument.URI; u.IsFile() {
		s.currentCore().DidSave(document.Path(u))
	}
	return nil
}

// largeDocument is how large a document is whose memory is given back to the system when it is
// closed: Go would keep some ten times as much for seconds.
const largeDocument = 8 << 20

// DidClose implements textDocument/didClose.
func (s *Server) DidClose(_ context.Context, params *protocol.DidCloseTextDocumentParams) error {
	u := params.TextDocument.URI
	s.inline.Cancel(string(u))
	doc := s.docs.Get(u)
	s.docs.Remove(u)
	defer s.spellings.Forget(u) // the errors are taken back by the name that the client knows
	s.assist.Closed(u)
	s.records.Delete(string(u))
	core := s.currentCore()
	core.Forget(string(u))
	if u.IsFile() {
		core.DidClose(document.Path(u))
	}
	if doc != nil && doc.Text.Len() >= largeDocument {
		defer s.task("memory of a closed document", func(context.Context) error {
			debug.FreeOSMemory()
			return nil
		})
	}
	if now, _ := s.current(); doc != nil && now.Diagnostics.Syntax {
		return s.uncheck(doc)
	}
	return nil
}
