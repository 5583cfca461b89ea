package service_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"go.uber.org/goleak"

	"quarry/agent"
	"quarry/index"
	"quarry/lsp/service"
	"quarry/lsp/service/client"
	"quarry/lsp/service/device"
	"quarry/lsp/service/servicetest"
	"quarry/retrieval"
	"quarry/retrieval/workspace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// project is a workspace as a service asks it.
type project struct {
	*workspace.Workspace
	closed func()
	hold   <-chan struct{} // if not nil, searches wait until it is closed
}

func (p project) Search(ctx context.Context, req retrieval.Request) (workspace.Answer, error) {
	if p.hold != nil {
		select {
		case <-p.hold:
		case <-ctx.Done():
			return workspace.Answer{}, ctx.Err()
		}
	}
	return p.Workspace.Search(ctx, req)
}

func (project) Answered(*retrieval.Query, int, []workspace.Result) {}
func (project) Viewed(string)                                      {}
func (p project) AgentTools() service.Tools                        { return &counting{} }
func (p project) Configure() error                                 { return nil }
func (p project) Close() error                                     { p.Workspace.Close(); p.closed(); return nil }

// counting are tools that answer how often they were called.
type counting struct{ n atomic.Int32 }

func (c *counting) Call(_ context.Context, name string, args json.RawMessage) agent.Envelope {
	data, err := json.Marshal(fmt.Sprintf("%s %s %d", name, args, c.n.Add(1)))
	return agent.Envelope{OK: err == nil, Data: data}
}

// served is a service that runs in this process.
type served struct {
	socket string
	remote *service.Remote // where devices connect
	store  *device.Store
	stop   func() error  // ends it
	hold   chan struct{} // of its projects

	mu       sync.Mutex
	log      []string // what was opened and closed; guarded by mu
	settings string   // the digest; guarded by mu
	said     []string // what the log says; guarded by mu
}

func (s *served) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, fmt.Sprintf(format, args...))
}

func (s *served) noted() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.log, ", ")
}

// socketDir is a folder whose path leaves room for a socket's name.
func socketDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "quarry")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	servicetest.NeedSockets(t, dir)
	return dir
}

func serving(t *testing.T) *served { return servingWith(t, nil) }

