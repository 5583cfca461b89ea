// Package client is a client of `quarry serve`: it connects to the socket, says hello, and
// has a method for each request.
//
//	c, err := client.Dial(ctx, socket, client.Options{Hello: client.Hello{Client: "my tool", Roots: []string{dir}}})
//	if err != nil {
//		return err
//	}
//	defer c.Close()
//	answer, err := c.Search(ctx, client.Search{Query: "where are retries counted", K: 5})
//
// A Conn is safe for concurrent use. A request ends with its context, which the service is
// told.
package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"time"

	"go.lsp.dev/jsonrpc2"

	"quarry/lsp/service/peer"
)

// Options are how a client says hello, and what it hears unasked.
type Options struct {
	// Hello is what it says; Protocol is filled in.
	Hello Hello
	// Progress, if not nil, is called when work on the client's folders goes on, and Partial
	// with each batch of a search that has a PartialResultToken. Neither may wait.
	Progress func(Progress)
	Partial  func(token json.RawMessage, results []Result)
	// ShowDocument opens a file that quarry/open.atSpan was asked for; Hello.ShowDocument
	// says that there is one.
	ShowDocument func(ctx context.Context, params json.RawMessage) (shown bool)
}

// Conn is a connection to a service.
type Conn struct {
	// Welcome is what the service said of itself.
	Welcome Welcome

	conn net.Conn
	rpc  jsonrpc2.Conn
	opts Options
	end  context.CancelFunc // of what the service asked for
}

// ErrNotRunning says that no service listens at a socket.
var ErrNotRunning = errors.New("no quarry serve runs: start one")

// Dial connects to the service at socket and says hello, within ctx. The error is ErrNotRunning
// where none listens, and that of a service of another protocol an *OtherProtocol.
func Dial(ctx context.Context, socket string, opts Options) (*Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	switch {
	case err != nil && (ctx.Err() != nil || errors.Is(err, fs.ErrPermission)):
		return nil, fmt.Errorf("connect to quarry serve: %w", err)
	case err != nil:
		return nil, fmt.Errorf("%w (%w)", ErrNotRunning, err)
	}
	if err := peer.Check(conn); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("connect to quarry serve at %s: %w", socket, err)
	}
	return begin(ctx, conn, opts)
}

// begin says hello to the service at the other end of conn.
func begin(ctx context.Context, conn net.Conn, opts Options) (*Conn, error) {
	opts.Hello.Protocol, opts.Hello.ShowDocument = Protocol, opts.ShowDocument != nil
	base, end := context.WithCancel(context.WithoutCancel(ctx))
	c := &Conn{conn: conn, rpc: jsonrpc2.NewConn(bounded(conn)), opts: opts, end: end}
	c.rpc.Go(base, c.hear)
	if err := c.Call(ctx, MethodHello, opts.Hello, &c.Welcome); err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// maxAnswer is the most that a message of a service may have, headers included, in bytes: twice what
// it lets a client leave unread.
const maxAnswer = 64 << 20

// errLong says that what is at the other end is no service that speaks this protocol.
var errLong = errors.New("a message of more than 64 MiB")

// boundedStream reads messages of at most maxAnswer bytes: jsonrpc2 keeps a header as long as it
// goes on.
type boundedStream struct {
	frames
	from *boundedConn
}

// frames are what jsonrpc2's own streams read and write: more than a Stream, which it reads in another,
// slower way.
type frames interface {
	jsonrpc2.Stream
	ReadFrame(ctx context.Context) (body []byte, n int64, err error)
	WriteFrame(ctx context.Context, body []byte) (n int64, err error)
}

// takenWithin is how long a service has for taking in a piece of a request: one that is stopped takes
// none once the system's buffer is full. Tests shorten it.
var takenWithin = 5 * time.Second

// boundedConn reads only what a message has left, and waits only so long for what it writes.
type boundedConn struct {
	net.Conn
	left int
}

func bounded(conn net.Conn) boundedStream {
	from := &boundedConn{Conn: conn}
	return boundedStream{jsonrpc2.NewHeaderStream(from).(frames), from}
}

// Read implements jsonrpc2.Stream.
func (s boundedStream) Read(ctx context.Context) (jsonrpc2.Message, int64, error) {
	s.from.left = maxAnswer
	return s.frames.Read(ctx)
}

// ReadFrame is Read of a message as it came.
func (s boundedStream) ReadFrame(ctx context.Context) ([]byte, int64, error) {
	s.from.left = maxAnswer
	return s.frames.ReadFrame(ctx)
}

func (c *boundedConn) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errLong
	}
	n, err := c.Conn.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}

