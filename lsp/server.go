// Package lsp is quarry's language server: connection and framing, lifecycle,
// text synchronisation and the handlers of each feature, over LSP 3.18.
//
// Messages are handled on the read loop in the order they arrive. A handler
// that takes time first takes what it needs from that moment (the document, the
// settings), then calls jsonrpc2.Async and runs beside the messages that follow.
// The read loop waits for no disk, model or client.
//
// go.lsp.dev types stay inside this package; the engines below it speak bytes
// and paths.
package lsp

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"quarry/agent"
	"quarry/lsp/assist"
	"quarry/lsp/document"
	"quarry/lsp/progress"
	"quarry/lsp/search"
	"quarry/lsp/settings"
	"quarry/lsp/text"
	"quarry/lsp/wire"
)

// Core is what answers behind the protocol. Its methods may be called
// concurrently.
type Core interface {
	assist.Core
	Workspace
	Completer
	search.Core
	Engines
	Remedies
	// Configure applies changed settings without losing what still holds.
	Configure(settings.Settings) error
	// Close stops all work and waits for it.
	Close() error
}

// Job shows the user a long piece of work and how far it has come.
type Job = assist.Job

// Severity of a message to the user.
type Severity int

// The severities, as LSP's MessageType orders them.
const (
	Error Severity = iota + 1
	Warning
	Info
	Log // only in the client's log, for what is no reason to interrupt
)

// Notify shows the user a message, once for each key in the life of a server.
type Notify func(s Severity, key, message string)

// Options are what a Server is made of.
type Options struct {
	Version string
	Log     *slog.Logger
	// Settings merges all layers; editor are the layers the client sent, weakest
	// first.
	Settings func(editor ...[]byte) (settings.Settings, []settings.Problem)
	// SettingsFile is the user's own, among what Settings merges; a change of it applies soon.
	// "" if there is none.
	SettingsFile string
	// NewCore makes the engines. It must not wait for network or disk.
	NewCore func(Start) (Core, error)
	// Token, if not empty, must come with the client's first message.
	Token string
	// Strict ends the connection of a client whose first message is not a whole
	// initialize with LSP's headers alone, or is not there within FirstMessage. It is for
	// ports that a web page could post to.
	Strict bool
	// FirstMessage is how long that may take, 0 for five seconds.
	FirstMessage time.Duration
	// CacheDir is for what need not last, "" for the platform's place.
	CacheDir string
	// Ending, if not nil, is called when the server begins to end, with the exit code it
	// will have. It must return soon.
	Ending func(code int)
	// Clock is nil for the real one.
	Clock assist.Clock
}

// Start is what a Core begins with.
type Start struct {
	Settings settings.Settings
	// Roots are the workspace folders.
	Roots []string
	// Watch: the client does not report changes on disk, so the core must look.
	Watch  bool
	Notify Notify
	// Job shows long work to the user; cancel is called if they cancel it.
	Job func(title string, cancel func()) Job
	// Changed says that Core.StatusNote may answer something else than before. It
	// returns at once.
	Changed func()
	// Problems are the diagnostics known of the open document at path, or of all
	// open documents if it is "".
	Problems func(path string) []agent.Problem
	// Staging keeps what tools propose; the server mints its tokens when the
	// user agrees. Apply has the editor apply what was confirmed so.
	Staging *agent.Staging
	Apply   func(ctx context.Context, p agent.Proposal) error
}

// Version is that of the protocol.
const Version = "3.18"

