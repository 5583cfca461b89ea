package model

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// backend is one way to reach a model: a protocol and a server. Its errors are
// problems, or those of the context.
type backend interface {
	// version asks whether a server answers at all, and which; it may be "".
	version(ctx context.Context) (string, error)
	inspect(ctx context.Context) (facts, error)
	// weights is what tells apart models that had the same name one after the other; "" if the
	// server does not say.
	weights(ctx context.Context) (string, error)
	// load brings the model into memory and answers when it is there. The context must not be
	// that of one request, because all requests need the load.
	load(ctx context.Context) error
	// loaded answers how the model is in memory. The placement is zero if the model is not in
	// memory, or if the server does not say.
	loaded(ctx context.Context) (placement, error)
	// complete calls each with every chunk of the answer; the last chunk has done set. An
	// answer that breaks off is an error.
	complete(ctx context.Context, r request, each func(chunk)) error
	// embed answers the model's vector for each text. With no texts it only has the model
	// loaded.
	embed(ctx context.Context, texts []string) ([][]float32, error)
	// embedder is a backend of the same server for another model.
	embedder(model string) backend
	// interruptible says whether cancelling a request frees the model at once, whatever the
	// model is doing.
	interruptible() bool
}

// maxLoad bounds how long one load may take: a large model from a slow disk.
const maxLoad = 10 * time.Minute

// request is one prompt, whichever protocol carries it.
type request struct {
	Preset
	prompt    string
	between   string // what stands between prefix and suffix where the server lays the prompt out, else ""
	maxTokens int
	stop      []string
	seed      int             // 0: any
	format    json.RawMessage // a JSON schema the answer must fit; nil: any text
}

// chunk is a piece of an answer. It holds more than one token where the server waited to see
// whether a stop string begins.
type chunk struct {
	text     string
	logprobs []float64 // one for each token; none if the server does not say
	done     bool
	cut      bool  // with done: the token limit ended the answer
	loaded   bool  // with done: the model came into memory and was not asked
	usage    usage // of the whole request, with done
}

type usage struct {
	promptTokens, tokens   int
	promptEval, load, eval time.Duration
}

// logprob is the mean log-probability of the chunk's tokens, NaN if not said.
func (c chunk) logprob() float64 {
	if len(c.logprobs) == 0 {
		return math.NaN()
	}
	sum := 0.0
	for _, lp := range c.logprobs {
		sum += lp
	}
	return sum / float64(len(c.logprobs))
}

// facts are what a server says about the model.
type facts struct {
	context int // the context length it was trained for in tokens, 0 if not said
	// hybrid: the model keeps a recurrent state that cannot be rewound, so that its key-value
	// cache saves nothing.
	hybrid bool
	family string
	quant  string
	// madeFrom is what the weights are called where they come from, and template the server's
	// own for prompts; each "" if not said.
	madeFrom, template string
	// chatless: the chat template has no place for a system prompt or for turns. tools: it
	// supports tools.
	chatless, tools bool
	// embeds: the model is for embedding and generates nothing. inserts: the server says that
	// the model fills in the middle.
	embeds, inserts bool
	// parameters is how many the model has, 0 if not said.
	parameters float64
}

// placement is how a model is in memory.
type placement struct {
	bytes, onGPU int64
	numCtx       int // the context it was loaded with, in tokens
	// expires is when the model is unloaded if no request comes. It is a fixed time after the
	// last answer. While the model is loading, or has given no answer yet, it moves with the
	// clock.
	expires time.Time
}

// contextFor is the context length with which a model is loaded that was trained for so many
// tokens (0 if not known).
func contextFor(asked, trained int) int { return min(asked, cmp.Or(trained, asked)) }

// String is what a user wants to know of it; empty if the server does not say.
func (p placement) String() string {
	if p.bytes == 0 {
		return ""
	}
	where := fmt.Sprintf("%d %% of it on the GPU", 100*p.onGPU/p.bytes)
	switch p.onGPU {
	case 0:
		where = "on the processor"
	case p.bytes:
		where = "on the GPU"
	}
	return fmt.Sprintf(", %.1f GB %s", float64(p.bytes)/1e9, where)
}

// Family is the name of the family whose tags the model has, "" while that is not known.
func (rt *Runtime) Family() string {
	if f := rt.family.Load(); f != nil {
		return f.Name
	}
	return ""
}

