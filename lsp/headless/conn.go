package headless

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"slices"
	"strconv"
	"sync"
)

// Message is a JSON-RPC message as it stands on the wire.
type Message struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *ResponseError  `json:"error,omitempty"`
}

// ResponseError is the error member of a response.
type ResponseError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *ResponseError) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// Conn is the client's end of a connection. It shares no code with the server's
// end, so that a mistake in one cannot hide the same mistake in the other.
type Conn struct {
	rwc io.ReadWriteCloser
	// answer serves the server's requests; it runs on the read goroutine. If it
	// returns errLater, Reply must follow.
	answer func(id json.RawMessage, method string, params json.RawMessage) (any, error)
	// observe sees every notification; it runs on the read goroutine.
	observe func(method string, params json.RawMessage)

	writeMu sync.Mutex

	mu      sync.Mutex
	next    int                     // last request id; guarded by mu
	waiting map[string]chan Message // by id; guarded by mu
	orphans []Message               // answers nobody waited for; guarded by mu
	arrived chan struct{}           // closed and renewed when orphans grows; guarded by mu
	done    chan struct{}           // closed when the server's side ended
}

// NewConn begins reading from rwc. Close ends it.
func NewConn(rwc io.ReadWriteCloser, answer func(json.RawMessage, string, json.RawMessage) (any, error), observe func(string, json.RawMessage)) *Conn {
	c := &Conn{rwc: rwc, answer: answer, observe: observe, waiting: map[string]chan Message{}, arrived: make(chan struct{}), done: make(chan struct{})}
	go c.read()
	return c
}

// Close ends the connection without the protocol's farewell and waits for the
// reader.
func (c *Conn) Close() error {
	err := c.rwc.Close()
	<-c.done
	return err
}

// Done is closed when the server has ended the connection.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Orphans are the answers that came for no request, as those to malformed
// messages do.
func (c *Conn) Orphans() []Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Message(nil), c.orphans...)
}

// AwaitOrphan waits for an answer with that id, written as JSON, to a message
// that was sent by SendBytes.
func (c *Conn) AwaitOrphan(ctx context.Context, id string) error {
	for {
		c.mu.Lock()
		arrived := c.arrived
		found := slices.ContainsFunc(c.orphans, func(m Message) bool { return string(m.ID) == id })
		c.mu.Unlock()
		if found {
			return nil
		}
		select {
		case <-arrived:
		case <-c.done:
			return errEnded
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Notify sends a notification.
func (c *Conn) Notify(method string, params any) error {
	return c.send(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
}

// Call sends a request and waits for its answer. When ctx ends it sends
// $/cancelRequest and goes on waiting, because the server must answer.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	p, err := c.Start(method, params)
	if err != nil {
		return err
	}
	select {
	case m, ok := <-p.answer:
		return finish(m, ok, result)
	case <-ctx.Done():
		if err := p.Cancel(); err != nil {
			return err
		}
	}
	m, ok := <-p.answer
	return finish(m, ok, result)
}

// Pending is a request that is under way.
type Pending struct {
	ID     int
	conn   *Conn
	answer chan Message
}

// Start sends a request without waiting. A connection that has ended takes none.
func (c *Conn) Start(method string, params any) (*Pending, error) {
	c.mu.Lock()
	if c.waiting == nil {
		c.mu.Unlock()
		return nil, errEnded
	}
	c.next++
	p := &Pending{ID: c.next, conn: c, answer: make(chan Message, 1)}
	c.waiting[strconv.Itoa(p.ID)] = p.answer
	c.mu.Unlock()
	message := map[string]any{"jsonrpc": "2.0", "id": p.ID, "method": method}
	if params != nil {
		message["params"] = params
	}
	return p, c.send(message)
}

// Wait waits for the answer and decodes it into result.
func (p *Pending) Wait(result any) error {
	m, ok := <-p.answer
	return finish(m, ok, result)
}

// Cancel sends $/cancelRequest.
func (p *Pending) Cancel() error {
	return p.conn.Notify("$/cancelRequest", map[string]any{"id": p.ID})
}

var errEnded = errors.New("the server ended the connection before it answered")

func finish(m Message, ok bool, result any) error {
	switch {
	case !ok:
		return errEnded
	case m.Error != nil:
		return m.Error
	case result == nil:
		return nil
	}
	return json.Unmarshal(m.Result, result)
}

// SendBytes writes b as it is, for messages that no client should send.
func (c *Conn) SendBytes(b []byte) error {
	c.writeMu.Lock()
	defer c.writeMu.Unlock()
	_, err := c.rwc.Write(b)
	return err
}

func (c *Conn) send(message any) error {
	body, err := encode(message)
	if err != nil {
		return err
	}
	return c.SendBytes(Frame(body))
}

// encode is json.Marshal without the escapes for HTML, as clients write.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// Frame puts the base protocol's header before body.
func Frame(body []byte) []byte {
	return append(fmt.Appendf(nil, "Content-Length: %d\r\n\r\n", len(body)), body...)
}

func (c *Conn) read() {
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, waiting := range c.waiting {
			close(waiting)
		}
		c.waiting = nil
		close(c.done)
	}()
	in := bufio.NewReader(c.rwc)
	for {
		m, err := readMessage(in)
		if err != nil {
			return
		}
		switch {
		case m.Method != "" && m.ID != nil:
			c.reply(m)
		case m.Method != "":
			c.observe(m.Method, m.Params)
		default:
			c.deliver(m)
		}
	}
}

func readMessage(in *bufio.Reader) (Message, error) {
	var m Message
	header, err := textproto.NewReader(in).ReadMIMEHeader()
	if err != nil {
		return m, err
	}
	n, err := strconv.Atoi(header.Get("Content-Length"))
	if err != nil {
		return m, fmt.Errorf("header %v: %w", header, err)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(in, body); err != nil {
		return m, err
	}
	return m, json.Unmarshal(body, &m)
}

func (c *Conn) deliver(m Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	waiting, ok := c.waiting[string(m.ID)]
	if !ok {
		c.orphans = append(c.orphans, m)
		close(c.arrived)
		c.arrived = make(chan struct{})
		return
	}
	delete(c.waiting, string(m.ID))
	waiting <- m
}

func (c *Conn) reply(m Message) {
	result, err := c.answer(m.ID, m.Method, m.Params)
	if err == errLater {
		return
	}
	_ = c.Reply(m.ID, result, err) // a broken pipe shows in read
}

// Reply answers a request of the server's.
func (c *Conn) Reply(id json.RawMessage, result any, err error) error {
	response := map[string]any{"jsonrpc": "2.0", "id": id, "result": result}
	if err != nil {
		response = map[string]any{"jsonrpc": "2.0", "id": id, "error": ResponseError{Code: -32603, Message: err.Error()}}
	}
	return c.send(response)
}
