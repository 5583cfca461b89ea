// Package modeltest is a scripted stand-in for Ollama's HTTP interface (version
// 0.17.4), and for OpenAI's completions interface, for tests of what a model runtime and an editor session do
// with answers, delays and failures of a known shape.
//
// A Server behaves as an Ollama with OLLAMA_NUM_PARALLEL=1 does where a client
// can tell: generations run one at a time and the others queue, a cancelled
// request leaves the queue at once, stop strings are cut and a beginning of one
// is held back, num_predict ends an answer, a prompt longer than num_ctx is a
// 400 when truncation is off, an empty prompt loads the model. What a model
// would say, when, and what goes wrong is the script: a function from request
// to Answer, or a queue of Answers. Nothing waits on a clock; an answer is held
// by channels that the test closes or feeds.
//
// A Server is safe for concurrent use. It imports nothing outside the standard
// library, so a process under test sees only HTTP.
package modeltest

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// DefaultModel is the model a Server has unless SetModels says otherwise.
const DefaultModel = "granite4.1:3b"

// Model is one model the Server lists.
type Model struct {
	Name string
	// ContextLength is what the model was trained for; 0 means 131072.
	ContextLength int
	// NoFIM makes the fill-in-the-middle tags ordinary text, as in a model
	// whose vocabulary lacks them: they then count as several tokens each.
	NoFIM bool
	// Tags are the special tokens of the vocabulary, Granite's if nil.
	Tags []string
	// Parameters is how many the model says it has; 0 says nothing.
	Parameters float64
	// Infills makes /infill serve the model, whatever its tags are.
	Infills bool
	// Architecture is "granite" if empty; "granitehybrid" is that of the -h tags.
	Architecture string
	// Template is Ollama's template for prompts, one for chats if empty.
	Template string
	// MadeFrom is what the weights are called, whatever the model is: general.basename of
	// Ollama's answer about it, root of vLLM's.
	MadeFrom string
	// Inserts makes Ollama say that the model fills in the middle.
	Inserts bool
	// NoCounts makes the server say of nothing under /v1 how many tokens it has.
	NoCounts bool
	// NoChat makes the chat template one that lets through what the user says alone.
	NoChat bool
	// NoTools makes the chat template one that knows no tools.
	NoTools bool
	// Bytes is what the model takes of memory with a context of 1024 tokens, of which each further
	// one takes BytesPerToken; 0 says nothing.
	Bytes, BytesPerToken int64
	// RemoteHost is set for a model that Ollama runs on another machine: every answer
	// of Ollama's own interface says so, and none under /v1. If Secretly, those to a prompt
	// do, of either interface, and no others.
	RemoteHost string
	Secretly   bool
}

// origin puts into an answer what Ollama says of a model on another machine.
func (m Model) origin(answer map[string]any) map[string]any {
	if m.RemoteHost != "" {
		answer["remote_host"], answer["remote_model"] = m.RemoteHost, m.Name
	}
	return answer
}

// Answer is what one /api/generate request gets. The zero Answer is a model
// that ends at once.
type Answer struct {
	// Pieces are the tokens in order, one streamed chunk each.
	Pieces []string
	// Logprobs belong to Pieces by index; missing ones are -1.
	Logprobs []float64

	// Hold keeps the request in prompt evaluation until it is closed. Like the
	// real one it cannot be interrupted: a cancelled request holds its place.
	Hold <-chan struct{}
	// Gate, if set, is received from before each piece; closing it lets all
	// further pieces go. Cancelling the request ends the wait.
	Gate <-chan struct{}

	// Status, if not 0, answers this HTTP status with Message as the error.
	Status  int
	Message string
	// RetryAfter is that header of it, if not empty.
	RetryAfter string
	// ErrorLine ends the stream after Pieces with an error in a 200 answer.
	ErrorLine string
	// Disconnect cuts the connection after Pieces.
	Disconnect bool
	// GetStuck keeps the model's only place taken when this request is cancelled
	// between two pieces, until the model is unloaded. Ollama 0.17.4 does that
	// when a cancel comes at a bad moment.
	GetStuck bool
	// Late keeps the model in use by this request, after it got stuck, until another
	// waits for it, so that the model has been unused at no time.
	Late bool
	// OnlyLoads answers that the model is in memory, and nothing else.
	OnlyLoads bool
	// Took is how long the server says that the tokens took, 1 ns if 0.
	Took time.Duration
	// NoDone ends the stream after Pieces cleanly, without the done chunk.
	NoDone bool
}

