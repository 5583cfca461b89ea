package model

import (
	"context"
	"slices"
	"sync"
)

// lane decides who may use the model: one request at a time, since a second one
// would wait inside Ollama, where its turn cannot be taken back, and would pay
// for every prompt before it. Among completions the newest wins: it takes the
// place of those that wait and ends the one that runs. Completions with the
// same prompt are alternatives of one answer and queue in order.
type lane struct {
	mu      sync.Mutex // guards all below
	current *turn
	waiting []*turn // in order of arrival
}

// turn is one request's place in the lane.
type turn struct {
	prompt  string
	granted chan struct{} // closed when the model is this turn's
	lost    chan struct{} // closed when a newer completion takes its place
	isLost  bool          // guarded by lane.mu
}

// enter waits for the model. It fails with ErrSuperseded or the context's
// error; a turn that was granted must leave.
func (l *lane) enter(ctx context.Context, prompt string) (*turn, error) {
	t := &turn{prompt: prompt, granted: make(chan struct{}), lost: make(chan struct{})}
	l.mu.Lock()
	// Who was cancelled before coming here is no newer than who runs: its
	// goroutine was merely late.
	if err := ctx.Err(); err != nil {
		l.mu.Unlock()
		return nil, err
	}
	l.waiting = slices.DeleteFunc(l.waiting, func(w *turn) bool { return l.supersede(w, prompt) })
	if l.current != nil {
		l.supersede(l.current, prompt)
	}
	l.waiting = append(l.waiting, t)
	l.advance()
	l.mu.Unlock()

	var err error
	select {
	case <-t.granted:
		select {
		case <-t.lost:
			err = ErrSuperseded
		default:
			return t, nil
		}
	case <-t.lost:
		err = ErrSuperseded
	case <-ctx.Done():
		err = ctx.Err()
	}
	l.leave(t)
	return nil, err
}

// leave gives the model, or the place in the queue, to the next.
func (l *lane) leave(t *turn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.current == t {
		l.current = nil
	} else {
		l.waiting = slices.DeleteFunc(l.waiting, func(w *turn) bool { return w == t })
	}
	l.advance()
}

func (l *lane) supersede(old *turn, prompt string) bool {
	if old.prompt == prompt {
		return false
	}
	if !old.isLost {
		old.isLost = true
		close(old.lost)
	}
	return true
}

func (l *lane) advance() {
	if l.current == nil && len(l.waiting) > 0 {
		l.current, l.waiting = l.waiting[0], l.waiting[1:]
		close(l.current.granted)
	}
}

func (l *lane) queued() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.waiting)
}
