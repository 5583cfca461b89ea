package assist

import (
	"context"
	"slices"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"quarry/agent/markdown"
	"quarry/lsp/document"
)

// Hover implements textDocument/hover: what was explained at that place.
func (s *Service) Hover(ctx context.Context, params *protocol.HoverParams) (*protocol.Hover, error) {
	doc := s.docs.Get(params.TextDocument.URI)
	if doc == nil || doc.Stale {
		return nil, nil
	}
	at, err := doc.Text.PositionToOffset(document.Position(params.Position), s.encoding)
	if err != nil {
		return nil, err
	}
	for _, f := range s.known.in(doc) {
		if f.explanation == (prose{}) || at < f.start || at > f.end {
			continue
		}
		jsonrpc2.Async(ctx)
		if excluded, err := s.host.Core().Excluded(ctx, doc.Path(), doc.Text.String()); excluded || err != nil {
			return nil, err // a rule is newer than what was said
		}
		r := document.Range(doc.Text, f.start, f.end, s.encoding)
		message, said := oneLine(messageOf(f.Diagnostic), 200), f.explanation.short()
		contents := &protocol.MarkupContent{Kind: s.hoverKind(), Value: "**quarry:** " + markdown.Inline(message) + "\n\n" + said.markdown()}
		if contents.Kind == protocol.MarkupKindPlainText {
			contents.Value = "quarry: " + message + "\n\n" + said.plain()
		}
		return &protocol.Hover{Contents: contents, Range: &r}, nil
	}
	return nil, nil
}

// hoverKind is Markdown, unless the client takes only plain text.
func (s *Service) hoverKind() protocol.MarkupKind {
	td := s.caps.TextDocument
	if td != nil && td.Hover != nil && len(td.Hover.ContentFormat) > 0 && !slices.Contains(td.Hover.ContentFormat, protocol.MarkupKindMarkdown) {
		return protocol.MarkupKindPlainText
	}
	return protocol.MarkupKindMarkdown
}
