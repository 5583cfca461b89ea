package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ollama/ollama/api"
	names "github.com/ollama/ollama/types/model"
)

// ollama is the backend for Ollama's own interface. All its requests carry the same runner
// options, because another num_ctx would make Ollama reload the model and lose its cache.
type ollama struct {
	api       *api.Client
	http      *http.Client // what api uses
	guard     *guard       // the transport of http
	shared    *http.Client // for other models, each through a guard of its own
	endpoint  *url.URL
	model     string
	unchosen  string // the model that the user has not named, "" for none: see Options.Unchosen
	numCtx    int
	keepAlive time.Duration
	remote    bool // other machines may be used
	hears     hears
	// embedThreads is how many threads a model on this machine embeds with. All requests name
	// it, because another number would reload the model.
	embedThreads int
}

func newOllama(opt Options, endpoint *url.URL, hc *http.Client) *ollama {
	base := *endpoint
	base.Path = strings.TrimSuffix(base.Path, versionPath) // the path of its other interface, which users may have pasted
	c := ollama{
		shared: hc, endpoint: &base, numCtx: opt.NumCtx, keepAlive: opt.KeepAlive, remote: opt.AllowRemote, hears: hears{opt.OnElsewhere, opt.OnSent}, embedThreads: opt.EmbedThreads,
	}
	if opt.Unchosen {
		c.unchosen = opt.Model
	}
	return c.of(opt.Model)
}

// of is a backend of the same server for another model.
func (c ollama) of(model string) *ollama {
	c.model = model
	c.http, c.guard = guarded(c.shared, model, c.remote, c.hears)
	c.api = api.NewClient(c.endpoint, c.http)
	return &c
}

// Ollama reads a prompt to its end even if the request is cancelled, and cancelling a request
// that makes it load the model throws the load away.
func (c *ollama) interruptible() bool { return false }

func (c *ollama) request(prompt string, options map[string]any) *api.GenerateRequest {
	no := false
	all := map[string]any{"num_ctx": c.numCtx}
	for k, v := range options {
		all[k] = v
	}
	return &api.GenerateRequest{
		Model:  c.model,
		Prompt: prompt,
		Raw:    true, // the model's chat template knows nothing of our tags
		// By default Ollama drops the middle of a prompt that is too long, or shifts it out of
		// the cache while it generates, without saying so.
		Truncate:  &no,
		Shift:     &no,
		KeepAlive: &api.Duration{Duration: c.keepAlive},
		Options:   all,
		Logprobs:  true,
	}
}

func (c *ollama) complete(ctx context.Context, r request, each func(chunk)) error {
	options := map[string]any{
		"num_predict": r.maxTokens, "temperature": r.Temperature, "top_p": r.TopP, "repeat_penalty": r.RepeatPenalty,
	}
	if len(r.stop) > 0 {
		options["stop"] = r.stop
	}
	if r.seed != 0 {
		options["seed"] = r.seed
	}
	req := c.request(r.prompt, options)
	req.Format = r.format
	const tries = 2 // the first may only load the model
	for range tries {
		loaded := false
		err := c.finish(ctx, req, func(piece chunk) {
			if loaded = piece.loaded; !loaded {
				each(piece)
			}
		})
		if err != nil || !loaded {
			return err
		}
	}
	return &problem{
		kind: ErrServer, what: fmt.Sprintf("Ollama gave no answer with %s", c.model),
		fix: fmt.Sprintf("restart it, and update it if that does not help (it was asked %d times)", tries),
	}
}

// version asks whether a server answers at all.
func (c *ollama) version(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	v, err := c.api.Version(ctx)
	if err = c.explainWithin(ctx, err); err == nil && v == "" {
		err = c.notOllama(nil) // LM Studio answers everything
	}
	if errors.Is(err, errNoOllama) && c.speaksOpenAI(ctx) {
		err = &problem{kind: ErrServer, what: fmt.Sprintf("%s speaks OpenAI's API", c.endpoint.Host), fix: "set ollama.api to openai"}
	}
	return short(v), err
}

