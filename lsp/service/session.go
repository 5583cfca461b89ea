package service

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"quarry/lsp/search"
	"quarry/lsp/service/client"
	"quarry/lsp/service/device"
	"quarry/lsp/wire"
)

const (
	// maxMessage is the largest message of a client, in bytes: most are a query, the largest a
	// piece of code.
	maxMessage = 1 << 20
	// maxUnread is how much a client may leave unread, in bytes: many answers with text.
	maxUnread = 32 << 20
	// maxRunning is how many requests of a client may be under way.
	maxRunning = 64
	// maxName is the longest name of a client, in bytes.
	maxName = 200
	// maxRoots is how many folders a client may have.
	maxRoots = 16
)

// errFailed is LSP's code for a request that is right and could not be served.
const errFailed jsonrpc2.Code = -32803

// session serves one client.
type session struct {
	server *server
	conn   net.Conn
	rpc    jsonrpc2.Conn
	client protocol.Client
	guard  wire.Guard
	base   context.Context // ends with the connection
	cancel context.CancelFunc
	device *device.Device // who the client is, nil for a program of the user's on this machine
	count  atomic.Int32   // requests under way
	over   atomic.Bool    // the client was refused: nothing more is read
	// told is closed when the client was told that it was refused.
	told chan struct{}

	mu       sync.Mutex
	greeting bool         // a hello was taken; guarded by mu
	greeted  bool         // and answered; guarded by mu
	hello    client.Hello // guarded by mu
	roots    []string     // in the order they were added; guarded by mu
	tools    Tools        // of the project toolsOf, for this client; guarded by mu
	toolsOf  Project      // guarded by mu
	offered  *offer       // the last code that it asked for; guarded by mu
}

func (s *server) newSession(conn net.Conn) *session {
	c := &session{server: s, conn: conn, told: make(chan struct{})}
	c.base, c.cancel = context.WithCancel(s.base)
	stream := wire.NewStream(conn, wire.Options{
		Log: s.opts.Log, Strict: true, AnyFirst: true, MaxMessage: maxMessage, MaxUnread: maxUnread, Protocol: client.Protocol,
		Ended: c.cancel, Rewrite: func(body []byte) []byte { return body },
	})
	c.rpc = jsonrpc2.NewConn(&untilOver{Stream: stream, session: c}, jsonrpc2.WithCodec(wire.Codec{}))
	c.client = protocol.ClientDispatcher(c.rpc)
	known := methods(false)
	c.guard = wire.Guard{
		Base: c.base, Log: s.opts.Log, Admit: c.admit,
		Added:    func(name string) bool { return slices.Contains(known, name) },
		Handled:  func(string, bool, time.Duration, error) {},
		Panicked: func(string) {},
	}
	return c
}

// serve serves the client until it leaves, and waits for what it asked.
func (c *session) serve() {
	c.rpc.Go(c.base, c.guard.Around(c.handle))
	select {
	case <-c.base.Done():
	case <-c.rpc.Done():
	}
	c.cancel()
	_ = c.conn.SetReadDeadline(time.Now()) // it ends when nothing is read any more and all is answered
	<-c.rpc.Done()
}

// untilOver is a stream that ends before the next message where the client was refused, once
// the refusal has gone out.
type untilOver struct {
	*wire.Stream
	session *session
	tell    sync.Once
}

// ended waits for the refusal, if there is one, and answers whether there is.
func (u *untilOver) ended(ctx context.Context) bool {
	if !u.session.over.Load() {
		return false
	}
	select {
	case <-u.session.told:
	case <-u.session.base.Done():
	case <-ctx.Done():
	}
	return true
}

func (u *untilOver) ReadFrame(ctx context.Context) ([]byte, int64, error) {
	if u.ended(ctx) {
		return nil, 0, io.EOF
	}
	return u.Stream.ReadFrame(ctx)
}

func (u *untilOver) Read(ctx context.Context) (jsonrpc2.Message, int64, error) {
	if u.ended(ctx) {
		return nil, 0, io.EOF
	}
	return u.Stream.Read(ctx)
}

