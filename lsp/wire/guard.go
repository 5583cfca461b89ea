package wire

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
)

// known tells requests and notifications of the protocol from what nobody
// defines; jsonrpc2 would answer the latter with a parse error when they carry
// no params.
// What it holds is whether the method is a request, which must have an id.
var known = func() map[string]bool {
	m := map[string]bool{}
	for _, info := range protocol.Methods {
		m[info.Method] = info.Kind == "request"
	}
	return m
}()

// Guard stands around every handler and keeps the connection alive: a panic is
// an internal error of that request, an error of a notification is logged (to
// jsonrpc2 it would be the end), an error of a request gets its LSP code, and
// what the lifecycle forbids is answered before any handler sees it. It also
// serves $/cancelRequest.
type Guard struct {
	// Base ends with the connection.
	Base context.Context
	Log  *slog.Logger
	// Admit answers why the lifecycle forbids a message, nil if it does not.
	Admit func(method string, isCall bool) error
	// Added are the requests that the server adds to the protocol.
	Added func(method string) bool
	// Handled is called for each message when its handler returns.
	Handled func(method string, isCall bool, took time.Duration, err error)
	// Panicked is called where a panic was caught.
	Panicked func(what string)

	calls calls
}

// Around is next with g around it.
func (g *Guard) Around(next jsonrpc2.Handler) jsonrpc2.Handler {
	return func(ctx context.Context, req *jsonrpc2.Request) (result any, err error) {
		// The request's own string dies when the handler detaches.
		method := strings.Clone(req.Method())
		isCall := req.IsCall()
		start := time.Now()
		defer func() {
			g.Handled(method, isCall, time.Since(start), err)
			if isCall {
				err = Error(err)
				return
			}
			if err != nil && !errors.Is(err, jsonrpc2.ErrMethodNotFound) {
				g.Log.Warn("notification failed", "method", method, "error", err)
			}
			result, err = nil, nil
		}()
		defer g.Catch(method, &err)
		if err := g.Admit(method, isCall); err != nil {
			return nil, err
		}
		if method == protocol.MethodCancelRequest {
			return nil, g.calls.cancelRequest(req.Params())
		}
		isRequest, defined := known[method]
		if g.Added(method) {
			isRequest, defined = true, true
		}
		switch {
		case !defined:
			return nil, fmt.Errorf("%q: %w", method, jsonrpc2.ErrMethodNotFound)
		case !isCall && isRequest:
			return nil, fmt.Errorf("%s was sent without an id, so nobody waits for its answer: it is dropped", method)
		case !isCall:
			return next(g.Base, req)
		}
		ctx, done, err := g.calls.begin(g.Base, ctx, req.ID())
		if err != nil {
			return nil, err
		}
		defer done()
		return next(ctx, req)
	}
}

// calls knows the requests under way, so that the client can cancel them.
//
// jsonrpc2.CancelHandler would do the same, but derives a context from the
// request's own. That one is recycled when an inline handler returns, while the
// goroutine with which package context watches a parent of foreign type may
// only then look at it: a panic outside any handler. A call's context therefore
// derives from the connection's, and takes from the request's only its values.
type calls struct {
	mu sync.Mutex
	// cancels is guarded by mu.
	cancels map[jsonrpc2.ID]context.CancelFunc
}

type callContext struct {
	context.Context
	request context.Context
}

// Value finds what jsonrpc2.Async looks for.
func (c callContext) Value(key any) any {
	if v := c.Context.Value(key); v != nil {
		return v
	}
	return c.request.Value(key)
}

// begin makes the context of the call id, to be ended with done. It refuses an
// id that another call under way has: which of them a cancel or an answer meant,
// nobody could tell.
func (c *calls) begin(base, request context.Context, id jsonrpc2.ID) (_ context.Context, done func(), _ error) {
	ctx, cancel := context.WithCancel(base)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancels == nil {
		c.cancels = map[jsonrpc2.ID]context.CancelFunc{}
	}
	if c.cancels[id] != nil {
		cancel()
		return nil, nil, jsonrpc2.NewError(jsonrpc2.InvalidRequest, fmt.Sprintf("a request with id %v is under way already", id))
	}
	c.cancels[id] = cancel
	return callContext{ctx, request}, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.cancels, id)
		cancel()
	}, nil
}

// cancelRequest cancels the call that the params of $/cancelRequest name, if it
// is still under way.
func (c *calls) cancelRequest(raw []byte) error {
	var params protocol.CancelParams
	if err := protocol.Unmarshal(raw, &params); err != nil {
		return fmt.Errorf("params of $/cancelRequest: %w", err)
	}
	var id jsonrpc2.ID
	switch v := params.ID.(type) {
	case protocol.Integer:
		id = jsonrpc2.NewNumberID(int64(v))
	case protocol.String:
		id = jsonrpc2.NewStringID(string(v))
	}
	c.mu.Lock()
	cancel := c.cancels[id]
	c.mu.Unlock()
	if cancel != nil {
		cancel()
	}
	return nil
}

// Catch turns a panic into an error with a report in the log; deferred.
func (g *Guard) Catch(what string, err *error) {
	r := recover()
	if r == nil {
		return
	}
	g.Log.Error("panic", "in", what, "value", r, "stack", string(debug.Stack()))
	if err != nil {
		*err = jsonrpc2.NewError(jsonrpc2.InternalError, fmt.Sprintf("internal error in %s: %v", what, r))
	}
	g.Panicked(what)
}
