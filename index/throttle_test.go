package index

import (
	"context"
	"errors"
	"testing"
	"time"
)

// stepClock stands still until it is moved; nothing waits for it.
type stepClock struct{ now time.Time }

func (c *stepClock) Now() time.Time                { return c.now }
func (c *stepClock) At(time.Time) <-chan time.Time { return nil }

// Typing holds work back, and a tenth of the time goes to it all the same.
func TestThrottleSharesWithWhoeverNeverRests(t *testing.T) {
	clock := &stepClock{now: time.Unix(1000, 0)}
	g := newThrottle(clock)
	const key, step = 100 * time.Millisecond, 10 * time.Millisecond
	opened, total := 0, 0
	for at := time.Duration(0); at < 20*time.Second; at += step {
		if at%key == 0 {
			g.enter()()
		}
		if g.open() {
			opened++
		}
		total++
		clock.now = clock.now.Add(step)
	}
	if got := float64(opened) / float64(total); got < 0.05 || got > 0.12 {
		t.Errorf("open %.0f %% of the time while keys come every %v", got*100, key)
	}
	clock.now = clock.now.Add(quiet)
	if !g.open() {
		t.Error("closed after a rest")
	}
	leave := g.enter()
	clock.now = clock.now.Add(quiet)
	if g.open() {
		t.Error("open while a completion runs")
	}
	clock.now = clock.now.Add(patience)
	if !g.open() {
		t.Error("a completion that hangs holds the index for ever")
	}
	leave()
}

// A share of the processors is kept to by fewer workers, and by rests where a worker is too
// much.
func TestPortion(t *testing.T) {
	for _, tt := range []struct {
		processors, share, workers int
		rest                       float64
	}{
		{8, 0, 8, 0}, {8, 100, 8, 0}, {8, 50, 4, 0}, {8, 25, 2, 0}, {2, 50, 1, 0}, {1, 50, 1, 1}, {2, 75, 2, 1.0 / 3}, {4, 10, 1, 1.5}, {2, 1, 1, 49},
	} {
		workers, rest := portion(tt.processors, tt.share)
		if workers != tt.workers || rest < tt.rest-0.01 || rest > tt.rest+0.01 {
			t.Errorf("%d %% of %d: %d workers that rest %.2f, want %d and %.2f", tt.share, tt.processors, workers, rest, tt.workers, tt.rest)
		}
	}
}

// steps is a clock that goes on only when it is told, and shows for how long it was waited.
type steps struct {
	now  time.Time
	wait time.Duration
	stop chan time.Time
}

func (c *steps) Now() time.Time { return c.now }

func (c *steps) At(t time.Time) <-chan time.Time {
	c.wait = t.Sub(c.now)
	if c.stop != nil {
		return c.stop
	}
	c.now = t
	done := make(chan time.Time, 1)
	done <- t
	return done
}

func TestPace(t *testing.T) {
	c := &steps{now: time.Unix(1000, 0)}
	p := pace{rest: 3, clock: c}
	next := func(worked, rests time.Duration) {
		t.Helper()
		c.wait = 0
		c.now = c.now.Add(worked)
		if err := p.next(t.Context()); err != nil || c.wait != rests {
			t.Errorf("after %v it rests %v, want %v; %v", worked, c.wait, rests, err)
		}
	}
	next(time.Hour, 0) // it begins
	next(10*time.Millisecond, 0)
	next(30*time.Millisecond, 120*time.Millisecond)
	next(time.Millisecond, 0)
	next(20*time.Millisecond, 63*time.Millisecond)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c.now, c.stop = c.now.Add(time.Second), make(chan time.Time)
	if err := p.next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	all := pace{clock: c}
	if err := all.next(t.Context()); err != nil {
		t.Errorf("%v", err)
	}
}
