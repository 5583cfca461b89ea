package model

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// openAI is the backend for servers with OpenAI's completions interface and raw prompts: vLLM,
// the llama.cpp server, or a cluster behind one URL. It sends only fields of the standard,
// because some servers refuse others. So there is no repeat penalty, and the server decides
// about loading and context length.
type openAI struct {
	http     *http.Client
	guard    *guard       // its transport
	shared   *http.Client // what other models are reached by
	endpoint *url.URL     // without the /v1
	key      string
	keyFrom  func(ctx context.Context, refused string) (string, error) // asked where key is ""; nil if nobody has one
	refused  *atomic.Pointer[string]                                   // the key that the server refused last
	model    string
	search   bool // the model is for search: the setting is embedding.model, not model
	clock    Clock
	hears    hears
}

func newOpenAI(opt Options, endpoint *url.URL, hc *http.Client) *openAI {
	if opt.Clock == nil {
		opt.Clock = realClock{}
	}
	base := *endpoint
	base.Path = strings.TrimSuffix(base.Path, versionPath)
	c := openAI{shared: hc, endpoint: &base, key: opt.APIKey, keyFrom: opt.KeyFrom, refused: &atomic.Pointer[string]{}, clock: opt.Clock, hears: hears{opt.OnElsewhere, opt.OnSent}}
	return c.of(opt.Model, opt.AllowRemote)
}

// of is a backend of the same server for another model.
func (c openAI) of(model string, remote bool) *openAI {
	c.model = model
	c.http, c.guard = guarded(c.shared, model, remote, c.hears)
	return &c
}

// These servers stop as soon as the connection closes.
func (c *openAI) interruptible() bool { return true }

func (c *openAI) embedder(model string) backend {
	e := c.of(model, c.guard.allowed)
	e.search = true
	return e
}

// The interface does not tell weights apart, but a name of Ollama's may have become a pointer.
func (c *openAI) weights(ctx context.Context) (string, error) { return "", c.lookAtOllama(ctx) }

type openAIModel struct {
	ID      string `json:"id"`
	Root    string `json:"root"`          // vLLM: the weights, whatever the model is called
	Context int    `json:"max_model_len"` // vLLM
	Meta    struct {
		Context    int     `json:"n_ctx_train"` // llama.cpp
		Parameters float64 `json:"n_params"`
		Bytes      int64   `json:"size"` // of the weights
	} `json:"meta"`
}

func (m openAIModel) called(name string) bool {
	return m.ID == name || m.ID == name+":latest" // Ollama's way to say it
}

func (c *openAI) models(ctx context.Context) ([]openAIModel, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	var list struct {
		Data []openAIModel `json:"data"`
	}
	err := c.call(ctx, http.MethodGet, "v1/models", nil, &list)
	return list.Data, c.silent(ctx, err)
}

// silent is err, or that the server does not answer if ctx has ended by its own time limit.
func (c *openAI) silent(ctx context.Context, err error) error {
	if err != nil && ctx.Err() == context.DeadlineExceeded {
		return &problem{kind: ErrUnreachable, what: fmt.Sprintf("%s does not answer requests", c.endpoint.Host), fix: "restart it", cause: err}
	}
	return err
}

// lookAtOllama fails with ErrRefused if the server is an Ollama that has the model on another
// machine without permission. A local name may be a pointer to a model of its cloud, and what
// Ollama answers under /v1 does not say so: only its own interface does. Other servers do not
// know that path, and a server that is not on this machine is elsewhere anyway.
func (c *openAI) lookAtOllama(ctx context.Context) error {
	if !IsLoopback(c.endpoint) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	body, err := json.Marshal(map[string]string{"model": c.model})
	if err != nil {
		return err
	}
	req, _, err := c.request(ctx, http.MethodPost, "api/show", body)
	if err != nil {
		return err
	}
	var about origin
	switch resp, err := c.http.Do(req); {
	case errors.Is(err, errRedirect): // to a page for browsers, say
	case err != nil:
		return c.silent(ctx, c.unsent(ctx, err))
	default:
		defer resp.Body.Close()
		err := json.NewDecoder(resp.Body).Decode(&about)
		var endless *problem
		var noJSON *json.SyntaxError
		var noObject *json.UnmarshalTypeError
		switch {
		case ctx.Err() != nil:
			return c.silent(ctx, ctx.Err())
		case errors.As(err, &endless):
			return endless
		case resp.StatusCode == http.StatusTooManyRequests, resp.StatusCode == http.StatusServiceUnavailable:
			return nil // it says nothing yet, and is asked again before the next prompt
		case resp.StatusCode != http.StatusOK, errors.As(err, &noJSON), errors.As(err, &noObject), err == io.EOF:
			about = origin{} // it is no Ollama, or one without the model
		case err != nil: // what did not come may have said it
			return c.unsent(ctx, err)
		}
	}
	if err := c.guard.look(about); err != nil {
		return err
	}
	c.guard.shown.Store(true)
	return nil
}

