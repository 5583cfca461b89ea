// Package engines composes what quarry is made of: an index and its searches, a model
// server, completion, the tools and the assistant. Only it knows which concrete types
// these are; the language server and the commands ask its Core.
package engines

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"quarry/agent"
	"quarry/cmd/internal/budget"
	"quarry/cmd/internal/usage"
	"quarry/completion"
	"quarry/completion/crossfile"
	"quarry/completion/syntaxcheck"
	"quarry/index"
	"quarry/index/glob"
	"quarry/lsp"
	"quarry/lsp/settings"
	"quarry/model"
	"quarry/model/catalogue"
	"quarry/retrieval/overview"
	"quarry/retrieval/workspace"
)

// Core is the engines behind the language server and the commands. It is the server's
// whole Core.
type Core struct {
	*workspace.Workspace
	log    *slog.Logger
	notify lsp.Notify
	// job shows a long piece of work.
	job  func(title string, cancel func()) lsp.Job
	jobs *folderJobs
	// changed says that what StatusNote answers may be another.
	changed   func()
	downloads downloads
	usage     *usage.Recorder
	// statsFolder: there is a folder for it.
	statsFolder bool
	stateDir    string
	// oneShot makes the first answer wait for the model to load, for commands
	// that ask once.
	oneShot bool
	// level sets the least severe message logged; nil for commands, whose flag
	// alone says.
	level func(name string) error
	// repository and declared are what completion knows of files that are not
	// open; they outlive the engines.
	repository *completion.Repository
	declared   *crossfile.Source
	// tools read the workspace for models.
	tools *agent.Toolbox

	machine Machine
	clock   model.Clock
	ledger  *budget.Ledger // by which the user's quarrys know of each other; nil for a command, or if it cannot be
	lookDue chan struct{}  // asks for a look at memory
	asked   chan struct{}  // asks for one if other quarrys have changed anything
	looking sync.WaitGroup
	endLook context.CancelFunc

	mu       sync.Mutex
	closed   bool              // guarded by mu
	settings settings.Settings // guarded by mu
	saving   saving            // what is done without; guarded by mu
	reading  reading           // what was found of memory last; guarded by mu
	// memoryLimit is what limitMemory has set, 0 for nothing yet; guarded by mu.
	memoryLimit int64
	engines     *generation    // the ones in use; guarded by mu
	retired     sync.WaitGroup // engines that are being closed
	leaving     []*generation  // those; guarded by mu
	past        counts         // of those that are closed; guarded by mu
}

// generation is the engines made for one configuration. They are replaced as a whole.
type generation struct {
	settings   settings.Settings
	runtime    *model.Runtime // nil when the configuration allows none
	refused    error          // why it does not
	loading    *loadingJob
	completion *completion.Engine
	others     *others
	elsewhere  *Elsewhere
	sent       sync.Map        // by model and host, of what sends has kept
	ctx        context.Context // ends when they are replaced
	cancel     context.CancelFunc
	calls      sync.WaitGroup
	// advice is what would suit in place of a model that cannot be asked; nil before one was
	// found so.
	advice atomic.Pointer[advised]
}

// advised is an advice, and what is known of the model that the settings name.
type advised struct {
	catalogue.Advice
	configured catalogue.Entry
}

// Options are how engines are used.
type Options struct {
	StateDir string // of indexes, "" for the platform's
	Log      *slog.Logger
	// Level sets the least severe message logged as the settings change; nil for
	// commands, whose flag alone says.
	Level func(name string) error
	// OneShot makes the first answer wait for the model to load and for the index,
	// for commands that ask once.
	OneShot bool
	// Brief: they are asked once, and end with the answer (workspace.Options).
	Brief bool
	// Wait is how long that is at most for the index, and Incomplete, if not nil, is
	// told what it lacked then; one with a Reason is known to the user.
	Wait       time.Duration
	Incomplete func(*workspace.Missing)
	// Machine is what memory and battery are looked at by; the zero value is this one.
	Machine Machine
	// Clock is what models' watchers live by; nil for the real one.
	Clock model.Clock
}