// speaksOpenAI is whether what is no Ollama lists its models as vLLM, llama.cpp and LM Studio do.
func (c *ollama) speaksOpenAI(ctx context.Context) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.endpoint.JoinPath("v1/models").String(), nil)
	if err != nil {
		return false
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	var list struct {
		Data []openAIModel `json:"data"`
	}
	return resp.StatusCode == http.StatusOK && json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&list) == nil && list.Data != nil
}

// inspect fails with ErrModelMissing, or with ErrRefused if this Ollama runs the model on
// another machine without permission.
func (c *ollama) inspect(ctx context.Context) (facts, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	show, err := c.api.Show(ctx, &api.ShowRequest{Model: c.model})
	if err != nil {
		return facts{}, c.explainWithin(ctx, err)
	}
	if err := c.guard.look(origin{show.RemoteHost, show.RemoteModel}); err != nil {
		return facts{}, err
	}
	can := func(what names.Capability) bool { return slices.Contains(show.Capabilities, what) }
	f := facts{family: short(show.Details.Family), tools: can("tools"), embeds: can("embedding") && !can("completion"), inserts: can("insert")}
	// A template without a place for messages, or at least for a system prompt, passes on what
	// the user says and nothing else.
	f.chatless = show.Template != "" && show.RemoteModel == "" && show.Renderer == "" && !strings.Contains(show.Template, ".Messages") && !strings.Contains(show.Template, ".System")
	if q := show.Details.QuantizationLevel; q != "unknown" {
		f.quant = short(q)
	}
	arch, _ := show.ModelInfo["general.architecture"].(string)
	if n, ok := show.ModelInfo[arch+".context_length"].(float64); ok {
		f.context = int(n)
	}
	f.madeFrom, _ = show.ModelInfo["general.basename"].(string)
	if show.RemoteModel == "" { // else it is of a pointer to another machine's model
		f.template = show.Template
	}
	f.parameters, _ = show.ModelInfo["general.parameter_count"].(float64)
	f.hybrid = strings.Contains(arch, "hybrid")
	for key := range show.ModelInfo {
		f.hybrid = f.hybrid || strings.Contains(key, ".ssm.")
	}
	return f, nil
}

func (c *ollama) weights(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	list, err := c.have(ctx)
	if err != nil {
		return "", c.explainWithin(ctx, err)
	}
	for _, m := range list {
		if SameModel(m.Name, c.model) {
			if err := c.guard.look(origin{m.RemoteHost, m.RemoteModel}); err != nil {
				return "", err
			}
			const enough = 12 // hexadecimal digits, as many as `ollama list` shows
			return m.Digest[:min(enough, len(m.Digest))], nil
		}
	}
	return "", nil
}

// load brings the model into memory and answers when it is there. The context must not be that
// of a request, because cancelling a load makes Ollama throw it away.
func (c *ollama) load(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, maxLoad)
	defer cancel()
	return c.explainWithin(ctx, c.finish(ctx, c.request("", nil), func(chunk) {}))
}

// unload unloads the model once nobody uses it, and answers when it is gone. Ollama is told
// once: it then unloads what it has in memory as soon as that is idle. A model that is loaded
// later belongs to another client.
func (c *ollama) unload(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	req := c.request("", nil)
	req.KeepAlive = &api.Duration{}
	if err := c.finish(ctx, req, func(chunk) {}); err != nil {
		return c.explainWithin(ctx, err)
	}
	// Ollama answers before the model is gone, and a load in between would keep it in memory.
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	var first placement
	for {
		p, err := c.loaded(ctx)
		if err != nil || p == (placement{}) {
			return err
		}
		if first == (placement{}) {
			first = p
		}
		if !p.expires.Equal(first.expires) { // another client has loaded it since
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return c.explainWithin(ctx, ctx.Err())
		}
	}
}

func (c *ollama) elsewhere() bool { return InCloud(c.model) || c.guard.away.Load() }

func (c *ollama) loaded(ctx context.Context) (placement, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	running, have, err := c.running(ctx)
	if err != nil {
		return placement{}, c.explainWithin(ctx, err)
	}
	for _, m := range running {
		if holds(m, c.model, have) {
			return placement{bytes: m.Size, onGPU: m.OnGPU, numCtx: m.NumCtx, expires: m.Expires.Time}, nil
		}
	}
	return placement{}, nil
}

