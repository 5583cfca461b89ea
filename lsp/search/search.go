// Package search serves quarry's own requests that find code: quarry/search.*, quarry/similar,
// quarry/content.getSpan, quarry/open.atSpan and quarry/index.*.
package search

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"quarry/agent"
	"quarry/index"
	"quarry/index/syntax"
	"quarry/lsp/document"
	"quarry/lsp/wire"
	"quarry/retrieval"
	"quarry/retrieval/workspace"
)

// Core finds code in the workspace. Its methods may be called concurrently.
type Core interface {
	// Search asks every root and merges the answers by score.
	Search(ctx context.Context, req retrieval.Request) (workspace.Answer, error)
	// Current waits, not for long, until the folders are indexed as they are at the call, and
	// searches know all of it. missing is what they do not know then, nil if nothing.
	Current(ctx context.Context) (missing *workspace.Missing, err error)
	// FindSimilar finds code like a piece of code.
	FindSimilar(ctx context.Context, req workspace.SimilarRequest) (workspace.Answer, error)
	// Text is a file as a model or another program may see it.
	Text(path string) (string, error)
	// Allows answers whether a file of a folder may be shown now.
	Allows(root, rel string) bool
	// IndexStatus is one status for each root.
	IndexStatus(ctx context.Context) ([]index.Status, error)
	// Rebuild makes every index anew.
	Rebuild()
	// Answered notes results that the user is shown for a query, the first of which has rank
	// first, from 1; q is nil for code like a piece of code. Viewed notes a file of them, or
	// another, that is opened.
	Answered(q *retrieval.Query, first int, results []workspace.Result)
	Viewed(path string)
}

// Service serves one client.
type Service struct {
	core      func() Core
	roots     func() []string
	documents *document.Set
	client    Client
	progress  func(ctx context.Context, token protocol.ProgressToken, value any) error
	// shows: the client shows a document when it is asked to. Set by Initialize.
	shows bool
}

// Client shows the user a document.
type Client interface {
	ShowDocument(ctx context.Context, params *protocol.ShowDocumentParams) (*protocol.ShowDocumentResult, error)
}

// Options are what a Service is made of.
type Options struct {
	// Core is the engines of the connection, Roots the paths of the workspace folders now.
	Core      func() Core
	Roots     func() []string
	Documents *document.Set
	Client    Client
	// Progress sends partial results.
	Progress func(ctx context.Context, token protocol.ProgressToken, value any) error
}

// New makes the service of a client.
func New(o Options) *Service {
	return &Service{core: o.Core, roots: o.Roots, documents: o.Documents, client: o.Client, progress: o.Progress}
}

// Initialize takes what is needed from a client's capabilities. It goes before every request.
func (s *Service) Initialize(caps protocol.ClientCapabilities) {
	w := caps.Window
	s.shows = w != nil && w.ShowDocument != nil && w.ShowDocument.Support
}

// Methods are the requests that a Service serves.
func (s *Service) Methods() map[string]wire.Method {
	search := func(signals retrieval.Signals) wire.Method {
		return wire.Method{Serve: s.searchIn(signals), Params: reflect.TypeFor[searchParams](), Result: reflect.TypeFor[searchResponse]()}
	}
	return map[string]wire.Method{
		"quarry/index.status":    {Serve: s.indexStatus, Result: reflect.TypeFor[[]index.Status]()},
		"quarry/index.rebuild":   {Serve: s.indexRebuild},
		"quarry/search.lexical":  search(retrieval.SignalsLexical),
		"quarry/search.semantic": search(retrieval.SignalsSemantic),
		"quarry/search.hybrid":   search(retrieval.SignalsAll),
		"quarry/similar":         {Serve: s.similar, Params: reflect.TypeFor[similarParams](), Result: reflect.TypeFor[searchResponse]()},
		"quarry/content.getSpan": {Serve: s.getSpan, Params: reflect.TypeFor[spanParams](), Result: reflect.TypeFor[span]()},
		"quarry/open.atSpan":     {Serve: s.openAtSpan, Params: reflect.TypeFor[spanParams](), Result: reflect.TypeFor[shown]()},
	}
}

