// Package headless is a headless editor: it speaks LSP to a language server as a
// real editor does, keeps buffers, types into them, shows ghost text and accepts
// it. quarry's own tests and `quarry complete` and `quarry demo` drive the server
// through it.
//
// How an editor speaks is data (Profile); scenarios are txtar files (Run).
package headless

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"quarry/lsp/text"
)

// Options say which editor to be and what to open.
type Options struct {
	Profile Profile
	// Root is the workspace folder.
	Root string
	// InitializationOptions and Configuration are the settings the editor
	// sends; Configuration answers workspace/configuration.
	InitializationOptions, Configuration any
	// ProcessID is sent in initialize; 0 sends null.
	ProcessID int
	// Refuses makes it answer requests to register something with an error.
	Refuses bool
}

// Editor is a connected headless editor. One goroutine may use it at a time.
type Editor struct {
	*Conn
	opts     Options
	encoding text.Encoding
	buffers  map[string]*Buffer // by path as given to Open
	process  *exec.Cmd          // nil when the server runs in this process
	// ServerInfo and Capabilities are from the answer to initialize.
	ServerInfo   struct{ Name, Version string }
	Capabilities map[string]json.RawMessage

	// Lies makes it answer that it applied a change when it did not.
	Lies bool

	reading sync.WaitGroup // goroutines that read virtual documents

	mu sync.Mutex
	// shown are the messages the server showed, logged those it logged;
	// guarded by mu.
	shown, logged []string
	progressed    []Progress             // guarded by mu
	statuses      []json.RawMessage      // the params of quarry/status; guarded by mu
	documents     []string               // shown by window/showDocument; guarded by mu
	virtual       map[string]string      // texts of virtual documents on the screen; guarded by mu
	refreshed     int                    // how often they were read; guarded by mu
	requests      []request              // of the server's that wait for the user; guarded by mu
	published     map[string][]published // the server's own diagnostics by URI; guarded by mu
	changed       chan struct{}          // closed and renewed on each notification; guarded by mu
}

// Progress is one $/progress notification.
type Progress struct {
	Token, Value json.RawMessage
}

// Buffer is an open document with a cursor.
type Buffer struct {
	URI, Language string
	Version       int
	Text          text.Text
	Cursor        int // byte offset
	// Diagnostics are what other servers say of it. They do not move.
	Diagnostics []Diagnostic
	// Ghost is the suggestion on the screen, nil if none.
	Ghost *Ghost

	pending *Pending // the last automatic request, if it is not answered
}

// Command is an LSP command.
type Command struct {
	Command   string            `json:"command"`
	Arguments []json.RawMessage `json:"arguments"`
}

// StartProcess runs command and connects to its standard input and output.
func StartProcess(ctx context.Context, cmd *exec.Cmd, opts Options) (*Editor, error) {
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	e, err := Connect(ctx, pipes{out, in}, opts)
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return nil, err
	}
	e.process = cmd
	return e, nil
}

type pipes struct {
	io.ReadCloser
	in io.WriteCloser
}

func (p pipes) Write(b []byte) (int, error) { return p.in.Write(b) }
func (p pipes) Close() error                { return errors.Join(p.in.Close(), p.ReadCloser.Close()) }

// Connect initializes a server that listens at the other end of rwc.
func Connect(ctx context.Context, rwc io.ReadWriteCloser, opts Options) (*Editor, error) {
	e := &Editor{opts: opts, encoding: text.UTF16, buffers: map[string]*Buffer{}, virtual: map[string]string{}, published: map[string][]published{}, changed: make(chan struct{})}
	e.Conn = NewConn(rwc, e.answerServer, e.observeServer)
	var pid any
	if opts.ProcessID != 0 {
		pid = opts.ProcessID
	}
	var result struct {
		ServerInfo   struct{ Name, Version string }
		Capabilities map[string]json.RawMessage
	}
	err := e.Call(ctx, "initialize", map[string]any{
		"processId":             pid,
		"clientInfo":            opts.Profile.ClientInfo,
		"rootUri":               FileURI(opts.Root),
		"workspaceFolders":      []any{map[string]any{"uri": FileURI(opts.Root), "name": filepath.Base(opts.Root)}},
		"capabilities":          opts.Profile.Capabilities,
		"initializationOptions": opts.InitializationOptions,
		"trace":                 "off",
	}, &result)
	if err != nil {
		_ = e.Close()
		return nil, fmt.Errorf("initialize: %w", err)
	}
	e.ServerInfo, e.Capabilities = result.ServerInfo, result.Capabilities
	if raw, ok := result.Capabilities["positionEncoding"]; ok {
		if err := json.Unmarshal(raw, &e.encoding); err != nil {
			return nil, fmt.Errorf("positionEncoding %s: %w", raw, err)
		}
	}
	return e, e.Notify("initialized", map[string]any{})
}

