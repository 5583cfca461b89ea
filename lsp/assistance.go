package lsp

import (
	"context"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"quarry/lsp/assist"
	"quarry/lsp/progress"
)

// host is the server as its assistance needs it.
type host struct{ s *Server }

var _ assist.Host = host{}

func (h host) Core() assist.Core                                   { return h.s.currentCore() }
func (h host) Task(name string, f func(ctx context.Context) error) { h.s.task(name, f) }
func (h host) StartJob(title string, cancel func()) assist.Job {
	return h.s.jobs.Start(progress.Asked, title, cancel)
}
func (h host) Spelled(u uri.URI) uri.URI { return h.s.spellings.Spelled(u) }
func (h host) Notify(ctx context.Context, method string, params any) error {
	return h.s.conn.Notify(ctx, method, params)
}

func (h host) SendProgress(ctx context.Context, token protocol.ProgressToken, value any) error {
	return h.s.jobs.Send(ctx, token, value)
}

// CodeAction implements textDocument/codeAction.
func (s *Server) CodeAction(ctx context.Context, params *protocol.CodeActionParams) ([]protocol.CommandOrCodeAction, error) {
	return s.assist.CodeAction(ctx, params)
}

// Hover implements textDocument/hover.
func (s *Server) Hover(ctx context.Context, params *protocol.HoverParams) (*protocol.Hover, error) {
	return s.assist.Hover(ctx, params)
}

// TextDocumentContent implements workspace/textDocumentContent.
func (s *Server) TextDocumentContent(_ context.Context, params *protocol.TextDocumentContentParams) (*protocol.TextDocumentContentResult, error) {
	return s.assist.Screen().Content(params)
}
