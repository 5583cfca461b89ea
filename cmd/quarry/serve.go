package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"reflect"
	"sync"
	"time"

	"quarry/agent"
	"quarry/completion"
	"quarry/completion/crossfile"
	"quarry/completion/syntaxgate"
	"quarry/index"
	"quarry/index/glob"
	"quarry/lsp"
	"quarry/lsp/lsptest"
	"quarry/lsp/settings"
	"quarry/model"
	"quarry/retrieval/workspace"
)

// core is the concrete engines behind the language server; this file is the only
// place that knows which ones.
type core struct {
	*workspace.Workspace
	log  *slog.Logger
	tell lsp.Tell
	// job shows a long piece of work.
	job func(title string, cancel func()) lsp.Job
	// patient makes the first answer wait for the model to load, for commands
	// that ask once.
	patient bool
	// level sets the least severe message logged; nil for commands, whose flag
	// alone says.
	level func(name string) error
	// repository and declared are what completion knows of files that are not
	// open; they outlive the engines.
	repository *completion.Repository
	declared   *crossfile.Source
	// tools read the workspace for models.
	tools *agent.Toolbox

	mu       sync.Mutex
	settings settings.Settings // guarded by mu
	engines  *engines          // the ones in use; guarded by mu
	retired  sync.WaitGroup    // engines that are being closed
}

// engines are made for one configuration and replaced as a whole.
type engines struct {
	runtime    *model.Runtime // nil when the configuration allows none
	loading    *loadingJob
	completion *completion.Engine
	ctx        context.Context // ends when they are replaced
	cancel     context.CancelFunc
	calls      sync.WaitGroup
}

// newCore makes the engines. A configuration under which no model can be asked
// is told to the person and leaves the model-free engine.
func (a *app) newCore(start lsp.Start, patient bool) *core {
	c := &core{
		log: a.log, tell: start.Tell, job: start.Job, patient: patient, settings: start.Settings,
		repository: &completion.Repository{},
	}
	if !patient {
		c.level = a.setLogLevel
		c.setLevel(start.Settings)
	}
	jobs := &folderJobs{start: start.Job, running: map[string]lsp.Job{}}
	c.Workspace = workspace.New(workspace.Options{
		StateDir:  a.stateDir,
		Watch:     start.Watch,
		Log:       a.log,
		Tell:      func(message string) { start.Tell(lsp.Warning, "index "+message, message) },
		Progress:  jobs.scanned,
		Embedding: jobs.embedded,
		Follow:    c.learn,
	})
	c.tools = c.toolbox(start)
	c.declared = crossfile.New(c.Workspace, crossfile.Similar)
	c.engines = c.start(start.Settings)
	c.SetRoots(start.Roots)
	if patient {
		c.catchUp()
	}
	return c
}

// learn keeps what completion knows of the workspace's files current.
func (c *core) learn(dir string, u index.Update) {
	if u.File == nil {
		c.repository.Unlearn(dir, u.Path)
		c.declared.Remove(dir, u.Path)
		return
	}
	c.repository.Learn(dir, u.Path, u.Text)
	c.declared.Put(dir, u.Path, u.File.Syntax)
}

func (c *core) setLevel(s settings.Settings) {
	if c.level == nil {
		return
	}
	if err := c.level(s.LogLevel); err != nil {
		c.log.Error("set the log level", "error", err) // settings take no other names
	}
}

func (c *core) start(s settings.Settings) *engines {
	e := &engines{loading: &loadingJob{start: c.job, model: s.Model}}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	template := templateName(s)
	options := runtimeOptions(s)
	options.OnChange, options.Logger = func(s model.State) { c.modelChanged(s); e.loading.changed(s) }, c.log
	runtime, err := model.New(options)
	var generator completion.Generator
	if err != nil {
		c.tell(lsp.Warning, "model "+err.Error(), err.Error())
	} else {
		e.runtime, generator = runtime, runtime
	}
	e.completion = completion.New(generator, completion.Options{
		ContextTokens: s.Ollama.ContextSize,
		MaxTokens:     s.Completion.MaxTokens,
		Timeout:       time.Duration(s.Completion.Timeout),
		Debounce:      time.Duration(s.Completion.Debounce),
		Candidates:    s.Completion.Candidates,
		MinConfidence: s.Completion.MinConfidence,
		TwoRounds:     s.Completion.TwoRounds,
		Template:      template,
		Chat:          s.Completion.ChatLayout,
		Off: completion.Off{
			Everywhere: !s.Completion.Enabled,
			Languages:  s.Completion.DisabledLanguages,
			Globs:      glob.CompileAll(s.Completion.DisabledPaths),
			Bytes:      s.Completion.MaxFileBytes,
		},
		Syntax:     syntaxgate.New(),
		Repository: c.repository,
		Context:    c.declared,
	})
	if e.runtime != nil {
		e.runtime.Start()
	}
	embed := embedders(e.runtime, s.Embedding, func(err error) { c.tell(lsp.Log, "embedding model", withoutMeaning(err)) })
	embed.QueriesOnly = c.patient // it ends before it could embed anything
	c.SetEmbedders(embed)
	judge, err := reranker(e.runtime, s)
	if err != nil {
		c.tell(lsp.Warning, "reranker", err.Error())
	}
	c.SetReranker(judge)
	return e
}