// Server serves one client.
type Server struct {
	protocol.UnimplementedServer
	opts   Options
	log    *slog.Logger
	conn   jsonrpc2.Conn
	client protocol.Client

	base   context.Context // ends with the connection
	cancel context.CancelFunc
	exit   chan struct{}  // closed by the exit notification
	gone   chan struct{}  // closed when the client's process is no more
	tasks  sync.WaitGroup // goroutines that belong to the server

	phase atomic.Int32 // a phase
	trace atomic.Value // protocol.TraceValue

	// Set by initialize, which every other handler follows; read-only then.
	encoding   text.Encoding
	clientCaps protocol.ClientCapabilities
	clientName string
	// showsInline is whether the client asks for inline completion; others get
	// completion items.
	showsInline bool
	fileAtStart stamp // of the user's settings file, before it was read

	guard     wire.Guard
	docs      *document.Set
	spellings wire.Spellings
	inline    wire.Newest    // requests for ghost text, by document
	checks    wire.Newest    // syntax checks, by document
	notified  sync.Map       // keys of messages already shown
	records   sync.Map       // *completion.Result of the last answer, by document key
	staging   *agent.Staging // what tools propose
	noteDue   chan struct{}  // has capacity 1; filled when the status note may have changed
	web       web            // completions over HTTP
	jobs      *progress.Jobs
	assist    *assist.Service
	search    *search.Service
	methods   map[string]wire.Method
	commands  map[string]func(args []protocol.LSPAny) error

	mu       sync.Mutex
	core     Core              // nil before initialize; guarded by mu
	roots    []string          // file paths of the workspace folders; guarded by mu
	settings settings.Settings // guarded by mu
	editor   [2][]byte         // initializationOptions, configuration; guarded by mu
	brief    briefModel        // that the user chose until the server ends, none if empty; guarded by mu
	unread   []string          // why settings could not be read, for which those before hold; guarded by mu
	pull     int               // number of the newest configuration pull; guarded by mu
}

// Serve speaks LSP over rwc until the client leaves or ctx ends, and answers the
// exit code that LSP asks for: 0 after a shutdown request, else 1. It closes
// rwc and waits for all work it began.
func Serve(ctx context.Context, rwc io.ReadWriteCloser, opts Options) int {
	base, cancel := context.WithCancel(ctx)
	defer cancel()
	st := wire.NewStream(rwc, wire.Options{
		Log: opts.Log, Token: opts.Token, Strict: opts.Strict, FirstMessage: opts.FirstMessage, Ended: cancel, Rewrite: wire.WithoutHost,
	})
	s := newServer(base, cancel, jsonrpc2.NewConn(st, jsonrpc2.WithCodec(wire.Codec{})), opts)
	s.conn.Go(base, s.guard.Around(s.custom(s.spellings.Keep(protocol.ServerHandler(s, nil)))))

	select {
	case <-s.exit:
	case <-s.gone:
		s.log.Info("the client's process has ended")
	case <-base.Done(): // end of input, or told to stop
	case <-s.conn.Done():
	}
	code := 1
	if phase(s.phase.Load()) == shutDown {
		code = 0
	}
	if opts.Ending != nil {
		opts.Ending(code)
	}
	cancel()
	if core := s.currentCore(); core != nil {
		if err := core.Close(); err != nil {
			s.log.Error("close", "error", err)
		}
	}
	s.tasks.Wait()
	s.assist.Screen().Close()
	_ = st.Close()
	// A read of standard input cannot be interrupted on every platform; the
	// process ends all the same.
	timer := time.NewTimer(wire.FlushTimeout)
	defer timer.Stop()
	select {
	case <-s.conn.Done():
		if err := s.conn.Err(); err != nil {
			s.log.Error("the connection ended", "error", err)
		}
	case <-timer.C:
	}
	return code
}