func servingWith(t *testing.T, hold chan struct{}) *served {
	t.Helper()
	s := &served{socket: filepath.Join(socketDir(t), "s"), settings: "these", hold: hold}
	ctx, cancel := context.WithCancel(context.Background())
	socket, err := service.Listen(ctx, s.socket)
	if err != nil {
		t.Fatal(err)
	}
	state := t.TempDir()
	s.store = device.NewStore(filepath.Join(state, "serve"))
	if s.remote, err = service.ListenRemote(ctx, "127.0.0.1:0", s.store); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		err := service.Serve(ctx, socket, service.Options{
			Version: "test", Log: slog.New(slog.DiscardHandler), Devices: s.store, Remote: s.remote,
			Open: func(folders []string, progress func(client.Progress)) (service.Project, error) {
				var names []string
				for _, f := range folders {
					names = append(names, filepath.Base(f))
				}
				name := strings.Join(names, "+")
				s.note("open %s", name)
				job := service.NewJob("Indexing "+name, progress)
				w := workspace.New(workspace.Options{StateDir: state, Watch: true, Progress: func(_ string, p index.Progress, _ func()) {
					job.Report(0.5, "half")
					if p.Finished {
						job.End("all")
					}
				}})
				w.SetRoots(folders)
				return &project{w, func() { s.note("close %s", name) }, s.hold}, nil
			},
			Settings: func() string {
				s.mu.Lock()
				defer s.mu.Unlock()
				return s.settings
			},
		})
		ended <- errors.Join(err, socket.Close())
	}()
	s.stop = sync.OnceValue(func() error { cancel(); return <-ended })
	t.Cleanup(func() {
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// barn is a small repository in a folder of that name.
func barn(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	for file, text := range map[string]string{
		"harvest.go": "package barn\n\n// Harvest collects ripe apples.\nfunc Harvest(n int) int {\n\treturn n\n}\n",
		"store.go":   "package barn\n\nfunc Store() { Harvest(1) }\n",
		name + ".md": "# Frost in " + name + "\n",
		".env":       "TOKEN=secret harvest\n",
	} {
		path := filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func (s *served) dial(t *testing.T, opts client.Options) *client.Conn {
	t.Helper()
	c, err := client.Dial(t.Context(), s.socket, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// S2: clients with the same folders share what is open; a folder goes when both have given it
// back, and stays for a while when they are merely gone.
func TestClientsShareFolders(t *testing.T) {
	s := serving(t)
	a, b := barn(t, "a"), barn(t, "b")
	first := s.dial(t, client.Options{Hello: client.Hello{Client: "first", Roots: []string{a, b}}})
	second := s.dial(t, client.Options{Hello: client.Hello{Client: "second"}})
	if w := first.Welcome; w.Protocol != client.Protocol || w.Version != "test" || w.Process != os.Getpid() || !slices.Equal(w.Roots, []string{a, b}) || !slices.Contains(w.Methods, "quarry/similar") {
		t.Errorf("welcome: %+v", w)
	}
	if _, err := second.Search(t.Context(), client.Search{Query: "harvest"}); err == nil || !strings.Contains(err.Error(), "quarry/index.addRoot") {
		t.Errorf("without a folder: %v", err)
	}
	for _, root := range []string{b, a, b} {
		if _, err := second.AddRoot(t.Context(), root); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []*client.Conn{first, second} {
		answer, err := c.Search(t.Context(), client.Search{Query: "frost", Current: true})
		if err != nil || len(answer.Results) != 2 || answer.Incomplete != nil {
			t.Fatalf("%+v, %v", answer, err)
		}
	}
	if got := s.noted(); got != "open a+b" {
		t.Error(got)
	}
	st, err := second.Status(t.Context())
	if err != nil || len(st.Clients) != 1 || st.Clients[0].Client != "first" || !slices.Equal(st.Clients[0].Roots, []string{a, b}) || !slices.Equal(st.Open, []string{a, b}) || st.Answered < 4 || st.Socket != s.socket {
		t.Errorf("status: %+v, %v", st, err)
	}
	if roots, err := first.RemoveRoot(t.Context(), b); err != nil || !slices.Equal(roots, []string{a}) {
		t.Errorf("%q, %v", roots, err)
	}
	if got := s.noted(); got != "open a+b" {
		t.Errorf("with a client left: %s", got)
	}
	if roots, err := second.RemoveRoot(t.Context(), a); err != nil || !slices.Equal(roots, []string{b}) {
		t.Errorf("%q, %v", roots, err)
	}
	if answer, err := second.Search(t.Context(), client.Search{Query: "frost", Current: true}); err != nil || len(answer.Results) != 1 || answer.Results[0].Path != "b.md" {
		t.Errorf("%+v, %v", answer, err)
	}
	for _, wrong := range []string{"here", filepath.Join(a, "nowhere"), filepath.Join(a, "a.md"), "//server/share", ""} {
		if roots, err := second.AddRoot(t.Context(), wrong); err == nil {
			t.Errorf("%q is taken: %q", wrong, roots)
		}
	}
	if _, err := second.RemoveRoot(t.Context(), a); err == nil || !strings.Contains(err.Error(), b) {
		t.Errorf("what is not there is removed: %v", err)
	}
	_ = second.Close()
	if st, err := first.Status(t.Context()); err != nil || !slices.Contains(st.Open, b) {
		t.Errorf("the next command would have to open it: %+v, %v", st, err)
	}
	if err := s.stop(); err != nil {
		t.Error(err)
	}
	if got := s.noted(); !strings.HasPrefix(got, "open a+b, ") || strings.Count(got, "open") != 2 || strings.Count(got, "close") != 2 {
		t.Error(got)
	}
	if _, err := os.Lstat(s.socket); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket stays: %v", err)
	}
	if _, err := client.Dial(t.Context(), s.socket, client.Options{}); !errors.Is(err, client.ErrNotRunning) {
		t.Errorf("after the end: %v", err)
	}
}

// Requests answer as they do in an editor, with the events that belong to them.
func TestRequests(t *testing.T) {
	s := serving(t)
	a := barn(t, "a")
	var mu sync.Mutex
	var work []client.Progress
	var batches, opened int
	c := s.dial(t, client.Options{
		Hello:    client.Hello{Roots: []string{a}},
		Progress: func(p client.Progress) { mu.Lock(); defer mu.Unlock(); work = append(work, p) },
		Partial:  func(_ json.RawMessage, r []client.Result) { mu.Lock(); defer mu.Unlock(); batches += len(r) },
		ShowDocument: func(_ context.Context, params json.RawMessage) bool {
			mu.Lock()
			defer mu.Unlock()
			opened++
			return strings.Contains(string(params), "harvest.go")
		},
	})
	ctx := t.Context()
	answer, err := c.Search(ctx, client.Search{Query: "harvest", Current: true, IncludeText: true, Declarations: true, PartialResultToken: json.RawMessage(`"t"`)})
	if err != nil || len(answer.Results) != 2 || answer.Results[0].Path != "harvest.go" || !strings.Contains(answer.Results[0].Text, "ripe") || answer.Results[0].Declared != 1 {
		t.Errorf("%+v, %v", answer, err)
	}
	if answer, err := c.SearchLexical(ctx, client.Search{Query: "apples"}); err != nil || len(answer.Results) == 0 {
		t.Errorf("%+v, %v", answer, err)
	}
	if _, err := c.SearchSemantic(ctx, client.Search{Query: "how are apples collected"}); err != nil && !strings.Contains(err.Error(), "semantic search is not available") {
		t.Error(err)
	}
	if answer, err := c.Similar(ctx, client.Similar{Code: "func Store() { Harvest(1) }"}); err != nil || len(answer.Results) == 0 {
		t.Errorf("%+v, %v", answer, err)
	}
	if text, err := c.Span(ctx, client.Span{Path: "harvest.go", StartLine: 3, EndLine: 3}); err != nil || text.Text != "// Harvest collects ripe apples.\n" {
		t.Errorf("%+v, %v", text, err)
	}
	for _, path := range []string{".env", "../x", "/etc/passwd"} {
		if text, err := c.Span(ctx, client.Span{Path: path, StartLine: 1, EndLine: 1}); err == nil {
			t.Errorf("%s is read: %+v", path, text)
		}
	}
	var shown struct {
		Shown bool `json:"shown"`
	}
	if err := c.Call(ctx, "quarry/open.atSpan", client.Span{Path: "harvest.go", StartLine: 3, EndLine: 3}, &shown); err != nil || !shown.Shown {
		t.Errorf("%+v, %v", shown, err)
	}
	var indexes []index.Status
	if err := c.Call(ctx, "quarry/index.status", nil, &indexes); err != nil || len(indexes) != 1 || indexes[0].Files != 3 {
		t.Errorf("%+v, %v", indexes, err)
	}
	if err := c.Call(ctx, "quarry/index.rebuild", nil, nil); err != nil {
		t.Error(err)
	}
	if err := c.Call(ctx, "textDocument/hover", nil, nil); err == nil || !strings.Contains(err.Error(), "not found") {
		t.Errorf("what only an editor asks: %v", err)
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := c.Search(gone, client.Search{Query: "harvest"}); !errors.Is(err, context.Canceled) {
		t.Errorf("a request that was given up: %v", err)
	}
	mu.Lock()
	defer mu.Unlock()
	if batches != 2 || opened != 1 {
		t.Errorf("%d results in batches, %d files opened", batches, opened)
	}
	if len(work) < 2 || work[0].Title != "Indexing a" || !slices.ContainsFunc(work, func(p client.Progress) bool { return p.Done }) {
		t.Errorf("work: %+v", work)
	}
}

// S2: a client of another version, or with other settings, is told what to do.
// Each client has tools of its own, for as long as its folders are the same.
func TestToolsOfAClient(t *testing.T) {
	s := serving(t)
	root, other := t.TempDir(), t.TempDir()
	call := func(c *client.Conn, name, args string) string {
		var e agent.Envelope
		if err := c.Call(t.Context(), client.MethodTool, client.Tool{Name: name, Arguments: json.RawMessage(args)}, &e); err != nil {
			return err.Error()
		}
		return string(e.Data)
	}
	a := s.dial(t, client.Options{Hello: client.Hello{Roots: []string{root}}})
	b := s.dial(t, client.Options{Hello: client.Hello{Roots: []string{root}}})
	none := s.dial(t, client.Options{})
	for i, test := range []struct {
		c          *client.Conn
		name, args string
		want       string
	}{
		{a, "read_file", `{"path":"x"}`, `"read_file {\"path\":\"x\"} 1"`}, {a, "list_files", "", `"list_files  2"`},
		{b, "list_files", "{}", `"list_files {} 1"`}, {a, "list_files", "{}", `"list_files {} 3"`},
		{a, "", "{}", "name is empty"}, {none, "list_files", "{}", "you have no folder"},
	} {
		if got := call(test.c, test.name, test.args); !strings.Contains(got, test.want) {
			t.Errorf("call %d answers %s, want %s", i, got, test.want)
		}
	}
	if _, err := a.AddRoot(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if got := call(a, "list_files", "{}"); got != `"list_files {} 1"` {
		t.Errorf("with another folder the tools answer %s", got)
	}
}

func TestOthersAreRefusedKindly(t *testing.T) {
	s := serving(t)
	answer := s.say(t, `{"jsonrpc":"2.0","id":1,"method":"quarry/hello","params":{"protocol":99,"client":"tomorrow"}}`)
	for _, want := range []string{
		`{"protocol":1,`, `"code":-32804`, fmt.Sprintf("this quarry serve (test, process %d) speaks protocol 1 and the client protocol 99: end that process", os.Getpid()), `"service":1,"client":99`,
	} {
		if !strings.Contains(answer, want) {
			t.Errorf("answered %s, without %s", answer, want)
		}
	}
	if answer := s.say(t, `{"jsonrpc":"2.0","id":1,"method":"quarry/hello"}`); !strings.Contains(answer, "the client protocol 0") {
		t.Errorf("a hello without a version: %s", answer)
	}
	_, err := client.Dial(t.Context(), s.socket, client.Options{Hello: client.Hello{Settings: "those"}})
	if err == nil || !strings.Contains(err.Error(), "other settings than yours") {
		t.Errorf("with other settings: %v", err)
	}
	s.mu.Lock()
	s.settings = "those"
	s.mu.Unlock()
	c := s.dial(t, client.Options{Hello: client.Hello{Settings: "those"}})
	if err := c.Call(t.Context(), client.MethodHello, client.Hello{Protocol: client.Protocol}, nil); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("a second hello: %v", err)
	}
	if _, err := c.Status(t.Context()); err != nil {
		t.Errorf("after it: %v", err)
	}
	if _, err := client.Dial(t.Context(), s.socket, client.Options{Hello: client.Hello{Roots: []string{"/no/such/folder"}}}); err == nil || !strings.Contains(err.Error(), "/no/such/folder") {
		t.Errorf("with a folder that is not there: %v", err)
	}
}

// raw is a connection that says what it likes.
func (s *served) raw(t *testing.T) net.Conn {
	t.Helper()
	conn, err := net.Dial("unix", s.socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func frame(body string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body) }

// say is what all of a connection is answered that sends messages and then waits for the end.
func (s *served) say(t *testing.T, messages ...string) string {
	t.Helper()
	conn := s.raw(t)
	for _, m := range messages {
		_, _ = io.WriteString(conn, frame(m)) // the service may have hung up
	}
	answer, _ := io.ReadAll(conn)
	return string(answer)
}

const hello = `{"jsonrpc":"2.0","id":"h","method":"quarry/hello","params":{"protocol":1}}`

// Every message says the protocol, errors and those that answer no request, too.
func TestEveryMessageSaysTheProtocol(t *testing.T) {
	s := serving(t)
	conn := s.raw(t)
	in := bufio.NewReader(conn)
	for _, c := range []struct{ send, want string }{
		{frame(hello), `{"protocol":1,"jsonrpc":"2.0","id":"h","result":{"protocol":1,`},
		{frame(`{"jsonrpc":"2.0","id":2,"method":"quarry/service.status"}`), `{"protocol":1,"jsonrpc":"2.0","id":2,"result":{`},
		{frame(`{"jsonrpc":"2.0","id":3,"method":"no/such"}`), `{"protocol":1,"jsonrpc":"2.0","id":3,"error":{`},
		{frame(`{"jsonrpc":"2.0","id":4,"method":"quarry/search.hybrid","params":"x"}`), `{"protocol":1,"jsonrpc":"2.0","id":4,"error":{`},
		{frame(`[` + hello + `]`), `{"protocol":1,"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"batches are not served`},
		{frame(`{"jsonrpc":`), `{"protocol":1,"jsonrpc":"2.0","id":null,"error":{`},
		{frame(`{"jsonrpc":"2.0","id":5,"method":"quarry/similar","params":{"code":"` + strings.Repeat("x", 1<<20) + `"}}`), `{"protocol":1,"jsonrpc":"2.0","id":5,"error":{"code":-32600,"message":"the message has`},
		{frame(`{"jsonrpc":"2.0","id":6,"method":"quarry/index.removeRoot","params":{"path":"/x"}}`), `{"protocol":1,"jsonrpc":"2.0","id":6,"error":{`},
	} {
		if _, err := io.WriteString(conn, c.send); err != nil {
			t.Fatal(err)
		}
		var n int
		if _, err := fmt.Fscanf(in, "Content-Length: %d\r\n\r\n", &n); err != nil {
			t.Fatalf("%.60q: %v", c.send, err)
		}
		body := make([]byte, n)
		if _, err := io.ReadFull(in, body); err != nil || !strings.HasPrefix(string(body), c.want) || !json.Valid(body) {
			t.Errorf("%.60q is answered %.200s, %v", c.send, body, err)
		}
	}
}

// Y10: what is no client is hung up on, or told to say hello, and keeps nobody waiting.
func TestAttacks(t *testing.T) {
	s := serving(t)
	a := barn(t, "a")
	status := `{"jsonrpc":"2.0","id":1,"method":"quarry/service.status"}`
	for name, attack := range map[string]struct {
		text string
		want string // part of the answer, "" for none at all
	}{
		"before hello":           {frame(status), "the first request must be quarry/hello"},
		"a search before hello":  {frame(`{"jsonrpc":"2.0","id":1,"method":"quarry/search.hybrid","params":{"query":"x"}}`), "the first request must be quarry/hello"},
		"before and after":       {frame(status) + frame(hello) + frame(status), "the first request must be quarry/hello"},
		"an editor's initialize": {frame(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}`), "the first request must be quarry/hello"},
		"hello without an id":    {frame(`{"jsonrpc":"2.0","method":"quarry/hello","params":{"protocol":1}}`) + frame(status), "the first request must be quarry/hello"},
		"a name without end":     {frame(strings.Replace(hello, `"protocol":1`, `"protocol":1,"client":"`+strings.Repeat("x", 1000)+`"`, 1)) + frame(status), "a name of 1000 bytes"},
		"hello of a list":        {frame(`{"jsonrpc":"2.0","id":1,"method":"quarry/hello","params":[1]}`), `"code":-32602`},
		"garbage":                {"\x00\x01\xffgarbage\r\n\r\n", ""},
		"a batch":                {frame("[" + hello + "]"), ""},
		"no JSON":                {frame("hello"), ""},
		"HTTP":                   {"POST / HTTP/1.1\r\nHost: localhost\r\n" + frame(hello), ""},
		"HTTP with our length":   {"Content-Length: 5\r\nHost: localhost\r\nOrigin: https://evil.example\r\n\r\nhello" + frame(hello), ""},
		"WebSocket":              {"GET / HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n", ""},
		"TLS":                    {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03:\r\n\r\n" + frame(hello), ""},
		"a line of a megabyte":   {"Content-Type: " + strings.Repeat("x", 1<<20) + "\r\n" + frame(hello), ""},
		"a header without end":   {strings.Repeat("Content-Type: x\r\n", 50_000) + frame(hello), ""},
		"blank lines":            {strings.Repeat("\r\n", 1<<19) + frame(hello), ""},
		"a length without end":   {"Content-Length: 9223372036854775807\r\n\r\n" + strings.Repeat("x", 1<<16), ""},
		"a body of 63 MB":        {fmt.Sprintf("Content-Length: %d\r\n\r\n", 63<<20) + strings.Repeat(" ", 1<<16), ""},
		"two lengths":            {"Content-Length: 1\r\n" + frame(hello), ""},
	} {
		conn := s.raw(t)
		_, _ = io.WriteString(conn, attack.text) // the service may hang up in the middle of it
		answer, _ := io.ReadAll(conn)
		if attack.want == "" && len(answer) > 0 || !strings.Contains(string(answer), attack.want) || bytes.Count(answer, []byte("Content-Length")) > 1 {
			t.Errorf("%s is answered %.200q", name, answer)
		}
	}
	// Connections that came at once, and whose first message is whole, so that no time ends them.
	var waiting []net.Conn
	for range 300 {
		conn := s.raw(t)
		_, _ = io.WriteString(conn, frame(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}`))
		waiting = append(waiting, conn)
	}
	for _, conn := range waiting[:300-32] {
		_, _ = io.ReadAll(conn) // which ends
	}
	// Half a frame, and connections without end, that say nothing more.
	for range 300 {
		conn := s.raw(t)
		_, _ = io.WriteString(conn, "Content-Length: 100\r\n\r\n{")
	}
	c := s.dial(t, client.Options{Hello: client.Hello{Roots: []string{a}}})
	if answer, err := c.Search(t.Context(), client.Search{Query: "harvest", Current: true}); err != nil || len(answer.Results) == 0 {
		t.Errorf("behind them: %+v, %v", answer, err)
	}
	// A client that asks without reading is refused more than so much at once; another is served.
	flood := s.raw(t)
	_, _ = io.WriteString(flood, frame(hello))
	for i := range 2000 {
		if _, err := io.WriteString(flood, frame(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"quarry/service.status"}`, i))); err != nil {
			break // the service gave it up
		}
	}
	if _, err := c.Search(t.Context(), client.Search{Query: "harvest"}); err != nil {
		t.Errorf("beside a flood: %v", err)
	}
	if err := s.stop(); err != nil { // with all of them connected
		t.Error(err)
	}
}

// A client waits for answers before it asks on and on; what it gave up is free again.
func TestTooManyRequests(t *testing.T) {
	hold := make(chan struct{})
	s := servingWith(t, hold)
	conn := s.raw(t)
	ask := func(id int, method, params string) {
		_, _ = io.WriteString(conn, frame(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params)))
	}
	in := bufio.NewReader(conn)
	answered := func() string {
		t.Helper()
		for {
			var n int
			if _, err := fmt.Fscanf(in, "Content-Length: %d\r\n\r\n", &n); err != nil {
				t.Fatal(err)
			}
			body := make([]byte, n)
			if _, err := io.ReadFull(in, body); err != nil {
				t.Fatal(err)
			}
			if !bytes.Contains(body, []byte(client.MethodProgress)) {
				return string(body)
			}
		}
	}
	root, err := json.Marshal(barn(t, "a"))
	if err != nil {
		t.Fatal(err)
	}
	ask(0, client.MethodHello, fmt.Sprintf(`{"protocol":1,"roots":[%s]}`, root))
	answered()
	const most = 64
	for i := range most + 1 {
		ask(i+1, "quarry/search.hybrid", `{"query":"harvest"}`)
	}
	if got := answered(); !strings.Contains(got, `"id":65,"error"`) || !strings.Contains(got, "64 requests are under way") {
		t.Errorf("the first answer is %s", got)
	}
	_, _ = io.WriteString(conn, frame(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":7}}`))
	if got := answered(); !strings.Contains(got, `"id":7,"error"`) {
		t.Errorf("a request that was given up: %s", got)
	}
	close(hold)
	for range most - 1 {
		if got := answered(); !strings.Contains(got, `"result"`) {
			t.Errorf("answered %s", got)
		}
	}
}

// More clients than anybody has are told so.
func TestTooManyClients(t *testing.T) {
	s := serving(t)
	var err error
	n := 0
	for ; n <= 200; n++ {
		var c *client.Conn
		if c, err = client.Dial(t.Context(), s.socket, client.Options{}); err != nil {
			break
		}
		defer c.Close()
	}
	if n != 128 || !strings.Contains(fmt.Sprint(err), "128 clients are connected") {
		t.Errorf("client %d: %v", n, err)
	}
}

// The client's types are those that are served, which docs/protocol.schema.json has.
func TestClientSpeaksTheProtocol(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "..", "docs", "protocol.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	var served map[string]map[string]any
	if err := json.Unmarshal(raw, &served); err != nil {
		t.Fatal(err)
	}
	for method, types := range map[string]struct{ params, result reflect.Type }{
		"quarry/search.hybrid":   {reflect.TypeFor[client.Search](), reflect.TypeFor[client.Answer]()},
		"quarry/search.lexical":  {reflect.TypeFor[client.Search](), reflect.TypeFor[client.Answer]()},
		"quarry/search.semantic": {reflect.TypeFor[client.Search](), reflect.TypeFor[client.Answer]()},
		"quarry/similar":         {reflect.TypeFor[client.Similar](), reflect.TypeFor[client.Answer]()},
		"quarry/content.getSpan": {reflect.TypeFor[client.Span](), reflect.TypeFor[client.Text]()},
		"quarry/open.atSpan":     {params: reflect.TypeFor[client.Span]()},
	} {
		for part, is := range map[string]reflect.Type{"params": types.params, "result": types.result} {
			if is == nil {
				continue
			}
			schema, err := jsonschema.ForType(is, &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
				reflect.TypeFor[json.RawMessage](): {Types: []string{"string", "integer"}}, // a token
			}})
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(schema)
			if err != nil {
				t.Fatal(err)
			}
			var own any
			if err := json.Unmarshal(text, &own); err != nil {
				t.Fatal(err)
			}
			want, have := shapeOf(served[method][part]), shapeOf(own)
			if !reflect.DeepEqual(want, have) {
				t.Errorf("%s of %s: the client has\n%v\nserved is\n%v", part, method, have, want)
			}
		}
	}
}

var update = flag.Bool("update", false, "rewrite the generated documents")

// docs/service.schema.json is what the code serves, and docs/service.md names every method.
func TestServiceDocumentsAreCurrent(t *testing.T) {
	schemas := map[string]map[string]*jsonschema.Schema{}
	for method, types := range map[string][3]reflect.Type{
		client.MethodHello:      {reflect.TypeFor[client.Hello](), reflect.TypeFor[client.Welcome]()},
		client.MethodAddRoot:    {reflect.TypeFor[client.Root](), reflect.TypeFor[client.Roots]()},
		client.MethodRemoveRoot: {reflect.TypeFor[client.Root](), reflect.TypeFor[client.Roots]()},
		client.MethodService:    {nil, reflect.TypeFor[client.Status]()},
		client.MethodTool:       {reflect.TypeFor[client.Tool](), reflect.TypeFor[agent.Envelope]()},
		client.MethodPair:       {reflect.TypeFor[client.Pairing](), reflect.TypeFor[client.Offered]()},
		client.MethodPaired:     {nil, reflect.TypeFor[client.Device]()},
		client.MethodDevices:    {nil, reflect.TypeFor[client.Devices]()},
		client.MethodRevoke:     {reflect.TypeFor[client.Revoked](), reflect.TypeFor[client.Device]()},
		client.MethodProgress:   {nil, nil, reflect.TypeFor[client.Progress]()},
	} {
		schemas[method] = map[string]*jsonschema.Schema{}
		for i, part := range []string{"params", "result", "notification"} {
			if types[i] == nil {
				continue
			}
			schema, err := jsonschema.ForType(types[i], &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
				reflect.TypeFor[json.RawMessage](): {}, // anything
			}})
			if err != nil {
				t.Fatal(err)
			}
			schemas[method][part] = schema
		}
	}
	var version any = client.Protocol
	schemas[client.MethodHello]["params"].Properties["protocol"].Const = &version
	schemas[client.MethodTool]["params"].Properties["arguments"] = &jsonschema.Schema{Type: "object", AdditionalProperties: &jsonschema.Schema{}}
	want, err := json.MarshalIndent(schemas, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	path := filepath.Join("..", "..", "docs", "service.schema.json")
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(path); err != nil || !bytes.Equal(have, want) {
		t.Errorf("%s is not current (%v): run `go test ./lsp/service -run ServiceDocuments -update`", path, err)
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "service.md"))
	if err != nil {
		t.Fatal(err)
	}
	c := serving(t).dial(t, client.Options{})
	for _, method := range append(c.Welcome.Methods, client.MethodProgress) {
		if !strings.Contains(string(page), "`"+method+"`") {
			t.Errorf("docs/service.md does not name %s", method)
		}
	}
}

// shapeOf is a schema without the words in it.
func shapeOf(schema any) any {
	switch s := schema.(type) {
	case map[string]any:
		shape := map[string]any{}
		for name, part := range s {
			if _, isText := part.(string); name == "description" && isText {
				continue
			}
			shape[name] = shapeOf(part)
		}
		return shape
	case []any:
		list := make([]any, len(s))
		for i := range s {
			list[i] = shapeOf(s[i])
		}
		return list
	}
	return schema
}
