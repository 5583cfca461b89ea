package lsptest_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
)

// log gathers a process's standard error and wakes who waits for a line of it.
type log struct {
	mu      sync.Mutex
	buf     bytes.Buffer  // guarded by mu
	from    int           // where await looks from; guarded by mu
	changed chan struct{} // closed and renewed on every write; guarded by mu
}

var _ io.Writer = (*log)(nil)

func newLog() *log { return &log{changed: make(chan struct{})} }

func (l *log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.changed)
	l.changed = make(chan struct{})
	return l.buf.Write(b)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// forget lets await see only what comes from now on.
func (l *log) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.from = l.buf.Len()
}

// await waits for one of parts.
func (l *log) await(ctx context.Context, parts ...string) error {
	for {
		l.mu.Lock()
		changed := l.changed
		text := l.buf.String()[l.from:]
		l.mu.Unlock()
		if slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) }) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("the server's log has none of %q: %w", parts, ctx.Err())
		}
	}
}