func (u *untilOver) Write(ctx context.Context, msg jsonrpc2.Message) (int64, error) {
	defer u.written()
	return u.Stream.Write(ctx, msg)
}

func (u *untilOver) WriteFrame(ctx context.Context, body []byte) (int64, error) {
	defer u.written()
	return u.Stream.WriteFrame(ctx, body)
}

// written notes that the refusal has gone out, which is all that is written before hello.
func (u *untilOver) written() {
	if u.session.over.Load() {
		u.tell.Do(func() { close(u.session.told) })
	}
}

// handler serves a request that only a service has.
type handler struct {
	method string
	serve  func(*session, context.Context, json.RawMessage) (any, error)
	// local: only the user's own programs on this machine may make it, and no device.
	local bool
}

// handlers are those of all such requests.
func handlers() []handler {
	return []handler{
		{method: client.MethodHello, serve: (*session).greet},
		{method: client.MethodAddRoot, serve: (*session).addRoot},
		{method: client.MethodRemoveRoot, serve: (*session).removeRoot},
		{method: client.MethodService, serve: (*session).status},
		{method: client.MethodTool, serve: (*session).callTool},
		{method: client.MethodPair, serve: (*session).offerCode, local: true},
		{method: client.MethodPaired, serve: (*session).awaitDevice, local: true},
		{method: client.MethodDevices, serve: (*session).listDevices, local: true},
		{method: client.MethodRevoke, serve: (*session).revoke, local: true},
	}
}

// searches are the requests of lsp/search, which every client may make.
var searches = slices.Sorted(maps.Keys(search.New(search.Options{}).Methods()))

// methods are the requests that are served, to a device if that is what asks.
func methods(device bool) (list []string) {
	for _, h := range handlers() {
		if !device || !h.local {
			list = append(list, h.method)
		}
	}
	return append(list, searches...)
}

// served answers what serves a request; nil if nothing does that this client may ask for.
func (c *session) served(method string) func(context.Context, json.RawMessage) (any, error) {
	for _, h := range handlers() {
		if h.method == method && (c.device == nil || !h.local) {
			return func(ctx context.Context, params json.RawMessage) (any, error) { return h.serve(c, ctx, params) }
		}
	}
	if slices.Contains(searches, method) {
		return func(ctx context.Context, params json.RawMessage) (any, error) { return c.search(ctx, method, params) }
	}
	return nil
}

// admit refuses what comes before hello, and ends the connection with that.
func (c *session) admit(method string, isCall bool) error {
	if c.isGreeted() || method == client.MethodHello || method == protocol.MethodCancelRequest {
		return nil
	}
	c.over.Store(true)
	return jsonrpc2.NewError(wire.CodeServerNotInitialized, "the first request must be "+client.MethodHello+": send it, and wait for its answer")
}

// handle serves one request.
func (c *session) handle(ctx context.Context, req *jsonrpc2.Request) (any, error) {
	method := strings.Clone(req.Method())
	serve := c.served(method)
	if serve == nil || !req.IsCall() {
		return nil, fmt.Errorf("%q: %w", method, jsonrpc2.ErrMethodNotFound)
	}
	if c.count.Add(1); c.count.Load() > maxRunning {
		c.count.Add(-1)
		return nil, jsonrpc2.NewError(errFailed, fmt.Sprintf("%d requests are under way: wait for some of their answers", maxRunning))
	}
	defer c.count.Add(-1)
	result, err := serve(ctx, json.RawMessage(req.Params()))
	if method != client.MethodService {
		c.server.answered.Add(1)
	}
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(result)
	return jsonrpc2.RawMessage(raw), err
}