// canary finds the family whose tags are tokens of the model. A vocabulary without them spells
// each tag in four or more tokens. So the token count of a prompt made of tags alone shows
// whether the model has them, whatever it answers. canary fails with ErrNoFIM. If the server
// does not count tokens, the likeliest family is assumed.
func (rt *Runtime) canary(ctx context.Context, about facts) error {
	if len(rt.opt.Families) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, maxLoad)
	defer cancel()
	asked := map[string]bool{} // tags that the model does not have
	for _, f := range rt.likely(about) {
		tags := strings.Join(f.Tags, "")
		if asked[tags] {
			continue
		}
		asked[tags] = true
		has, err := rt.has(ctx, f)
		if errors.Is(err, context.DeadlineExceeded) {
			return rt.isSilent(err)
		}
		if err != nil {
			return err
		}
		if has {
			if old := rt.family.Swap(f); old != f {
				rt.log.Info("family", "model", rt.opt.Model, "family", f.Name, "tags", f.Tags)
			}
			return nil
		}
	}
	return rt.noFamily(ctx)
}

// likely are the families to look for, the likeliest by what the server says of the model first.
func (rt *Runtime) likely(about facts) []*Family {
	model, madeFrom, architecture := strings.ToLower(rt.opt.Model), strings.ToLower(about.madeFrom), strings.ToLower(about.family)
	type candidate struct {
		*Family
		weight int
	}
	var list []candidate
	for i := range rt.opt.Families {
		f, weight := &rt.opt.Families[i], 0
		if f.laidOutIn(about.template) {
			weight += 4
		}
		if slices.ContainsFunc(f.Names, func(part string) bool { return strings.Contains(model, part) || strings.Contains(madeFrom, part) }) {
			weight += 2
		}
		if f.Told && weight == 0 {
			continue
		}
		if slices.ContainsFunc(f.Architectures, func(begin string) bool { return strings.HasPrefix(architecture, begin) }) {
			weight++
		}
		list = append(list, candidate{f, weight})
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return b.weight - a.weight })
	families := make([]*Family, len(list))
	for i, c := range list {
		families[i] = c.Family
	}
	return families
}

// laidOutIn is whether a template of Ollama's fills in the middle by the family's tags, in its
// order.
func (f *Family) laidOutIn(template string) bool {
	if len(f.Tags) < 2 || !strings.Contains(template, ".Suffix") {
		return false
	}
	var at []int
	for _, tag := range f.Tags {
		at = append(at, strings.Index(template, strings.TrimSpace(tag)))
	}
	return !slices.Contains(at, -1) && (at[1] < at[0]) == f.SuffixFirst
}

// has answers whether a family's tags are tokens of the model.
func (rt *Runtime) has(ctx context.Context, f *Family) (bool, error) {
	if f.Between != "" {
		return rt.infills(ctx, f)
	}
	count, err := rt.count(ctx, f, strings.Join(f.Tags, ""))
	rt.assumed.Store(count == 0)
	const startAndPad = 2 // tokens that a tokenizer may put before any text
	if err != nil || count <= len(f.Tags)+startAndPad {
		return err == nil, err
	}
	one, err := rt.count(ctx, f, f.Tags[0])
	if err == nil && count-one == len(f.Tags)-1 { // each is one token, among others
		err = &problem{
			kind: ErrNoFIM, what: fmt.Sprintf("%s has a chat template in the way", rt.endpoint.Host),
			fix: fmt.Sprintf("use a server that sends prompts to %s unchanged; quarry cannot complete in the middle of code otherwise", rt.opt.Model),
		}
	}
	return false, err
}

// noFamily is the error for a model that has the tags of none of its possible families.
func (rt *Runtime) noFamily(ctx context.Context) error {
	other := otherThan(rt.opt.Model) + " or another that fills in the middle"
	if server, ok := rt.backend.(*openAI); ok {
		other = server.otherThan(ctx)
	}
	lacks := "it has the tags of no family that quarry knows"
	if list := rt.opt.Families; len(list) == 1 && list[0].Between != "" {
		lacks = fmt.Sprintf("%s has no /%s for it", rt.endpoint.Host, infillPath)
	} else if len(list) == 1 {
		lacks = "it does not know the tags " + strings.Join(list[0].Tags, " ")
	}
	return &problem{
		kind: ErrNoFIM, what: fmt.Sprintf("%s cannot complete code", rt.opt.Model),
		fix: "choose " + other + ", or set completion.template to custom and completion.templateTags to the tags it was trained with (" + lacks + ")",
	}
}

// count is the server's count of the tokens of prompt, 0 if it gives none.
func (rt *Runtime) count(ctx context.Context, f *Family, prompt string) (tokens int, err error) {
	r := rt.probing(f, prompt, 1)
	err = rt.first(ctx, r, func(c chunk) {
		tokens = max(tokens, c.usage.promptTokens)
	})
	return tokens, err
}