// runtimeOptions are those of the model server in the settings.
func runtimeOptions(s settings.Settings) model.Options {
	return model.Options{
		API:         model.API(s.Ollama.API),
		APIKey:      s.Ollama.APIKey,
		URL:         s.Ollama.URL,
		AllowRemote: s.Ollama.AllowRemote,
		Model:       s.Model,
		NumCtx:      s.Ollama.ContextSize,
		KeepAlive:   time.Duration(s.Ollama.KeepAlive),
		FIM: model.Preset{
			Temperature:   s.Completion.Temperature,
			TopP:          s.Completion.TopP,
			RepeatPenalty: s.Completion.RepeatPenalty,
			MaxTokens:     s.Completion.MaxTokens,
		},
		FIMTags: completion.Tags(templateName(s), s.Model),
		Stop:    completion.Stops(templateName(s), s.Model),
	}
}

// templateName is the prompt's family in the engine's terms.
func templateName(s settings.Settings) string {
	if s.Completion.Template == "auto" {
		return ""
	}
	return s.Completion.Template
}

// modelChanged tells the person what is wrong with the model, once for each
// thing that can be.
func (c *core) modelChanged(s model.State) {
	c.log.Info("model", "phase", s.Phase, "error", s.Err)
	switch s.Phase {
	case model.Unreachable, model.Missing, model.Unsuitable, model.Failing:
		c.tell(lsp.Warning, "model "+string(s.Phase), fmt.Sprintf("%v. Until then completions are copied from your open files.", s.Err))
	case model.Ready:
		if s.Warning != "" {
			c.tell(lsp.Warning, s.Warning, s.Warning)
		}
	}
}

// Complete implements lsp.Core.
func (c *core) Complete(ctx context.Context, req completion.Request) (completion.Result, error) {
	e := c.acquire()
	defer e.calls.Done()
	asked := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.ctx, cancel)()
	if c.patient && e.runtime != nil {
		if err := e.runtime.WaitReady(ctx); err != nil && ctx.Err() != nil {
			return completion.Result{}, ctx.Err()
		}
	}
	res, err := e.completion.Complete(ctx, req)
	if err != nil && asked.Err() == nil && e.ctx.Err() != nil {
		return completion.Result{Note: "the settings changed meanwhile"}, nil
	}
	return res, err
}

// catchUp waits for the index, but not for the first one of a large workspace:
// a completion without other files' declarations is better than none.
func (c *core) catchUp() {
	const most = 5 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	if err := c.Workspace.CatchUp(ctx); err != nil {
		c.log.Info("completing without all of the index", "error", err)
	}
}

// Prefetch implements lsp.Core.
func (c *core) Prefetch(req completion.Request) {
	e := c.acquire()
	defer e.calls.Done()
	e.completion.Prefetch(req)
}

// Forget implements lsp.Core.
func (c *core) Forget(key string) {
	e := c.acquire()
	defer e.calls.Done()
	e.completion.Forget(key)
}

// acquire is the engines in use; the caller calls calls.Done.
func (c *core) acquire() *engines {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.engines.calls.Add(1)
	return c.engines
}

// Configure implements lsp.Core.
func (c *core) Configure(s settings.Settings) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if reflect.DeepEqual(s, c.settings) {
		return nil
	}
	c.settings = s
	c.setLevel(s)
	old := c.engines
	c.engines = c.start(s)
	c.retired.Go(old.close)
	return nil
}

// Close implements lsp.Core.
func (c *core) Close() error {
	c.Workspace.Close()
	c.mu.Lock()
	e := c.engines
	c.mu.Unlock()
	e.close()
	c.retired.Wait()
	return nil
}

// close ends the calls under way, then the engines.
func (e *engines) close() {
	e.cancel()
	e.calls.Wait()
	e.completion.Close()
	if e.runtime != nil {
		e.runtime.Close()
	}
	e.loading.end("")
}

// serverOptions are those of a language server over this app's settings.
func (a *app) serverOptions(patient bool) lsp.Options {
	return lsp.Options{
		Version:  version(),
		Log:      a.log,
		Settings: a.settings,
		NewCore:  func(start lsp.Start) (lsp.Core, error) { return a.newCore(start, patient), nil },
	}
}

// headless starts a language server in this process and a headless editor on
// root that speaks to it. quit ends both.
func (a *app) headless(ctx context.Context, root string) (e *lsptest.Editor, quit func() error, err error) {
	profile, err := lsptest.LoadProfile("vscode")
	if err != nil {
		return nil, nil, err
	}
	client, server := net.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		lsp.Serve(ctx, server, a.serverOptions(true))
	}()
	e, err = lsptest.Connect(ctx, client, lsptest.Options{Profile: profile, Root: root})
	if err != nil {
		_ = client.Close()
		<-ended
		return nil, nil, err
	}
	return e, func() error {
		_, err := e.Quit(context.WithoutCancel(ctx))
		<-ended
		return err
	}, nil
}
