package lsp_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"quarry/agent"
	"quarry/completion"
	"quarry/diagnostics/patch"
	"quarry/index"
	"quarry/lsp"
	"quarry/lsp/headless"
	"quarry/lsp/settings"
	"quarry/retrieval"
	"quarry/retrieval/workspace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// core is a Core whose answers a test scripts.
type core struct {
	clock                clock
	*workspace.Workspace // without folders, unless indexed
	indexed              bool

	// complete answers a request; nil answers the word "ghost" at the cursor.
	complete func(context.Context, completion.Request) (completion.Result, error)
	// excluded answers for every document; nil asks the workspace.
	excluded func(context.Context) (bool, error)

	assistant
	tools *agent.Toolbox // set when the server starts

	// problems are Start's, set when the server starts.
	problems func(path string) []agent.Problem
	// tell is Start's Notify, set when the server starts.
	tell func(severity lsp.Severity, key, message string)
	// statusChanged is Start's Changed, set when the server starts.
	statusChanged func()

	mu         sync.Mutex
	note       lsp.StatusNote // what StatusNote answers
	looks      int            // how often it was asked
	forgotten  []string
	prefetched []completion.Request
	configured []settings.Settings
	searched   []retrieval.Request
	changed    []string // what FilesChanged was told
	watching   bool     // WatchFiles was called
	done       []string // what was done to models
	named      string   // the model that the user's file names, "" if none

	models []lsp.InstalledModel // nil for one and two
	paused chan bool            // PauseDownload was called
}

func (c *core) FilesChanged(paths []string) {
	c.mu.Lock()
	c.changed = append(c.changed, paths...)
	c.mu.Unlock()
	c.Workspace.FilesChanged(paths)
}

func (c *core) WatchFiles() {
	c.mu.Lock()
	c.watching = true
	c.mu.Unlock()
	c.Workspace.WatchFiles()
}

func (c *core) Complete(ctx context.Context, req completion.Request) (completion.Result, error) {
	if c.complete != nil {
		return c.complete(ctx, req)
	}
	return ghost(req, "ghost"), nil
}

func (c *core) Excluded(ctx context.Context, path, text string) (bool, error) {
	if c.excluded != nil {
		return c.excluded(ctx)
	}
	return c.Workspace.Excluded(ctx, path, text)
}

func ghost(req completion.Request, text string) completion.Result {
	return completion.Result{Engine: "test", Items: []completion.Item{{Text: text, Start: req.Offset, End: req.Offset, Engine: "test"}}}
}

// progress shows each step of a scan as a job of its own.
func (c *core) progress(start lsp.Start) func(string, index.Progress, func()) {
	var once sync.Once
	var job lsp.Job
	return func(dir string, p index.Progress, stop func()) {
		once.Do(func() { job = start.Job("Indexing", stop) })
		job.Report(0.5, dir)
		if p.Finished {
			job.End("done")
		}
	}
}

func (c *core) Forget(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forgotten = append(c.forgotten, key)
}

func (c *core) EngineStatus() (lsp.ModelStatus, lsp.CompletionStatus) {
	return lsp.ModelStatus{Name: "test model", Phase: "ready", Sent: 3}, lsp.CompletionStatus{Requests: 4, Shown: 2, By: []lsp.GhostStatus{{Language: "go", Engine: "test", Shown: 2, Accepted: 1}}}
}

func (c *core) StatusNote(context.Context) lsp.StatusNote {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.looks++
	return c.note
}

func (c *core) StartOllama(context.Context) error { return errors.New("Ollama is not installed") }

func (c *core) PullModel(ctx context.Context, name string, report lsp.Fetched) error {
	report("fetching "+name, 1e9, 2e9)
	select {
	case <-ctx.Done():
		return &lsp.CancelledError{Left: errors.New("13 MB are kept: pull again")}
	case <-c.paused:
		return lsp.ErrPaused
	}
}

func (c *core) SetupModel(_ context.Context, agree func(question string) bool, report lsp.Fetched) (string, error) {
	if !agree("Fetch one and use it? It fits.") {
		return "", nil
	}
	report("fetching one", 1e9, 2e9)
	return "one completes code from now on", nil
}

func (c *core) PauseDownload() {
	if c.paused != nil {
		c.paused <- true
	}
}

func (c *core) CancelDownload(context.Context) error {
	return errors.New("12 MB are kept: pull again")
}

func (c *core) SameModel(a, b string) bool {
	return strings.TrimSuffix(a, ":latest") == strings.TrimSuffix(b, ":latest")
}