// greet serves MethodHello. One that is refused ends the connection.
func (c *session) greet(ctx context.Context, params json.RawMessage) (result any, err error) {
	s := c.server
	defer func() {
		if err != nil && !c.isGreeted() {
			c.over.Store(true)
		}
	}()
	var hello client.Hello
	if err := wire.DecodeParams(params, &hello); err != nil {
		return nil, err
	}
	if hello.Protocol != client.Protocol {
		return nil, c.mismatch(hello.Protocol)
	}
	if len(hello.Client) > maxName {
		return nil, wire.InvalidParams("client is a name of %d bytes: give one of at most %d", len(hello.Client), maxName)
	}
	roots, err := rootsOf(hello.Roots)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	again := c.greeting
	c.greeting = true
	c.mu.Unlock()
	if again {
		return nil, jsonrpc2.NewError(jsonrpc2.InvalidRequest, "hello was said already")
	}
	jsonrpc2.Async(ctx)
	refused := func(err error) (any, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.greeting = false
		return nil, err
	}
	if now := s.refresh(); hello.Settings != "" && hello.Settings != now {
		return refused(jsonrpc2.NewError(client.CodeOtherSettings, "this quarry serve has other settings than yours, or is another build: start it where the environment is the same, or search without it"))
	}
	if len(s.others(nil)) >= maxClients {
		return refused(jsonrpc2.NewError(errFailed, fmt.Sprintf("%d clients are connected: end one of them", maxClients)))
	}
	for i, root := range roots {
		if roots[i], err = c.own(root); err == nil {
			err = isFolder(root)
		}
		if err != nil {
			return refused(err)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hello, c.roots, c.greeted = hello, roots, true
	return client.Welcome{Protocol: client.Protocol, Version: s.opts.Version, Process: os.Getpid(), Roots: roots, Methods: methods(c.device != nil)}, nil
}

// mismatch refuses a client of another protocol.
func (c *session) mismatch(theirs int) error {
	version := c.server.opts.Version
	err := jsonrpc2.NewError(client.CodeOtherProtocol, fmt.Sprintf(
		"this quarry serve (%s, process %d) speaks protocol %d and the client protocol %d: end that process and start quarry serve of the client's version, or update the client",
		version, os.Getpid(), client.Protocol, theirs))
	data, failed := json.Marshal(client.Mismatch{Service: client.Protocol, Client: theirs, Version: version, Process: os.Getpid()})
	if failed == nil {
		err.Data = data
	}
	return err
}

func (c *session) isGreeted() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.greeted
}

// name is what the client calls itself, and for a device what its user called it.
func (c *session) name() string {
	if c.device != nil {
		return c.device.Name + " (device)"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return wire.Plain(cmp.Or(c.hello.Client, "a client without a name"))
}

// rootsNow are the client's folders in the order it added them.
func (c *session) rootsNow() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.roots)
}

// folders are the client's folders as projects have them, so that the order does not matter.
func (c *session) folders() []string { return slices.Sorted(slices.Values(c.rootsNow())) }

// notify tells the client, which need not hear it.
func (c *session) notify(method string, params any) {
	raw, err := json.Marshal(params)
	if err == nil {
		err = c.rpc.Notify(c.base, method, jsonrpc2.RawMessage(raw))
	}
	if err != nil && c.base.Err() == nil {
		c.server.opts.Log.Info("tell a client", "method", method, "error", err)
	}
}

// rootsOf checks the names of folders that a client gives.
func rootsOf(paths []string) ([]string, error) {
	roots := []string{}
	for _, path := range paths {
		switch root := filepath.Clean(path); {
		case strings.HasPrefix(path, `\\`) || strings.HasPrefix(path, "//"): // asking Windows for it would tell that machine who the user is
			return nil, wire.InvalidParams("%q is on another machine: give the path of a folder on this one", path)
		case !filepath.IsAbs(path):
			return nil, wire.InvalidParams("%q is not an absolute path: give the whole path of a folder", path)
		case !slices.Contains(roots, root):
			roots = append(roots, root)
		}
	}
	if len(roots) > maxRoots {
		return nil, wire.InvalidParams("%d folders are more than the %d that a client may have", len(roots), maxRoots)
	}
	return roots, nil
}

func isFolder(path string) error {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return wire.InvalidParams("%s is no folder that can be read: give the path of one", path)
	}
	return nil
}

