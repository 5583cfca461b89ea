package wire

import (
	"context"
	"errors"
	"sync"
)

// ErrSuperseded ends a request that a newer one, or a change of its document,
// has made useless. Its answer is null and not an error, because Neovim shows
// errors.
var ErrSuperseded = errors.New("superseded")

// Newest keeps, for each key such as a document, the one request that is worth
// answering. It is empty at first.
type Newest struct {
	mu sync.Mutex
	// running is guarded by mu.
	running map[string]*request
}

type request struct{ cancel context.CancelCauseFunc }

// Begin ends the key's running request and takes its place. The caller
// calls done when it has its answer.
func (n *Newest) Begin(ctx context.Context, key string) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	r := &request{cancel}
	n.mu.Lock()
	defer n.mu.Unlock()
	if old := n.running[key]; old != nil {
		old.cancel(ErrSuperseded)
	}
	if n.running == nil {
		n.running = map[string]*request{}
	}
	n.running[key] = r
	return ctx, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.running[key] == r {
			delete(n.running, key)
		}
		cancel(nil)
	}
}

// Cancel ends the key's running request.
func (n *Newest) Cancel(key string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if r := n.running[key]; r != nil {
		r.cancel(ErrSuperseded)
		delete(n.running, key)
	}
}

// CancelAll ends all of them.
func (n *Newest) CancelAll() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for key, r := range n.running {
		r.cancel(ErrSuperseded)
		delete(n.running, key)
	}
}
