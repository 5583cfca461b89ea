package model

import (
	"context"
	"errors"
	"sync"
	"time"
)

// priority orders requests to a server. A higher one is served first, and a lower one gives
// way while it runs.
type priority int

const (
	indexing   priority = iota // no user waits
	conversing                 // a user reads along
	typing                     // a user waits between two keystrokes
	priorities
)

// settle is how long nothing more urgent may have run before work of a priority goes on. An
// answer waits longer than the pause between two keystrokes, so that the next one does not cut
// it off again. Indexing waits until the user has stopped typing, and longer if the model is
// slow (limiter.rest).
var settle = [priorities]time.Duration{indexing: 2 * time.Second, conversing: 250 * time.Millisecond}

const (
	// A text that is being embedded cannot be cut off, and it slows a completion that comes
	// meanwhile. Long pauses in typing are rarer than short ones, so a text that takes long
	// waits for a long pause: its own time times restPerText, at most longestRest. A model that
	// embeds a text in 25 ms adds a few per cent to a completion and goes on after the usual
	// rest.
	restPerText = 80
	longestRest = 20 * time.Second
)

// limiter lets work go on only while nothing of a higher priority runs. Ollama runs each model
// in a process of its own, but they share the processor: embedding a batch halves the speed of
// a completion.
type limiter struct {
	clock Clock

	mu      sync.Mutex // guards all below
	active  [priorities]int
	ended   [priorities]time.Time // when active became 0; zero if it never was more
	changed chan struct{}         // closed and replaced on every change
	// cut[p] is closed while something above p is active.
	cut [priorities]chan struct{}
	// text is about how long it takes to embed one text; 0 before the first.
	text time.Duration
}

var errYielded = errors.New("something more urgent runs")

func (g *limiter) init(clock Clock) {
	g.clock, g.changed = clock, make(chan struct{})
	for p := range g.cut {
		g.cut[p] = make(chan struct{})
	}
}

// enter says that something of priority p runs, and stops what is below it. The caller must
// leave.
func (g *limiter) enter(p priority) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for below := range p {
		if !g.above(below) {
			close(g.cut[below])
		}
	}
	g.active[p]++
	g.notify()
}

func (g *limiter) leave(p priority) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.active[p]--
	if g.active[p] > 0 {
		return
	}
	g.ended[p] = g.clock.Now()
	for below := range p {
		if !g.above(below) {
			g.cut[below] = make(chan struct{})
		}
	}
	g.notify()
}

// rest is how long nothing above p may have run before p goes on. The caller holds mu.
func (g *limiter) rest(p priority) time.Duration {
	if p != indexing {
		return settle[p]
	}
	return min(max(settle[p], restPerText*g.text), longestRest)
}

// took notes how long embedding one text took.
func (g *limiter) took(d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.text == 0 {
		g.text = d
	}
	g.text += (d - g.text) / 4
}

// above reports whether something above p is active. The caller holds mu.
func (g *limiter) above(p priority) bool {
	for _, n := range g.active[p+1:] {
		if n > 0 {
			return true
		}
	}
	return false
}

func (g *limiter) notify() {
	close(g.changed)
	g.changed = make(chan struct{})
}

// yielding waits until nothing above p has run for a while, and runs work with a context that
// ends as soon as something above p runs. It answers errYielded if that cut the work off.
func (g *limiter) yielding(ctx context.Context, p priority, work func(context.Context) error) error {
	for {
		g.mu.Lock()
		busy, changed, cut := g.above(p), g.changed, g.cut[p]
		rest := time.Duration(0)
		for _, ended := range g.ended[p+1:] {
			if !ended.IsZero() {
				rest = max(rest, g.rest(p)-g.clock.Now().Sub(ended))
			}
		}
		g.mu.Unlock()
		if !busy && rest <= 0 {
			return untilCut(ctx, cut, work)
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

// untilCut runs work with a context that ends when cut is closed.
func untilCut(ctx context.Context, cut <-chan struct{}, work func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done, watching := make(chan struct{}), make(chan struct{})
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
