package client

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"go.lsp.dev/jsonrpc2"
)

// The message of what is no service is read as far as an answer may go, however its header goes on.
func TestAMessageIsBounded(t *testing.T) {
	for name, piece := range map[string]string{"a header": strings.Repeat("a", 1<<16), "headers": strings.Repeat("A: b\r\n", 1<<12)} {
		ours, theirs := net.Pipe()
		sent := make(chan int)
		go func() {
			n := 0
			for {
				m, err := io.WriteString(theirs, piece)
				if n += m; err != nil {
					sent <- n
					return
				}
			}
		}()
		if _, _, err := bounded(ours).Read(t.Context()); err == nil {
			t.Errorf("%s without end was read", name)
		}
		ours.Close()
		if n := <-sent; n > maxAnswer+1<<16 {
			t.Errorf("%s: %d bytes were taken", name, n)
		}
	}
}

// A service that takes nothing in ends a request that does not fit the system's buffer.
func TestAWriteEnds(t *testing.T) {
	was := takenWithin
	takenWithin = time.Millisecond
	defer func() { takenWithin = was }()
	ours, theirs := net.Pipe()
	defer theirs.Close()
	c := &Conn{conn: ours, rpc: jsonrpc2.NewConn(bounded(ours)), end: func() {}}
	c.rpc.Go(context.WithoutCancel(t.Context()), c.hear)
	defer c.Close()
	if err := c.Call(t.Context(), MethodService, strings.Repeat("x", 1<<20), nil); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("taken: %v", err)
	}
}