// Served are the names of the models that the server has.
func (rt *Runtime) Served(ctx context.Context) (names []string, err error) {
	if c, ok := rt.backend.(*openAI); ok {
		list, err := c.models(ctx)
		for _, m := range list {
			names = append(names, m.ID)
		}
		return names, err
	}
	list, err := (&Library{rt.backend.(*ollama)}).List(ctx)
	for _, m := range list {
		names = append(names, m.Name)
	}
	return names, err
}

// version reports that a server answers. The interface has no version to ask for.
func (c *openAI) version(ctx context.Context) (string, error) {
	_, err := c.models(ctx)
	return "", err
}

func (c *openAI) inspect(ctx context.Context) (facts, error) {
	list, err := c.models(ctx)
	if err != nil {
		return facts{}, err
	}
	for _, m := range list {
		if m.called(c.model) {
			if err := c.lookAtOllama(ctx); err != nil {
				return facts{}, err
			}
			return facts{
				context: max(m.Context, m.Meta.Context), madeFrom: m.Root,
				parameters: cmp.Or(m.Meta.Parameters, parametersOf(m.ID), parametersOf(m.Root)),
			}, nil
		}
	}
	return facts{}, c.lacks(list)
}

// parametersOf is how many parameters a model has by its name: "1.5B", "350m", or "8x7b" for 8
// experts of 7 billion. It is 0 if the name does not say.
func parametersOf(name string) float64 {
	name = strings.ToLower(name)
	if strings.Contains(name, "granite") && strings.Contains(name, "micro") {
		return 3.4e9 // IBM calls this size 3B
	}
	m := inName.FindStringSubmatch(name)
	if m == nil {
		return 0
	}
	n := 1.0
	for _, factor := range m[1:3] {
		if f, err := strconv.ParseFloat(factor, 64); err == nil { // the name may have no number of experts
			n *= f
		}
	}
	return n * map[string]float64{"m": 1e6, "b": 1e9}[m[3]]
}

// inName is a number of parameters that is a separate word in a model's name.
var inName = regexp.MustCompile(`(?:^|[-_:/. ])(?:(\d+)x)?(\d+(?:\.\d+)?)([mb])(?:$|[-_:/. ])`)

// fit are the names of other models that could take the place of c's, as far as their names
// show what they are for.
func (c *openAI) fit(list []openAIModel) (names []string) {
	for _, m := range list {
		if !m.called(c.model) && (Installed{Name: m.ID}).Embeds() == c.search {
			names = append(names, m.ID)
		}
	}
	return names
}

// otherThan is what to choose in place of a model that cannot complete code. quarry's own
// recommendations do not help a user whose server is run by others.
func (c *openAI) otherThan(ctx context.Context) string {
	list, _ := c.models(ctx) // a server may have models that it does not list
	if names := c.fit(list); len(names) > 0 {
		return "one it has that fills in the middle: " + shortList(names)
	}
	return "a model that fills in the middle and start the server with it"
}

// load does nothing, because these servers have their models in memory from the start.
func (c *openAI) load(context.Context) error { return nil }

func (c *openAI) loaded(context.Context) (placement, error) { return placement{}, nil }