// Server is the fake. Make one with Start or NewServer.
type Server struct {
	// URL is the base address, "http://127.0.0.1:PORT". It survives Stop and
	// Restart.
	URL string

	addr string

	mu       sync.Mutex // guards everything below
	http     *http.Server
	served   chan struct{} // closed when the current http.Serve returned
	stopping chan struct{} // closed by Stop: ends every Hold
	version  string
	apiKey   string
	strict   bool // as in LikeVLLM
	refusal  int  // as in RefuseLists
	probes   int
	models   []Model
	cloud    bool
	script   func(Request) Answer
	queue    []Answer
	embed    func(Request) EmbedAnswer
	log      []*record
	changed  chan struct{} // closed and replaced whenever a record changes
	loaded   map[string]*loadedModel
	loads    int
	unloads  int
	pulls    <-chan struct{} // holds downloads; guarded by mu
	waiting  int
	maxQueue int
	slot     chan struct{}   // holds one token while a generation runs
	stuck    bool            // the one in slot will never end
	frozen   chan struct{}   // closed by Thaw; nil while not frozen
	loading  <-chan struct{} // as in HoldLoads
	looks    <-chan struct{} // as in HoldLooks
	looked   chan struct{}   // closed and nil once looks holds one
	answered int             // looks
}

// keepAlive is how long the Server keeps a model in memory.
const keepAlive = time.Hour

type loadedModel struct {
	numCtx int
	users  int // requests that have it
	// dropped says that it leaves memory when no request has it.
	dropped bool
	// loading is closed when it is in memory; nil if it came there at once.
	loading <-chan struct{}
	// expires is set when the last of them ends, as Ollama does: before the first
	// it is said to be keepAlive from now, whenever one asks.
	expires time.Time
}

// Start serves on a free loopback port. The caller closes the Server.
func Start() (*Server, error) {
	s := &Server{
		version: "0.17.4",
		models:  []Model{{Name: DefaultModel}},
		changed: make(chan struct{}),
		loaded:  map[string]*loadedModel{},
		slot:    make(chan struct{}, 1),
	}
	if err := s.listen("127.0.0.1:0"); err != nil {
		return nil, err
	}
	s.URL = "http://" + s.addr
	return s, nil
}

// TB is the part of testing.TB that NewServer needs.
type TB interface {
	Helper()
	Cleanup(func())
	Fatalf(format string, args ...any)
}

// NewServer is Start for a test: the Server is closed when the test ends.
func NewServer(t TB) *Server {
	t.Helper()
	s, err := Start()
	if err != nil {
		t.Fatalf("start the fake Ollama: %v", err)
	}
	t.Cleanup(s.Close)
	return s
}

func (s *Server) listen(addr string) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "Ollama is running") })
	mux.HandleFunc("GET /api/version", s.sayVersion)
	mux.HandleFunc("GET /api/tags", s.tags)
	mux.HandleFunc("GET /api/ps", s.ps)
	mux.HandleFunc("POST /api/show", s.show)
	mux.HandleFunc("POST /api/pull", s.pull)
	mux.HandleFunc("POST /api/copy", s.copyModel)
	mux.HandleFunc("DELETE /api/delete", s.deleteModel)
	mux.HandleFunc("POST /api/generate", s.generate)
	mux.HandleFunc("POST /api/chat", s.renderChat)
	mux.HandleFunc("POST /api/embed", s.embedTexts)
	mux.HandleFunc("GET /v1/models", s.listModels)
	mux.HandleFunc("POST /v1/completions", s.completions)
	mux.HandleFunc("POST /v1/embeddings", s.embeddings)
	mux.HandleFunc("POST /infill", s.infill)
	h := &http.Server{Handler: s.unlessFrozen(mux)}
	served := make(chan struct{})
	s.mu.Lock()
	s.addr, s.http, s.served, s.stopping = l.Addr().String(), h, served, make(chan struct{})
	s.mu.Unlock()
	go func() {
		defer close(served)
		_ = h.Serve(l) // always an error: Stop closed the listener
	}()
	return nil
}

