package main

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// keptLines is how many lines may wait for whoever reads standard error.
const keptLines = 4096

// logPipe is an io.Writer that never waits: a client that starts the server and
// does not read its standard error would else stop it once the pipe is full, in
// the middle of the read loop. What it leaves unread beyond keptLines is dropped
// and counted.
type logPipe struct {
	lines   chan []byte
	dropped atomic.Int64
	closing chan struct{}
	close   func()
	written chan struct{} // closed when all lines are
}

func newLogPipe(w io.Writer) *logPipe {
	p := &logPipe{lines: make(chan []byte, keptLines), closing: make(chan struct{}), written: make(chan struct{})}
	p.close = sync.OnceFunc(func() { close(p.closing) })
	go p.run(w)
	return p
}

func (p *logPipe) run(w io.Writer) {
	defer close(p.written)
	write := func(line []byte) {
		if n := p.dropped.Swap(0); n > 0 {
			fmt.Fprintf(w, "quarry: %d lines of the log were dropped, because nobody read standard error\n", n)
		}
		_, _ = w.Write(line) // nowhere is left to say that it failed
	}
	for {
		select {
		case line := <-p.lines:
			write(line)
		case <-p.closing:
			for {
				select {
				case line := <-p.lines:
					write(line)
				default:
					return
				}
			}
		}
	}
}

// Write takes a line and never fails.
func (p *logPipe) Write(line []byte) (int, error) {
	select {
	case p.lines <- append([]byte(nil), line...):
	default:
		p.dropped.Add(1)
	}
	return len(line), nil
}

// Close writes what is left, unless nobody reads. What is written after is lost.
func (p *logPipe) Close() {
	const timeout = 300 * time.Millisecond
	p.close()
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-p.written:
	case <-timer.C: // a write that blocks cannot be ended; the process does
	}
}