// searchParams are the params of quarry/search.lexical, .semantic and .hybrid.
type searchParams struct {
	Query        string           `json:"query" jsonschema:"free text, \"quoted text\", and filters such as lang:go"`
	K            int              `json:"k,omitzero" jsonschema:"most results, 10 if absent, at most 100"`
	Offset       int              `json:"offset,omitzero" jsonschema:"how many of the first results are left out"`
	Filters      searchFilters    `json:"filters,omitzero" jsonschema:"added to those of the query"`
	IncludeText  bool             `json:"includeText,omitzero" jsonschema:"give the text of each result"`
	ContextLines int              `json:"contextLines,omitzero" jsonschema:"lines more on both sides of the text, at most 50"`
	Declarations bool             `json:"includeDeclarations,omitzero" jsonschema:"give what the file of each result declares"`
	Fusion       string           `json:"fusion,omitzero" jsonschema:"how signals become one order: linear (default) or rrf"`
	Diversity    float64          `json:"diversity,omitzero" jsonschema:"0 to 1: trades relevance for difference between results"`
	TextDocument *wire.DocumentID `json:"textDocument,omitzero" jsonschema:"where the user is; without it nothing is near"`
	Position     searchPosition   `json:"position,omitzero"`
	Folder       string           `json:"folder,omitzero" jsonschema:"where a user without a document is, an absolute path: what is below it is near"`
	Mode         retrieval.Mode   `json:"mode,omitzero" jsonschema:"all, code, docs, symbols or recent, as mode: in the query, over which it wins"`
	Current      bool             `json:"current,omitzero" jsonschema:"first compare the folders with the index, and wait up to five seconds until what differs is indexed"`
	// PartialResultToken is a string or an integer.
	PartialResultToken json.RawMessage `json:"partialResultToken,omitzero" jsonschema:"asks for batches of results by $/progress, as {results}"`
}

type searchPosition struct {
	Line uint32 `json:"line" jsonschema:"0-based"`
}

// searchFilters add to the query's own.
type searchFilters struct {
	Paths     []string         `json:"paths,omitzero" jsonschema:"parts of paths, or globs"`
	Languages []string         `json:"languages,omitzero"`
	Symbols   []string         `json:"symbols,omitzero"`
	Kinds     []syntax.Kind    `json:"kinds,omitzero"`
	Types     []retrieval.Type `json:"types,omitzero" jsonschema:"code, test, doc, config or markup"`
}

func (f *searchFilters) addTo(q *retrieval.Filter) {
	q.Paths = append(q.Paths, f.Paths...)
	q.Languages = append(q.Languages, f.Languages...)
	q.Symbols = append(q.Symbols, f.Symbols...)
	q.Kinds = append(q.Kinds, f.Kinds...)
	q.Types = append(q.Types, f.Types...)
}

type searchResponse struct {
	Results []searchResult `json:"results"`
	Backend []string       `json:"backend"`
	Total   int            `json:"total" jsonschema:"how many were found; of lines, one more than the page has if there are more"`
	// Incomplete says that the index was not whole, and what was missing.
	Incomplete *workspace.Missing `json:"incomplete,omitzero" jsonschema:"what the index did not know yet; absent if nothing"`
	// NotSearched counts what is not indexed, by reason, where lines were asked for or nothing
	// was found; and what could not be parsed where a declaration was asked for.
	NotSearched map[string]int     `json:"not_searched,omitzero" jsonschema:"what is not indexed, by reason, where the query asks for lines or nothing was found, and what could not be parsed where a declaration was asked for"`
	NothingLeft bool               `json:"nothing_left,omitzero" jsonschema:"the filters leave out every file"`
	Notes       []string           `json:"notes,omitzero" jsonschema:"which words of the query look like filters and are none"`
	Timings     map[string]float64 `json:"timings_ms"`
}

type searchResult struct {
	URI string `json:"uri"`
	workspace.Result
	// Text is the place's text from TextStart on, with includeText; of a line always.
	Text      string `json:"text,omitempty"`
	TextStart int    `json:"text_start_line,omitempty"`
}

const (
	maxSearchResults = 100
	maxSearchOffset  = 1_000_000
	maxContextLines  = 50
	partialBatch     = 10
)

func (s *Service) searchIn(signals retrieval.Signals) func(context.Context, json.RawMessage) (any, error) {
	return func(ctx context.Context, raw json.RawMessage) (any, error) {
		var p searchParams
		if err := wire.DecodeParams(raw, &p); err != nil {
			return nil, err
		}
		return s.search(ctx, signals, p)
	}
}

