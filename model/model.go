// Package model asks language models: an Ollama on this machine, or wherever the user allowed.
// It imports no sibling; consumers declare the interface they need (completion.Generator, say)
// and the types here satisfy it by shape.
//
// A Runtime has these parts. The backend (ollama.go, openai.go) speaks a server's protocol.
// The watcher (health.go) finds out whether the model can be asked, loads it, and reports
// changes; it runs between Start and Close. The scheduler (scheduler.go) admits one completion
// at a time, the newest first. Generate (generate.go) sends one prompt and passes the answer
// on. The limiter (limiter.go) lets conversations (chat.go) and embedding (embed.go) go on
// only while nothing more urgent runs. All methods are safe for concurrent use.
package model

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// API is the protocol a model server speaks.
type API string

const (
	// OllamaAPI is Ollama's own.
	OllamaAPI API = "ollama"
	// OpenAIAPI is OpenAI's completions interface, which vLLM, the llama.cpp server and
	// gateways in front of a cluster have.
	OpenAIAPI API = "openai"
)

// Options says which model to ask, and how. Only Model is required.
type Options struct {
	// API is OllamaAPI if empty.
	API API
	// APIKey is sent to an OpenAIAPI server that requires one. It must come from user settings
	// only.
	APIKey string
	// KeyFrom, if not nil, is asked for the key at each request if APIKey is "". refused is the
	// key that the server refused last, "" for none: there may be a new one.
	KeyFrom func(ctx context.Context, refused string) (string, error)
	// URL is the server's address in any form ParseEndpoint reads.
	URL string
	// AllowRemote permits an endpoint, or a model in Ollama's cloud, that sends code off this
	// machine. It must come from user settings only.
	AllowRemote bool
	// Model is the name as Ollama lists it, "granite4.1:3b".
	Model string
	// Unchosen: Model is quarry's default, which the user has not chosen. If Ollama lacks it,
	// quarry suggests `quarry setup model`, which recommends a model for the machine; that may
	// be another.
	Unchosen bool
	// NumCtx is the context length in tokens that Ollama loads the model with;
	// 0 means 8192. Everything that asks the model must agree on it.
	NumCtx int
	// KeepAlive is how long Ollama keeps the model in memory after a request; 0 means
	// 30 minutes, negative for ever.
	KeepAlive time.Duration
	// EmbedThreads is how many threads embedding uses on this machine. 0 means a quarter of its
	// processors. A text that is being embedded cannot be broken off, and a completion that
	// comes meanwhile then finds the other processors free.
	EmbedThreads int
	// FIM samples completions; the zero value means FIMPreset.
	FIM Preset
	// Families are the fill-in-the-middle families that the model may belong to, the likeliest by
	// its name first. What the server says of the model counts too. It belongs to the first
	// whose tags are in its vocabulary. If there are none, nothing is checked.
	Families []Family
	// Seed makes answers repeatable; 0 lets the server choose.
	Seed int
	// Beside, if not nil, is a model of the same server with which this one takes turns.
	Beside *Runtime
	// OnChange is called on every change of State, in order and one at a time. It
	// must not call Close.
	OnChange func(State)
	// OnElsewhere, if not nil, is called when an answer says that it came from another machine
	// than the server, and that is allowed. It gets the model's name and the machine's, once
	// for each, and must return soon.
	OnElsewhere func(model, host string)
	// OnSent, if not nil, is called when a server on another machine has received a text, or
	// when this machine's server has received one for a model in Ollama's cloud. It gets the
	// model's name and the host, once, and must return soon.
	OnSent func(model, host string)
	// OnAnswer, if not nil, is called with the timing of each request that got an answer, on
	// that request's goroutine. It must return soon.
	OnAnswer func(Timing)
	// Logger may be nil. Prompts and answers are never logged.
	Logger *slog.Logger
	// Clock is nil for the real one.
	Clock Clock
}

// A Family is a family of fill-in-the-middle models.
type Family struct {
	Name string
	// Tags are single tokens in the vocabularies of its models.
	Tags []string
	// Stops are the stop strings that its completions come with.
	Stops []string
	// Between is what stands between prefix and suffix, in place of tags, if the server lays
	// prompts out; "" for a family that quarry knows.
	Between string
	// Names are parts of the names of its models, in lower case, and Architectures what the
	// names of their architectures begin with.
	Names, Architectures []string
	// SuffixFirst: the suffix stands before the prefix.
	SuffixFirst bool
	// Told: the tags alone prove nothing, because other models have them too. The family is
	// looked for only if a name or the server's own template tells of it.
	Told bool
}