// Freeze makes the Server accept connections and answer nobody, as an Ollama
// does that was stopped by SIGSTOP, until Thaw or Stop.
func (s *Server) Freeze() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frozen = make(chan struct{})
}

// Thaw ends what Freeze began.
func (s *Server) Thaw() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.frozen)
	s.frozen = nil
}

func (s *Server) unlessFrozen(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		frozen, stopping := s.frozen, s.stopping
		s.mu.Unlock()
		if frozen != nil {
			select {
			case <-frozen:
			case <-stopping:
			case <-r.Context().Done():
			}
		}
		next.ServeHTTP(w, r)
	})
}

// Close stops the Server for good.
func (s *Server) Close() { s.Stop() }

// Stop makes the Server refuse connections and cuts those it has, as a killed
// Ollama does. Loaded models are forgotten.
func (s *Server) Stop() {
	s.mu.Lock()
	h, served, stopping := s.http, s.served, s.stopping
	s.http = nil
	s.loaded = map[string]*loadedModel{}
	s.mu.Unlock()
	if h == nil {
		return
	}
	close(stopping)
	_ = h.Close()
	<-served
}

// Restart serves again, at the same URL, after Stop.
func (s *Server) Restart() error { return s.listen(s.addr) }

// SetModels replaces the models the Server has.
func (s *Server) SetModels(models ...Model) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.models = slices.Clone(models)
}

// SetCloud makes the Server behave as Ollama 0.18.0 and later do for who is signed in: a
// model whose name ends in :cloud, or whose tag does in -cloud, is there without being
// listed, and no answer says where it runs, since each is the cloud's own.
func (s *Server) SetCloud() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cloud, s.version = true, "0.18.0"
}

// SetVersion is what the Server says its version is, "0.17.4" at first.
func (s *Server) SetVersion(version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version = version
}

// RefuseLists makes the Server answer this HTTP status to who asks for its version or the list of its models, and not to be
// asked again for an hour; 0 ends that.
func (s *Server) RefuseLists(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusal = status
}

// refusesLists answers a request as RefuseLists wants it, if it does.
func (s *Server) refusesLists(w http.ResponseWriter) bool {
	s.mu.Lock()
	status := s.refusal
	s.mu.Unlock()
	if status == 0 {
		return false
	}
	Answer{RetryAfter: "3600"}.later(w)
	openAIError(w, status, "server busy")
	return true
}

// later sets the header of an answer that is to be asked for again.
func (a Answer) later(w http.ResponseWriter) {
	if a.RetryAfter != "" {
		w.Header().Set("Retry-After", a.RetryAfter)
	}
}

// Probes is how often the version was asked for.
func (s *Server) Probes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.probes
}

// Script answers every request whose turn no queued Answer has. It is called
// once the request has the model, without locks held.
func (s *Server) Script(f func(Request) Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = f
}

// Queue appends answers for the next requests with a prompt, before the script
// is asked again.
func (s *Server) Queue(answers ...Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, answers...)
}

// ScriptEmbed sets what /api/embed answers, for any model that SetModels lists.
func (s *Server) ScriptEmbed(f func(Request) EmbedAnswer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.embed = f
}

// Unload forgets the loaded models, as keep_alive running out does.
func (s *Server) Unload() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loaded = map[string]*loadedModel{}
}

// HoldLoads makes every load take until c is closed.
func (s *Server) HoldLoads(c <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loading = c
}

// Loads is how often a model was loaded, because it was not in memory or was
// there with another num_ctx.
func (s *Server) Loads() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.loads
}

// Unloads is how often somebody asked for a model to be dropped.
func (s *Server) Unloads() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unloads
}

// MaxQueued is the largest number of generations that waited at once for
// another to end.
func (s *Server) MaxQueued() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.maxQueue
}

