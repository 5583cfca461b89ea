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
func TestGateSharesWithWhoeverNeverRests(t *testing.T) {
	clock := &stepClock{now: time.Unix(1000, 0)}
	g := newGate(clock)
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

// A message holds work back for its moment even where a share of the time was
// granted, and lengthens the share by it; who sends without end leaves it half.
func TestGateGlance(t *testing.T) {
	clock := &stepClock{now: time.Unix(1000, 0)}
	g := newGate(clock)
	g.glance()
	if g.open() {
		t.Error("open while a message arrives")
	}
	clock.now = clock.now.Add(moment)
	if !g.open() {
		t.Error("closed after the moment")
	}

	leave := g.enter()
	defer leave()
	g.open() // somebody wants to pass
	clock.now = clock.now.Add(patience)
	if !g.open() {
		t.Fatal("no share was granted")
	}
	clock.now = clock.now.Add(share / 2)
	g.glance()
	if g.open() {
		t.Error("open while a message arrives during the share")
	}
	clock.now = clock.now.Add(moment + share/2 - time.Millisecond)
	if !g.open() {
		t.Error("the message's moment was taken from the share")
	}

	opened := 0
	g = newGate(clock)
	for range 1000 {
		g.glance()
		if g.open() {
			opened++
		}
		clock.now = clock.now.Add(time.Millisecond)
	}
	if opened < 400 {
		t.Errorf("open %d of 1000 ms while messages arrive without end", opened)
	}
}

// Work passes the flag until somebody needs the machine, then stands still in the
// middle, and goes on when it is free or the index is closed.
func TestGateFlag(t *testing.T) {
	clock := newManual()
	g := newGate(clock)
	ended := make(chan struct{})
	g.ended = ended
	g.flag.Pass()
	leave := g.enter()
	passed := make(chan struct{})
	go func() { g.flag.Pass(); close(passed) }()
	until(t, "work to stand still", func() bool { return clock.waiting() > 0 })
	select {
	case <-passed:
		t.Fatal("work went on while somebody needs the machine")
	default:
	}
	leave()
	clock.move(quiet)
	<-passed

	defer g.enter()()
	stopped := make(chan struct{})
	go func() { g.flag.Pass(); close(stopped) }()
	close(ended)
	<-stopped
}