func (s *Service) search(ctx context.Context, signals retrieval.Signals, p searchParams) (any, error) {
	switch {
	case strings.TrimSpace(p.Query) == "":
		return nil, wire.InvalidParams("query is empty")
	case p.K < 0 || p.K > maxSearchResults:
		return nil, wire.InvalidParams("k is %d, not between 1 and %d", p.K, maxSearchResults)
	case p.Offset < 0 || p.Offset > maxSearchOffset:
		return nil, wire.InvalidParams("offset is %d, not between 0 and %d", p.Offset, maxSearchOffset)
	case p.ContextLines < 0 || p.ContextLines > maxContextLines:
		return nil, wire.InvalidParams("contextLines is %d, not between 0 and %d", p.ContextLines, maxContextLines)
	case p.Fusion != "" && p.Fusion != string(retrieval.FusionLinear) && p.Fusion != string(retrieval.FusionRank):
		return nil, wire.InvalidParams("fusion is %q, neither %q nor %q", p.Fusion, retrieval.FusionLinear, retrieval.FusionRank)
	case p.Mode != "" && !slices.Contains(retrieval.Modes, p.Mode):
		return nil, wire.InvalidParams("mode is %q, none of %v", p.Mode, retrieval.Modes)
	case p.Folder != "" && !filepath.IsAbs(p.Folder):
		return nil, wire.InvalidParams("folder %q is not an absolute path", p.Folder)
	}
	req := retrieval.Request{
		Query:     retrieval.Parse(p.Query, time.Now()),
		Signals:   signals,
		Limit:     p.K,
		Offset:    p.Offset,
		Fusion:    retrieval.Fusion(p.Fusion),
		Diversity: p.Diversity,
		At:        s.whereabouts(p),

		Declarations: p.Declarations,
	}
	p.Filters.addTo(&req.Query.Filter)
	req.Query.Mode = cmp.Or(p.Mode, req.Query.Mode)
	jsonrpc2.Async(ctx)

	core := s.core()
	missing, err := current(&ctx, core, p.Current)
	if err != nil {
		return nil, err
	}
	show := p.shown()
	var answer workspace.Answer
	if show.sent, err = s.early(ctx, core, req, show); err == nil {
		answer, err = core.Search(ctx, req)
	}
	answer.Missing = cmp.Or(missing, answer.Missing)
	if err != nil {
		return nil, explainFailure(ctx, err, func(err error) error {
			if signals != retrieval.SignalsSemantic {
				return err
			}
			return jsonrpc2.NewError(jsonrpc2.InvalidRequest, fmt.Sprintf("semantic search is not available: %v; use quarry/search.hybrid, which uses every signal there is", err))
		})
	}
	core.Answered(&req.Query, req.Offset+1, answer.Results)
	return s.respond(ctx, core, answer, req.Query.Notes, show)
}

// early sends what the signals find that ask no model, before those that do have answered: a
// query's vector may take half a second, and a reranker longer. It answers what was sent. If it
// fails, the others may still answer, but for an index that has been waited for in vain.
func (s *Service) early(ctx context.Context, core Core, req retrieval.Request, show shownAs) (sent map[place]bool, err error) {
	if show.partial == nil || req.Signals != retrieval.SignalsAll || req.Query.Lines != nil {
		return nil, nil
	}
	req.Signals = retrieval.SignalsLexical
	answer, err := core.Search(ctx, req)
	var unready *workspace.NotReady
	switch {
	case errors.As(err, &unready):
		return nil, err
	case err != nil:
		return nil, nil
	}
	results := resultsOf(core, answer, show)
	sent = map[place]bool{}
	for i := range results {
		sent[results[i].place()] = true
	}
	return sent, s.sendPartial(ctx, show.partial, results)
}

// place tells the results of one answer from each other.
type place struct {
	uri       string
	startLine int
}

func (r *searchResult) place() place { return place{r.URI, r.StartLine} }

// current is Core.Current if that is asked for; the search under ctx then has the patience of a
// command that asks once.
func current(ctx *context.Context, core Core, asked bool) (*workspace.Missing, error) {
	if !asked {
		return nil, nil
	}
	*ctx = workspace.AskedOnce(*ctx)
	return core.Current(*ctx)
}

