package lsp

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
)

// phase is where the lifecycle stands (LSP, Server lifecycle).
type phase int32

const (
	uninitialized phase = iota
	running
	shutDown
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

// guard stands around every handler and keeps the connection alive: a panic is
// an internal error of that request, an error of a notification is logged (to
// jsonrpc2 it would be the end), an error of a request gets its LSP code, and
// what the lifecycle forbids is answered before any handler sees it. It also
// serves $/cancelRequest.
func (s *Server) guard(next jsonrpc2.Handler) jsonrpc2.Handler {
	return func(ctx context.Context, req *jsonrpc2.Request) (result any, err error) {
		// The request's own string dies when the handler detaches.
		method := strings.Clone(req.Method())
		isCall := req.IsCall()
		start := time.Now()
		defer func() {
			s.traceHandled(method, isCall, time.Since(start), err)
			if isCall {
				err = wireError(err)
				return
			}
			if err != nil && !errors.Is(err, jsonrpc2.ErrMethodNotFound) {
				s.log.Warn("notification failed", "method", method, "error", err)
			}
			result, err = nil, nil
		}()
		defer s.catch(method, &err)
		if err := s.admit(method, isCall); err != nil {
			return nil, err
		}
		if method == protocol.MethodCancelRequest {
			return nil, s.calls.cancelRequest(req.Params())
		}
		isRequest, defined := known[method]
		if _, custom := customMethods[method]; custom {
			isRequest, defined = true, true
		}
		switch {
		case !defined:
			return nil, fmt.Errorf("%q: %w", method, jsonrpc2.ErrMethodNotFound)
		case !isCall && isRequest:
			return nil, fmt.Errorf("%s was sent without an id, so nobody waits for its answer: it is dropped", method)
		case !isCall:
			return next(s.base, req)
		}
		ctx, done, err := s.calls.begin(s.base, ctx, req.ID())
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

var errDropped = fmt.Errorf("not allowed in this phase of the connection: %w", jsonrpc2.ErrInvalidRequest)

// admit answers why the lifecycle forbids a message, nil if it does not.
func (s *Server) admit(method string, isCall bool) error {
	if method == protocol.MethodExit {
		return nil
	}
	switch phase(s.phase.Load()) {
	case uninitialized:
		switch {
		case method == protocol.MethodInitialize:
			return nil
		case isCall:
			return jsonrpc2.NewError(codeServerNotInitialized, "the server waits for initialize")
		}
		return errDropped
	case shutDown:
		if isCall {
			return jsonrpc2.NewError(jsonrpc2.InvalidRequest, "the server is shut down; only exit may follow")
		}
		return errDropped
	}
	if method == protocol.MethodInitialize {
		return jsonrpc2.NewError(jsonrpc2.InvalidRequest, "initialize may be sent only once")
	}
	return nil
}

// catch turns a panic into an error with a report in the log; deferred.
func (s *Server) catch(what string, err *error) {
	r := recover()
	if r == nil {
		return
	}
	s.log.Error("panic", "in", what, "value", r, "stack", string(debug.Stack()))
	if err != nil {
		*err = jsonrpc2.NewError(jsonrpc2.InternalError, fmt.Sprintf("internal error in %s: %v", what, r))
	}
	s.tell(Error, "panic "+what, fmt.Sprintf("an internal error in %s was caught and the server goes on. The log has the details; please report them.", what))
}

// traceHandled sends $/logTrace as $/setTrace asks.
func (s *Server) traceHandled(method string, isCall bool, took time.Duration, err error) {
	if s.trace.Load() == protocol.TraceValueOff || strings.HasPrefix(method, "$/") {
		return
	}
	kind := "notification"
	if isCall {
		kind = "request"
	}
	params := &protocol.LogTraceParams{Message: fmt.Sprintf("%s %s handled in %.1f ms", kind, method, float64(took.Microseconds())/1000)}
	if err != nil && s.trace.Load() == protocol.TraceValueVerbose {
		text := err.Error()
		params.Verbose = &text
	}
	if err := s.client.LogTrace(s.base, params); err != nil && s.base.Err() == nil {
		s.log.Error("log trace", "error", err)
	}
}
