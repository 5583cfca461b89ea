package index

import (
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