func (s *Server) findModel(name string) (Model, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.models {
		if fullName(m.Name) == fullName(name) {
			return m, true
		}
	}
	if i := strings.LastIndexByte(name, ':'); s.cloud && i >= 0 {
		tag := strings.ToLower(strings.TrimSpace(name[i+1:]))
		return Model{Name: name}, tag == "cloud" || strings.HasSuffix(tag, "-cloud") && !strings.Contains(tag, "/")
	}
	return Model{}, false
}

func fullName(name string) string {
	if !strings.Contains(name, ":") {
		return name + ":latest"
	}
	return name
}

func (s *Server) sayVersion(w http.ResponseWriter, _ *http.Request) {
	if s.refusesLists(w) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.probes++
	s.notify()
	reply(w, 200, map[string]any{"version": s.version})
}

func (s *Server) tags(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []map[string]any{}
	for _, m := range s.models {
		about := map[string]any{"name": fullName(m.Name), "model": fullName(m.Name), "size": 2_100_000_000, "digest": digestOf(fullName(m.Name))}
		if !m.Secretly {
			m.origin(about)
		}
		list = append(list, about)
	}
	reply(w, 200, map[string]any{"models": list})
}

// digestOf is that of a model, by its full name.
func digestOf(name string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(name))) }

// copyModel gives a model a second name.
func (s *Server) copyModel(w http.ResponseWriter, r *http.Request) {
	var req struct{ Source, Destination string }
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		reply(w, 400, map[string]any{"error": err.Error()})
		return
	}
	m, ok := s.findModel(req.Source)
	if !ok {
		reply(w, 404, map[string]any{"error": fmt.Sprintf("model %q not found", req.Source)})
		return
	}
	m.Name = req.Destination
	s.mu.Lock()
	defer s.mu.Unlock()
	s.models = append(slices.DeleteFunc(s.models, func(old Model) bool { return fullName(old.Name) == fullName(m.Name) }), m)
}

func (s *Server) deleteModel(w http.ResponseWriter, r *http.Request) {
	var req struct{ Name, Model string }
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		reply(w, 400, map[string]any{"error": err.Error()})
		return
	}
	name := fullName(cmp.Or(req.Model, req.Name))
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.models)
	if s.models = slices.DeleteFunc(s.models, func(m Model) bool { return fullName(m.Name) == name }); len(s.models) == before {
		reply(w, 404, map[string]any{"error": fmt.Sprintf("model %q not found", name)})
	}
}

// HoldPulls makes downloads stop in their middle until c is closed.
func (s *Server) HoldPulls(c <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pulls = c
}

// pull downloads a model of two parts.
func (s *Server) pull(w http.ResponseWriter, r *http.Request) {
	var req struct{ Model string }
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		reply(w, 400, map[string]any{"error": err.Error()})
		return
	}
	say := func(line map[string]any) {
		_ = json.NewEncoder(w).Encode(line) // who is gone reads nothing more
		_ = http.NewResponseController(w).Flush()
	}
	say(map[string]any{"status": "pulling manifest"})
	say(map[string]any{"status": "pulling a", "digest": "sha256:a", "total": 800_000_000, "completed": 800_000_000})
	say(map[string]any{"status": "pulling b", "digest": "sha256:b", "total": 1_200_000_000, "completed": 0})
	s.mu.Lock()
	hold := s.pulls
	s.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-r.Context().Done():
			return
		}
	}
	s.mu.Lock()
	if !slices.ContainsFunc(s.models, func(m Model) bool { return fullName(m.Name) == fullName(req.Model) }) {
		s.models = append(s.models, Model{Name: req.Model})
	}
	s.mu.Unlock()
	say(map[string]any{"status": "success"})
}

// HoldLooks makes /api/ps answer when until is closed. came is closed when the first has asked.
func (s *Server) HoldLooks(until <-chan struct{}) (came <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looks, s.looked = until, make(chan struct{})
	return s.looked
}

// Looks is how often /api/ps has answered.
func (s *Server) Looks() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.answered
}

