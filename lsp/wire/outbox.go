package wire

import (
	"errors"
	"io"
	"sync"
	"time"
)

const (
	// maxOutboxBytes is what an editor may leave unread before the connection
	// is given up.
	maxOutboxBytes = 256 << 20
	// FlushTimeout is how long closing waits for a client that does not read.
	FlushTimeout = 300 * time.Millisecond
)

var errNotReading = errors.New("the client does not read what the server sends")

// outbox decouples the server from a client that reads slowly: put never waits,
// so neither does the read loop that answers inline. One goroutine, which close
// waits for, writes what has gathered.
type outbox struct {
	w    io.Writer
	most int // how many bytes may be pending

	mu      sync.Mutex
	wake    *sync.Cond // signals a change of pending or closing
	pending []byte     // guarded by mu
	closing bool       // guarded by mu
	err     error      // the first failed write; guarded by mu
	done    chan struct{}
}

func newOutbox(w io.Writer, most int) *outbox {
	o := &outbox{w: w, most: most, done: make(chan struct{})}
	o.wake = sync.NewCond(&o.mu)
	go o.run()
	return o
}

// put appends one message made of parts.
func (o *outbox) put(parts ...[]byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil && len(o.pending) > o.most {
		o.err = errNotReading
	}
	if o.err != nil {
		return o.err
	}
	if o.closing {
		return io.ErrClosedPipe
	}
	for _, part := range parts {
		o.pending = append(o.pending, part...)
	}
	o.wake.Signal()
	return nil
}

func (o *outbox) run() {
	defer close(o.done)
	var spare []byte
	for {
		o.mu.Lock()
		for len(o.pending) == 0 && !o.closing {
			o.wake.Wait()
		}
		batch := o.pending
		o.pending = spare[:0]
		o.mu.Unlock()
		if len(batch) == 0 {
			return
		}
		if _, err := o.w.Write(batch); err != nil {
			o.mu.Lock()
			o.err = err
			o.mu.Unlock()
			return
		}
		spare = batch
		if cap(spare) > 1<<20 {
			spare = nil // one large answer shall not be held for good
		}
	}
}

// close lets the writer finish, for FlushTimeout at most. A writer that is still
// blocked then ends when its transport is closed.
func (o *outbox) close() {
	o.mu.Lock()
	o.closing = true
	o.wake.Signal()
	o.mu.Unlock()
	timer := time.NewTimer(FlushTimeout)
	defer timer.Stop()
	select {
	case <-o.done:
	case <-timer.C:
	}
}
