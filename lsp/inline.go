package lsp

import (
	"context"
	"fmt"
	"path/filepath"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"quarry/completion"
	"quarry/index/mask"
	"quarry/lsp/document"
	"quarry/lsp/wire"
)

// Completer writes ghost text.
type Completer interface {
	Complete(context.Context, completion.Request) (completion.Result, error)
	// Prefetch begins to answer a request before it is made.
	Prefetch(completion.Request)
	// Forget drops what is kept for a closed document.
	Forget(key string)
}

// InlineCompletion implements textDocument/inlineCompletion.
func (s *Server) InlineCompletion(ctx context.Context, params *protocol.InlineCompletionParams) (protocol.InlineCompletionResult, error) {
	req, open := s.completionRequest(params.TextDocumentPositionParams)
	if req == nil {
		return nil, nil
	}
	doc := open[0]
	req.Manual = params.Context.TriggerKind == protocol.InlineCompletionTriggerKindInvoked
	if info := params.Context.SelectedCompletionInfo; info != (protocol.SelectedCompletionInfo{}) {
		start, startErr := doc.Text.PositionToOffset(document.Position(info.Range.Start), s.encoding)
		end, endErr := doc.Text.PositionToOffset(document.Position(info.Range.End), s.encoding)
		if startErr != nil || endErr != nil || start > end || mask.Text(info.Text) != info.Text { // a token goes into no prompt
			return nil, nil
		}
		req.Selected = &completion.Selected{Start: start, End: end, Text: info.Text}
	}
	result, err := s.complete(ctx, *req, open)
	if result == nil || err != nil {
		return nil, err
	}
	items := unmasked(doc.Text.String(), result.Items)
	list := &protocol.InlineCompletionList{Items: make([]protocol.InlineCompletionItem, 0, len(items))}
	for _, item := range items {
		r := document.Range(doc.Text, item.Start, item.End, s.encoding)
		list.Items = append(list.Items, protocol.InlineCompletionItem{
			InsertText: protocol.String(item.Text),
			Range:      &r,
			Command:    s.acceptCommand(doc, item),
		})
	}
	return list, nil
}

// unmasked are the items that can be written into a text of which the engine saw the masked
// form: what they keep has its values again, and one that writes a mask is left out.
func unmasked(text string, items []completion.Item) (kept []completion.Item) {
	for _, item := range items {
		var ok bool
		if item.Text, ok = mask.Insert(text, item.Start, item.End, item.Text); ok {
			kept = append(kept, item)
		}
	}
	return kept
}

// complete detaches from the read loop and answers, as the newest request of its
// document.
func (s *Server) complete(ctx context.Context, req completion.Request, open []*document.Document) (*completion.Result, error) {
	ctx, done := s.inline.Begin(ctx, req.Key)
	defer done()
	jsonrpc2.Async(ctx)
	return s.completed(ctx, req, open)
}

// completed asks the core. It answers nil when a newer request of the document has taken
// over.
func (s *Server) completed(ctx context.Context, req completion.Request, open []*document.Document) (*completion.Result, error) {
	core := s.currentCore()
	defer core.Busy()()
	var result completion.Result
	var err error
	if s.withhold(ctx, &req, open) {
		result, err = core.Complete(ctx, req)
	}
	if context.Cause(ctx) == wire.ErrSuperseded {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if s.docs.Get(uri.URI(req.Key)) != nil { // else it was closed meanwhile
		s.records.Store(req.Key, &result)
	}
	return &result, nil
}

// withhold gives req the open documents that a model may see; it answers false
// if req's own is none of them. Not for the read loop: it may wait for the rules
// of a folder that is being opened.
//
// A document outside every folder is completed, because the user opened it, but it
// is in no prompt of a document of the workspace, nor the other way round. What git's
// rules leave out is completed, too, and is in no prompt but its own.
func (s *Server) withhold(ctx context.Context, req *completion.Request, open []*document.Document) (ok bool) {
	_, roots := s.current()
	core := s.currentCore()
	excluded := func(d *document.Document) (bool, error) { return core.Excluded(ctx, d.Name(), d.Text.String()) }
	secret, err := excluded(open[0])
	if err != nil {
		return false // overtaken: nothing is known of the document, so nothing is said
	}
	if secret {
		s.note("excluded "+req.Key, fmt.Sprintf("no completions in %s: it looks like a secret, is excluded by .quarryignore, or links outside the workspace", req.Key))
		return false
	}
	outside := func(d *document.Document) bool {
		root, _ := document.RootAndPath(d.Path(), roots)
		return d.URI.IsFile() && root == ""
	}
	for _, d := range open[1:] {
		if outside(d) != outside(open[0]) {
			continue
		}
		if secret, err := excluded(d); secret || err != nil {
			continue
		}
		if root, rel := document.RootAndPath(d.Path(), roots); root == "" || core.Allows(root, rel) {
			req.Open = append(req.Open, engineDocument(d, roots))
		}
	}
	return true
}

// completionRequest is a place in the engine's terms, with its document and the
// other open ones; nil where no completion is wanted or possible.
func (s *Server) completionRequest(at protocol.TextDocumentPositionParams) (*completion.Request, []*document.Document) {
	u := at.TextDocument.URI
	doc := s.docs.Get(u)
	if doc == nil {
		s.note("unknown "+string(u), fmt.Sprintf("completion was requested in %s, which was never opened", u))
		return nil, nil
	}
	now, roots := s.current()
	if doc.Stale {
		return nil, nil
	}
	if !doc.Completable() {
		s.note("scheme "+string(u), fmt.Sprintf("completions need a file or a new untitled document; save %s as a file", u))
		return nil, nil
	}
	if now.Completion.Enabled && doc.Text.Len() > now.Completion.MaxFileBytes {
		s.notify(Info, "size "+string(u), fmt.Sprintf(
			"no ghost text in %s, raise completion.maxFileBytes: it has %.1f MB, allowed are %.1f MB.",
			filepath.Base(doc.Path()), float64(doc.Text.Len())/1e6, float64(now.Completion.MaxFileBytes)/1e6))
		return nil, nil
	}
	offset, err := doc.Text.PositionToOffset(document.Position(at.Position), s.encoding)
	if err != nil {
		s.note("position "+string(u), fmt.Sprintf("completion was requested outside %s: %v", u, err))
		return nil, nil
	}
	return &completion.Request{
		Key:      string(doc.URI),
		Document: engineDocument(doc, roots),
		Version:  doc.Version,
		Offset:   offset,
	}, s.withOthers(doc)
}

// withOthers is doc and the other open documents that may be in its prompt.
func (s *Server) withOthers(doc *document.Document) []*document.Document {
	now, _ := s.current()
	open := []*document.Document{doc}
	for _, other := range s.docs.Others(doc.URI) {
		if !other.Stale && other.Completable() && other.Text.Len() <= now.Completion.MaxFileBytes {
			open = append(open, other)
		}
	}
	return open
}

func engineDocument(d *document.Document, roots []string) completion.Document {
	root, rel := document.RootAndPath(d.Name(), roots)
	return completion.Document{Root: root, Path: rel, Language: d.Language, Text: d.Shown(), Opened: d.Opened()}
}