// Clock is the time that the watcher uses.
type Clock interface {
	Now() time.Time
	After(time.Duration) <-chan time.Time
}

type realClock struct{}

func (realClock) Now() time.Time                         { return time.Now() }
func (realClock) After(d time.Duration) <-chan time.Time { return time.After(d) }

// Runtime is a model on a server.
type Runtime struct {
	backend
	endpoint *url.URL
	http     *http.Client
	opt      Options
	log      *slog.Logger

	ctx     context.Context // of everything that runs; ended by Close
	cancel  context.CancelFunc
	running sync.WaitGroup // the watcher and every HTTP request
	start   sync.Once
	closing sync.Mutex // held while running grows, and by Close
	closed  bool       // guarded by closing

	// mayBeStuck says that a request was cut off and the server has sent no token since
	// (stuck.go). It is true at first, because that may have happened to other clients.
	mayBeStuck atomic.Bool
	lastAsked  atomic.Int64           // when the model was last asked, in Unix nanoseconds
	family     atomic.Pointer[Family] // that of the model, nil while not known
	assumed    atomic.Bool            // family is assumed, because the server does not count tokens
	parameters atomic.Int64           // of the model; 0 if not known
	trained    atomic.Int64           // the context the model was trained for, in tokens; 0 if not known

	scheduler *scheduler
	limiter   *limiter
	talking   chan struct{} // holds one token while a conversation is answered
	health    health
	metrics   metrics
}

// New checks the options and asks nothing. Start must be called before the model can be asked,
// and Close in the end.
func New(opt Options) (*Runtime, error) {
	endpoint, err := ParseEndpoint(opt.URL, opt.AllowRemote)
	if err != nil {
		return nil, err
	}
	if opt.Model == "" {
		return nil, errors.New("no model is set: name one in quarry's settings, for example granite4.1:3b")
	}
	if opt.NumCtx == 0 {
		opt.NumCtx = 8192
	}
	if opt.EmbedThreads == 0 {
		opt.EmbedThreads = max(1, runtime.NumCPU()/4)
	}
	if opt.KeepAlive == 0 {
		opt.KeepAlive = 30 * time.Minute
	}
	if opt.FIM == (Preset{}) {
		opt.FIM = FIMPreset
	}
	if opt.Clock == nil {
		opt.Clock = realClock{}
	}
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	hc := newHTTPClient(endpoint)
	var b backend
	switch opt.API {
	case "", OllamaAPI:
		b = newOllama(opt, endpoint, hc)
	case OpenAIAPI:
		b = newOpenAI(opt, endpoint, hc)
	default:
		return nil, fmt.Errorf("unknown kind of model server, %q: set it to %q or %q", opt.API, OllamaAPI, OpenAIAPI)
	}
	rt := &Runtime{
		backend:  b,
		endpoint: endpoint,
		http:     hc,
		opt:      opt,
		log:      opt.Logger.With("model", opt.Model),
	}
	rt.metrics.answered = opt.OnAnswer
	rt.ctx, rt.cancel = context.WithCancel(context.Background())
	rt.health.init(opt.API)
	rt.scheduler, rt.limiter = &scheduler{}, &limiter{}
	rt.limiter.init(opt.Clock)
	if other := opt.Beside; other != nil {
		rt.scheduler, rt.limiter = other.scheduler, other.limiter
	}
	rt.mayBeStuck.Store(true)
	rt.talking = make(chan struct{}, 1)
	return rt, nil
}

// Start begins to watch the server: it loads the model, checks it, and reports through
// OnChange. It returns at once.
func (rt *Runtime) Start() {
	rt.start.Do(func() { rt.spawn(rt.watch) })
}

// Close cancels everything that runs, and returns when it has ended.
func (rt *Runtime) Close() {
	rt.closing.Lock()
	rt.closed = true
	rt.closing.Unlock()
	rt.cancel()
	rt.running.Wait()
	rt.http.CloseIdleConnections()
}

// spawn runs f on a goroutine that Close waits for. It answers false if Close was called.
func (rt *Runtime) spawn(f func()) bool {
	rt.closing.Lock()
	defer rt.closing.Unlock()
	if rt.closed {
		return false
	}
	rt.running.Go(f)
	return true
}

// Model is the model's name as it was configured.
func (rt *Runtime) Model() string { return rt.opt.Model }

// PullsModels is whether its server has a [Library].
func (rt *Runtime) PullsModels() bool { _, ok := rt.backend.(*ollama); return ok }

// Host is the server's address, host:port.
func (rt *Runtime) Host() string { return rt.endpoint.Host }
