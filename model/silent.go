package model

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptrace"
)

// A server with OpenAI's interface has its model in memory from the start, so that the first token of a tiny prompt comes
// soon. One whose list of models answers and whose model does not (a runner that hangs, a gateway whose machines are away)
// looks well until then; without a bound an editor would wait for it as long as a load may take, and not notice when it is back.

// errSilent is the cause of the problem that a server sent nothing for too long.
var errSilent = errors.New("the server sent nothing for too long")

// first completes a request that shows how the model is, with the patience that a server's kind wants.
func (rt *Runtime) first(ctx context.Context, r request, each func(chunk)) error {
	ctx = rt.own(ctx)
	if _, ok := rt.backend.(unloader); ok {
		return rt.patiently(ctx, r, canaryPatience, each)
	}
	return rt.unlessSilent(ctx, func(ctx context.Context, heard func()) error {
		return rt.complete(ctx, r, func(c chunk) {
			heard()
			each(c)
		})
	})
}

// unlessSilent does what asks the server, and ends it once nothing was heard for canaryPatience: no chunk and no response,
// be it that the server is full.
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

// isSilent is what to say of a server that accepts requests and answers none.
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

// inWords is an error for users: those of a context say what has happened to the server, or to who asked it.
func (rt *Runtime) inWords(err error) error {
	var p *problem
	switch {
	case err == nil, errors.As(err, &p):
		return err
	case errors.Is(err, context.DeadlineExceeded):
		return rt.isSilent(err)
	case errors.Is(err, context.Canceled):
		return &problem{kind: ErrUnreachable, what: fmt.Sprintf("ended before %s had answered", rt.endpoint.Host), fix: "run it again, and wait for the answer", cause: err}
	}
	return err
}
