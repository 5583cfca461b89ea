package completions

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"quarry/lsp/service/peer"
)

// Options are where and for whom completions are served.
type Options struct {
	// Address is the loopback address that clients know.
	Address string
	Token   string
	// Dir is where the servers of one user find each other. It is made if it is
	// missing.
	Dir      string
	Complete Complete
	// Metrics, if not nil, is what GET /metrics answers.
	Metrics func(context.Context) (string, error)
	Log     *slog.Logger
	// Taken is called once if the address cannot be had and no other server of quarry's
	// has it.
	Taken func(error)
	// After is the clock; nil is the real one.
	After func(time.Duration) <-chan time.Time
}

// retry is how soon an address that was another server's is taken over.
const retry = 2 * time.Second

// maxConnections is how many connections are served at a time: another program, or
// another user of this machine, may open as many as it likes, and each takes a file
// descriptor of the server's before it has shown a token.
const maxConnections = 128

// limited serves that many connections. One more takes the place of the one that has
// kept its request to itself for longest, so that who sends nothing, or a byte now and
// then, keeps nobody else waiting; where each has a request that is being answered it
// waits for the first to end.
type limited struct {
	net.Listener
	places chan struct{}
	closed chan struct{}
	once   sync.Once

	// waiting says that a connection waits for a place.
	waiting atomic.Bool

	mu   sync.Mutex
	open []*placed // in the order they came; guarded by mu
}

func limit(l net.Listener, most int) *limited {
	return &limited{Listener: l, places: make(chan struct{}, most), closed: make(chan struct{})}
}

func (l *limited) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	select {
	case l.places <- struct{}{}:
	default:
		l.waiting.Store(true)
		l.displace()
		select {
		case l.places <- struct{}{}:
			l.waiting.Store(false)
		case <-l.closed:
			_ = conn.Close()
			return nil, net.ErrClosed
		}
	}
	c := &placed{Conn: conn, in: l}
	c.leave = sync.OnceFunc(func() { l.remove(c) })
	l.mu.Lock()
	l.open = append(l.open, c)
	l.mu.Unlock()
	return c, nil
}

// displace closes the connection that has been without a whole request for longest.
func (l *limited) displace() {
	l.mu.Lock()
	i := slices.IndexFunc(l.open, func(c *placed) bool { return !c.asked.Load() })
	var c *placed
	if i >= 0 {
		c = l.open[i]
	}
	l.mu.Unlock()
	if c != nil {
		_ = c.Close()
	}
}

func (l *limited) remove(c *placed) {
	l.mu.Lock()
	l.open = slices.DeleteFunc(l.open, func(o *placed) bool { return o == c })
	l.mu.Unlock()
	<-l.places
}

func (l *limited) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// placed gives its place back when it is closed.
type placed struct {
	net.Conn
	in    *limited
	leave func()
	// asked says that a whole request was read and is not answered yet.
	asked atomic.Bool
}

func (c *placed) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

// answered is called when what was asked is answered and sent.
func (c *placed) answered() {
	c.asked.Store(false)
	if c.in.waiting.Load() {
		_ = c.Close()
	}
}

// placeKey is of the context of a request: the connection it came by.
type placeKey struct{}

// hasAsked says that the whole request of ctx was read.
func hasAsked(ctx context.Context) {
	if c, ok := ctx.Value(placeKey{}).(*placed); ok {
		c.asked.Store(true)
	}
}

// goodbye bounds how long requests that have been cancelled are waited for.
const goodbye = 500 * time.Millisecond

