package main

import (
	"context"
	"os"
	"time"

	"quarry/cmd/internal/cli"
	"quarry/lsp/service/client"
	"quarry/lsp/settings"
	"quarry/retrieval"
	"quarry/retrieval/workspace"
)

// A command asks the user's quarry serve where one runs that answers as the command itself would:
// of the same version, by the same settings, of the index as the files are now. Whatever it does
// not do, or not soon, the command does itself, as if there were none.

// Variables, because tests wait for a loaded machine.
var (
	// helloWithin is how long a service has for its hello: a command alone has its answer in
	// about that time.
	helloWithin = 50 * time.Millisecond
	// servedWithin is how long it has for an answer. What takes longer mostly waits for an index,
	// which the command shows while it waits itself.
	servedWithin = time.Second
	// An agent's call takes as long as it takes. While it does, the service is asked every aliveEvery
	// what it does, which it answers at once, within aliveWithin: one that is stopped, or hangs, does not.
	aliveEvery, aliveWithin = 3 * time.Second, 5 * time.Second
)

// search is a search by the service, nil if none is of use. Whatever fails goes on with own.
// query is what the user typed: the whole query, or the filters of --similar.
func (a userService) search(ctx context.Context, root, query string, own func() (*searched, error)) *searched {
	s := a.CommandSettings()
	if s.Reranker.By != "nothing" { // a command's own answers are not reranked
		return nil
	}
	conn := a.dial(ctx, "quarry search", []string{root}, s)
	if conn == nil {
		return nil
	}
	a.Behind(func() { _ = conn.Close() })
	r := &remote{app: a.app, conn: conn, query: query, own: own}
	r.from = &searched{searchable: r, root: root}
	return r.from
}

// agent is the service for an agent that works in some folders, nil if none is of use.
func (a userService) agent(ctx context.Context, folders []string, s settings.Settings) *client.Conn {
	return a.dial(ctx, "quarry mcp", folders, s)
}

// dial connects to the service if one runs that answers by these settings; else it is nil.
func (a userService) dial(ctx context.Context, name string, folders []string, s settings.Settings) *client.Conn {
	if !s.Service.Enabled {
		return nil
	}
	socket, err := a.socket(s)
	if err != nil {
		return nil
	}
	if _, err := os.Lstat(socket); err != nil { // the usual case
		return nil
	}
	within, cancel := context.WithTimeout(ctx, helloWithin)
	defer cancel()
	conn, err := client.Dial(within, socket, client.Options{Hello: client.Hello{Client: name, Roots: folders, Settings: a.digest(s)}})
	if err == nil && conn.Welcome.Version != cli.Version() {
		_ = conn.Close()
		return nil
	}
	if err != nil {
		a.Log.Debug(name+" without quarry serve", "error", err)
		return nil
	}
	return conn
}

// remote asks a service.
type remote struct {
	app   *app
	conn  *client.Conn
	query string
	own   func() (*searched, error)
	from  *searched // what a command holds of it
}

// servedAnswer is an answer as a service sends it.
type servedAnswer struct {
	Results []struct {
		workspace.Result
		Text string `json:"text"` // which also is a member of the result, further in
	} `json:"results"`
	Backend     []string           `json:"backend"`
	Total       int                `json:"total"`
	Incomplete  *workspace.Missing `json:"incomplete"`
	NotSearched map[string]int     `json:"not_searched"`
	NothingLeft bool               `json:"nothing_left"`
	Timings     map[string]float64 `json:"timings_ms"`
}

// ask answers by the service; ok is false if the command has to answer itself.
func (r *remote) ask(ctx context.Context, method string, params any) (answer workspace.Answer, ok bool) {
	within, cancel := context.WithTimeout(ctx, servedWithin)
	defer cancel()
	var got servedAnswer
	if err := r.conn.Call(within, method, params, &got); err != nil {
		r.app.Log.Debug("searching without quarry serve", "error", err)
		return workspace.Answer{}, false
	}
	if got.Incomplete != nil {
		return workspace.Answer{}, false
	}
	took := func(name string) time.Duration { return time.Duration(got.Timings[name] * float64(time.Millisecond)) }
	answer = workspace.Answer{
		Backend: got.Backend, Total: got.Total, NotSearched: got.NotSearched, NothingLeft: got.NothingLeft,
		Timings: retrieval.Timings{Lexical: took("lexical"), Semantic: took("meaning"), Signals: took("signals"), Literal: took("literal"), Total: took("total")},
	}
	for _, result := range got.Results {
		result.Result.Text = result.Text
		answer.Results = append(answer.Results, result.Result)
	}
	return answer, true
}

// instead opens what the command has of its own, which all that follows asks.
func (r *remote) instead(ctx context.Context) (searchable, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	own, err := r.own()
	if err != nil {
		return nil, err
	}
	*r.from = *own
	return own.searchable, nil
}

// Search implements searchable.
func (r *remote) Search(ctx context.Context, req retrieval.Request) (workspace.Answer, error) {
	params := client.Search{
		Query: r.query, K: req.Limit, Offset: req.Offset, Declarations: req.Declarations, Mode: string(req.Query.Mode), Current: true,
	}
	if req.At != nil {
		params.Folder = req.At.Folder
	}
	method := map[retrieval.Signals]string{
		retrieval.SignalsLexical: "quarry/search.lexical", retrieval.SignalsSemantic: "quarry/search.semantic",
	}[req.Signals]
	if method == "" {
		method = "quarry/search.hybrid"
	}
	if answer, ok := r.ask(ctx, method, params); ok {
		return answer, nil
	}
	own, err := r.instead(ctx)
	if err != nil {
		return workspace.Answer{}, err
	}
	return own.Search(ctx, req)
}

// FindSimilar implements searchable.
func (r *remote) FindSimilar(ctx context.Context, req workspace.SimilarRequest) (workspace.Answer, error) {
	answer, ok := r.ask(ctx, "quarry/similar", client.Similar{
		Code: req.Code, Path: req.Path, StartLine: req.StartLine, EndLine: req.EndLine, Query: r.query, K: req.Limit, Current: true,
	})
	if ok {
		return answer, nil
	}
	own, err := r.instead(ctx)
	if err != nil {
		return workspace.Answer{}, err
	}
	return own.FindSimilar(ctx, req)
}
