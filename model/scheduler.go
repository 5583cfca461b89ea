package model

import (
	"context"
	"slices"
	"sync"
)

// scheduler decides which request may use the model. Only one may at a time: a second one
// would wait inside Ollama, where its slot cannot be taken back, and would pay for every
// prompt before it. Among completions the newest wins. It replaces those that wait and ends
// the one that runs. Completions with the same prompt are alternatives of one answer and queue
// in order.
type scheduler struct {
	mu      sync.Mutex // guards all below
	current *slot
	waiting []*slot // in order of arrival
}

// slot is one request's place in the queue.
type slot struct {
	prompt  string
	granted chan struct{} // closed when the model is this slot's
	lost    chan struct{} // closed when a newer completion takes its place
	isLost  bool          // guarded by scheduler.mu
}

// enter waits for the model. It fails with ErrSuperseded or with the context's error. A slot
// that was granted must leave.
func (s *scheduler) enter(ctx context.Context, prompt string) (*slot, error) {
	t := &slot{prompt: prompt, granted: make(chan struct{}), lost: make(chan struct{})}
	s.mu.Lock()
	// A request that was cancelled before it came here is no newer than the one that runs: its
	// goroutine was merely late.
	if err := ctx.Err(); err != nil {
		s.mu.Unlock()
		return nil, err
	}
	s.waiting = slices.DeleteFunc(s.waiting, func(w *slot) bool { return s.supersede(w, prompt) })
	if s.current != nil {
		s.supersede(s.current, prompt)
	}
	s.waiting = append(s.waiting, t)
	s.advance()
	s.mu.Unlock()

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
	s.leave(t)
	return nil, err
}

// leave gives the model to the next request, or gives up a place in the queue.
func (s *scheduler) leave(t *slot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == t {
		s.current = nil
	} else {
		s.waiting = slices.DeleteFunc(s.waiting, func(w *slot) bool { return w == t })
	}
	s.advance()
}

func (s *scheduler) supersede(old *slot, prompt string) bool {
	if old.prompt == prompt {
		return false
	}
	if !old.isLost {
		old.isLost = true
		close(old.lost)
	}
	return true
}

func (s *scheduler) advance() {
	if s.current == nil && len(s.waiting) > 0 {
		s.current, s.waiting = s.waiting[0], s.waiting[1:]
		close(s.current.granted)
	}
}

func (s *scheduler) queued() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiting)
}