// finish runs a request to its end. A stream that ends without the done chunk has broken off,
// even if it was closed cleanly.
func (c *ollama) finish(ctx context.Context, req *api.GenerateRequest, each func(chunk)) error {
	var end streamEnd
	err := c.stream(ctx, req, func(r api.GenerateResponse) {
		end.see(r)
		piece := chunk{text: r.Response, done: r.Done, cut: r.DoneReason == "length", loaded: r.DoneReason == "load"}
		for _, lp := range r.Logprobs {
			piece.logprobs = append(piece.logprobs, lp.Logprob)
		}
		if r.Done {
			piece.usage = usage{
				promptTokens: r.PromptEvalCount, promptEval: r.PromptEvalDuration, load: r.LoadDuration,
				tokens: r.EvalCount, eval: r.EvalDuration,
			}
		}
		each(piece)
	})
	if err == nil && !end.reached() {
		err = c.brokeOff(nil)
	}
	return c.explain(err)
}

// render has Ollama fill in the model's chat template without asking the model. The answer to
// a prompt can be interrupted and continued. The answer to a conversation cannot, and loses a
// tool call that does not parse.
func (c *ollama) render(ctx context.Context, conv Conversation) (string, error) {
	no := false
	req := &api.ChatRequest{
		Model: c.model, Stream: &no, Truncate: &no, KeepAlive: &api.Duration{Duration: c.keepAlive},
		Options: map[string]any{"num_ctx": c.numCtx}, DebugRenderOnly: true,
	}
	for _, m := range conv.Messages {
		req.Messages = append(req.Messages, api.Message{Role: m.Role, Content: m.Text})
	}
	if len(conv.Tools) > 0 {
		if err := json.Unmarshal(conv.Tools, &req.Tools); err != nil {
			return "", fmt.Errorf("read the tool definitions: %w", err)
		}
	}
	prompt := ""
	err := c.api.Chat(ctx, req, func(r api.ChatResponse) error {
		if err := c.guard.lookForGood(origin{r.RemoteHost, r.RemoteModel}); err != nil {
			return err
		}
		if r.DebugInfo == nil {
			return &problem{kind: ErrServer, what: "this Ollama does not show prompts", fix: "update it"}
		}
		prompt = mendTools(r.DebugInfo.RenderedTemplate, req.Tools)
		return nil
	})
	return prompt, c.explain(err)
}

// embed embeds the texts one after the other on the server. With no texts it only loads the
// model.
func (c *ollama) embed(ctx context.Context, texts []string) ([][]float32, error) {
	if texts == nil {
		texts = []string{}
	}
	req := &api.EmbedRequest{Model: c.model, Input: texts, KeepAlive: &api.Duration{Duration: c.keepAlive}}
	if !c.remote {
		req.Options = map[string]any{"num_thread": c.embedThreads}
	}
	answer, err := c.post(ctx, "api/embed", req)
	if err != nil {
		return nil, c.explain(err)
	}
	defer answer.Close()
	var resp struct {
		origin
		Embeddings [][]float32 `json:"embeddings"`
	}
	if err := json.NewDecoder(answer).Decode(&resp); err != nil {
		return nil, c.explain(c.undecoded(ctx, err))
	}
	return resp.Embeddings, c.guard.lookForGood(resp.origin)
}

func (c *ollama) embedder(model string) backend { return c.of(model) }

func (c *ollama) brokeOff(cause error) error {
	return &problem{
		kind: ErrBroken, what: "Ollama broke off in its answer",
		fix: fmt.Sprintf("see the output of `ollama serve`, it was stopped at %s or its runner crashed", c.endpoint), cause: cause,
	}
}

// streamEnd tells a stream that ended from one that broke off. Ollama stops a model that
// repeats itself: after maxRepeats more chunks that are equal but for blanks, it closes the
// stream without the done chunk.
type streamEnd struct {
	done    bool
	last    string
	repeats int
}

const maxRepeats = 30

func (e *streamEnd) see(r api.GenerateResponse) {
	e.done = e.done || r.Done
	if text := strings.TrimSpace(r.Response); text == e.last {
		e.repeats++
	} else {
		e.last, e.repeats = text, 0
	}
}

func (e *streamEnd) reached() bool { return e.done || e.repeats >= maxRepeats }
