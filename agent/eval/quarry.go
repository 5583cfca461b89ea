package eval

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"quarry/agent/mcp"
)

// server is an MCP server and a client that is connected to it.
type server struct {
	session *sdk.ClientSession
	end     func() error
}

// connect starts the server that quarry mcp is, over pipes.
func connect(ctx context.Context, opts mcp.Options) (*server, error) {
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		err := mcp.Serve(ctx, opts, in, out)
		ended <- errors.Join(err, out.CloseWithError(io.EOF))
	}()
	end := func() error {
		cancel()
		err := <-ended
		if errors.Is(err, context.Canceled) {
			err = nil
		}
		return err
	}
	session, err := sdk.NewClient(&sdk.Implementation{Name: "quarry-eval", Version: opts.Version}, nil).
		Connect(ctx, &sdk.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		return nil, errors.Join(err, end())
	}
	return &server{session, end}, nil
}

// Close ends the session and waits for the server.
func (s *server) Close() error { return errors.Join(s.session.Close(), s.end()) }

// call calls a tool and answers the text that an agent gets, and where a cut list goes on, 0
// if nowhere.
func (s *server) call(ctx context.Context, name string, args map[string]any) (text string, next int, err error) {
	r, err := s.session.CallTool(ctx, &sdk.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return "", 0, fmt.Errorf("call %s: %w", name, err)
	}
	for _, c := range r.Content {
		if t, ok := c.(*sdk.TextContent); ok {
			text += t.Text
		}
	}
	var envelope struct {
		Error *struct{ Code, Message string }
		Meta  struct {
			NextOffset int `json:"next_offset"`
			Incomplete *struct{}
		}
	}
	if err := json.Unmarshal([]byte(text), &envelope); err != nil {
		return "", 0, fmt.Errorf("the answer of %s: %w", name, err)
	}
	if e := envelope.Error; e != nil && e.Code == "not_ready" || envelope.Meta.Incomplete != nil {
		return "", 0, fmt.Errorf("%s was called before the index was whole: %s", name, text)
	}
	return text, envelope.Meta.NextOffset, nil
}

// quarry works on a task with quarry's tools and their default arguments, as the server's
// instructions say: search_regex for what is quoted, retrieve_context for a question, then
// reading at the places that these name, code before tests and prose; get_references or
// rename_symbol for a name, then search_regex, which lists what these leave out.
func quarry(ctx context.Context, s *server, a *attempt) error {
	if a.task.Kind.wantsAll() {
		return a.symbol(ctx, s)
	}
	seen := map[hit]bool{}
	for _, m := range quoted.FindAllStringSubmatch(a.task.Question, -1) {
		for _, piece := range piecesOf(m[1] + m[2]) {
			text, _, err := s.call(ctx, "search_regex", map[string]any{"pattern": regexp.QuoteMeta(piece)})
			if err != nil || a.took("search_regex "+piece, "", text) {
				return err
			}
			if list := placesIn(text); len(list) > 0 {
				if over, err := a.readAt(ctx, s, list, seen); over || err != nil {
					return err
				}
				break
			}
		}
	}
	text, _, err := s.call(ctx, "retrieve_context", map[string]any{"query": a.task.Question})
	if err != nil || a.took("retrieve_context", "", text) {
		return err
	}
	list := placesIn(text)
	for _, p := range list {
		for n := p.start; p.shown && n <= p.end; n++ {
			seen[hit{p.path, n}] = true
		}
	}
	_, err = a.readAt(ctx, s, list, seen)
	return err
}

// declarationLines is how much of a declaration is read, as get_symbol_definition shows of it.
const declarationLines = 80

// named is a place in an answer; shown: its lines are in the answer too.
type named struct {
	path       string
	start, end int
	shown      bool
}