// shownAs is how results are to be shown.
type shownAs struct {
	text         bool
	contextLines int
	partial      json.RawMessage
	sent         map[place]bool // what was sent already
}

func (p *searchParams) shown() shownAs {
	return shownAs{text: p.IncludeText, contextLines: p.ContextLines, partial: p.PartialResultToken}
}

// respond sends an answer, in batches first if that was asked for.
func (s *Service) respond(ctx context.Context, core Core, answer workspace.Answer, notes []string, show shownAs) (any, error) {
	response := searchResponse{
		Results:     resultsOf(core, answer, show),
		Backend:     answer.Backend,
		Total:       answer.Total,
		Incomplete:  answer.Missing,
		NotSearched: answer.NotSearched,
		NothingLeft: answer.NothingLeft,
		Notes:       notes,
		Timings: map[string]float64{
			"lexical": millis(answer.Timings.Lexical), "meaning": millis(answer.Timings.Semantic), "signals": millis(answer.Timings.Signals),
			"literal": millis(answer.Timings.Literal), "total": millis(answer.Timings.Total),
		},
	}
	rest := slices.DeleteFunc(slices.Clone(response.Results), func(r searchResult) bool { return show.sent[r.place()] })
	return response, s.sendPartial(ctx, show.partial, rest)
}

// resultsOf are the results of an answer as a client gets them.
func resultsOf(core Core, answer workspace.Answer, show shownAs) []searchResult {
	list := make([]searchResult, len(answer.Results))
	for i, r := range answer.Results {
		path := filepath.Join(r.Root, filepath.FromSlash(r.Path))
		list[i] = searchResult{URI: string(uri.File(path)), Result: r, Text: r.Result.Text}
		if show.text {
			// A file that went since it was indexed has no text to show.
			if text, err := core.Text(path); err == nil {
				sp := cutSpan(text, r.StartLine, r.EndLine, show.contextLines)
				list[i].Text, list[i].TextStart = sp.Text, sp.StartLine
			}
		}
	}
	return list
}

// sendPartial sends results in batches. The response has the fused order.
func (s *Service) sendPartial(ctx context.Context, token json.RawMessage, results []searchResult) error {
	to, err := wire.PartialToken(token)
	if to == nil || err != nil {
		return err
	}
	for len(results) > 0 {
		n := min(partialBatch, len(results))
		if err := s.progress(ctx, to, map[string]any{"results": results[:n]}); err != nil {
			return err
		}
		results = results[n:]
	}
	return nil
}

// whereabouts are where the user is, nil if the client did not say.
func (s *Service) whereabouts(p searchParams) *retrieval.Position {
	switch {
	case p.TextDocument == nil && p.Folder != "":
		return &retrieval.Position{Folder: p.Folder}
	case p.TextDocument == nil:
		return nil
	}
	u, err := wire.ParseURI(p.TextDocument.URI)
	if err != nil || !u.IsFile() {
		return nil
	}
	at := &retrieval.Position{Path: document.Path(u), Line: int(p.Position.Line) + 1, Recent: s.documents.Used(document.Path(u))}
	for _, d := range s.documents.Others(u) {
		if path := d.Path(); path != "" {
			at.Open = append(at.Open, path)
		}
	}
	return at
}

// spanParams are the params of quarry/content.getSpan and quarry/open.atSpan.
// The file is named by uri, or by path: absolute, or relative to the first
// folder of the workspace. Lines are 1-based and inclusive.
type spanParams struct {
	URI          string `json:"uri,omitzero"`
	Path         string `json:"path,omitzero" jsonschema:"absolute, or relative to the first folder of the workspace"`
	StartLine    int    `json:"startLine" jsonschema:"1-based"`
	EndLine      int    `json:"endLine" jsonschema:"1-based, inclusive"`
	ContextLines int    `json:"contextLines,omitzero"`
}

// span is a piece of a file's text.
type span struct {
	Path      string `json:"path"`
	StartLine int    `json:"start_line"`
	EndLine   int    `json:"end_line"`
	Text      string `json:"text"`
	Truncated bool   `json:"truncated" jsonschema:"the file ends before the span does"`
}

