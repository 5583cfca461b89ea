package model

import (
	"context"
	"errors"
	"sync"
	"time"
)

// settle is how long nobody must have waited for an answer before background
// work begins. It is longer than the pause between two keystrokes, so that work
// does not start only to be cut off by the next.
const settle = 250 * time.Millisecond

// gate lets background work use the machine only while nobody waits for an
// answer. Another model has a runner of its own in Ollama, but they share the
// processor: embedding a batch slows a completion to half its speed.
type gate struct {
	clock Clock

	mu      sync.Mutex // guards all below
	waiting int        // requests that someone waits for
	since   time.Time  // when waiting became 0; zero if it never was more
	changed chan struct{}
	cut     chan struct{} // closed when work under way must stop
}

var errYielded = errors.New("someone waits for an answer")

func (g *gate) init(clock Clock) {
	g.clock, g.changed, g.cut = clock, make(chan struct{}), make(chan struct{})
}

// enter says that someone waits, and stops background work.
func (g *gate) enter() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting++
	if g.waiting == 1 {
		close(g.cut)
		g.notify()
	}
}

// leave says that they wait no longer.
func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting--
	if g.waiting == 0 {
		g.since = g.clock.Now()
		g.cut = make(chan struct{})
		g.notify()
	}
}

func (g *gate) notify() {
	close(g.changed)
	g.changed = make(chan struct{})
}

// background waits until nobody waits, and runs work with a context that ends
// when someone does. It answers errYielded if that cut the work off.
func (g *gate) background(ctx context.Context, work func(context.Context) error) error {
	for {
		g.mu.Lock()
		busy, since, changed, cut := g.waiting > 0, g.since, g.changed, g.cut
		g.mu.Unlock()
		rest := settle - g.clock.Now().Sub(since)
		if !busy && (since.IsZero() || rest <= 0) {
			ctx, cancel := context.WithCancelCause(ctx)
			defer cancel(nil)
			done := make(chan struct{})
			watching := make(chan struct{})
			go func() {
				defer close(watching)
				select {
				case <-cut:
					cancel(errYielded)
				case <-done:
				}
			}()
			err := work(ctx)
			close(done)
			<-watching
			if err != nil && context.Cause(ctx) == errYielded {
				return errYielded
			}
			return err
		}
		var timer <-chan time.Time
		if !busy {
			timer = g.clock.After(rest)
		}
		select {
		case <-changed:
		case <-timer:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
