package model

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/ollama/ollama/api"
)

// client asks one Ollama about one model. Every request it builds carries the
// same runner options: another num_ctx would make Ollama load the model anew
// and forget its cache.
type client struct {
	api       *api.Client
	http      *http.Client // what api uses
	endpoint  *url.URL
	model     string
	numCtx    int
	keepAlive time.Duration
	fimTags   []string
	remote    bool // other machines may be used
}

// maxLoad bounds how long one load may take: a large model from a slow disk.
const maxLoad = 10 * time.Minute

func (c *client) request(prompt string, options map[string]any) *api.GenerateRequest {
	no := false
	all := map[string]any{"num_ctx": c.numCtx}
	for k, v := range options {
		all[k] = v
	}
	return &api.GenerateRequest{
		Model:  c.model,
		Prompt: prompt,
		Raw:    true, // the model's chat template knows nothing of our tags
		// By default Ollama drops the middle of a prompt that is too long, or
		// shifts it out of the cache while generating, and says nothing.
		Truncate:  &no,
		Shift:     &no,
		KeepAlive: &api.Duration{Duration: c.keepAlive},
		Options:   all,
	}
}

// version asks whether a server answers at all.
func (c *client) version(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	v, err := c.api.Version(ctx)
	if err != nil && ctx.Err() == context.DeadlineExceeded {
		return "", &problem{kind: ErrUnreachable, what: fmt.Sprintf("the server at %s accepts connections but does not answer", c.endpoint), fix: "restart Ollama", cause: err}
	}
	return v, c.explain(err)
}

// facts is what a server says about the model.
type facts struct {
	context int // the context length it was trained for in tokens, 0 if not said
	// hybrid models keep a recurrent state that cannot be rewound, so the
	// key-value cache saves them nothing.
	hybrid bool
	family string
	quant  string
}

// inspect fails with ErrModelMissing, or ErrRefused for a model that this
// Ollama runs on another machine without permission for that.
func (c *client) inspect(ctx context.Context) (facts, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	show, err := c.api.Show(ctx, &api.ShowRequest{Model: c.model})
	if err != nil {
		return facts{}, c.explain(err)
	}
	if show.RemoteHost != "" && !c.remote {
		return facts{}, &problem{
			kind: ErrRefused, what: fmt.Sprintf("Ollama would send your code to %s, where it runs %s", show.RemoteHost, c.model),
			fix: "choose a local model such as granite4:micro, or set allowRemote to true in your user settings",
		}
	}
	f := facts{family: show.Details.Family, quant: show.Details.QuantizationLevel}
	arch, _ := show.ModelInfo["general.architecture"].(string)
	if n, ok := show.ModelInfo[arch+".context_length"].(float64); ok {
		f.context = int(n)
	}
	f.hybrid = strings.Contains(arch, "hybrid")
	for key := range show.ModelInfo {
		f.hybrid = f.hybrid || strings.Contains(key, ".ssm.")
	}
	return f, nil
}

// load brings the model into memory and answers when it is there. The context
// must not be a request's own: cancelling a load makes Ollama throw it away.
func (c *client) load(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, maxLoad)
	defer cancel()
	req := c.request("", nil)
	return c.finish(ctx, req, func(api.GenerateResponse) {})
}

// canary asks whether the tags of the fill-in-the-middle prompt are tokens of
// the model. A vocabulary without them spells each in four or more tokens, so
// the count of a prompt of nothing but tags tells, whatever the model answers.
// It fails with ErrNoFIM; a server that does not count proves nothing and
// passes.
func (c *client) canary(ctx context.Context) error {
	if len(c.fimTags) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, maxLoad)
	defer cancel()
	count := 0
	req := c.request(strings.Join(c.fimTags, ""), map[string]any{"num_predict": 1, "temperature": 0})
	if err := c.finish(ctx, req, func(r api.GenerateResponse) { count = max(count, r.PromptEvalCount) }); err != nil {
		return err
	}
	const startAndPad = 2 // what a tokenizer may put before any text
	if count > len(c.fimTags)+startAndPad {
		return &problem{
			kind: ErrNoFIM, what: fmt.Sprintf("%s cannot complete in the middle of code, it does not know the tags %s", c.model, strings.Join(c.fimTags, " ")),
			fix: "choose a model that does, for example granite4:micro, or set the tags yours was trained with",
		}
	}
	return nil
}

// finish runs a request to its end. A stream that ends without saying that it
// is done broke off, even if it was closed cleanly.
func (c *client) finish(ctx context.Context, req *api.GenerateRequest, each func(api.GenerateResponse)) error {
	var end streamEnd
	err := c.stream(ctx, req, func(r api.GenerateResponse) {
		end.see(r)
		each(r)
	})
	if err == nil && !end.reached() {
		err = c.brokeOff(nil)
	}
	return c.explain(err)
}

func (c *client) brokeOff(cause error) error {
	return &problem{
		kind: ErrBroken, what: fmt.Sprintf("Ollama at %s broke off in the middle of an answer", c.endpoint),
		fix: "it was stopped or its runner crashed, see the output of `ollama serve`", cause: cause,
	}
}

// streamEnd tells a stream that ended from one that broke off. Ollama stops a
// model that repeats itself, by closing the stream without the done chunk after
// maxRepeats more chunks equal but for blanks.
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

// logprob is the mean log-probability of a chunk's tokens, NaN if not said. A
// chunk holds more than one token where the server waited to see whether a stop
// string begins.
func logprob(r api.GenerateResponse) float64 {
	if len(r.Logprobs) == 0 {
		return math.NaN()
	}
	sum := 0.0
	for _, lp := range r.Logprobs {
		sum += lp.Logprob
	}
	return sum / float64(len(r.Logprobs))
}
