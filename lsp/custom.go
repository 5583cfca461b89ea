package lsp

import (
	"context"
	"encoding/json"
	"maps"
	"path/filepath"
	"reflect"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/uri"

	"quarry/completion"
	"quarry/lsp/assist"
	"quarry/lsp/document"
	"quarry/lsp/wire"
)

// methodTable is the requests that quarry adds to LSP.
func (s *Server) methodTable() map[string]wire.Method {
	table := s.assist.Methods()
	maps.Copy(table, s.search.Methods())
	maps.Copy(table, map[string]wire.Method{
		MethodExplainCompletion: {Serve: s.explainCompletion, Params: reflect.TypeFor[explainParams](), Result: reflect.TypeFor[Explanation]()},
		MethodStatus:            {Serve: s.status, Result: reflect.TypeFor[Status]()},
		MethodMetrics:           {Serve: s.metrics, Result: reflect.TypeFor[metricsText]()},
	})
	return table
}

// notifications are the params of what is told to the client beside LSP's.
func notifications() map[string]reflect.Type {
	table := maps.Clone(assist.Notifications)
	table[MethodStatus] = reflect.TypeFor[StatusNote]()
	return table
}

// custom serves quarry's own methods ahead of next, which would not decode a
// request of theirs without params.
func (s *Server) custom(next jsonrpc2.Handler) jsonrpc2.Handler {
	return func(ctx context.Context, req *jsonrpc2.Request) (any, error) {
		method, ok := s.methods[req.Method()]
		if !ok {
			return next(ctx, req)
		}
		result, err := method.Serve(ctx, json.RawMessage(req.Params()))
		if err != nil {
			return nil, err
		}
		raw, err := json.Marshal(result)
		return jsonrpc2.RawMessage(raw), err
	}
}

// MethodExplainCompletion asks where a document's last ghost text came from.
// Its params are {"textDocument": {"uri"}}, its result is an Explanation or
// null if the document has had none.
const MethodExplainCompletion = "quarry/completion.explain"

// Explanation is the record of one answer.
type Explanation struct {
	Engine string `json:"engine"`
	// Note says why the model's answer is not what is shown, "" if it is.
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
	TextDocument wire.DocumentID `json:"textDocument"`
}

func (s *Server) explainCompletion(ctx context.Context, params json.RawMessage) (any, error) {
	var p explainParams
	if err := wire.DecodeParams(params, &p); err != nil {
		return nil, err
	}
	u, err := wire.ParseURI(p.TextDocument.URI)
	if err != nil {
		return nil, wire.InvalidParams("textDocument.uri %q: %v", p.TextDocument.URI, err)
	}
	jsonrpc2.Async(ctx)
	last, hidden := s.lastAnswer(ctx, u)
	if last == nil || hidden {
		return nil, nil
	}
	return explain(last), nil
}

// lastAnswer is what the last ghost text of a document came from, nil if there was none.
// hidden: something went into it that may not be shown any more.
func (s *Server) lastAnswer(ctx context.Context, u uri.URI) (last *completion.Result, hidden bool) {
	kept, ok := s.records.Load(string(u))
	if !ok {
		return nil, false
	}
	last = kept.(*completion.Result)
	core := s.currentCore()
	excluded := func(d *document.Document) bool {
		secret, err := core.Excluded(ctx, d.Name(), d.Text.String())
		return secret || err != nil
	}
	if doc := s.docs.Get(u); doc != nil && excluded(doc) {
		return last, true
	}
	for _, sn := range last.Prompt.Snippets {
		doc := s.docs.At(filepath.Join(sn.Root, filepath.FromSlash(sn.Path)))
		hidden = hidden || doc != nil && excluded(doc) || sn.Root != "" && !core.Allows(sn.Root, sn.Path)
	}
	return last, hidden
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

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