// answerServer is what the editor answers by itself; what is for the user waits
// for Attend.
func (e *Editor) answerServer(id json.RawMessage, method string, params json.RawMessage) (any, error) {
	switch method {
	case "workspace/configuration":
		var p struct{ Items []any }
		if err := json.Unmarshal(params, &p); err != nil {
			return nil, err
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		values := make([]any, len(p.Items))
		for i := range values {
			values[i] = e.opts.Configuration
		}
		return values, nil
	case "client/registerCapability":
		if e.opts.Refuses {
			return nil, errors.New("the headless editor refuses to register anything")
		}
		return nil, nil
	case "client/unregisterCapability", "window/workDoneProgress/create":
		return nil, nil
	case "window/showMessageRequest", methodApply:
		e.mu.Lock()
		defer e.mu.Unlock()
		e.requests = append(e.requests, request{id, method, params})
		e.wake()
		return nil, errLater
	case "workspace/textDocumentContent/refresh":
		var p struct{ URI string }
		if err := json.Unmarshal(params, &p); err != nil {
			return nil, err
		}
		e.mu.Lock()
		_, open := e.virtual[p.URI]
		e.mu.Unlock()
		if open {
			e.follow(p.URI)
		}
		return nil, nil
	case "window/showDocument":
		var p struct{ URI string }
		if err := json.Unmarshal(params, &p); err != nil {
			return nil, err
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		e.documents = append(e.documents, p.URI)
		if !strings.HasPrefix(p.URI, "file:") {
			e.virtual[p.URI] = ""
			e.follow(p.URI)
		}
		e.wake()
		return map[string]bool{"success": true}, nil
	}
	return nil, fmt.Errorf("the headless editor does not know %s", method)
}

func (e *Editor) observeServer(method string, params json.RawMessage) {
	var p struct{ Message string }
	if json.Unmarshal(params, &p) != nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	switch method {
	case "window/showMessage":
		e.shown = append(e.shown, p.Message)
	case "window/logMessage", "$/logTrace":
		e.logged = append(e.logged, p.Message)
	case methodProposal:
		e.propose(params)
	case "quarry/proposal.end":
		e.withdraw(params)
	case "textDocument/publishDiagnostics":
		var p struct {
			URI         string
			Diagnostics []published
		}
		if json.Unmarshal(params, &p) == nil {
			e.published[p.URI] = append([]published{}, p.Diagnostics...)
		}
	case "quarry/status":
		e.statuses = append(e.statuses, params)
	case "$/progress":
		var progress Progress
		if json.Unmarshal(params, &progress) == nil {
			e.progressed = append(e.progressed, progress)
		}
	}
	e.wake()
}

// wake lets Await look again; mu is held.
func (e *Editor) wake() {
	close(e.changed)
	e.changed = make(chan struct{})
}

// Documents are the URIs that the server asked to show so far.
func (e *Editor) Documents() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]string(nil), e.documents...)
}

// Shown are the messages on the screen so far.
func (e *Editor) Shown() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]string(nil), e.shown...)
}

// Logged are the log messages and traces so far.
func (e *Editor) Logged() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]string(nil), e.logged...)
}

// published is a diagnostic as the server reports it.
type published struct {
	Range struct{ Start, End text.Position }
	Diagnostic
}

// Published are the diagnostics that the server reports of a document, without
// those that lie outside of its text as it is now; nil if it never did.
func (e *Editor) Published(b *Buffer) []Diagnostic {
	e.mu.Lock()
	defer e.mu.Unlock()
	told, ever := e.published[b.URI]
	if !ever {
		return nil
	}
	list := []Diagnostic{}
	for _, d := range told {
		start, startErr := b.Text.PositionToOffset(d.Range.Start, e.encoding)
		end, endErr := b.Text.PositionToOffset(d.Range.End, e.encoding)
		if startErr == nil && endErr == nil {
			d.Start, d.End = start, end
			list = append(list, d.Diagnostic)
		}
	}
	return list
}

