package lsp

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"quarry/completion"
)

// errSuperseded ends a request that a newer one, or a change of its document,
// has made useless. Its answer is null and not an error, because Neovim shows
// errors.
var errSuperseded = errors.New("superseded")

// newest keeps, for each document, the one request that is worth answering.
type newest struct {
	mu sync.Mutex
	// running is guarded by mu.
	running map[string]*inlineRequest
}

type inlineRequest struct{ cancel context.CancelCauseFunc }

func newNewest() *newest { return &newest{running: map[string]*inlineRequest{}} }

// begin ends the document's running request and takes its place. The caller
// calls done when it has its answer.
func (n *newest) begin(ctx context.Context, key string) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	r := &inlineRequest{cancel}
	n.mu.Lock()
	defer n.mu.Unlock()
	if old := n.running[key]; old != nil {
		old.cancel(errSuperseded)
	}
	n.running[key] = r
	return ctx, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.running[key] == r {
			delete(n.running, key)
		}
		cancel(nil)
	}
}

// cancel ends the document's running request.
func (n *newest) cancel(key string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if r := n.running[key]; r != nil {
		r.cancel(errSuperseded)
		delete(n.running, key)
	}
}

func (n *newest) cancelAll() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for key, r := range n.running {
		r.cancel(errSuperseded)
		delete(n.running, key)
	}
}

// InlineCompletion implements textDocument/inlineCompletion.
func (s *Server) InlineCompletion(ctx context.Context, params *protocol.InlineCompletionParams) (protocol.InlineCompletionResult, error) {
	doc := s.docs.get(params.TextDocument.URI)
	req := s.completionRequest(doc, params.TextDocumentPositionParams)
	if req == nil {
		return nil, nil
	}
	req.Manual = params.Context.TriggerKind == protocol.InlineCompletionTriggerKindInvoked
	if info := params.Context.SelectedCompletionInfo; info != (protocol.SelectedCompletionInfo{}) {
		start, startErr := doc.Text.PositionToOffset(position(info.Range.Start), s.encoding)
		end, endErr := doc.Text.PositionToOffset(position(info.Range.End), s.encoding)
		if startErr != nil || endErr != nil || start > end {
			return nil, nil
		}
		req.Selected = &completion.Selected{Start: start, End: end, Text: info.Text}
	}
	result, err := s.complete(ctx, *req)
	if result == nil || err != nil {
		return nil, err
	}
	list := &protocol.InlineCompletionList{Items: make([]protocol.InlineCompletionItem, 0, len(result.Items))}
	for _, item := range result.Items {
		r := protocolRange(doc.Text, item.Start, item.End, s.encoding)
		list.Items = append(list.Items, protocol.InlineCompletionItem{
			InsertText: protocol.String(item.Text),
			Range:      &r,
			Command:    s.acceptCommand(doc, item),
		})
	}
	return list, nil
}

// complete detaches from the read loop and asks the core, as the newest request
// of its document. It answers nil when a newer one has taken over.
func (s *Server) complete(ctx context.Context, req completion.Request) (*completion.Result, error) {
	ctx, done := s.inline.begin(ctx, req.Key)
	defer done()
	jsonrpc2.Async(ctx)

	core := s.currentCore()
	defer core.Busy()()
	result, err := core.Complete(ctx, req)
	if context.Cause(ctx) == errSuperseded {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s.ledgers.Store(req.Key, &result)
	return &result, nil
}

// completionRequest is a place in the engine's terms, nil where no completion is
// wanted or possible.
func (s *Server) completionRequest(doc *Document, at protocol.TextDocumentPositionParams) *completion.Request {
	u := at.TextDocument.URI
	if doc == nil {
		s.note("unknown "+string(u), fmt.Sprintf("completion was asked for in %s, which was never opened", u))
		return nil
	}
	now, roots := s.current()
	if doc.Stale {
		return nil
	}
	if now.Completion.Enabled && doc.Text.Len() > now.Completion.MaxFileBytes {
		s.tell(Info, "size "+string(u), fmt.Sprintf(
			"%s has %.1f MB, more than completion.maxFileBytes allows (%.1f MB); there is no ghost text in it.",
			doc.Path(), float64(doc.Text.Len())/1e6, float64(now.Completion.MaxFileBytes)/1e6))
		return nil
	}
	offset, err := doc.Text.PositionToOffset(position(at.Position), s.encoding)
	if err != nil {
		s.note("position "+string(u), fmt.Sprintf("completion was asked for outside %s: %v", u, err))
		return nil
	}
	req := &completion.Request{
		Key:      string(doc.URI),
		Document: engineDocument(doc, roots),
		Version:  doc.Version,
		Offset:   offset,
	}
	for _, other := range s.docs.others(u) {
		if !other.Stale && other.Text.Len() <= now.Completion.MaxFileBytes {
			req.Open = append(req.Open, engineDocument(other, roots))
		}
	}
	return req
}

func engineDocument(d *Document, roots []string) completion.Document {
	path := d.Path()
	if path == "" {
		path = d.URI.Path()
	}
	return completion.Document{Path: relativePath(path, roots), Language: d.Language, Text: d.Text.String()}
}
