package search

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"go.lsp.dev/jsonrpc2"

	"quarry/lsp/wire"
	"quarry/retrieval"
	"quarry/retrieval/workspace"
)

// similarParams are the params of quarry/similar: some code, or lines of a file, named
// as in quarry/content.getSpan.
type similarParams struct {
	Code         string        `json:"code,omitzero" jsonschema:"the code to compare with; without it the lines of the file"`
	URI          string        `json:"uri,omitzero"`
	Path         string        `json:"path,omitzero" jsonschema:"absolute, or relative to the first folder of the workspace"`
	StartLine    int           `json:"startLine,omitzero" jsonschema:"1-based"`
	EndLine      int           `json:"endLine,omitzero" jsonschema:"1-based, inclusive"`
	Query        string        `json:"query,omitzero" jsonschema:"filters, as in the query of a search; no words"`
	K            int           `json:"k,omitzero" jsonschema:"most results, 10 if absent, at most 100"`
	Filters      searchFilters `json:"filters,omitzero"`
	IncludeText  bool          `json:"includeText,omitzero" jsonschema:"give the text of each result"`
	ContextLines int           `json:"contextLines,omitzero" jsonschema:"lines more on both sides of the text, at most 50"`
	Current      bool          `json:"current,omitzero" jsonschema:"as in a search"`
}

func (s *Service) similar(ctx context.Context, raw json.RawMessage) (any, error) {
	var p similarParams
	if err := wire.DecodeParams(raw, &p); err != nil {
		return nil, err
	}
	switch {
	case p.K < 0 || p.K > maxSearchResults:
		return nil, wire.InvalidParams("k is %d, not between 1 and %d", p.K, maxSearchResults)
	case p.ContextLines < 0 || p.ContextLines > maxContextLines:
		return nil, wire.InvalidParams("contextLines is %d, not between 0 and %d", p.ContextLines, maxContextLines)
	}
	query := retrieval.Parse(p.Query, time.Now())
	if query.Text != "" || query.Lines != nil {
		return nil, wire.InvalidParams("query takes filters such as lang:go, not %q", query.Text)
	}
	req := workspace.SimilarRequest{Code: p.Code, StartLine: p.StartLine, EndLine: p.EndLine, Filter: query.Filter, Limit: p.K}
	p.Filters.addTo(&req.Filter)
	if p.Code == "" || p.URI != "" || p.Path != "" {
		path, err := s.locate(spanParams{URI: p.URI, Path: p.Path, StartLine: p.StartLine, EndLine: p.EndLine})
		if err != nil {
			return nil, err
		}
		req.Path = path
	}
	jsonrpc2.Async(ctx)
	core := s.core()
	missing, err := current(&ctx, core, p.Current)
	if err != nil {
		return nil, err
	}
	answer, err := core.FindSimilar(ctx, req)
	answer.Missing = cmp.Or(missing, answer.Missing)
	if err != nil {
		return nil, explainFailure(ctx, err, func(err error) error {
			return jsonrpc2.NewError(jsonrpc2.InvalidParams, fmt.Sprintf("find similar code: %v", err))
		})
	}
	core.Answered(nil, 1, answer.Results)
	return s.respond(ctx, core, answer, query.Notes, shownAs{text: p.IncludeText, contextLines: p.ContextLines})
}