type openAIRequest struct {
	Model         string        `json:"model"`
	Prompt        string        `json:"prompt"`
	MaxTokens     int           `json:"max_tokens"`
	Temperature   float64       `json:"temperature"`
	TopP          float64       `json:"top_p"`
	Stop          []string      `json:"stop,omitempty"`
	Seed          int           `json:"seed,omitempty"`
	Logprobs      int           `json:"logprobs"`
	Stream        bool          `json:"stream"`
	StreamOptions streamOptions `json:"stream_options"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

func (c *openAI) complete(ctx context.Context, r request, each func(chunk)) error {
	if prefix, suffix, ok := r.parts(); ok {
		return c.infill(ctx, prefix, suffix, r, each)
	}
	return c.stream(ctx, completionsPath, openAIRequest{
		Model: c.model, Prompt: r.prompt, MaxTokens: r.maxTokens, Temperature: r.Temperature, TopP: r.TopP,
		Stop: r.stop, Seed: r.seed, Logprobs: 1, Stream: true, StreamOptions: streamOptions{IncludeUsage: true},
	}, each)
}

func (c *openAI) embed(ctx context.Context, texts []string) ([][]float32, error) {
	if len(texts) == 0 {
		return nil, nil // the model is in memory already
	}
	var answer struct {
		origin
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
	}
	body := map[string]any{"model": c.model, "input": texts, "encoding_format": "float"}
	if err := c.call(ctx, http.MethodPost, "v1/embeddings", body, &answer); err != nil {
		return nil, err
	}
	if err := c.guard.lookForGood(answer.origin); err != nil {
		return nil, err
	}
	vectors := make([][]float32, len(answer.Data))
	for _, d := range answer.Data {
		if d.Index < 0 || d.Index >= len(vectors) {
			return nil, c.notOpenAI()
		}
		vectors[d.Index] = d.Embedding
	}
	return vectors, nil
}

// call sends a request and decodes its answer into out.
func (c *openAI) call(ctx context.Context, method, path string, body, out any) error {
	resp, err := c.send(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	err = json.NewDecoder(resp.Body).Decode(out)
	var p *problem
	switch {
	case err == nil:
		return nil
	case errors.As(err, &p):
		return p
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return c.notOpenAI()
}

// A server that many share is full at times. A request that it refuses is repeated a few
// times, after as long as the server says, or after longer and longer pauses. Up to half of a
// pause is taken off at random, so that the clients which it refused do not come back all at
// once.
const (
	busyTries   = 4
	busyPause   = 250 * time.Millisecond
	longestBusy = 10 * time.Second
)

// send answers a response with status 200. Its errors are those of the backend.
func (c *openAI) send(ctx context.Context, method, path string, body any) (*http.Response, error) {
	var payload []byte
	if body != nil {
		var err error
		if payload, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	if method == http.MethodPost && !c.guard.shown.Load() {
		if err := c.lookAtOllama(ctx); err != nil {
			return nil, cmp.Or(ctx.Err(), err) // who has no more time says nothing about the server
		}
	}
	for n := 1; ; n++ {
		resp, after, err := c.sendOnce(ctx, method, path, payload)
		if n == busyTries || !errors.Is(err, ErrBusy) || after > longestBusy {
			return resp, err
		}
		if after == 0 {
			after = busyPause << n
			after -= rand.N(after / 2)
		}
		// If there is no time left to wait, the error says that the server is full, and not that
		// it is away.
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= after {
			return resp, err
		}
		select {
		case <-c.clock.After(after):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// sendOnce is send without repeating. after is how long a full server asks clients to wait, 0
// if it does not say.
func (c *openAI) sendOnce(ctx context.Context, method, path string, body []byte) (resp *http.Response, after time.Duration, err error) {
	req, key, err := c.request(ctx, method, path, body)
	if err != nil {
		return nil, 0, err
	}
	if resp, err = c.http.Do(req); err != nil {
		return nil, 0, c.unsent(ctx, err)
	}
	if resp.StatusCode == http.StatusOK {
		return resp, 0, nil
	}
	if resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden {
		c.refused.Store(&key)
	}
	defer resp.Body.Close()
	if err := c.noInfill(path, resp.StatusCode); err != nil {
		return nil, 0, err
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil {
		data = nil // the status is enough
	}
	return nil, retryAfter(resp.Header, c.clock.Now()), c.status(path, resp.StatusCode, data)
}

// request is a request with the key that it carries, "" for none.
func (c *openAI) request(ctx context.Context, method, path string, body []byte) (req *http.Request, key string, err error) {
	req, err = http.NewRequestWithContext(ctx, method, c.endpoint.JoinPath(path).String(), bytes.NewReader(body))
	if err != nil {
		return nil, "", err
	}
	req.Header.Set("Content-Type", "application/json")
	// No request changes anything on the server. net/http may therefore repeat it on another
	// connection if the server closes a kept one at that moment. An empty list is not sent.
	req.Header["Idempotency-Key"] = []string{}
	key = c.key
	if key == "" && c.keyFrom != nil {
		refused := ""
		if last := c.refused.Load(); last != nil {
			refused = *last
		}
		if key, err = c.keyFrom(ctx, refused); err != nil {
			return nil, "", &problem{kind: ErrRefused, what: err.Error(), cause: err}
		}
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	return req, key, nil
}

// retryAfter is how long a server asks clients to wait (RFC 9110, 10.2.3), at most a day; 0 if
// it does not say. A date is compared with the server's own clock if it sends that, because
// this machine's clock may be wrong.
func retryAfter(header http.Header, now time.Time) time.Duration {
	const most = 24 * time.Hour // a longer time might not fit a duration
	value := header.Get("Retry-After")
	if seconds, err := strconv.Atoi(value); err == nil {
		return time.Duration(min(max(seconds, 0), int(most/time.Second))) * time.Second
	}
	until, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	if sent, err := http.ParseTime(header.Get("Date")); err == nil {
		now = sent
	}
	return min(max(until.Sub(now), 0), most)
}

// unsent says why a request got no answer at all.
func (c *openAI) unsent(ctx context.Context, err error) error {
	var dial *net.OpError
	var refused *problem
	switch {
	case errors.As(err, &refused):
		return refused
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errRedirect):
		return &problem{kind: ErrServer, what: fmt.Sprintf("%s sends requests elsewhere", c.endpoint.Host), fix: "set the address it sends them to", cause: err}
	case untrusted(c.endpoint, err) != nil:
		return untrusted(c.endpoint, err)
	case errors.As(err, &dial) && dial.Op == "dial":
		return &problem{kind: ErrUnreachable, what: fmt.Sprintf("no model server answers at %s", c.endpoint), fix: "start it, or set its address", cause: err}
	}
	return &problem{kind: ErrBroken, what: fmt.Sprintf("%s broke off before it answered", c.endpoint.Host), fix: "see its log", cause: err}
}