// placesIn are the places that an answer names, in its order.
func placesIn(answer string) (list []named) {
	var envelope struct {
		Data struct {
			Snippets []struct{ At string }
			Also     []string
			Items    []string
		}
	}
	if json.Unmarshal([]byte(answer), &envelope) != nil {
		return nil
	}
	add := func(at string, shown bool) {
		if m := cited.FindStringSubmatch(at); m != nil {
			start, _ := strconv.Atoi(m[2]) // digits
			end := start
			if m[3] != "" {
				end, _ = strconv.Atoi(m[3])
			}
			list = append(list, named{m[1], start, end, shown})
		}
	}
	for _, s := range envelope.Data.Snippets {
		add(s.At, true)
	}
	for _, at := range slices.Concat(envelope.Data.Also, envelope.Data.Items) {
		add(at, false)
	}
	return list
}

// readAt reads at places, code before tests and prose, where less than half is known already.
func (a *attempt) readAt(ctx context.Context, s *server, list []named, seen map[hit]bool) (over bool, err error) {
	slices.SortStableFunc(list, func(x, y named) int { return cmp.Compare(order(x.path), order(y.path)) })
	for _, p := range list {
		// Of a declaration the beginning, else what is around.
		from := p.start
		if p.end == p.start || p.shown {
			from = max(1, p.start-linesBefore)
		}
		to := from + readLines - 1
		if !p.shown {
			to = max(to, min(p.end, from+declarationLines-1))
		}
		known := 0
		for n := from; n <= to; n++ {
			if seen[hit{p.path, n}] {
				known++
			}
		}
		if known > readLines/2 {
			continue
		}
		for n := from; n <= to; n++ {
			seen[hit{p.path, n}] = true
		}
		text, _, err := s.call(ctx, "read_file", map[string]any{"path": p.path, "start_line": from, "end_line": to})
		if err != nil || a.took(fmt.Sprintf("read_file %s:%d-%d", p.path, from, to), p.path, text) {
			return true, err
		}
	}
	return false, nil
}

// symbol works on a task about a declaration. rename_symbol takes a name that only one
// declaration has; for the other the name is looked up first.
func (a *attempt) symbol(ctx context.Context, s *server) error {
	try := func(tool string, args map[string]any) (over bool, err error) { return a.pages(ctx, s, tool, args) }
	if a.task.Kind == Rename {
		if over, err := try("rename_symbol", map[string]any{"symbol_id": a.task.Symbol, "new_name": a.task.To}); over || err != nil {
			return err
		}
	}
	if len(a.shown) == 0 {
		text, _, err := s.call(ctx, "search_symbols", map[string]any{"name": a.task.Symbol})
		if err != nil || a.took("search_symbols "+a.task.Symbol, "", text) {
			return err
		}
		if id := chosen(text, a.task.Symbol); id != "" {
			tool, args := "get_references", map[string]any{"symbol_id": id}
			if a.task.Kind == Rename {
				tool, args = "rename_symbol", map[string]any{"symbol_id": id, "new_name": a.task.To}
			}
			if over, err := try(tool, args); over || err != nil {
				return err
			}
		}
	}
	_, err := try("search_regex", map[string]any{"pattern": `\b` + regexp.QuoteMeta(a.task.name()) + `\b`})
	return err
}

// pages calls a tool until its list ends.
func (a *attempt) pages(ctx context.Context, s *server, tool string, args map[string]any) (over bool, err error) {
	for {
		text, next, err := s.call(ctx, tool, args)
		if err != nil || a.took(tool, "", text) || next == 0 {
			return a.Found || a.Tokens > Limit, err
		}
		args["offset"] = next
	}
}

// chosen is the symbol that an agent would take of a list: the one that is called so, else
// the first.
func chosen(answer, want string) string {
	var envelope struct {
		Data struct {
			Symbols []struct {
				ID string `json:"symbol_id"`
			}
		}
	}
	if json.Unmarshal([]byte(answer), &envelope) != nil || len(envelope.Data.Symbols) == 0 {
		return ""
	}
	want = strings.ReplaceAll(want, "::", ".")
	for _, s := range envelope.Data.Symbols {
		_, name, _ := strings.Cut(s.ID, "#")
		if strings.ReplaceAll(name, "::", ".") == want {
			return s.ID
		}
	}
	return envelope.Data.Symbols[0].ID
}