func (s *Server) ps(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	until, stopping := s.looks, s.stopping
	if s.looked != nil {
		close(s.looked)
		s.looked = nil
	}
	s.mu.Unlock()
	if until != nil {
		select {
		case <-until:
		case <-r.Context().Done():
		case <-stopping:
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answered++
	list := []map[string]any{}
	for name, m := range s.loaded {
		if s.isElsewhere(name) {
			continue
		}
		expires := m.expires
		if expires.IsZero() {
			expires = time.Now().Add(keepAlive)
		}
		list = append(list, map[string]any{"name": name, "model": name, "context_length": m.numCtx, "expires_at": expires, "size": s.sizeOf(name, m.numCtx), "digest": digestOf(name)})
	}
	reply(w, 200, map[string]any{"models": list})
}

// isElsewhere is whether another machine has the model in its memory. mu is held.
func (s *Server) isElsewhere(name string) bool {
	return slices.ContainsFunc(s.models, func(m Model) bool { return fullName(m.Name) == name && m.RemoteHost != "" })
}

// sizeOf is what a loaded model takes. mu is held.
func (s *Server) sizeOf(name string, numCtx int) int64 {
	at := slices.IndexFunc(s.models, func(m Model) bool { return fullName(m.Name) == name })
	if at < 0 {
		return 0
	}
	return s.models[at].Bytes + int64(max(numCtx-1024, 0))*s.models[at].BytesPerToken
}

func (s *Server) show(w http.ResponseWriter, r *http.Request) {
	var req struct{ Model, Name string }
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		reply(w, 400, map[string]any{"error": err.Error()})
		return
	}
	if req.Model == "" {
		req.Model = req.Name
	}
	m, ok := s.findModel(req.Model)
	if !ok {
		reply(w, 404, map[string]any{"error": fmt.Sprintf("model '%s' not found", req.Model)})
		return
	}
	arch := cmp.Or(m.Architecture, "granite")
	about := map[string]any{
		"template":     "{{ range .Messages }}{{ .Role }}: {{ .Content }}{{ end }}{{ .Tools }}",
		"details":      map[string]any{"family": arch, "parameter_size": "3.4B", "quantization_level": "Q4_K_M"},
		"model_info":   map[string]any{"general.architecture": arch, arch + ".context_length": cmp.Or(m.ContextLength, 131072)},
		"capabilities": []string{"completion", "tools"},
	}
	if m.NoTools || m.NoChat {
		about["template"], about["capabilities"] = "{{ range .Messages }}{{ .Content }}{{ end }}", []string{"completion"}
	}
	if m.NoChat {
		about["template"] = "{{ .Prompt }}"
	}
	if m.Template != "" {
		about["template"] = m.Template
	}
	if m.MadeFrom != "" {
		about["model_info"].(map[string]any)["general.basename"] = m.MadeFrom
	}
	if m.Inserts {
		about["capabilities"] = append(about["capabilities"].([]string), "insert")
	}
	if m.Parameters > 0 {
		about["model_info"].(map[string]any)["general.parameter_count"] = m.Parameters
	}
	if !m.Secretly {
		m.origin(about)
	}
	reply(w, 200, about)
}

// compatible is origin for an answer under /v1.
func (m Model) compatible(answer map[string]any) map[string]any {
	if m.Secretly {
		m.origin(answer)
	}
	return answer
}

// fimTags are the strings that are one token each in Granite's vocabulary.
var fimTags = []string{"<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>", "<|fim_pad|>", "<|filename|>", "<|reponame|>", "<|end_of_text|>", "<|start_of_role|>", "<|end_of_role|>"}

// CountTokens is the Server's tokenizer: a special token is one, other text is
// one for every four bytes, rounded up.
func CountTokens(text string, noFIM bool) int { return Model{NoFIM: noFIM}.tokens(text) }

func (m Model) tokens(text string) int {
	special := m.Tags
	if special == nil {
		special = fimTags
	}
	n := 0
	if !m.NoFIM {
		for _, tag := range special {
			n += strings.Count(text, tag)
			text = strings.ReplaceAll(text, tag, "")
		}
	}
	return n + int(math.Ceil(float64(len(text))/4))
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // a client gone away is no error of the fake
}
