// Package assist is what a model does for the user in an editor: it explains and fixes
// diagnostics, refactors selections, answers questions and runs tools, over LSP's code
// actions and commands and quarry's own requests. No change is made that the user has
// not been shown and has not agreed to.
package assist

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"reflect"
	"sync/atomic"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"quarry/agent"
	"quarry/lsp/document"
	"quarry/lsp/text"
	"quarry/lsp/wire"
)

// Core is what answers behind the protocol. Its methods may be called concurrently.
type Core interface {
	Assistant
	Tools
	Files
}

// ErrOff is what Available answers where the user wants no model asked.
var ErrOff = errors.New("ollama.enabled is false: set it to true in the settings to ask a model")

// Assistant explains, proposes and answers by asking a model. Its methods may be
// called concurrently. emit gets each piece of an answer as it comes, and ends
// the answer early by returning false; what is returned is the whole, checked,
// and may differ from what was emitted.
type Assistant interface {
	// Available answers why no model can be asked now, nil if one can. It does
	// not wait.
	Available() error
	// Explain shows, without a model, what search finds about the problem.
	Explain(ctx context.Context, p agent.Problem, emit func(text string) bool) (agent.Explanation, error)
	Fix(ctx context.Context, p agent.Problem) (agent.Proposal, error)
	// Imports are the imports that would mend a problem, the likeliest first. It asks no model.
	Imports(ctx context.Context, p agent.Problem) []agent.Import
	Refactor(ctx context.Context, sel agent.Selection) (agent.Proposal, error)
	Ask(ctx context.Context, q agent.Question, emit func(text string) bool) (agent.Answer, error)
}

// Tools are what an editor's own models may call; an agent.Toolbox has them.
type Tools interface {
	// CallTool runs one tool. What goes wrong is said in the envelope.
	CallTool(ctx context.Context, name string, args json.RawMessage) agent.Envelope
	// ToolDefinitions are all tools that are offered, a list as OpenAI's interface
	// has them.
	ToolDefinitions() json.RawMessage
}

// Files are those of the workspace.
type Files interface {
	agent.Files
	// OnDisk is Text as the file is on disk, with nothing masked: for edits, never
	// for a model.
	OnDisk(path string) (string, error)
	// Excluded answers whether a document with this text must not be shown to a
	// model; path is a bare name, or "", for one that is in no file. If ctx ends before
	// the rules are known, it fails with ctx's error.
	Excluded(ctx context.Context, path, text string) (bool, error)
}

// Host is the server that a Service belongs to.
type Host interface {
	// Core is the engines of the connection.
	Core() Core
	// Task runs f in a goroutine of the server's. f ends when ctx does.
	Task(name string, f func(ctx context.Context) error)
	// StartJob shows work under title until its End; cancel is called if the user
	// cancels it.
	StartJob(title string, cancel func()) Job
	// Notify sends a notification of quarry's own.
	Notify(ctx context.Context, method string, params any) error
	SendProgress(ctx context.Context, token protocol.ProgressToken, value any) error
	// Spelled is the URI of an open document as the client writes it.
	Spelled(u uri.URI) uri.URI
}

// Job shows the user a long piece of work and how far it has come. Its methods
// return at once and may be called from any goroutine.
type Job interface {
	// Report says that fraction (0 to 1) of the work is done.
	Report(fraction float64, message string)
	// End takes the work off the screen; message is its result.
	End(message string)
}

// Options are what a Service is made of.
type Options struct {
	Host    Host
	Client  protocol.Client
	Docs    *document.Set
	Log     *slog.Logger
	Staging *agent.Staging // what tools propose
	Clock   Clock
	// CacheDir is for what is shown as a file, "" for the platform's place.
	CacheDir string
}

// Service serves one client.
type Service struct {
	host    Host
	client  protocol.Client
	docs    *document.Set
	log     *slog.Logger
	staging *agent.Staging
	base    context.Context // ends with the connection
	screen  *Screen

	// Set by Initialize, which every handler follows; read-only then.
	encoding text.Encoding
	caps     protocol.ClientCapabilities

	known     *knownDiagnostics
	requests  wire.Newest               // by the page that is being written, or the request's key
	decisions *decisions                // about proposals
	typing    *typing                   // by the user
	selected  atomic.Pointer[selection] // nil before the first
}

// New makes a service that ends with base.
func New(base context.Context, opt Options) *Service {
	return &Service{
		host: opt.Host, client: opt.Client, docs: opt.Docs, log: opt.Log, staging: opt.Staging, base: base,
		screen:   &Screen{client: opt.Client, log: opt.Log, base: base, task: opt.Host.Task, cacheDir: opt.CacheDir},
		encoding: text.UTF16,
		known:    newKnownDiagnostics(), decisions: newDecisions(), typing: &typing{clock: opt.Clock},
	}
}

// Initialize takes what the client can do and how it counts characters. It must be
// called before any other method but Screen and Close.
func (s *Service) Initialize(caps protocol.ClientCapabilities, encoding text.Encoding) {
	s.caps, s.screen.caps, s.encoding = caps, caps, encoding
}

// Screen is what the user sees beside their documents.
func (s *Service) Screen() *Screen { return s.screen }

// Changed follows the next version of a document.
func (s *Service) Changed(before, next *document.Document) {
	s.typing.note()
	s.known.moved(next.URI, before.Text, next.Text)
}

// Closed drops what is known of a document that was closed.
func (s *Service) Closed(u uri.URI) { s.known.forget(u) }

// Cancel ends all that is under way.
func (s *Service) Cancel() { s.requests.CancelAll() }

// Methods are the requests that are served beside LSP's.
func (s *Service) Methods() map[string]wire.Method {
	return map[string]wire.Method{
		MethodAsk:           {Serve: s.ask, Params: reflect.TypeFor[askParams](), Result: reflect.TypeFor[askResult]()},
		"quarry/tools.list": {Serve: s.listTools, Result: reflect.TypeFor[[]toolDefinition]()},
		"quarry/tools.call": {Serve: s.callTool, Params: reflect.TypeFor[toolParams](), Result: reflect.TypeFor[toolResult]()},
		methodDecide:        {Serve: s.decideProposal, Params: reflect.TypeFor[decideParams](), Result: reflect.TypeFor[decideResult]()},
	}
}

// Notifications are the params of what is told to the client beside LSP's.
var Notifications = map[string]reflect.Type{
	methodProposal:    reflect.TypeFor[proposalParams](),
	methodProposalEnd: reflect.TypeFor[proposalID](),
}

// Commands are served by workspace/executeCommand. Each returns at once.
func (s *Service) Commands() map[string]func(args []protocol.LSPAny) error {
	commands := map[string]func(args []protocol.LSPAny) error{}
	for _, do := range []requestKind{doExplain, doFix, doRefactor, doAsk} {
		run := requestCommand(do)
		commands[commandPrefix+string(do)] = func(args []protocol.LSPAny) error { return run(s, args) }
	}
	return commands
}