// New makes the engines. A configuration under which no model can be asked is told to
// the user and leaves the model-free engine.
func New(start lsp.Start, opt Options) *Core {
	c := &Core{
		stateDir: opt.StateDir, log: opt.Log, notify: start.Notify, job: start.Job, changed: start.Changed, oneShot: opt.OneShot, level: opt.Level, settings: start.Settings,
	}
	c.lookDue, c.asked = make(chan struct{}, 1), make(chan struct{}, 1)
	c.clock = opt.Clock
	if c.machine = opt.Machine; c.machine.Resident == nil {
		c.machine = thisMachine()
	}
	c.setLevel(start.Settings)
	scarce := c.beside(start.Settings)
	c.limitMemory(start.Settings, c.saving, c.reading)
	stats, err := StatsDir(opt.StateDir)
	if err != nil {
		c.log.Warn("no statistics", "error", err)
	}
	c.usage = usage.New(stats, func(err error) { c.log.Warn("statistics were not written", "error", err) })
	c.statsFolder = err == nil
	if c.statsFolder && !opt.OneShot {
		if err := usage.Prune(stats, time.Now()); err != nil {
			c.log.Warn("old statistics were not removed", "error", err)
		}
	}
	c.keepStats(start.Settings)
	c.noteStart()
	if c.changed == nil {
		c.changed = func() {} // a command shows no status
	}
	c.jobs = &folderJobs{start: start.Job, changed: c.changed, took: c.usage.Indexed, running: map[folderWork]*folderJob{}}
	c.Workspace = workspace.New(workspace.Options{
		StateDir:  opt.StateDir,
		Watch:     start.Watch,
		Brief:     opt.Brief,
		WaitLimit: opt.Wait,
		Scope:     Scope(start.Settings),
		Log:       opt.Log,
		Notify:    func(message string) { start.Notify(lsp.Warning, "index "+message, message) },
		Progress:  c.jobs.scanned,
		Embedding: c.jobs.embedded,
		Follow:    c.learn,
		Project:   overview.Answer,
	})
	c.tools = c.toolbox(start)
	if c.repository = completion.NewRepository(files{c.Workspace}); opt.OneShot {
		c.repository = completion.NewBriefRepository(files{c.Workspace}, c.alike)
	}
	c.declared = crossfile.New(c.Workspace, crossfile.Similar)
	c.engines = c.start(c.saving.less(start.Settings), c.saving)
	c.SetRoots(start.Roots)
	if opt.OneShot { // it ends before anything could come near its budget
		c.catchUp(opt.Incomplete)
		return c
	}
	var ctx context.Context
	ctx, c.endLook = context.WithCancel(context.Background())
	c.looking.Go(func() { c.keepWithin(ctx, look{scarce: scarce}) })
	return c
}

// StatsDir is where the numbers of `quarry stats` are.
func StatsDir(stateDir string) (string, error) { return stateFolder(stateDir, "stats") }

// stateFolder is a folder among those for state, "" for the platform's.
func stateFolder(stateDir, name string) (string, error) {
	if stateDir == "" {
		var err error
		if stateDir, err = index.DefaultStateDir(); err != nil {
			return "", err
		}
	}
	return filepath.Join(stateDir, name), nil
}

// Scope is what the settings say of what is indexed.
func Scope(s settings.Settings) workspace.Scope {
	return workspace.Scope{
		Off: !s.Index.Enabled, Allowed: s.Index.WideFolders, Exclude: s.Index.Exclude, MaxFileBytes: int64(s.Index.MaxFileBytes), Share: s.Index.ProcessorShare,
	}
}

// files are those that the model-free engine reads.
type files struct{ *workspace.Workspace }

func (f files) Paths(root string) (list []string, known bool) {
	for _, s := range f.Searchable() {
		if s.Root == root {
			return s.Snapshot.Paths(), s.Ready
		}
	}
	return nil, false
}

func (f files) FileText(root, path string) (string, error) {
	return f.Text(filepath.Join(root, filepath.FromSlash(path)))
}

// alikeAsked is how many chunks like some code are asked for, for the files that they are in.
const alikeAsked = 64

// alike implements completion.Alike.
func (c *Core) alike(root, path, text string) (paths []string) {
	for _, chunk := range c.Similar(text, root, path, alikeAsked) {
		if chunk.Root == root && !slices.Contains(paths, chunk.Path) {
			paths = append(paths, chunk.Path)
		}
	}
	return paths
}

