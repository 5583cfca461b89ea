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
		busy, until, idle := g.busy, g.until, g.idle
		g.mu.Unlock()
		var timer <-chan time.Time
		switch {
		case busy > 0:
		case !until.After(g.clock.Now()):
			return ctx.Err()
		default:
			timer, idle = g.clock.At(until), nil
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
	// At delivers once, when it is t. An instant, not a duration: a clock that is
	// moved between asking for the time and waiting loses nothing.
	At(t time.Time) <-chan time.Time
}

type systemClock struct{}

func (systemClock) Now() time.Time                  { return time.Now() }
func (systemClock) At(t time.Time) <-chan time.Time { return time.After(time.Until(t)) }
