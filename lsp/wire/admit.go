package wire

import (
	"bufio"
	"bytes"
	"context"
	"crypto/subtle"
	"errors"
	"io"
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"
)

const (
	// firstMessage is how long somebody who may be no editor has for the first message.
	firstMessage = 5 * time.Second
	// maxWaiting is how many connections may have no whole header yet; who has had none
	// for longest gives its place to the next.
	maxWaiting = 256
	// firstHeaderLine is the longest line of theirs, in bytes.
	firstHeaderLine = 4 << 10
)

var errNoToken = errors.New(`the client did not send the token: its first message needs the header "Authorization: Bearer TOKEN"`)

func checkToken(sent, token string) error {
	if subtle.ConstantTimeCompare([]byte(sent), []byte(token)) != 1 {
		return errNoToken
	}
	return nil
}

// Sessions accepts connections until the listener is closed, and calls session with one
// after the other, once the header of its first message is there and has the token: who
// has no token keeps nobody waiting. It returns what Accept returned.
func Sessions(ctx context.Context, listener net.Listener, token string, log *slog.Logger, session func(net.Conn)) error {
	var (
		mu      sync.Mutex
		waiting []net.Conn // without a whole header; guarded by mu
		all     sync.WaitGroup
	)
	ctx, cancel := context.WithCancel(ctx)
	admitted := make(chan net.Conn)
	all.Go(func() {
		for {
			select {
			case conn := <-admitted:
				session(conn)
			case <-ctx.Done():
				return
			}
		}
	})
	defer all.Wait()
	defer func() {
		cancel()
		mu.Lock()
		defer mu.Unlock()
		for _, conn := range waiting {
			_ = conn.Close()
		}
	}()
	for {
		conn, err := listener.Accept()
		if err != nil {
			return err
		}
		mu.Lock()
		waiting = append(waiting, conn)
		if len(waiting) > maxWaiting {
			_ = waiting[0].Close()
			waiting = slices.Delete(waiting, 0, 1)
		}
		mu.Unlock()
		all.Go(func() {
			known, err := admit(conn, token)
			mu.Lock()
			waiting = slices.DeleteFunc(waiting, func(c net.Conn) bool { return c == conn })
			mu.Unlock()
			if err != nil {
				log.Warn("refused a connection", "error", err)
				_ = conn.Close()
				return
			}
			select {
			case admitted <- known:
			case <-ctx.Done():
				_ = conn.Close()
			}
		})
	}
}

// admit reads the header of a client's first message. It returns the connection, with what
// was read to be read again, if the token is in it.
func admit(conn net.Conn, token string) (net.Conn, error) {
	if err := conn.SetReadDeadline(time.Now().Add(firstMessage)); err != nil {
		return nil, err
	}
	var read bytes.Buffer
	s := &Stream{in: bufio.NewReaderSize(io.TeeReader(conn, &read), firstHeaderLine), strict: true}
	h, err := s.readHeader()
	if err == nil && h.problem != "" {
		err = notLSP(h.problem)
	}
	if err == nil {
		err = checkToken(h.token, token)
	}
	if err != nil {
		return nil, err
	}
	return &again{conn, io.MultiReader(&read, conn)}, nil
}

// again is a connection of which some was read that is read again.
type again struct {
	net.Conn
	in io.Reader
}

func (a *again) Read(p []byte) (int, error) { return a.in.Read(p) }