// learn keeps what completion knows of the workspace's files current.
func (c *Core) learn(dir string, u index.Update) {
	if u.File == nil {
		c.repository.Remove(dir, u.Path)
		return
	}
	c.repository.Changed(dir, u.Path, u.Text)
}

func (c *Core) setLevel(s settings.Settings) {
	if c.level == nil {
		return
	}
	if err := c.level(s.LogLevel); err != nil {
		c.log.Error("set the log level", "error", err) // settings take no other names
	}
}

// start makes engines for settings from which savings have been taken.
func (c *Core) start(s settings.Settings, v saving) *generation {
	e := &generation{settings: s, loading: &loadingJob{start: c.job, model: s.Model}, others: &others{}, elsewhere: &Elsewhere{}}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	if warning := KeyInPlain(s); warning != "" {
		c.notify(lsp.Warning, "key in plain", warning)
	}
	template, err := Template(s)
	if err != nil {
		c.notify(lsp.Warning, "template", err.Error())
	}
	options := ModelOptions(s)
	options.OnAnswer, options.OnElsewhere, options.OnSent, options.Clock = c.answered, e.hears(c), e.sends(c), c.clock
	options.OnChange, options.Logger = func(s model.State) { c.modelChanged(e, s); e.loading.changed(s) }, c.log
	var runtime *model.Runtime
	var generator completion.Generator
	var family func() string
	if err = errModelsOff; s.Ollama.Enabled {
		runtime, err = model.New(options)
	}
	if err == errModelsOff {
		e.refused = err
	} else if err != nil {
		e.refused = err
		c.notify(lsp.Warning, "model "+err.Error(), err.Error())
	} else {
		e.runtime, generator, family = runtime, runtime, runtime.Family
	}
	e.completion = c.completing(generator, s, template, family)
	if e.runtime != nil {
		e.runtime.Start()
	}
	embed := Embedders(e.runtime, s.Embedding, func(err error) { c.notify(lsp.Log, "embedding model", noSemanticSearch(err)) })
	embed.QueriesOnly = c.oneShot || v.battery // the one ends before it could embed anything
	c.SetEmbedders(embed)
	judge, err := reranker(e.runtime, s, func(_, host string) { e.hears(c)(byReranker, host) }, func(_, host string) { e.sends(c)(byReranker, host) })
	if err != nil {
		c.notify(lsp.Warning, "reranker", err.Error())
	}
	c.SetReranker(judge)
	return e
}

// hears keeps that a model's answers come from another machine, which the settings allow, and says so
// wherever the user looks.
func (e *generation) hears(c *Core) func(name, host string) {
	return func(name, host string) {
		e.elsewhere.Note(name, host)
		c.leaves(name, host)
		c.changed()
	}
}

// sends keeps that a server on another machine, which the settings name and allow, has taken a text for a model.
func (e *generation) sends(c *Core) func(name, host string) {
	return func(name, host string) {
		if _, said := e.sent.LoadOrStore([2]string{name, host}, true); !said {
			c.leaves(name, host)
		}
	}
}

// leaves writes down that code leaves this machine.
func (c *Core) leaves(name, host string) {
	if name == byReranker {
		name = "the reranker"
	}
	c.usage.Event(KindElsewhere, "code leaves this machine: "+name+" answers from "+host, true)
	c.usage.Flush() // `quarry status` in a terminal reads it
}

// answered notes an answer of a model.
func (c *Core) answered(t model.Timing) {
	c.usage.Answered(usage.Answer{
		FirstToken: t.FirstToken, Queue: t.Queue, Total: t.Total, Tokens: t.Tokens, PromptBytes: t.PromptBytes, ReusedBytes: t.SharedBytes,
	})
}

