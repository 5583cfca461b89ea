package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"syscall"
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

// Who has a wrong address is told what is wrong with it, not by which step of a library it failed.
func TestWhatIsNotReachedIsSaid(t *testing.T) {
	over, end := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer end()
	dial := func(err error) error {
		return fmt.Errorf("failed to WebSocket dial: %w", &url.Error{Op: "Get", URL: "https://desk:7417/connect", Err: &net.OpError{Op: "dial", Net: "tcp", Err: err}})
	}
	for _, c := range []struct {
		ctx  context.Context
		err  error
		want string
	}{
		{t.Context(), dial(syscall.ECONNREFUSED), "no quarry serve runs: start one there by `quarry serve --websocket desk:7417`"},
		{t.Context(), dial(&net.DNSError{Err: "no such host", Name: "desk", IsNotFound: true}), "no machine is called desk: look at the address, host:port as `quarry serve pair` shows it"},
		{t.Context(), dial(&net.DNSError{Err: "server misbehaving", Name: "desk", IsTemporary: true}), "the name desk cannot be looked up (server misbehaving): try again, or give the machine's IP address"},
		{t.Context(), dial(errors.New("no route to host")), "desk:7417 cannot be reached (no route to host): look at the address, and at the network"},
		{over, dial(context.DeadlineExceeded), "nothing answers at desk:7417: look at the address, and at the firewall there"},
		{t.Context(), fmt.Errorf("failed to WebSocket dial: %w", errors.New("not TLS")), "what answers at desk:7417 is no quarry serve --websocket (not TLS)"},
	} {
		if err := unreached(c.ctx, "desk:7417", c.err); err.Error() != c.want || errors.Is(err, ErrNotRunning) != errors.Is(c.err, syscall.ECONNREFUSED) {
			t.Errorf("%v is said as: %v", c.err, err)
		}
	}
}
