package client

import (
	"context"
	"crypto/ed25519"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"

	"github.com/coder/websocket"

	"quarry/lsp/service/device"
)

// Credentials are what a device keeps of its pairing with a service on another machine. Whoever has
// them is the device: keep them in a file of the user's alone.
type Credentials struct {
	Address     string   `json:"address"`     // of the service, host:port
	Certificate []byte   `json:"certificate"` // SHA-256 of the only one that is taken
	ID          string   `json:"id"`
	Name        string   `json:"name"`  // what the user has called the device
	Roots       []string `json:"roots"` // the folders that it may search in
	Key         []byte   `json:"key"`   // the seed of its Ed25519 key
}

// ErrOtherCertificate says that what answers has another certificate than the service that the
// device was paired with.
var ErrOtherCertificate = errors.New("what answers there has another certificate than the quarry serve that this device was paired with: if that was set up anew, pair again, otherwise somebody is in between")

// Pair makes this program a device of the service at an address, by a code of `quarry serve pair`.
// The error is ErrNotRunning where nobody listens.
func Pair(ctx context.Context, address, code string) (Credentials, error) {
	joining, err := device.Join(device.Code(code))
	if err != nil {
		return Credentials{}, err
	}
	// Any certificate will do: that it is the service's is what the code proves.
	ws, state, err := open(ctx, address, device.PairPath, nil)
	if err != nil {
		return Credentials{}, err
	}
	defer func() { _ = ws.CloseNow() }()
	certificate := device.Certificate(state.PeerCertificates[0].Raw)
	fail := func(err error) (Credentials, error) {
		return Credentials{}, fmt.Errorf("pair with %s: %w", address, err)
	}
	if err := device.Say(ctx, ws, joining.Offer()); err != nil {
		return fail(err)
	}
	var share device.Share
	if err := device.Hear(ctx, ws, &share); err != nil {
		return fail(err)
	}
	proof, err := joining.Prove(share, certificate)
	if err == nil {
		err = device.Say(ctx, ws, proof)
	}
	if err != nil {
		return fail(err)
	}
	var paired device.Paired
	if err := device.Hear(ctx, ws, &paired); err != nil {
		return fail(err)
	}
	key, err := joining.Key(paired)
	if err != nil {
		return fail(err)
	}
	return Credentials{
		Address: address, Certificate: certificate, ID: paired.ID, Name: paired.Name, Roots: paired.Roots, Key: key.Seed(),
	}, nil
}

// DialDevice connects to the service that this program was paired with, says who it is, and then
// hello. The folders of Hello must be among those of the credentials, or below.
func DialDevice(ctx context.Context, c Credentials, opts Options) (*Conn, error) {
	if len(c.Key) != ed25519.SeedSize || len(c.Certificate) == 0 {
		return nil, errors.New("these are no credentials of a device: pair it again")
	}
	ws, state, err := open(ctx, c.Address, device.ConnectPath, c.Certificate)
	if err != nil {
		return nil, err
	}
	if err := prove(ctx, ws, state, c); err != nil {
		_ = ws.CloseNow()
		return nil, fmt.Errorf("connect to quarry serve at %s: %w", c.Address, err)
	}
	return begin(ctx, websocket.NetConn(context.WithoutCancel(ctx), ws, websocket.MessageBinary), opts)
}

// prove shows the service that this is the device it paired with.
func prove(ctx context.Context, ws *websocket.Conn, state *tls.ConnectionState, c Credentials) error {
	var challenge device.Challenge
	if err := device.Hear(ctx, ws, &challenge); err != nil {
		return err
	}
	signature, err := device.Sign(ed25519.NewKeyFromSeed(c.Key), c.ID, challenge, state, c.Certificate)
	if err == nil {
		err = device.Say(ctx, ws, signature)
	}
	if err != nil {
		return err
	}
	var known device.Known
	if err := device.Hear(ctx, ws, &known); err != nil {
		return err
	}
	if !known.OK {
		return errors.New("the service does not know this device: pair it again")
	}
	return nil
}

// open opens a WebSocket, over TLS 1.3 with the certificate that has the fingerprint pinned, or
// with any if that is nil.
func open(ctx context.Context, address, path string, pinned []byte) (*websocket.Conn, *tls.ConnectionState, error) {
	config := &tls.Config{
		MinVersion: tls.VersionTLS13, ServerName: "quarry", NextProtos: []string{"http/1.1"},
		InsecureSkipVerify: true, // nobody vouches for the certificate but the code, once, and the pin
		VerifyConnection: func(state tls.ConnectionState) error {
			if pinned != nil && subtle.ConstantTimeCompare(device.Certificate(state.PeerCertificates[0].Raw), pinned) != 1 {
				return ErrOtherCertificate
			}
			return nil
		},
	}
	transport := &http.Transport{TLSClientConfig: config, DisableKeepAlives: true, TLSHandshakeTimeout: device.AnswerWithin, MaxResponseHeaderBytes: 8 << 10}
	ctx, cancel := context.WithTimeout(ctx, device.AnswerWithin)
	defer cancel()
	ws, answer, err := websocket.Dial(ctx, "wss://"+address+path, &websocket.DialOptions{
		HTTPClient:   &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		Subprotocols: []string{device.Subprotocol}, CompressionMode: websocket.CompressionDisabled,
	})
	switch {
	case errors.Is(err, ErrOtherCertificate):
		return nil, nil, ErrOtherCertificate
	case err != nil && answer != nil && answer.StatusCode != http.StatusSwitchingProtocols:
		reason, failed := io.ReadAll(io.LimitReader(answer.Body, 1<<10))
		if text := strings.TrimSpace(string(reason)); failed == nil && text != "" {
			err = errors.New(text)
		}
		return nil, nil, fmt.Errorf("connect to quarry serve at %s: %w", address, err)
	case err != nil:
		return nil, nil, unreached(ctx, address, err)
	case answer.TLS == nil || ws.Subprotocol() != device.Subprotocol:
		_ = ws.CloseNow()
		return nil, nil, fmt.Errorf("what answers at %s is no quarry serve of this version", address)
	}
	ws.SetReadLimit(device.MaxMessage)
	return ws, answer.TLS, nil
}

// unreached says why there is no connection to an address, and what to do about it. What the
// libraries say of their steps helps nobody who has a wrong address or a closed port.
func unreached(ctx context.Context, address string, err error) error {
	var name *net.DNSError
	var failed *net.OpError
	var slow net.Error
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return fmt.Errorf("connect to quarry serve at %s: %w", address, ctx.Err())
	case errors.As(err, &name) && name.IsNotFound:
		return fmt.Errorf("no machine is called %s: look at the address, host:port as `quarry serve pair` shows it", name.Name)
	case errors.As(err, &name):
		return fmt.Errorf("the name %s cannot be looked up (%s): try again, or give the machine's IP address", name.Name, name.Err)
	case errors.As(err, &failed) && errors.Is(failed, syscall.ECONNREFUSED):
		return fmt.Errorf("%w there by `quarry serve --websocket %s`", ErrNotRunning, address)
	case errors.Is(ctx.Err(), context.DeadlineExceeded), errors.As(err, &slow) && slow.Timeout():
		return fmt.Errorf("nothing answers at %s: look at the address, and at the firewall there", address)
	case failed != nil && failed.Op == "dial":
		return fmt.Errorf("%s cannot be reached (%w): look at the address, and at the network", address, failed.Err)
	}
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return fmt.Errorf("what answers at %s is no quarry serve --websocket (%w)", address, err)
}