// completing makes what completes by a generator, nil for none, of a model of the family.
func (c *Core) completing(generator completion.Generator, s settings.Settings, template completion.Choice, family func() string) *completion.Engine {
	return completion.New(generator, completion.Options{
		ContextTokens: s.Ollama.ContextSize,
		PrefixTokens:  s.Completion.PrefixTokens,
		SuffixTokens:  s.Completion.SuffixTokens,
		SnippetTokens: s.Completion.ContextTokens,
		MaxTokens:     s.Completion.MaxTokens,
		Timeout:       time.Duration(s.Completion.Timeout),
		Debounce:      time.Duration(s.Completion.Debounce),
		Candidates:    s.Completion.Candidates,
		MinConfidence: s.Completion.MinConfidence,
		TwoRounds:     s.Completion.TwoRounds,
		Template:      template,
		Family:        family,
		Chat:          s.Completion.ChatLayout,
		Off: completion.Off{
			Everywhere: !s.Completion.Enabled,
			Languages:  s.Completion.DisabledLanguages,
			Globs:      glob.CompileAll(s.Completion.DisabledPaths),
			Bytes:      s.Completion.MaxFileBytes,
		},
		Syntax:     syntaxcheck.New(),
		Repository: c.repository,
		Context:    c.declared,
	})
}

// ModelOptions are those of the model server in the settings.
func ModelOptions(s settings.Settings) model.Options {
	return model.Options{
		API:         model.API(s.Ollama.API),
		APIKey:      s.Ollama.APIKey,
		KeyFrom:     keyOf(s),
		URL:         s.Ollama.URL,
		AllowRemote: s.Ollama.AllowRemote,
		Model:       s.Model,
		Unchosen:    s.Model == settings.Default().Model,
		NumCtx:      s.Ollama.ContextSize,
		KeepAlive:   time.Duration(s.Ollama.KeepAlive),
		FIM: model.Preset{
			Temperature:   s.Completion.Temperature,
			TopP:          s.Completion.TopP,
			RepeatPenalty: s.Completion.RepeatPenalty,
			MaxTokens:     s.Completion.MaxTokens,
		},
		Families: families(s),
	}
}

func families(s settings.Settings) []model.Family {
	var list []model.Family
	choice, _ := Template(s)
	for _, f := range choice.Families(s.Model) {
		list = append(list, model.Family(f))
	}
	return list
}

// Template is the prompt's family in the engine's terms. If the tags of a custom one
// are not there it is left to the model, and the error says so.
func Template(s settings.Settings) (completion.Choice, error) {
	switch name, tags := s.Completion.Template, s.Completion.TemplateTags; {
	case name == "auto":
		return completion.Choice{}, nil
	case name != completion.CustomTemplate:
		return completion.Choice{Template: name}, nil
	case len(tags) != 3 || slices.Contains(tags, ""):
		return completion.Choice{}, errors.New("set completion.templateTags to three tags, for prefix, suffix and middle, as completion.template is custom; until then the model's own family is looked for")
	default:
		return completion.Choice{Template: name, Tags: [3]string(tags)}, nil
	}
}

// modelChanged tells the user what is wrong with the model, once for each
// thing that can be.
func (c *Core) modelChanged(e *generation, s model.State) {
	if s.Phase == model.Missing || s.Phase == model.Unsuitable {
		c.advise(e, s.Phase)
	}
	c.changed()
	c.lookSoon()
	c.log.Info("model", "phase", s.Phase, "error", s.Err)
	switch s.Phase {
	case model.Unreachable, model.Missing, model.Unsuitable, model.Failing:
		c.usage.Event("model", string(s.Phase)+": completions are copied from open files", true)
		if !c.oneShot { // which says itself what its answer lacks
			c.notify(lsp.Warning, "model "+string(s.Phase), fmt.Sprintf("%v. Until then, completions are copied from your open files.", e.recommending(s)))
		}
	case model.Ready:
		if s.Warning != "" {
			c.notify(lsp.Warning, s.Warning, s.Warning)
		}
	}
}

// recommending is what is wrong with the model. Of one that is missing and that nobody named it says what `quarry setup model`
// recommends in its place, and why, so that there is one recommendation.
func (e *generation) recommending(s model.State) string {
	said := s.Err.Error()
	if advice := e.advice.Load(); advice != nil && advice.Completion.Name != "" && s.Phase == model.Missing && e.settings.Model == settings.Default().Model {
		said += ". " + advice.Completion.Suits("this machine")
	}
	return said
}

