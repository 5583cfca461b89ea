package service

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"quarry/lsp/service/device"
)

// maxRemoteHeader is the largest header of a request to open a WebSocket, in bytes.
const maxRemoteHeader = 8 << 10

// Remote is where devices reach a service: it listens for TLS 1.3 and speaks WebSocket.
type Remote struct {
	listener    net.Listener
	tls         tls.Certificate
	certificate []byte // its fingerprint
}

// ListenRemote listens at an address such as "192.168.1.5:7417", with the store's certificate.
func ListenRemote(ctx context.Context, address string, store *device.Store) (*Remote, error) {
	pair, fingerprint, err := store.Identity(time.Now())
	if err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen for devices: %w; give an address of this machine and a free port, such as 192.168.1.5:7417", err)
	}
	return &Remote{listener, pair, fingerprint}, nil
}

// Close ends listening, unless that is done.
func (r *Remote) Close() error {
	if err := r.listener.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// Addresses are those at which a device may reach the service: where it listens on all of the
// machine's, each of them.
func (r *Remote) Addresses() []string {
	at, ok := r.listener.Addr().(*net.TCPAddr)
	if !ok || !at.IP.IsUnspecified() {
		return []string{r.listener.Addr().String()}
	}
	all, err := net.InterfaceAddrs()
	if err != nil {
		return []string{at.String()}
	}
	var list []string
	for _, a := range all {
		if ip, ok := a.(*net.IPNet); ok && !ip.IP.IsLinkLocalUnicast() {
			list = append(list, net.JoinHostPort(ip.IP.String(), fmt.Sprint(at.Port)))
		}
	}
	// Those that others reach come first.
	slices.SortStableFunc(list, func(a, b string) int { return isLoopback(a) - isLoopback(b) })
	return list
}

func isLoopback(address string) int {
	host, _, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsLoopback() {
		return 1
	}
	return 0
}

// doorman takes in what comes to a Remote.
type doorman struct {
	*server
	remote  *Remote
	ctx     context.Context
	refused refusals

	mu     sync.Mutex
	closed bool // nobody is taken in any more; guarded by mu
	inside sync.WaitGroup
}

// serveRemote serves devices until ctx ends, and waits for all of them.
func (s *server) serveRemote(ctx context.Context, r *Remote) {
	d := &doorman{server: s, remote: r, ctx: ctx, refused: refusals{log: s.opts.Log, now: time.Now}}
	h := &http.Server{
		// The limits hold for the handshake, the request with a body that nobody reads, and the
		// answer; a WebSocket has its own.
		Handler: d, ReadTimeout: device.AnswerWithin, WriteTimeout: device.AnswerWithin, MaxHeaderBytes: maxRemoteHeader,
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return context.WithValue(ctx, strangerKey{}, conn)
		},
		TLSConfig: &tls.Config{
			MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{r.tls}, NextProtos: []string{"http/1.1"},
			SessionTicketsDisabled: true,
		},
		ErrorLog: slog.NewLogLogger(s.opts.Log.Handler(), slog.LevelDebug),
	}
	h.SetKeepAlivesEnabled(false) // one request, then nothing or a WebSocket
	defer context.AfterFunc(ctx, func() { _ = h.Close() })()
	if err := h.ServeTLS(&strangers{Listener: r.listener}, "", ""); err != nil && ctx.Err() == nil {
		s.opts.Log.Error("serve devices", "error", err)
	}
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.inside.Wait()
}

// strangerKey is where the context of a request has its connection.
type strangerKey struct{}

// known says that the device of a request is known.
func known(r *http.Request) {
	if conn, ok := r.Context().Value(strangerKey{}).(*tls.Conn); ok {
		if c, ok := conn.NetConn().(*stranger); ok {
			c.known()
		}
	}
}

// enter counts a connection in, unless the service ends.
func (d *doorman) enter() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed {
		d.inside.Add(1)
	}
	return !d.closed
}

