package index

import (
	"context"
	"sync"
	"time"
)

// quiet is how long after the last busy moment background work begins again:
// longer than the pause between two keystrokes of a fluent typist.
const quiet = 400 * time.Millisecond

// Whoever types without a pause shall not wait for ever for an index: after
// patience, background work has the machine for share, which is a tenth of it.
const (
	patience = time.Second
	share    = 100 * time.Millisecond
)

// throttle holds background work back while somebody needs the machine.
type throttle struct {
	clock Clock
	mu    sync.Mutex // guards the fields below
	busy  int
	until time.Time
	idle  chan struct{} // closed and replaced when busy falls to zero
	// held is since when work has been held back, zero if none is; granted is
	// until when it may go on all the same.
	held, granted time.Time
	// entered is closed by the next enter, nil if nobody wants to know.
	entered chan struct{}
}

func newThrottle(clock Clock) *throttle { return &throttle{clock: clock, idle: make(chan struct{})} }

// enter makes the machine busy until leave, and a moment longer.
func (g *throttle) enter() (leave func()) {
	g.mu.Lock()
	g.busy++
	if g.entered != nil {
		close(g.entered)
		g.entered = nil
	}
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

// wait returns when background work may go on, or ctx is done.
func (g *throttle) wait(ctx context.Context) error {
	for {
		g.mu.Lock()
		free, again, idle := g.look()
		g.mu.Unlock()
		if free {
			return ctx.Err()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-idle:
		case <-g.clock.At(again):
		}
	}
}

// rest returns when nobody has needed the machine for a moment, or ctx is done.
// Unlike wait it grants no share: it is for work that cannot be broken off quickly.
// The channel is closed as soon as somebody needs the machine again.
func (g *throttle) rest(ctx context.Context) (entered <-chan struct{}, err error) {
	for {
		g.mu.Lock()
		busy, until, idle := g.busy > 0, g.until, g.idle
		if !busy && !until.After(g.clock.Now()) {
			if g.entered == nil {
				g.entered = make(chan struct{})
			}
			entered = g.entered
			g.mu.Unlock()
			return entered, ctx.Err()
		}
		g.mu.Unlock()
		var timer <-chan time.Time
		if !busy {
			timer = g.clock.At(until)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-idle:
		case <-timer:
		}
	}
}

// look answers whether background work may go on now; if not, when to look again
// and what may end the waiting before. mu is held.
func (g *throttle) look() (free bool, again time.Time, idle <-chan struct{}) {
	now := g.clock.Now()
	if g.granted.After(now) {
		return true, now, nil
	}
	if g.busy == 0 && !g.until.After(now) {
		g.held = time.Time{}
		return true, now, nil
	}
	if g.held.IsZero() {
		g.held = now
	}
	again = g.held.Add(patience)
	if !again.After(now) {
		g.held, g.granted = time.Time{}, now.Add(share)
		return true, now, nil
	}
	if g.busy > 0 {
		return false, again, g.idle
	}
	if g.until.Before(again) {
		again = g.until
	}
	return false, again, nil
}

// open answers whether background work may go on now.
func (g *throttle) open() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	free, _, _ := g.look()
	return free
}

// portion is how a scan keeps to a share of the processors, in percent, 0 being all of them:
// with so many workers, each of which rests so long for each moment it works.
func portion(processors, share int) (workers int, rest float64) {
	if share <= 0 || share >= 100 {
		return processors, 0
	}
	wanted := float64(processors) * float64(share) / 100
	workers = max(1, int(wanted+0.999))
	return workers, float64(workers)/wanted - 1
}

// pace makes one worker rest.
type pace struct {
	rest  float64 // for each moment of work
	clock Clock
	since time.Time // work began
}

// shortest is how long a worker works before it rests: timers are no finer.
const shortest = 20 * time.Millisecond

// next is called before each piece of work.
func (p *pace) next(ctx context.Context) error {
	if p.rest <= 0 {
		return nil
	}
	now := p.clock.Now()
	worked := now.Sub(p.since)
	if p.since.IsZero() || worked < 0 {
		p.since = now
		return nil
	}
	if worked < shortest {
		return nil
	}
	until := now.Add(time.Duration(p.rest * float64(worked)))
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-p.clock.At(until):
	}
	p.since = p.clock.Now()
	return nil
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