// Serve answers completions until ctx ends. Each editor runs a server of its own and
// there is one address for all of them: who comes first has it and asks the others for
// documents that it does not know, each at a socket of its own in the directory. When
// it goes another one takes its place.
func Serve(ctx context.Context, opts Options) error {
	if err := checkAddress(opts.Address); err != nil {
		return err
	}
	if opts.After == nil {
		opts.After = time.After
	}
	if err := os.MkdirAll(opts.Dir, 0o700); err != nil {
		return fmt.Errorf("let other editors' quarry know of this one: %w", err)
	}
	others := others{opts.Dir, filepath.Join(opts.Dir, rand.Text()[:8]), opts.Token, othersWithin}
	own, err := new(net.ListenConfig).Listen(ctx, "unix", others.own) // its file goes with it
	if err != nil {
		return fmt.Errorf("let other editors' quarry know of this one: %w", err)
	}

	var serving sync.WaitGroup
	defer serving.Wait()
	serve := func(l net.Listener, h http.Handler) {
		server := newServer(ctx, h, opts.Log)
		serving.Go(func() { _ = server.Serve(limit(l, maxConnections)) }) // ends by Shutdown
		serving.Go(func() {
			<-ctx.Done() // as are those of all requests
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
			defer cancel()
			if server.Shutdown(last) != nil {
				_ = server.Close()
			}
		})
	}
	back := handler{token: opts.Token, complete: opts.Complete, metrics: opts.Metrics, log: opts.Log, now: time.Now}
	front := back
	front.elsewhere = others.ask
	serve(own, &back)
	for reported := false; ; {
		shared, err := new(net.ListenConfig).Listen(ctx, "tcp", opts.Address)
		if err == nil {
			opts.Log.Info("completions are served", "address", shared.Addr().String())
			serve(shared, &front)
			<-ctx.Done()
			return nil
		}
		if ctx.Err() == nil && !reported && len(others.sockets(ctx)) == 0 {
			reported = true
			opts.Taken(err)
		}
		select {
		case <-opts.After(retry):
		case <-ctx.Done():
			return nil
		}
	}
}

// newServer serves whoever sends a whole request in ten seconds; its requests end with ctx.
func newServer(ctx context.Context, h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler: h, DisableGeneralOptionsHandler: true, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, IdleTimeout: time.Minute,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, placeKey{}, c) },
		ConnState: func(c net.Conn, state http.ConnState) {
			if c, ok := c.(*placed); ok && state == http.StateIdle {
				c.answered()
			}
		},
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

func checkAddress(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("http.address %q is not HOST:PORT, as in 127.0.0.1:7997", address)
	}
	if host != "localhost" && !isLoopback(host) {
		return fmt.Errorf("http.address %q is open to other machines; use 127.0.0.1", address)
	}
	return nil
}

// othersWithin is how long the other servers have for an answer together. One whose editor was stopped
// gives none.
const othersWithin = 10 * time.Second

// others are the servers with a socket in dir but the one at own.
type others struct {
	dir, own, token string
	within          time.Duration
}

// connect connects to a server of this user. Code goes there, and the token.
func connect(ctx context.Context, socket string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, err
	}
	if err := peer.Check(conn); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// sockets are those of the servers that run. What one left that was killed goes.
func (o others) sockets(ctx context.Context) []string {
	entries, err := os.ReadDir(o.dir)
	if err != nil {
		return nil
	}
	var list []string
	for _, e := range entries {
		socket := filepath.Join(o.dir, e.Name())
		if socket == o.own {
			continue
		}
		conn, err := connect(ctx, socket)
		switch {
		case err == nil:
			_ = conn.Close()
			list = append(list, socket)
		case ctx.Err() == nil && !errors.Is(err, peer.ErrOtherUser) && !errors.Is(err, syscall.EAGAIN): // one that is stopped takes so many
			_ = os.Remove(socket)
		}
	}
	return list
}

// ask answers what the first of them says that knows it.
func (o others) ask(ctx context.Context, req request) (response, bool) {
	req.Stream = false
	body, err := json.Marshal(req)
	if err != nil {
		panic(err) // plain values always encode
	}
	ctx, cancel := context.WithTimeout(ctx, o.within)
	defer cancel()
	sockets := o.sockets(ctx)
	answers := make(chan response, len(sockets))
	var asked sync.WaitGroup
	for _, socket := range sockets {
		asked.Go(func() {
			if answer, err := o.post(ctx, socket, body); err == nil {
				answers <- answer
				cancel() // the others are asked no more
			}
		})
	}
	asked.Wait()
	select {
	case answer := <-answers:
		return answer, true
	default:
		return response{}, false
	}
}

func (o others) post(ctx context.Context, socket string, body []byte) (response, error) {
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return connect(ctx, socket)
	}}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost"+path, bytes.NewReader(body))
	if err != nil {
		return response{}, err
	}
	req.Header.Set("Authorization", "Bearer "+o.token)
	resp, err := client.Do(req)
	if err != nil {
		return response{}, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return response{}, errors.New(resp.Status)
	}
	var answer response
	return answer, json.NewDecoder(http.MaxBytesReader(nil, resp.Body, maxRequest)).Decode(&answer)
}
