package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"go.lsp.dev/jsonrpc2"

	"quarry/completion"
	"quarry/retrieval"
)

// customMethods are the requests that quarry adds to LSP. Each runs on the read
// loop and detaches itself if it takes time.
var customMethods map[string]func(*Server, context.Context, json.RawMessage) (any, error)

func init() {
	customMethods = map[string]func(*Server, context.Context, json.RawMessage) (any, error){
		MethodExplainCompletion:  (*Server).explainCompletion,
		MethodAsk:                (*Server).ask,
		"quarry/tools.list":      (*Server).listTools,
		"quarry/tools.call":      (*Server).callTool,
		methodDecide:             (*Server).decideProposal,
		MethodStatus:             (*Server).status,
		MethodMetrics:            (*Server).metrics,
		"quarry/index.status":    (*Server).indexStatus,
		"quarry/index.rebuild":   (*Server).indexRebuild,
		"quarry/search.lexical":  searchIn(retrieval.SignalsLexical),
		"quarry/search.semantic": searchIn(retrieval.SignalsSemantic),
		"quarry/search.hybrid":   searchIn(retrieval.SignalsAll),
		"quarry/similar":         (*Server).similar,
		"quarry/content.getSpan": (*Server).getSpan,
		"quarry/open.atSpan":     (*Server).openAtSpan,
	}
}

// custom serves quarry's own methods ahead of next, which would not decode a
// request of theirs without params.
func (s *Server) custom(next jsonrpc2.Handler) jsonrpc2.Handler {
	return func(ctx context.Context, req *jsonrpc2.Request) (any, error) {
		handle, ok := customMethods[req.Method()]
		if !ok {
			return next(ctx, req)
		}
		result, err := handle(s, ctx, json.RawMessage(req.Params()))
		if err != nil {
			return nil, err
		}
		raw, err := json.Marshal(result)
		return jsonrpc2.RawMessage(raw), err
	}
}

// decodeParams decodes the params of a request of quarry's own; without any, p
// stays as it is.
func decodeParams(params json.RawMessage, p any) error {
	if len(params) == 0 || string(params) == "null" {
		return nil
	}
	if err := json.Unmarshal(params, p); err != nil {
		return jsonrpc2.NewError(jsonrpc2.InvalidParams, err.Error())
	}
	return nil
}

func invalidParams(format string, args ...any) error {
	return jsonrpc2.NewError(jsonrpc2.InvalidParams, fmt.Sprintf(format, args...))
}

// MethodExplainCompletion asks where a document's last ghost text came from.
// Its params are {"textDocument": {"uri"}}, its result is an Explanation or
// null if the document has had none.
const MethodExplainCompletion = "quarry/completion.explain"

// Explanation is the ledger of one answer.
type Explanation struct {
	Engine string `json:"engine"`
	// Note says why the model was not used, "" if it was.
	Note    string             `json:"note,omitempty"`
	Prompt  ExplainedPrompt    `json:"prompt"`
	Timings map[string]float64 `json:"timings_ms"`
}

// ExplainedPrompt is what the model was sent.
type ExplainedPrompt struct {
	Text     string             `json:"text"`
	Tokens   int                `json:"tokens"`
	Snippets []ExplainedSnippet `json:"snippets"`
}

// ExplainedSnippet is a piece of another place in a prompt; lines are 1-based
// and inclusive.
type ExplainedSnippet struct {
	Path      string `json:"path"`
	StartLine int    `json:"start_line"`
	EndLine   int    `json:"end_line"`
	Why       string `json:"why"`
}

type explainParams struct {
	TextDocument searchDocument `json:"textDocument"`
}

func (s *Server) explainCompletion(_ context.Context, params json.RawMessage) (any, error) {
	var p explainParams
	if err := decodeParams(params, &p); err != nil {
		return nil, err
	}
	u, err := parseURI(p.TextDocument.URI)
	if err != nil {
		return nil, invalidParams("textDocument.uri %q: %v", p.TextDocument.URI, err)
	}
	last, ok := s.ledgers.Load(string(u))
	if !ok {
		return nil, nil
	}
	return explain(last.(*completion.Result)), nil
}

func explain(r *completion.Result) Explanation {
	e := Explanation{
		Engine:  r.Engine,
		Note:    r.Note,
		Prompt:  ExplainedPrompt{Text: r.Prompt.Text, Tokens: r.Prompt.Tokens, Snippets: []ExplainedSnippet{}},
		Timings: map[string]float64{},
	}
	for _, sn := range r.Prompt.Snippets {
		e.Prompt.Snippets = append(e.Prompt.Snippets, ExplainedSnippet{sn.Path, sn.StartLine, sn.EndLine, sn.Why})
	}
	for name, d := range map[string]time.Duration{
		"context": r.Timings.Context, "build": r.Timings.Build, "first_token": r.Timings.FirstToken,
		"generate": r.Timings.Generate, "post": r.Timings.Post, "local": r.Timings.Local, "total": r.Timings.Total,
	} {
		e.Timings[name] = millis(d)
	}
	return e
}