// newServer makes a server that speaks over conn; nothing runs yet.
func newServer(base context.Context, cancel context.CancelFunc, conn jsonrpc2.Conn, opts Options) *Server {
	if opts.Clock == nil {
		opts.Clock = assist.RealClock{}
	}
	s := &Server{
		opts:     opts,
		log:      opts.Log,
		base:     base,
		cancel:   cancel,
		conn:     conn,
		client:   wire.VisibleClient{Client: protocol.ClientDispatcher(conn)},
		exit:     make(chan struct{}),
		noteDue:  make(chan struct{}, 1),
		gone:     make(chan struct{}),
		docs:     document.NewSet(),
		encoding: text.UTF16,
		settings: settings.Default(),
	}
	s.staging = agent.NewStaging(func() string {
		_, roots := s.current()
		return strings.Join(roots, "\n")
	}, opts.Clock.Now)
	s.trace.Store(protocol.TraceValueOff)
	s.jobs = progress.New(s.client, s.task)
	s.search = search.New(search.Options{
		Core: func() search.Core { return s.currentCore() }, Documents: s.docs, Client: s.client, Progress: s.jobs.Send,
		Roots: func() []string { _, roots := s.current(); return roots },
	})
	s.assist = assist.New(base, assist.Options{
		Host: host{s}, Client: s.client, Docs: s.docs, Log: s.log, Staging: s.staging, Clock: opts.Clock, CacheDir: opts.CacheDir,
	})
	s.methods, s.commands = s.methodTable(), s.commandTable()
	s.guard = wire.Guard{Base: base, Log: s.log, Admit: s.admit, Handled: s.traceHandled, Panicked: s.notifyPanic, Added: func(method string) bool {
		_, ok := s.methods[method]
		return ok
	}}
	return s
}

// task runs f in a goroutine of the server's. f ends when ctx does.
func (s *Server) task(name string, f func(ctx context.Context) error) {
	s.tasks.Go(func() {
		defer s.guard.Catch(name, nil)
		if err := f(s.base); err != nil && s.base.Err() == nil {
			s.log.Error(name, "error", err)
		}
	})
}

// notifyPanic tells the user of a recovered panic.
func (s *Server) notifyPanic(what string) {
	s.notify(Error, "panic "+what, fmt.Sprintf("internal error; please report it with the log (%s). The server continues.", what))
}

// notify shows the user a message once.
func (s *Server) notify(severity Severity, key, message string) {
	if severity == Log {
		s.note(key, message)
		return
	}
	if _, shown := s.notified.LoadOrStore(key, true); shown {
		return
	}
	s.log.Info("told the user", "message", message)
	err := s.client.ShowMessage(s.base, &protocol.ShowMessageParams{
		Type:    protocol.MessageType(severity),
		Message: "quarry: " + message,
	})
	if err != nil && s.base.Err() == nil {
		s.log.Error("show message", "error", err)
	}
}

// note writes to the client's log once.
func (s *Server) note(key, message string) {
	if _, shown := s.notified.LoadOrStore(key, true); shown {
		return
	}
	s.log.Warn(message)
	err := s.client.LogMessage(s.base, &protocol.LogMessageParams{Type: protocol.MessageTypeWarning, Message: message})
	if err != nil && s.base.Err() == nil {
		s.log.Error("log message", "error", err)
	}
}

func (s *Server) currentCore() Core {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.core
}

// current is the settings and roots of this moment.
func (s *Server) current() (settings.Settings, []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings, s.roots
}

// applySettings merges the layers again and hands the result to the core.
func (s *Server) applySettings() error {
	s.mu.Lock()
	before := s.settings
	merged, problems := s.opts.Settings(s.editor[0], s.editor[1])
	if merged.Model != s.brief.instead {
		s.brief = briefModel{}
	} else if s.brief.name != "" {
		merged.Model = s.brief.name
	}
	s.settings, s.unread = merged, nil
	for _, p := range problems {
		if p.Key == "" {
			s.unread = append(s.unread, p.Reason)
		}
	}
	s.mu.Unlock()
	s.checkAll(before, merged)
	s.serveHTTP(merged.HTTP)
	if len(problems) > 0 {
		message := settings.Ignored(problems)
		s.notify(Warning, message, message)
	}
	core := s.currentCore()
	if core == nil {
		return nil
	}
	if err := core.Configure(merged); err != nil {
		return fmt.Errorf("apply settings: %w", err)
	}
	s.statusChanged()
	return nil
}
