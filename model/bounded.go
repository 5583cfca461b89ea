package model

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"sync"
	"sync/atomic"
)

// quarry sends requests of its own to a server: to load a model, to see whether it completes
// and embeds, and to see its chat template. Their answers are short. A user's request has the
// user's own time limit; without the limits below, quarry's would go on for as long as a
// server sends a byte now and then.

// mostOwn is how many bytes the answer to such a request may have: dozens of times the size of
// a vector or of sixteen tokens.
const mostOwn = 1 << 20

// finishTime is how long an answer may take from its first byte to its end. The time before
// the first byte, as while a large model is loaded, has limits of its own.
const finishTime = canaryPatience

// errUnfinished is the cause of the problem that such an answer does not end.
var errUnfinished = errors.New("the server does not finish its answers")

type ownKey struct{}

// own marks the requests made with a context as quarry's own.
func (rt *Runtime) own(ctx context.Context) context.Context {
	return context.WithValue(ctx, ownKey{}, rt.opt.Clock)
}

// load has the backend load the model, as a request of quarry's own.
func (rt *Runtime) load(ctx context.Context) error { return rt.backend.load(rt.own(ctx)) }

// finishing is the transport of quarry's own requests.
type finishing struct {
	http.RoundTripper
	clock Clock
}

// RoundTrip implements http.RoundTripper.
func (f finishing) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cut := context.WithCancel(r.Context())
	resp, err := f.RoundTripper.RoundTrip(r.WithContext(ctx))
	if err != nil {
		cut()
		return nil, err
	}
	resp.Body = &ownAnswer{ReadCloser: resp.Body, from: r.URL, clock: f.clock, cut: cut, over: make(chan struct{})}
	return resp, nil
}

// ownAnswer is the body of an answer to such a request. It is cut off when its time is over.
type ownAnswer struct {
	io.ReadCloser
	from  *url.URL
	clock Clock
	cut   context.CancelFunc // of the request

	begun   bool
	watcher sync.WaitGroup
	late    atomic.Bool
	over    chan struct{}
	end     sync.Once
}

func (a *ownAnswer) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	if n > 0 && !a.begun {
		a.begun = true
		a.watcher.Go(func() {
			select {
			case <-a.clock.After(finishTime):
				a.late.Store(true)
				a.cut()
			case <-a.over:
			}
		})
	}
	if err != nil && err != io.EOF && a.late.Load() {
		err = &problem{
			kind: ErrServer, what: fmt.Sprintf("%s does not finish its answers", a.from.Host), cause: errUnfinished,
			fix: fmt.Sprintf("restart it, or check the address if that does not help (an answer at %s had not ended after %.0f s; another program may listen there)", a.from.Path, finishTime.Seconds()),
		}
	}
	return n, err
}

func (a *ownAnswer) Close() error {
	err := a.ReadCloser.Close()
	a.end.Do(func() { close(a.over) })
	a.watcher.Wait()
	a.cut()
	return err
}

// mostBytes is how many bytes quarry reads of one answer, by the path of the request. A
// program that listens at the address may send without end.
func mostBytes(asked string) int64 {
	switch path.Base(asked) {
	case "pull": // progress, line by line, for as long as a download takes
		return 256 << 20
	case "show", "tags", "ps", "version", "models":
		// A list of empty models takes a hundred times its length once it is decoded.
		return 1 << 20
	}
	return 8 << 20 // several times what the longest answer or the largest batch of vectors takes
}

// bounded is the body of an answer. Reading beyond its bound fails.
type bounded struct {
	io.ReadCloser
	from *url.URL
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, &problem{
			kind: ErrServer, what: fmt.Sprintf("%s answers without end", b.from.Host),
			fix: fmt.Sprintf("check the address, another program may listen there (%s)", b.from.Path),
		}
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}