// Progressed are the progress notifications so far.
func (e *Editor) Progressed() []Progress {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]Progress(nil), e.progressed...)
}

// Statuses are the status notes so far, as they were sent.
func (e *Editor) Statuses() []json.RawMessage {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]json.RawMessage(nil), e.statuses...)
}

// Await waits until cond answers true; it is asked again after each message of
// the server.
func (e *Editor) Await(ctx context.Context, cond func() bool) error {
	for {
		e.mu.Lock()
		changed := e.changed
		e.mu.Unlock()
		if cond() {
			return nil
		}
		select {
		case <-changed:
		case <-e.Done():
			return errEnded
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Configure changes the editor's settings and tells the server.
func (e *Editor) Configure(configuration any) error {
	e.mu.Lock()
	e.opts.Configuration = configuration
	e.mu.Unlock()
	return e.Notify("workspace/didChangeConfiguration", map[string]any{"settings": nil})
}

// Open opens a document with content; path is relative to the root. The cursor
// stands at its start.
func (e *Editor) Open(path, language, content string) (*Buffer, error) {
	b := &Buffer{
		URI:      FileURI(filepath.Join(e.opts.Root, filepath.FromSlash(path))),
		Language: language,
		Version:  e.opts.Profile.FirstVersion,
		Text:     text.New(content),
	}
	e.buffers[path] = b
	return b, e.Notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{
		"uri": b.URI, "languageId": language, "version": b.Version, "text": content,
	}})
}

// Buffer is the open document at path, nil if it is not open.
func (e *Editor) Buffer(path string) *Buffer { return e.buffers[path] }

// CloseDocument closes the document at path.
func (e *Editor) CloseDocument(path string) error {
	b := e.buffers[path]
	delete(e.buffers, path)
	return e.Notify("textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": b.URI}})
}

// Replace edits [start, end) of the buffer, leaving the cursor behind the new
// text.
func (e *Editor) Replace(b *Buffer, start, end int, with string) error {
	change := map[string]any{"range": e.Range(b, start, end), "text": with}
	b.Text = b.Text.Replace(start, end, with)
	b.Cursor = start + len(with)
	b.Version++
	return e.Notify("textDocument/didChange", map[string]any{
		"textDocument":   map[string]any{"uri": b.URI, "version": b.Version},
		"contentChanges": []any{change},
	})
}

func (e *Editor) position(b *Buffer, offset int) any {
	p := b.Text.OffsetToPosition(offset, e.encoding)
	return map[string]any{"line": p.Line, "character": p.Character}
}

// Range is the LSP range of the bytes [start, end) of b.
func (e *Editor) Range(b *Buffer, start, end int) any {
	return map[string]any{"start": e.position(b, start), "end": e.position(b, end)}
}

// exitTimeout is far above what a server takes to end after exit, for a slow
// machine.
const exitTimeout = time.Minute

// Quit ends the session by the protocol and answers the server's exit code, 0
// where it runs in this process.
func (e *Editor) Quit(ctx context.Context) (int, error) {
	if err := e.Call(ctx, "shutdown", nil, nil); err != nil {
		return -1, fmt.Errorf("shutdown: %w", err)
	}
	if err := e.Notify("exit", nil); err != nil {
		return -1, fmt.Errorf("exit: %w", err)
	}
	return e.wait()
}

// Kill drops the connection without a farewell and answers the exit code.
func (e *Editor) Kill() (int, error) {
	_ = e.rwc.Close()
	return e.wait()
}

func (e *Editor) wait() (int, error) {
	timer := time.NewTimer(exitTimeout)
	defer timer.Stop()
	select {
	case <-e.Done():
		e.reading.Wait()
	case <-timer.C:
		if e.process != nil {
			_ = e.process.Process.Kill()
			_ = e.process.Wait()
		}
		return -1, fmt.Errorf("the server did not end within %s", exitTimeout)
	}
	if e.process == nil {
		return 0, e.rwc.Close()
	}
	err := e.process.Wait()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// Seek puts the cursor behind the first occurrence of text.
func (b *Buffer) Seek(text string) error {
	i := strings.Index(b.Text.String(), text)
	if i < 0 {
		return fmt.Errorf("%q does not stand in the document", text)
	}
	b.Cursor = i + len(text)
	b.Ghost = nil
	return nil
}
