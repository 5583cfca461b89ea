package model

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptrace"
)

// A server with OpenAI's interface has its model in memory from the start, so the first token
// of a tiny prompt comes soon. If only its list of models answers and its model does not
// (because a runner hangs, or the machines behind a gateway are away), the server looks well
// until then. Without a limit an editor would wait as long as a load may take, and would not
// notice when the server is back.

// errSilent is the cause of the problem that a server sent nothing for too long.
var errSilent = errors.New("the server sent nothing for too long")

// first completes a request that shows whether the model works, with the patience that suits
// the kind of server.
func (rt *Runtime) first(ctx context.Context, r request, each func(chunk)) error {
	ctx = rt.own(ctx)
	if loads(rt.backend) {
		return rt.patiently(ctx, r, canaryPatience, each)
	}
	return rt.unlessSilent(ctx, func(ctx context.Context, heard func()) error {
		return rt.complete(ctx, r, func(c chunk) {
			heard()
			each(c)
		})
	})
}

// unlessSilent calls ask, and ends it if nothing was heard for canaryPatience: neither a chunk
// nor a response, not even that the server is full.
func (rt *Runtime) unlessSilent(ctx context.Context, ask func(ctx context.Context, heard func()) error) error {
	attempt, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	sign, over, watcher := make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watcher)
		for {
			select {
			case <-sign:
			case <-over:
				return
			case <-rt.opt.Clock.After(canaryPatience):
				cancel(errSilent)
				return
			}
		}
	}()
	heard := func() { signal(sign) }
	err := ask(httptrace.WithClientTrace(attempt, &httptrace.ClientTrace{GotFirstResponseByte: heard}), heard)
	close(over)
	<-watcher
	if err != nil && context.Cause(attempt) == errSilent {
		return rt.isSilent(errSilent)
	}
	return err
}

// isSilent is the problem of a server that accepts requests and answers none.
func (rt *Runtime) isSilent(cause error) error {
	p := &problem{kind: ErrUnreachable, what: fmt.Sprintf("%s does not answer requests", rt.endpoint.Host), fix: "restart it", cause: cause}
	switch {
	case rt.PullsModels():
		p.fix = "restart Ollama"
	case errors.Is(cause, errSilent):
		p.fix = fmt.Sprintf("restart it (it sent nothing for %.0f s; an editor goes on trying)", canaryPatience.Seconds())
	}
	return p
}

// inWords makes an error fit for users. An error of a context says what happened to the
// server, or to the program that asked it.
func (rt *Runtime) inWords(err error) error {
	var p *problem
	switch {
	case err == nil, errors.As(err, &p):
		return err
	case errors.Is(err, context.DeadlineExceeded):
		return rt.isSilent(err)
	case errors.Is(err, context.Canceled):
		return &problem{kind: ErrUnreachable, what: fmt.Sprintf("stopped before %s answered", rt.endpoint.Host), fix: "run it again, and wait for the answer", cause: err}
	}
	return err
}
