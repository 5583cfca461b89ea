package assist

import (
	"context"
	"encoding/json"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"quarry/agent/markdown"
	"quarry/index/visible"
	"quarry/lsp/wire"
	"quarry/retrieval/workspace"
)

// MethodAsk asks a question about the workspace, a document or a selection.
const MethodAsk = "quarry/ask"

// askParams are the params of quarry/ask.
type askParams struct {
	Question     string           `json:"question"`
	TextDocument *wire.DocumentID `json:"textDocument,omitzero" jsonschema:"what the question is about; without it the workspace"`
	Range        *protocolSpan    `json:"range,omitzero" jsonschema:"the selection in textDocument; without it all of it"`
	// PartialResultToken is a string or an integer.
	PartialResultToken json.RawMessage `json:"partialResultToken,omitzero" jsonschema:"asks for the answer as it is written, by $/progress, as {text} to be appended, which is no Markdown"`
}

// protocolSpan is LSP's Range.
type protocolSpan struct {
	Start spanPosition `json:"start"`
	End   spanPosition `json:"end"`
}

// spanPosition is LSP's Position.
type spanPosition struct {
	Line      uint32 `json:"line" jsonschema:"0-based"`
	Character uint32 `json:"character" jsonschema:"0-based, in units of the negotiated encoding"`
}

// askResult is the result of quarry/ask.
type askResult struct {
	Text      string     `json:"text" jsonschema:"Markdown without links, images or HTML; it may differ from what was sent in parts, since its citations have been checked"`
	Citations []citation `json:"citations"`
	Removed   int        `json:"removed_citations" jsonschema:"how many named nothing in the workspace"`
	Unfounded bool       `json:"unfounded" jsonschema:"the workspace has no evidence for an answer"`
	Backend   []string   `json:"backend" jsonschema:"what the workspace was searched by"`
	// Incomplete says that the index was not whole, and what was missing.
	Incomplete *workspace.Missing `json:"incomplete,omitzero" jsonschema:"what the index did not know yet; absent if nothing"`
}

// citation is a place that an answer rests on.
type citation struct {
	Path      string `json:"path" jsonschema:"relative to the workspace folder, with slashes"`
	StartLine int    `json:"start_line"`
	EndLine   int    `json:"end_line"`
}

func (s *Service) ask(ctx context.Context, raw json.RawMessage) (any, error) {
	var p askParams
	if err := wire.DecodeParams(raw, &p); err != nil {
		return nil, err
	}
	token, err := wire.PartialToken(p.PartialResultToken)
	if err != nil {
		return nil, err
	}
	e := request{Do: doAsk, Question: p.Question}
	if p.TextDocument != nil {
		e.URI = p.TextDocument.URI
		if p.Range != nil {
			e.Range = &protocol.Range{Start: protocol.Position(p.Range.Start), End: protocol.Position(p.Range.End)}
		}
	}
	jsonrpc2.Async(ctx)
	q, err := s.question(ctx, e)
	if err != nil {
		return nil, err
	}
	a, err := s.host.Core().Ask(ctx, q, func(piece string) bool {
		if token == nil {
			return ctx.Err() == nil
		}
		return s.host.SendProgress(ctx, token, map[string]string{"text": visible.Text(piece)}) == nil
	})
	if err != nil {
		return nil, err
	}
	result := askResult{Text: markdown.Render(a.Text), Citations: []citation{}, Removed: a.Removed, Unfounded: a.Unfounded, Backend: a.Backend, Incomplete: a.Missing}
	if result.Backend == nil {
		result.Backend = []string{}
	}
	for _, c := range a.Citations {
		result.Citations = append(result.Citations, citation(c))
	}
	return result, nil
}