func (c *core) KnownModels(context.Context) ([]lsp.KnownModel, string, error) {
	return []lsp.KnownModel{{Name: "three", Use: "completion", Download: "2.1 GB", Memory: "3.5 GB", Licence: "Apache-2.0", About: "the first"}}, "For this machine: three; it fits.", nil
}

func (c *core) PausedDownload() (command, name string) { return "", "" }

func (c *core) Memory() lsp.MemoryStatus {
	return lsp.MemoryStatus{HeapBytes: 1 << 19, ResidentBytes: 1 << 20, BudgetBytes: 1 << 30}
}

func (c *core) Models(context.Context) ([]lsp.InstalledModel, error) {
	if c.models != nil {
		return c.models, nil
	}
	return []lsp.InstalledModel{
		{Name: "one", Size: "2.1 GB", Quant: "Q4_K_M", InMemory: "no", Used: "completion"}, {Name: "two", Size: "1.0 GB", Quant: "Q4_0", InMemory: "1.2 GB"},
	}, nil
}

func (c *core) LeftOfDownloads(context.Context) ([]string, error) {
	return []string{"of a download: parts of three: `quarry model clean` removes it"}, nil
}

func (c *core) VerifyModel(_ context.Context, name string) ([]lsp.ModelFinding, error) {
	return []lsp.ModelFinding{{Name: "digest", OK: true, Note: true, Detail: "another"}, {Name: "model", OK: true, Detail: name + " granite"}, {Name: "tags", Detail: "it has none | at all", Fix: "choose another"}}, nil
}

func (c *core) ImportModel(_ context.Context, file, name string, report lsp.Fetched) error {
	report("importing "+name, 1e9, 2e9)
	c.did("import " + file + " as " + name)
	return nil
}

func (c *core) RemoveModel(_ context.Context, name string) error {
	c.did("remove " + name)
	return nil
}

func (c *core) KeepModel(_ context.Context, name string) (string, error) {
	if name == "blind" {
		return "", errors.New("the model failed its trial: fill in the middle, it knows no tags")
	}
	c.did("keep " + name)
	if name != "letters" {
		c.names(name)
	}
	return name + " completes code", nil
}

// names is the user's file naming a model.
func (c *core) names(model string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.named = model
}

// did notes what was done to models.
func (c *core) did(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done = append(c.done, what)
}

func (c *core) Prefetch(req completion.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.prefetched = append(c.prefetched, req)
}

func (c *core) Configure(s settings.Settings) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.configured = append(c.configured, s)
	return nil
}

func (c *core) CallTool(ctx context.Context, name string, args json.RawMessage) agent.Envelope {
	return c.tools.Call(ctx, name, args)
}

func (c *core) ToolDefinitions() json.RawMessage { return c.tools.AllDefinitions() }

func (c *core) Answered(*retrieval.Query, int, []workspace.Result) {}

func (c *core) Viewed(string) {}

func (c *core) Close() error { c.Workspace.Close(); return nil }

func (c *core) lastSettings() settings.Settings {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.configured) == 0 {
		return settings.Settings{}
	}
	return c.configured[len(c.configured)-1]
}

// serve runs a server in this process; the channel gets its exit code.
func serve(t *testing.T, c *core) (client net.Conn, exit <-chan int) {
	t.Helper()
	client, server := net.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- lsp.Serve(context.Background(), server, serverOptions(t, c, ""))
	}()
	t.Cleanup(func() { client.Close() })
	return client, code
}

