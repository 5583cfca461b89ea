package index

import (
	"context"
	"sync"
	"time"
)

// quiet is how long after the last busy moment background work begins again:
// longer than the pause between two keystrokes of a fluent typist.
const quiet = 400 * time.Millisecond

// gate holds background work back while somebody needs the machine.
type gate struct {
	clock Clock
	mu    sync.Mutex // guards the fields below
	busy  int
	until time.Time
	idle  chan struct{} // closed and replaced when busy falls to zero
}

func newGate(clock Clock) *gate { return &gate{clock: clock, idle: make(chan struct{})} }

// enter makes the machine busy until leave, and a moment longer.
func (g *gate) enter() (leave func()) {
	g.mu.Lock()
	g.busy++
	g.mu.Unlock()
	return sync.OnceFunc(func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.busy--
		g.until = g.clock.Now().Add(quiet)
		if g.busy == 0 {
			close(g.idle)
			g.idle = make(chan struct{})
		}
	})
}

// wait returns when nobody is busy, or ctx is done.
func (g *gate) wait(ctx context.Context) error {
	for {
		g.mu.Lock()
		busy, left, idle := g.busy, g.until.Sub(g.clock.Now()), g.idle
		g.mu.Unlock()
		var timer <-chan time.Time
		switch {
		case busy > 0:
		case left <= 0:
			return ctx.Err()
		default:
			timer, idle = g.clock.After(left), nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-idle:
		case <-timer:
		}
	}
}

// open answers whether background work may go on now.
func (g *gate) open() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.busy == 0 && !g.until.After(g.clock.Now())
}

// Clock is the time, replaceable in tests.
type Clock interface {
	Now() time.Time
	// After delivers once, d from now.
	After(d time.Duration) <-chan time.Time
}

type systemClock struct{}

func (systemClock) Now() time.Time                         { return time.Now() }
func (systemClock) After(d time.Duration) <-chan time.Time { return time.After(d) }
