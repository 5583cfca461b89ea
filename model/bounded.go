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

// What quarry asks a server for itself has a short answer: to load a model, to see whether it completes and embeds, to see its
// chat template. A user's own request ends at the user's own limit; these would go on as long as somebody drips words.

// mostOwn is how many bytes the answer to one such request may have: dozens of times what a vector takes, or sixteen tokens.
const mostOwn = 1 << 20

// finishTime is how long it may take from its first byte to its end. What comes before is silence, as while a large model is
// loaded, and has limits of its own.
const finishTime = canaryPatience

// errUnfinished is the cause of the problem that such an answer came to no end.
var errUnfinished = errors.New("the server does not finish its answers")

type ownKey struct{}

// own marks what is asked in a context as quarry's own.
func (rt *Runtime) own(ctx context.Context) context.Context {
	return context.WithValue(ctx, ownKey{}, rt.opt.Clock)
}

// load is the backend's, as quarry's own.
func (rt *Runtime) load(ctx context.Context) error { return rt.backend.load(rt.own(ctx)) }

// finishing is the transport of such requests.
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

// ownAnswer is the body of an answer to such a request, cut off when its time is over.
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
			fix: fmt.Sprintf("restart it, or check the address if that does not help (it went on for %.0f s at %s; another program may listen there)", finishTime.Seconds(), a.from.Path),
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

// mostBytes bounds what one answer may make quarry read, in bytes, by the path that was
// asked: whoever listens at the address may send without end.
func mostBytes(asked string) int64 {
	switch path.Base(asked) {
	case "pull": // progress, line by line, for as long as a download takes
		return 256 << 20
	case "show", "tags", "ps", "version", "models":
		// Decoded, a list of empty models takes a hundred times its length.
		return 1 << 20
	}
	return 8 << 20 // several times what the longest answer or the largest batch of vectors takes
}

// bounded is the body of an answer that fails beyond its bound.
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