func serverOptions(t *testing.T, c *core, token string) lsp.Options {
	return lsp.Options{
		Version:  "test",
		Token:    token,
		CacheDir: t.TempDir(),
		Clock:    &c.clock,
		Log:      slog.New(slog.NewTextHandler(testWriter{t}, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Settings: func(editor ...[]byte) (settings.Settings, []settings.Problem) {
			s := settings.Default()
			c.mu.Lock()
			s.Model = cmp.Or(c.named, s.Model)
			c.mu.Unlock()
			problems := s.ApplyEditor(editor...)
			return s, problems
		},
		NewCore: func(start lsp.Start) (lsp.Core, error) {
			if c.Workspace != nil {
				t.Error("a second server with the core of another one: messages of the first may still use it")
			}
			c.problems, c.tell, c.statusChanged = start.Problems, start.Notify, start.Changed
			c.Workspace = workspace.New(workspace.Options{StateDir: t.TempDir(), Progress: c.progress(start)})
			c.tools = agent.NewToolbox(agent.Parts{
				Workspace: c.Workspace, Problems: start.Problems, Patcher: patch.New(c.Workspace), Staging: start.Staging, Apply: start.Apply,
			})
			if c.indexed {
				c.SetRoots(start.Roots)
			}
			return c, c.Configure(start.Settings)
		},
	}
}

type testWriter struct{ t *testing.T }

func (w testWriter) Write(b []byte) (int, error) {
	w.t.Logf("%s", strings.TrimRight(string(b), "\n"))
	return len(b), nil
}

func profiled(t *testing.T, name string) headless.Profile {
	t.Helper()
	p, err := headless.LoadProfile(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// edit connects a headless editor with the named profile to a new server and
// ends both after the test.
func edit(t *testing.T, profile string, c *core, change ...func(*headless.Options)) *headless.Editor {
	t.Helper()
	opts := headless.Options{Profile: profiled(t, profile), Root: t.TempDir()}
	for _, f := range change {
		f(&opts)
	}
	client, exit := serve(t, c)
	e, err := headless.Connect(soon(t), client, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := e.Quit(context.Background()); err != nil {
			t.Errorf("quit: %v", err)
		}
		if code := <-exit; code != 0 {
			t.Errorf("exit code %d, want 0", code)
		}
	})
	return e
}

func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func open(t *testing.T, e *headless.Editor, path, language, content string) *headless.Buffer {
	t.Helper()
	b, err := e.Open(path, language, content)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (c *core) Search(ctx context.Context, req retrieval.Request) (workspace.Answer, error) {
	c.mu.Lock()
	c.searched = append(c.searched, req)
	c.mu.Unlock()
	return c.Workspace.Search(ctx, req)
}

// complete asks at the cursor and answers the ghost text, "" if there is none.
func complete(t *testing.T, e *headless.Editor, b *headless.Buffer) string {
	t.Helper()
	if err := e.Complete(soon(t), b, false); err != nil {
		t.Fatal(err)
	}
	if b.Ghost == nil {
		return ""
	}
	return b.Ghost.InsertText
}

func wantCode(t *testing.T, what string, err error, code int) {
	t.Helper()
	var wire *headless.ResponseError
	if !errors.As(err, &wire) || wire.Code != code {
		t.Errorf("%s: error %v, want code %d", what, err, code)
	}
}

func TestLifecycle(t *testing.T) {
	client, exit := serve(t, &core{})
	conn := headless.NewConn(client, nil, func(string, json.RawMessage) {})
	ctx := soon(t)
	wantCode(t, "before initialize", conn.Call(ctx, "textDocument/inlineCompletion", map[string]any{}, nil), -32002)
	wantCode(t, "shutdown before initialize", conn.Call(ctx, "shutdown", nil, nil), -32002)
	if err := conn.Notify("textDocument/didOpen", map[string]any{}); err != nil {
		t.Fatal(err)
	}
	var result struct {
		ServerInfo   struct{ Name, Version string }
		Capabilities map[string]any
	}
	if err := conn.Call(ctx, "initialize", map[string]any{"processId": nil, "rootUri": nil, "capabilities": map[string]any{}}, &result); err != nil {
		t.Fatal(err)
	}
	if result.ServerInfo.Name != "quarry" || result.ServerInfo.Version != "test" {
		t.Errorf("serverInfo %+v", result.ServerInfo)
	}
	if got := result.Capabilities["positionEncoding"]; got != "utf-16" {
		t.Errorf("positionEncoding %v without a list, want utf-16", got)
	}
	wantCode(t, "initialize again", conn.Call(ctx, "initialize", map[string]any{"capabilities": map[string]any{}}, nil), -32600)
	if err := conn.Call(ctx, "shutdown", nil, nil); err != nil {
		t.Fatal(err)
	}
	wantCode(t, "after shutdown", conn.Call(ctx, "textDocument/inlineCompletion", map[string]any{}, nil), -32600)
	wantCode(t, "shutdown again", conn.Call(ctx, "shutdown", nil, nil), -32600)
	if err := conn.Notify("exit", nil); err != nil {
		t.Fatal(err)
	}
	if code := <-exit; code != 0 {
		t.Errorf("exit code %d after shutdown, want 0", code)
	}
	conn.Close()
}

// Capabilities are optional at every level, and some clients send null.
func TestAnyCapabilities(t *testing.T) {
	for _, caps := range []string{
		`{}`, `{"workspace":{},"textDocument":{},"window":{},"general":{}}`,
		`{"workspace":null,"textDocument":null,"window":null,"general":null}`,
		`{"textDocument":{"inlineCompletion":null},"workspace":{"configuration":null,"didChangeWatchedFiles":null}}`,
		`{"workspace":{"didChangeConfiguration":{},"didChangeWatchedFiles":{}},"window":{"showDocument":null},"experimental":{"x":1}}`,
	} {
		e := edit(t, "vscode", &core{}, func(o *headless.Options) { o.Profile.Capabilities = json.RawMessage(caps) })
		if got := complete(t, e, open(t, e, "a.go", "go", "")); got != "ghost" {
			t.Errorf("%s: ghost text %q", caps, got)
		}
	}
}

func TestExitWithoutShutdown(t *testing.T) {
	for name, leave := range map[string]func(*headless.Conn){
		"exit":         func(c *headless.Conn) { _ = c.Notify("exit", nil) },
		"end of input": func(c *headless.Conn) { _ = c.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			client, exit := serve(t, &core{})
			conn := headless.NewConn(client, nil, func(string, json.RawMessage) {})
			if err := conn.Call(soon(t), "initialize", map[string]any{"capabilities": map[string]any{}}, nil); err != nil {
				t.Fatal(err)
			}
			leave(conn)
			select {
			case code := <-exit:
				if code != 1 {
					t.Errorf("exit code %d, want 1", code)
				}
			case <-soon(t).Done():
				t.Error("the server goes on")
			}
			conn.Close()
		})
	}
}

// A handler that hangs must not keep the process aworkspace.
func TestEndOfInputEndsRunningRequests(t *testing.T) {
	started := make(chan struct{})
	c := &core{complete: func(ctx context.Context, _ completion.Request) (completion.Result, error) {
		close(started)
		<-ctx.Done()
		return completion.Result{}, ctx.Err()
	}}
	client, exit := serve(t, c)
	e, err := headless.Connect(soon(t), client, headless.Options{Profile: profiled(t, "vscode"), Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, e, "a.go", "go", "")
	if err := e.Type(b, "x"); err != nil {
		t.Fatal(err)
	}
	<-started
	client.Close()
	if code := <-exit; code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	e.Close()
}

func TestPositionEncodings(t *testing.T) {
	for _, tt := range []struct {
		offered string
		want    string
	}{
		{`["utf-16"]`, "utf-16"},
		{`["utf-8","utf-16","utf-32"]`, "utf-8"},
		{`["utf-32","utf-8"]`, "utf-32"},
		{`["klingon","utf-8"]`, "utf-8"},
		{`["klingon"]`, "utf-16"},
		{`[]`, "utf-16"},
	} {
		var seen completion.Request
		c := &core{complete: func(_ context.Context, req completion.Request) (completion.Result, error) {
			seen = req
			return ghost(req, "é😀"), nil
		}}
		e := edit(t, "vscode", c, func(o *headless.Options) {
			o.Profile.Capabilities = json.RawMessage(`{"general":{"positionEncodings":` + tt.offered + `}}`)
		})
		if got := string(e.Capabilities["positionEncoding"]); got != `"`+tt.want+`"` {
			t.Errorf("offered %s: positionEncoding %s, want %s", tt.offered, got, tt.want)
		}
		b := open(t, e, "a.go", "go", "a😀é\r\n漢字😀 = \r\n")
		b.Cursor = b.Text.Len() - 2 // before the last line break
		complete(t, e, b)
		if seen.Offset != b.Cursor || seen.Text != b.Text.String() {
			t.Errorf("%s: the server completes at byte %d of %q, want %d of %q", tt.want, seen.Offset, seen.Text, b.Cursor, b.Text.String())
		}
		if err := e.Accept(b); err != nil {
			t.Fatal(err)
		}
		complete(t, e, b)
		if want := "a😀é\r\n漢字😀 = é😀\r\n"; seen.Text != want || b.Text.String() != want {
			t.Errorf("%s: after accepting, the server has %q, the editor %q, want %q", tt.want, seen.Text, b.Text.String(), want)
		}
	}
}

// FACTS of the protocol library: its own handler applied one change in a hundred
// out of order.
func TestChangesApplyInOrder(t *testing.T) {
	var seen completion.Request
	c := &core{complete: func(_ context.Context, req completion.Request) (completion.Result, error) {
		seen = req
		return completion.Result{}, nil
	}}
	e := edit(t, "helix", c) // which asks for nothing while it types
	b := open(t, e, "a.txt", "plaintext", "")
	for i := range 20_000 {
		at := i * 7919 % (b.Text.Len() + 1)
		if err := e.Replace(b, at, at, string(rune('a'+i%26))); err != nil {
			t.Fatal(err)
		}
	}
	complete(t, e, b)
	if seen.Text != b.Text.String() {
		t.Error("after 20,000 changes the server's text is not the editor's")
	}
	if want := int32(b.Version); seen.Version != want {
		t.Errorf("version %d, want %d", seen.Version, want)
	}
}

func TestUnknownAndWrongMessages(t *testing.T) {
	e := edit(t, "vscode", &core{})
	ctx := soon(t)
	wantCode(t, "unknown method", e.Call(ctx, "textDocument/nonsense", map[string]any{}, nil), -32601)
	wantCode(t, "unknown method without params", e.Call(ctx, "quarry/nonsense", nil, nil), -32601)
	wantCode(t, "method that is not served", e.Call(ctx, "textDocument/definition", map[string]any{"textDocument": map[string]any{"uri": "file:///a"}, "position": map[string]any{"line": 0, "character": 0}}, nil), -32601)
	wantCode(t, "params of a wrong type", e.Call(ctx, "textDocument/inlineCompletion", map[string]any{"position": "here"}, nil), -32602)
	wantCode(t, "custom params of a wrong type", e.Call(ctx, lsp.MethodExplainCompletion, []any{1}, nil), -32602)
	for _, n := range []string{"$/unknown", "textDocument/unknown", "textDocument/didChange", "$/cancelRequest", "$/setTrace"} {
		if err := e.Notify(n, map[string]any{"id": []any{}, "value": "loud"}); err != nil {
			t.Fatal(err)
		}
	}
	b := open(t, e, "a.go", "go", "")
	if got := complete(t, e, b); got != "ghost" {
		t.Errorf("afterwards: ghost text %q, want ghost", got)
	}
}

func TestPanicIsAnErrorOfItsRequest(t *testing.T) {
	calls := 0
	c := &core{complete: func(_ context.Context, req completion.Request) (completion.Result, error) {
		if calls++; calls <= 2 {
			panic("boom")
		}
		return ghost(req, "alive"), nil
	}}
	e := edit(t, "vscode", c)
	b := open(t, e, "a.go", "go", "")
	for range 2 {
		err := e.Complete(soon(t), b, false)
		wantCode(t, "panicking handler", errors.Unwrap(err), -32603)
	}
	if got := complete(t, e, b); got != "alive" {
		t.Errorf("after the panics: %q, want alive", got)
	}
	if shown := e.Shown(); len(shown) != 1 || !strings.Contains(shown[0], "internal error") {
		t.Errorf("shown %q, want one message about an internal error", shown)
	}
}

func TestSupersededAndCancelled(t *testing.T) {
	type call struct {
		ctx  context.Context
		free chan string
	}
	calls := make(chan call, 10)
	c := &core{complete: func(ctx context.Context, req completion.Request) (completion.Result, error) {
		me := call{ctx, make(chan string, 1)}
		calls <- me
		select {
		case text := <-me.free:
			return ghost(req, text), nil
		case <-ctx.Done():
			return completion.Result{}, ctx.Err()
		}
	}}
	e := edit(t, "neovim", c)
	b := open(t, e, "a.go", "go", "")
	ask := func() *headless.Pending {
		p, err := e.Start("textDocument/inlineCompletion", map[string]any{
			"textDocument": map[string]any{"uri": b.URI}, "position": map[string]any{"line": 0, "character": 0}, "context": map[string]any{"triggerKind": 2},
		})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	var raw json.RawMessage

	older := ask()
	olderCall := <-calls
	newer := ask()
	newerCall := <-calls
	if err := older.Wait(&raw); err != nil || string(raw) != "null" {
		t.Errorf("superseded request: %s, %v; want null", raw, err)
	}
	<-olderCall.ctx.Done()

	// The change makes the newer one's text stale: it too is null at once.
	if err := e.Replace(b, 0, 0, "x"); err != nil {
		t.Fatal(err)
	}
	if err := newer.Wait(&raw); err != nil || string(raw) != "null" {
		t.Errorf("request of an older text: %s, %v; want null", raw, err)
	}
	<-newerCall.ctx.Done()

	cancelled := ask()
	cancelledCall := <-calls
	if err := cancelled.Cancel(); err != nil {
		t.Fatal(err)
	}
	wantCode(t, "cancelled request", cancelled.Wait(&raw), -32800)
	<-cancelledCall.ctx.Done()

	// Requests of different documents do not disturb each other.
	other := open(t, e, "b.go", "go", "")
	one := ask()
	oneCall := <-calls
	b, other = other, b
	two := ask()
	twoCall := <-calls
	oneCall.free <- "one"
	twoCall.free <- "two"
	for p, want := range map[*headless.Pending]string{one: "one", two: "two"} {
		if err := p.Wait(&raw); err != nil || !strings.Contains(string(raw), want) {
			t.Errorf("concurrent request: %s, %v; want %s", raw, err, want)
		}
	}
}