// Complete implements lsp.Core.
func (c *Core) Complete(ctx context.Context, req completion.Request) (completion.Result, error) {
	select {
	case c.asked <- struct{}{}: // another may ask the model in another way from now on; ghost text waits for no disk
	default:
	}
	e := c.acquire()
	defer e.calls.Done()
	asked := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.ctx, cancel)()
	if c.oneShot && e.runtime != nil {
		if err := e.runtime.WaitReady(ctx); err != nil && ctx.Err() != nil {
			return completion.Result{}, ctx.Err()
		}
	}
	res, err := c.engineOf(ctx, e, req.Language).Complete(ctx, req)
	if err == nil && len(res.Items) > 0 {
		c.usage.Shown(req.Key, req.Language, res.Engine, res.Items[0].Text, res.Items[0].Start)
	}
	if res.Timings.Context > 0 {
		c.usage.Retrieved(res.Timings.Context)
	}
	if err != nil && asked.Err() == nil && e.ctx.Err() != nil {
		return completion.Result{Note: "the settings changed meanwhile"}, nil
	}
	return res, err
}

// catchUp waits for the index, but not for the first one of a large workspace: a
// completion without other files' declarations is better than none.
func (c *Core) catchUp(incomplete func(*workspace.Missing)) {
	missing, err := c.Workspace.Await(context.Background())
	switch {
	case err != nil: // said when it was opened
		c.log.Info("answering without the index", "error", err)
		if incomplete != nil {
			incomplete(&workspace.Missing{Doing: "unopened", Folder: strings.Join(c.Roots(), ", "), Searchable: []string{}, Reason: err.Error()})
		}
	case missing != nil && incomplete != nil:
		incomplete(missing)
	}
}

// Prefetch implements lsp.Core.
func (c *Core) Prefetch(req completion.Request) {
	c.usage.Accepted(req.Key, req.Language)
	e := c.acquire()
	defer e.calls.Done()
	c.engineOf(e.ctx, e, req.Language).Prefetch(req)
}

// Forget implements lsp.Core.
func (c *Core) Forget(key string) {
	c.usage.Closed(key)
	e := c.acquire()
	defer e.calls.Done()
	e.completion.Forget(key)
	for _, o := range e.others.all() {
		o.completion.Forget(key)
	}
}

// acquire is the engines in use; the caller calls calls.Done. Who comes after Close gets
// what is closed: nobody waits for those calls.
func (c *Core) acquire() *generation {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.engines
	if c.closed {
		e = &generation{settings: e.settings, runtime: e.runtime, refused: e.refused, loading: e.loading, completion: e.completion, others: e.others, elsewhere: e.elsewhere, ctx: e.ctx, cancel: e.cancel}
	}
	e.calls.Add(1)
	return e
}

// Configure implements lsp.Core.
func (c *Core) Configure(s settings.Settings) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if reflect.DeepEqual(s, c.settings) {
		return nil
	}
	c.settings = s
	c.setLevel(s)
	c.keepStats(s)
	c.SetScope(Scope(s))
	old := c.engines
	c.engines = c.start(c.saving.less(s), c.saving)
	c.changed()
	c.retire(old)
	c.lookSoon()
	return nil
}

// restart replaces the engines if anything differs for them. mu is held.
func (c *Core) restart(before, after settings.Settings, was, now saving) {
	if reflect.DeepEqual(before, after) && was.battery == now.battery {
		return
	}
	old := c.engines
	c.engines = c.start(after, now)
	c.retire(old)
}

// retire closes engines that were replaced; what they did goes on counting. mu is held.
func (c *Core) retire(old *generation) {
	c.leaving = append(c.leaving, old)
	c.retired.Go(func() {
		old.close()
		c.mu.Lock()
		defer c.mu.Unlock()
		c.leaving = slices.DeleteFunc(c.leaving, func(e *generation) bool { return e == old })
		c.past.add(old.counts())
	})
}

// Close implements lsp.Core.
func (c *Core) Close() error {
	c.usage.Flush() // first: a server that takes long to end is ended by force
	if c.endLook != nil {
		c.endLook()
		c.looking.Wait()
	}
	c.ledger.Leave()
	c.Workspace.Close()
	c.mu.Lock()
	e := c.engines
	c.closed = true
	c.mu.Unlock()
	e.close()
	c.retired.Wait()
	c.usage.Close()
	return nil
}

// close ends the calls under way, then the engines.
func (e *generation) close() {
	e.cancel()
	e.calls.Wait()
	e.others.close()
	e.completion.Close()
	if e.runtime != nil {
		e.runtime.Close()
	}
	e.loading.end("")
}