// ServeHTTP implements http.Handler: it opens the WebSocket of whoever may have one.
func (d *doorman) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !d.enter() {
		return
	}
	defer d.inside.Done()
	over := func() { // nobody reads what the request has more
		_ = http.NewResponseController(w).SetReadDeadline(time.Now())
	}
	refuse := func(status int, format string, args ...any) {
		defer over()
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Connection", "close")
		w.WriteHeader(status)
		fmt.Fprintf(w, format+"\n", args...)
	}
	asked := strings.Split(strings.ReplaceAll(strings.Join(r.Header.Values("Sec-WebSocket-Protocol"), ","), " ", ""), ",")
	switch {
	case len(r.Header.Values("Origin")) > 0: // which every browser sends, and no device
		refuse(http.StatusForbidden, "quarry serves no browser")
		return
	case r.URL.Path != device.PairPath && r.URL.Path != device.ConnectPath:
		refuse(http.StatusNotFound, "quarry serve: devices pair at %s and connect at %s", device.PairPath, device.ConnectPath)
		return
	case !slices.Contains(asked, device.Subprotocol):
		refuse(http.StatusBadRequest, "this quarry serve (%s) speaks %s and the device another protocol: bring both to one version of quarry", d.opts.Version, device.Subprotocol)
		return
	}
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{device.Subprotocol}, CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		over()
		d.opts.Log.Debug("open a WebSocket", "error", err)
		return
	}
	defer func() { _ = ws.CloseNow() }()
	ws.SetReadLimit(device.MaxMessage)
	if r.URL.Path == device.PairPath {
		err = d.pair(ws)
	} else {
		var who device.Device
		if who, err = d.recognize(ws, r.TLS); err == nil {
			known(r)
			d.serve(ws, who)
			return
		}
	}
	if err == nil {
		_ = ws.Close(websocket.StatusNormalClosure, "")
		return
	}
	d.refused.add(r.RemoteAddr, err)
	reason := "quarry serve failed: its log says why"
	if refused := (refusal{}); errors.As(err, &refused) {
		reason = refused.reason
	}
	_ = ws.Close(websocket.StatusPolicyViolation, reason)
}

// refusal is an error that a device is told. A WebSocket takes 123 bytes of it.
type refusal struct{ reason string }

func (r refusal) Error() string { return r.reason }

// unpaired refuses a device; why it does is nobody's business before it is known.
var unpaired = refusal{"this device is not paired, or was revoked: pair it by `quarry serve pair` on the service's machine"}

// recognize asks a device to prove that it is one that has been paired.
func (d *doorman) recognize(ws *websocket.Conn, state *tls.ConnectionState) (device.Device, error) {
	challenge := device.NewChallenge(time.Now())
	if err := device.Say(d.ctx, ws, challenge); err != nil {
		return device.Device{}, err
	}
	var signature device.Signature
	if err := device.Hear(d.ctx, ws, &signature); err != nil {
		return device.Device{}, err
	}
	if signature.Protocol != device.Protocol {
		return device.Device{}, refusal{fmt.Sprintf("protocol %d here and %d on the device: bring both to one version of quarry", device.Protocol, signature.Protocol)}
	}
	known, ok, err := d.opts.Devices.Find(signature.ID)
	if err != nil {
		return device.Device{}, err
	}
	if !ok || !device.Verify(known.Key, challenge, signature, state, d.remote.certificate, time.Now()) {
		return device.Device{}, unpaired
	}
	return known, device.Say(d.ctx, ws, device.Known{OK: true})
}

// serve serves a device that is known, as a client of the socket is.
func (d *doorman) serve(ws *websocket.Conn, known device.Device) {
	conn := websocket.NetConn(d.ctx, ws, websocket.MessageBinary)
	c := d.newSession(conn)
	c.device = &known
	d.join(c)
	defer d.part(c)
	// It may have been revoked after it was recognized and before it could be found among the
	// sessions.
	if _, still, err := d.opts.Devices.Find(known.ID); err != nil || !still {
		return
	}
	c.serve()
	_ = conn.Close()
}