// locate is the absolute path that p names.
func (s *Service) locate(p spanParams) (string, error) {
	if p.StartLine < 1 || p.EndLine < p.StartLine {
		return "", wire.InvalidParams("lines %d to %d are no span", p.StartLine, p.EndLine)
	}
	switch {
	case p.URI != "":
		u, err := wire.ParseURI(p.URI)
		if err != nil || !u.IsFile() {
			return "", wire.InvalidParams("uri %q does not name a file", p.URI)
		}
		return document.Path(u), nil
	case p.Path == "":
		return "", wire.InvalidParams("neither uri nor path names a file")
	case filepath.IsAbs(p.Path):
		return filepath.Clean(p.Path), nil
	}
	roots := s.roots()
	if len(roots) == 0 {
		return "", wire.InvalidParams("path %q is relative, and there is no workspace folder", p.Path)
	}
	return filepath.Join(roots[0], filepath.FromSlash(p.Path)), nil
}

func (s *Service) getSpan(ctx context.Context, raw json.RawMessage) (any, error) {
	var p spanParams
	if err := wire.DecodeParams(raw, &p); err != nil {
		return nil, err
	}
	path, err := s.locate(p)
	if err != nil {
		return nil, err
	}
	jsonrpc2.Async(ctx)
	text, err := s.core().Text(path)
	if err != nil {
		return nil, jsonrpc2.NewError(jsonrpc2.InvalidParams, fmt.Sprintf("%s may not be read: %v", path, err))
	}
	sp := cutSpan(text, p.StartLine, p.EndLine, min(max(0, p.ContextLines), maxContextLines))
	sp.Path = path
	return sp, nil
}

func (s *Service) openAtSpan(ctx context.Context, raw json.RawMessage) (any, error) {
	var p spanParams
	if err := wire.DecodeParams(raw, &p); err != nil {
		return nil, err
	}
	path, err := s.locate(p)
	if err != nil {
		return nil, err
	}
	if !s.shows {
		return nil, errors.New("this editor cannot show a document on request; open the file yourself")
	}
	jsonrpc2.Async(ctx)
	if _, err := s.core().Text(path); err != nil {
		return nil, jsonrpc2.NewError(jsonrpc2.InvalidParams, fmt.Sprintf("%s may not be opened: %v", path, err))
	}
	s.core().Viewed(path)
	focus := true
	result, err := s.client.ShowDocument(ctx, &protocol.ShowDocumentParams{
		URI: uri.File(path), TakeFocus: &focus,
		Selection: &protocol.Range{
			Start: protocol.Position{Line: uint32(p.StartLine - 1)},
			End:   protocol.Position{Line: uint32(p.EndLine)},
		},
	})
	if err != nil {
		return nil, err
	}
	return shown{result != nil && result.Success}, nil
}

// shown is the result of quarry/open.atSpan.
type shown struct {
	Shown bool `json:"shown"`
}

// cutSpan is lines start to end of text with up to around more on both sides.
func cutSpan(text string, start, end, around int) span {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	from, to := max(1, start-around), min(len(lines), end+around)
	if from > to {
		return span{StartLine: from, EndLine: from - 1, Truncated: true}
	}
	return span{StartLine: from, EndLine: to, Text: strings.Join(lines[from-1:to], ""), Truncated: end > len(lines)}
}

func (s *Service) indexStatus(ctx context.Context, _ json.RawMessage) (any, error) {
	jsonrpc2.Async(ctx)
	return s.core().IndexStatus(ctx)
}

func (s *Service) indexRebuild(ctx context.Context, _ json.RawMessage) (any, error) {
	jsonrpc2.Async(ctx)
	s.core().Rebuild()
	return nil, nil
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// codeRequestFailed is LSP's code for a request that is right and could not be served.
const codeRequestFailed jsonrpc2.Code = -32803

// notReadyData is the data of the error of a question that cannot be answered yet.
type notReadyData struct {
	Code string `json:"code" jsonschema:"not_ready"`
	workspace.Missing
}

// explainFailure makes of a search's error what the client is told: that the index does
// not know yet, or what otherwise says.
func explainFailure(ctx context.Context, err error, otherwise func(error) error) error {
	var unready *workspace.NotReady
	switch {
	case ctx.Err() != nil:
		return err
	case errors.As(err, &unready):
		wire := jsonrpc2.NewError(codeRequestFailed, err.Error())
		data, e := json.Marshal(notReadyData{string(agent.NotReady), unready.Missing})
		if e == nil {
			wire.Data = data
		}
		return wire
	}
	return otherwise(err)
}
