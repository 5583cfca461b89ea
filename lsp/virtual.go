package lsp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

// virtualScheme is the scheme of documents that exist only in the server.
const virtualScheme = "quarry"

// page is a read-only text for the person: an explanation, an answer.
type page struct {
	// name is a file name, the same for pages that replace each other.
	name string
	text string
}

// show puts a page on the screen in the best way the client has: a virtual
// document, else a file in the cache folder, else a message.
func (s *Server) show(ctx context.Context, p page) error {
	w, ws := s.clientCaps.Window, s.clientCaps.Workspace
	showsDocuments := w != nil && w.ShowDocument != nil && w.ShowDocument.Support
	switch {
	case showsDocuments && ws != nil && ws.TextDocumentContent != nil:
		return s.showVirtual(ctx, p)
	case showsDocuments:
		return s.showFile(ctx, p)
	}
	return s.client.ShowMessage(ctx, &protocol.ShowMessageParams{Type: protocol.MessageTypeInfo, Message: p.text})
}

func (s *Server) showVirtual(ctx context.Context, p page) error {
	u := uri.URI(virtualScheme + ":/" + p.name)
	if _, shownBefore := s.pages.Swap(u, p.text); shownBefore {
		if err := s.client.TextDocumentContentRefresh(ctx, &protocol.TextDocumentContentRefreshParams{URI: u}); err != nil {
			return fmt.Errorf("refresh %s: %w", u, err)
		}
	}
	return s.showDocument(ctx, u)
}

// showFile is for editors that show only files. The file is the person's alone:
// it may quote their code.
func (s *Server) showFile(ctx context.Context, p page) error {
	dir := s.opts.CacheDir
	if dir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return fmt.Errorf("find a folder for %s: %w", p.name, err)
		}
		dir = filepath.Join(base, "quarry", "pages")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("write %s: %w", p.name, err)
	}
	path := filepath.Join(dir, p.name)
	if err := os.WriteFile(path, []byte(p.text), 0o600); err != nil {
		return fmt.Errorf("write %s: %w", p.name, err)
	}
	return s.showDocument(ctx, uri.File(path))
}

func (s *Server) showDocument(ctx context.Context, u uri.URI) error {
	result, err := s.client.ShowDocument(ctx, &protocol.ShowDocumentParams{URI: u})
	if err != nil {
		return fmt.Errorf("show %s: %w", u, err)
	}
	if result == nil || !result.Success {
		return fmt.Errorf("the editor did not show %s", u)
	}
	return nil
}

// TextDocumentContent implements workspace/textDocumentContent.
func (s *Server) TextDocumentContent(_ context.Context, params *protocol.TextDocumentContentParams) (*protocol.TextDocumentContentResult, error) {
	text, ok := s.pages.Load(params.URI)
	if !ok {
		return nil, jsonrpc2.NewError(jsonrpc2.InvalidParams, fmt.Sprintf("there is no document %s; run its command again", params.URI))
	}
	return &protocol.TextDocumentContentResult{Text: text.(string)}, nil
}