func (c *boundedConn) Write(p []byte) (int, error) {
	if err := c.Conn.SetWriteDeadline(time.Now().Add(takenWithin)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// OtherProtocol says that service and client speak different protocols. Its text says what to do.
type OtherProtocol struct {
	Mismatch
	text string
}

func (e *OtherProtocol) Error() string { return e.text }

// Close ends the connection and waits for what it began. The service keeps the client's
// folders open for a while.
func (c *Conn) Close() error {
	c.end()
	err := c.conn.Close() // which ends the reader, and a write that the service does not take
	<-c.rpc.Done()
	return err
}

// Call asks for any method, with what encodes as its params, and decodes the result into
// result, if that is not nil.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	var answer jsonrpc2.RawMessage
	id, err := c.rpc.Call(ctx, method, jsonrpc2.RawMessage(raw), &answer)
	var refused *jsonrpc2.Error
	switch {
	case err == nil && result == nil:
		return nil
	case err == nil:
		err = json.Unmarshal(answer, result)
	case ctx.Err() != nil:
		if number, ok := id.Number(); ok {
			_ = c.rpc.Notify(context.WithoutCancel(ctx), "$/cancelRequest", map[string]int64{"id": number})
		}
		return ctx.Err()
	case errors.As(err, &refused) && refused.Code == CodeOtherProtocol:
		other := &OtherProtocol{text: refused.Message}
		if err := json.Unmarshal(refused.Data, &other.Mismatch); err != nil {
			return fmt.Errorf("%s: %w", method, refused)
		}
		return other
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", method, err)
	}
	return err
}

// Search finds code by every signal there is.
func (c *Conn) Search(ctx context.Context, params Search) (answer Answer, err error) {
	err = c.Call(ctx, "quarry/search.hybrid", params, &answer)
	return answer, err
}

// SearchLexical is Search without embeddings and lexicon.
func (c *Conn) SearchLexical(ctx context.Context, params Search) (answer Answer, err error) {
	err = c.Call(ctx, "quarry/search.lexical", params, &answer)
	return answer, err
}

// SearchSemantic is Search by embeddings alone, or by the lexicon while there are none.
func (c *Conn) SearchSemantic(ctx context.Context, params Search) (answer Answer, err error) {
	err = c.Call(ctx, "quarry/search.semantic", params, &answer)
	return answer, err
}

// Similar finds code like a piece of code.
func (c *Conn) Similar(ctx context.Context, params Similar) (answer Answer, err error) {
	err = c.Call(ctx, "quarry/similar", params, &answer)
	return answer, err
}

// Span is lines of a file in the client's folders.
func (c *Conn) Span(ctx context.Context, params Span) (text Text, err error) {
	err = c.Call(ctx, "quarry/content.getSpan", params, &text)
	return text, err
}

// AddRoot has a folder served to this client, and answers all that are.
func (c *Conn) AddRoot(ctx context.Context, path string) (roots []string, err error) {
	var all Roots
	err = c.Call(ctx, MethodAddRoot, Root{path}, &all)
	return all.Roots, err
}

// RemoveRoot has a folder served to this client no longer, and answers those that are.
func (c *Conn) RemoveRoot(ctx context.Context, path string) (roots []string, err error) {
	var all Roots
	err = c.Call(ctx, MethodRemoveRoot, Root{path}, &all)
	return all.Roots, err
}

// Status is what the service does.
func (c *Conn) Status(ctx context.Context) (status Status, err error) {
	err = c.Call(ctx, MethodService, nil, &status)
	return status, err
}

// OfferPairing asks for a code by which a device may pair, which is good until this connection ends.
func (c *Conn) OfferPairing(ctx context.Context, params Pairing) (offered Offered, err error) {
	err = c.Call(ctx, MethodPair, params, &offered)
	return offered, err
}

// AwaitPairing waits until a device has paired by the code of OfferPairing.
func (c *Conn) AwaitPairing(ctx context.Context) (paired Device, err error) {
	err = c.Call(ctx, MethodPaired, nil, &paired)
	return paired, err
}

// Devices are those that have been paired.
func (c *Conn) Devices(ctx context.Context) (devices Devices, err error) {
	err = c.Call(ctx, MethodDevices, nil, &devices)
	return devices, err
}

// Revoke ends the connections of a device, named by its name or ID, and knows it no longer.
func (c *Conn) Revoke(ctx context.Context, name string) (revoked Device, err error) {
	err = c.Call(ctx, MethodRevoke, Revoked{name}, &revoked)
	return revoked, err
}

// hear takes what the service sends unasked.
func (c *Conn) hear(ctx context.Context, req *jsonrpc2.Request) (any, error) {
	switch req.Method() {
	case MethodProgress:
		var p Progress
		if c.opts.Progress != nil && json.Unmarshal(req.Params(), &p) == nil {
			c.opts.Progress(p)
		}
	case "$/progress":
		var p struct {
			Token json.RawMessage
			Value struct{ Results []Result }
		}
		if c.opts.Partial != nil && json.Unmarshal(req.Params(), &p) == nil {
			c.opts.Partial(p.Token, p.Value.Results)
		}
	case "window/showDocument":
		if c.opts.ShowDocument == nil {
			return nil, jsonrpc2.ErrMethodNotFound
		}
		jsonrpc2.Async(ctx)
		return map[string]bool{"success": c.opts.ShowDocument(ctx, json.RawMessage(req.Params()))}, nil
	default:
		if req.IsCall() {
			return nil, jsonrpc2.ErrMethodNotFound
		}
	}
	return nil, nil
}