// addRoot serves MethodAddRoot. The folder counts for what is asked behind it, whether that
// waits for the answer or not.
func (c *session) addRoot(ctx context.Context, params json.RawMessage) (any, error) {
	var p client.Root
	if err := wire.DecodeParams(params, &p); err != nil {
		return nil, err
	}
	path, err := c.own(p.Path)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	before := c.roots
	roots, err := rootsOf(append(slices.Clone(before), path))
	if err == nil {
		c.roots = roots
	}
	c.mu.Unlock()
	if err != nil {
		return nil, err
	}
	jsonrpc2.Async(ctx)
	if err := isFolder(path); err != nil {
		if len(roots) > len(before) {
			c.remove(filepath.Clean(path))
		}
		return nil, err
	}
	return client.Roots{Roots: c.rootsNow()}, nil
}

// removeRoot serves MethodRemoveRoot. What nobody has any more is let go at once.
func (c *session) removeRoot(ctx context.Context, params json.RawMessage) (any, error) {
	var p client.Root
	if err := wire.DecodeParams(params, &p); err != nil {
		return nil, err
	}
	if !c.remove(filepath.Clean(p.Path)) {
		return nil, wire.InvalidParams("%q is none of your folders: %s", p.Path, strings.Join(c.rootsNow(), ", "))
	}
	return client.Roots{Roots: c.rootsNow()}, nil
}

// remove takes a folder from the client.
func (c *session) remove(root string) (found bool) {
	before := c.folders()
	c.mu.Lock()
	i := slices.Index(c.roots, root)
	if i >= 0 {
		c.roots = slices.Delete(slices.Clone(c.roots), i, i+1)
	}
	c.mu.Unlock()
	if i >= 0 && !slices.ContainsFunc(c.server.others(c), func(other *session) bool { return slices.Equal(other.folders(), before) }) {
		c.server.projects.Drop(before)
	}
	return i >= 0
}

// status serves MethodService.
func (c *session) status(ctx context.Context, _ json.RawMessage) (any, error) {
	return c.server.status(c), nil
}

// search serves a request of lsp/search in the client's folders as they are now.
func (c *session) search(ctx context.Context, method string, params json.RawMessage) (any, error) {
	roots, err := c.ownRoots()
	if err != nil {
		return nil, err
	}
	l := &lease{server: c.server, folders: slices.Sorted(slices.Values(roots))}
	defer l.end()
	service := search.New(search.Options{
		Core: l.core, Roots: func() []string { return roots }, Documents: c.server.documents, Client: c.client, Progress: c.progress,
	})
	c.mu.Lock()
	shows := c.hello.ShowDocument
	c.mu.Unlock()
	if shows {
		service.Initialize(protocol.ClientCapabilities{Window: &protocol.WindowClientCapabilities{ShowDocument: &protocol.ShowDocumentClientCapabilities{Support: true}}})
	}
	return service.Methods()[method].Serve(ctx, params)
}

// callTool serves MethodTool. What the client reads by its tools ranks higher in what it
// searches for with them, as long as it has its project.
func (c *session) callTool(ctx context.Context, params json.RawMessage) (any, error) {
	var p client.Tool
	if err := wire.DecodeParams(params, &p); err != nil {
		return nil, err
	}
	if p.Name == "" {
		return nil, wire.InvalidParams("name is empty: give that of a tool")
	}
	folders, err := c.ownRoots()
	if err != nil {
		return nil, err
	}
	slices.Sort(folders)
	jsonrpc2.Async(ctx)
	project, done, err := c.server.projects.Use(folders)
	if err != nil {
		return nil, jsonrpc2.NewError(errFailed, err.Error())
	}
	defer done()
	return c.agentTools(project).Call(ctx, p.Name, p.Arguments), nil
}

// agentTools are the client's tools of a project.
func (c *session) agentTools(of Project) Tools {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.toolsOf != of {
		c.tools, c.toolsOf = of.AgentTools(), of
	}
	return c.tools
}

func noFolder() error {
	return jsonrpc2.NewError(errFailed, "you have no folder to search in: add one by "+client.MethodAddRoot)
}

// progress sends a batch of results.
func (c *session) progress(ctx context.Context, token protocol.ProgressToken, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return c.client.Progress(ctx, &protocol.ProgressParams{Token: token, Value: raw})
}
