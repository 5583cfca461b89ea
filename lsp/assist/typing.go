package assist

import (
	"context"
	"sync"
	"time"
)

const (
	// hasty is how near to a keystroke an answer about a change does not count: a key
	// that was meant for the text may have given it.
	hasty = 300 * time.Millisecond
	// pauseToAsk is how long the user must not have typed before a question is put
	// onto their screen.
	pauseToAsk = time.Second
)

// Clock is the time that a Service goes by.
type Clock interface {
	Now() time.Time
	// After is time.After.
	After(time.Duration) <-chan time.Time
}

// RealClock is the time of this machine.
type RealClock struct{}

// Now implements Clock.
func (RealClock) Now() time.Time { return time.Now() }

// After implements Clock.
func (RealClock) After(d time.Duration) <-chan time.Time { return time.After(d) }

// typing knows when the user last typed, as far as the editor tells: by the
// changes of documents.
type typing struct {
	clock Clock

	mu    sync.Mutex
	last  time.Time // guarded by mu
	count int       // of keystrokes; guarded by mu
}

func (t *typing) note() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = t.clock.Now()
	t.count++
}

// since is how long ago the last keystroke was, and how many there were.
func (t *typing) since() (time.Duration, int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.clock.Now().Sub(t.last), t.count
}

// pause waits until nothing was typed for pauseToAsk.
func (t *typing) pause(ctx context.Context) error {
	for {
		past, _ := t.since()
		if past >= pauseToAsk {
			return ctx.Err()
		}
		if err := t.wait(ctx, pauseToAsk-past); err != nil {
			return err
		}
	}
}

// calm is whether an answer that came just now is a deliberate one: nothing was
// typed before it, nor after it, for which it waits.
func (t *typing) calm(ctx context.Context) (bool, error) {
	past, before := t.since()
	if past < hasty {
		return false, nil
	}
	if err := t.wait(ctx, hasty); err != nil {
		return false, err
	}
	_, after := t.since()
	return after == before, nil
}

func (t *typing) wait(ctx context.Context, d time.Duration) error {
	select {
	case <-t.clock.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
