package model

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Finding is one line of a check-up.
type Finding struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	// Note: it works, but not as expected, so that the user has to decide. OK is true then.
	Note bool `json:"note,omitempty"`
	// Detail is what was found.
	Detail string `json:"detail"`
	// Fix says what to do; it is empty if there is nothing to do. A Finding that is OK may have
	// a Fix where something works but could work better.
	Fix string `json:"fix,omitempty"`
}

// IsThere and FillsIn are the names of the findings on the model and on fill-in-the-middle.
const (
	IsThere = "model"
	FillsIn = "fill in the middle"
)

// oldestMinor is 0.13, the first Ollama series whose generate endpoint has everything that
// requests here rely on (truncate, shift and logprobs, the last since 0.12.11). Older versions
// ignore these fields and cut prompts without saying so.
const oldestMinor = 13

// Unsuitable is the reason why the model cannot complete code. It is nil if the model can, or
// if that cannot be found out. It loads the model.
func (rt *Runtime) Unsuitable(ctx context.Context) error {
	about, err := rt.inspectCompleter(ctx)
	if err == nil {
		err = rt.canary(ctx, about)
	}
	if err != nil && phaseOf(err) == Unsuitable {
		return err
	}
	return nil
}

// Listed is nil if the server has the model. It loads nothing.
func (rt *Runtime) Listed(ctx context.Context) error {
	_, err := rt.inspect(ctx)
	return err
}

// inspectCompleter is inspect for a model that is to complete code. It refuses an embedding
// model.
func (rt *Runtime) inspectCompleter(ctx context.Context) (facts, error) {
	about, err := rt.inspect(ctx)
	if err == nil && about.embeds {
		err = &problem{
			kind: ErrEmbeds, what: rt.opt.Model + " embeds text, and completes none",
			fix: "set model to another, such as " + otherThan(rt.opt.Model) + " (for search it is embedding.model)",
		}
	}
	return about, err
}

// Check looks at everything that a completion needs, in the order in which things go wrong. It
// stops at the first problem that makes the rest meaningless. It needs no Start, and loads the
// model if necessary.
func (rt *Runtime) Check(ctx context.Context) []Finding {
	var list []Finding
	add := func(name string, err error, detail, fix string) bool {
		f := Finding{Name: name, OK: err == nil, Detail: detail, Fix: fix}
		var p *problem
		if err = rt.inWords(err); errors.As(err, &p) {
			f.Detail, f.Fix = p.what, p.fix
		} else if err != nil {
			f.Detail = err.Error()
		}
		list = append(list, f)
		return err == nil
	}

	version, err := rt.version(ctx)
	name, detail := "ollama", fmt.Sprintf("version %s at %s", version, rt.endpoint)
	if rt.opt.API == OpenAIAPI {
		name, detail = "model server", fmt.Sprintf("answers at %s", rt.endpoint)
	}
	if !add(name, err, detail, "") {
		return list
	}
	if olderThan(version, oldestMinor) {
		list[0].OK, list[0].Fix = false, fmt.Sprintf("update Ollama: versions before 0.%d cut long prompts without saying so", oldestMinor)
	}

	about, err := rt.inspectCompleter(ctx)
	if !add(IsThere, err, strings.Join(strings.Fields(rt.opt.Model+" "+about.family+" "+about.quant), " "), "") {
		return list
	}
	if warning := rt.warning(about); about.hybrid {
		list = append(list, Finding{Name: "model kind", OK: true, Detail: "hybrid", Fix: warning})
	}
	fix := ""
	if about.context > 0 && rt.opt.NumCtx > about.context {
		fix = fmt.Sprintf("set the context length to at most %d, which is all the model takes", about.context)
	}
	list = append(list, Finding{Name: "context length", OK: fix == "", Detail: fmt.Sprintf("%d tokens", rt.opt.NumCtx), Fix: fix})

	if before, err := rt.loaded(ctx); err == nil && before.numCtx > 0 && before.numCtx != contextFor(rt.opt.NumCtx, about.context) {
		list = append(list, Finding{
			Name: "sharing", OK: true, Detail: fmt.Sprintf("%s was in memory with a context of %d tokens", rt.opt.Model, before.numCtx),
			Fix: fmt.Sprintf("if another program uses it too, give both the same context length, else Ollama reloads it at every change: OLLAMA_CONTEXT_LENGTH=%d for `ollama serve`", rt.opt.NumCtx),
		})
	}
	if rt.opt.API != OpenAIAPI { // those servers decide when
		begin := time.Now()
		if !add("load", rt.load(ctx), "", "") {
			return list
		}
		where, err := rt.loaded(ctx)
		if err != nil {
			where = placement{} // it does not matter for completions
		}
		list[len(list)-1].Detail = fmt.Sprintf("in memory after %v%s", time.Since(begin).Round(time.Millisecond), where)
	}
	err = rt.canary(ctx, about)
	f := rt.family.Load()
	if f == nil {
		f = &Family{}
	}
	how := Finding{Name: FillsIn, Detail: fmt.Sprintf("as %s, whose tags are one token each", f.Name)}
	switch {
	case f.Between != "":
		how.Detail = "by the server itself, at /" + infillPath
	case rt.assumed.Load():
		how.Note = true
		how.Detail = fmt.Sprintf("assumed to be %s, by the name of the model or its weights: %s does not count tokens, so quarry cannot check that the tags are the model's", f.Name, rt.endpoint.Host)
		how.Fix = "if its ghost text is bad, set completion.template to the model's own family"
	}
	if !add(FillsIn, err, how.Detail, how.Fix) {
		return list
	}
	list[len(list)-1].Note = how.Note

	return append(append(list, rt.speed(ctx)), rt.chats(ctx, about)...)
}

// chats looks at how a conversation would reach the model, without asking the model. It finds
// nothing if the server does not show that. A model that cannot chat is no failure, because it
// still completes.
func (rt *Runtime) chats(ctx context.Context, about facts) []Finding {
	b, ok := rt.backend.(renderer)
	if !ok {
		return nil
	}
	const system, user = "quarry-system", "quarry-user"
	prompt, err := b.render(rt.own(ctx), Conversation{Messages: []Message{{Role: "system", Text: system}, {Role: "user", Text: user}}})
	if err != nil {
		return []Finding{{Name: "chat", OK: true, Detail: "not looked at: " + rt.inWords(err).Error()}}
	}
	before, behind, asks := strings.Cut(prompt, user)
	if !strings.Contains(before, system) || !asks || strings.TrimSpace(behind) == "" {
		return []Finding{{
			Name: "chat", OK: true, Detail: "ghost text only: it has no chat template, so that questions reach it without roles and a system prompt",
			Fix: "for questions and explanations choose another model, such as " + otherThan(rt.opt.Model),
		}}
	}
	f := Finding{Name: "chat", OK: true, Detail: "a system prompt, roles and tools"}
	if !about.tools {
		f.Detail = "a system prompt and roles, but no tools"
	}
	return []Finding{f}
}

// usable is the lowest speed, in tokens a second, at which ghost text comes while the user
// still wants it: a line of some ten tokens in two seconds.
const usable = 5

// trials are texts that every model can continue.
var trials = [3]string{
	"# The first ten prime numbers\nprimes = [", "# The days of the week\ndays = [\"Monday\", ", "def add(a, b):\n    \"\"\"Return the sum of a and b.\"\"\"\n    return ",
}

// speed asks for a few tokens and says how fast they came, or that none came.
func (rt *Runtime) speed(ctx context.Context) Finding {
	found := Finding{Name: "speed", Detail: "not measured: the server does not say how many tokens its answer has"}
	u, text, err := rt.trial(ctx)
	if err == nil && !text {
		err = rt.answersNothing(fmt.Sprintf("it continued none of %d beginnings of code", len(trials)))
	}
	var p *problem
	if err = rt.inWords(err); errors.As(err, &p) {
		found.Detail, found.Fix = p.what, p.fix
		return found
	} else if err != nil {
		found.Detail = err.Error()
		return found
	}
	if found.OK = true; u.tokens == 0 || u.eval == 0 {
		return found
	}
	rate := float64(u.tokens) / u.eval.Seconds()
	digits := 0
	if rate < 9.95 {
		digits = 1
	}
	found.Detail = fmt.Sprintf("%.*f tokens a second", digits, rate)
	if rate < usable {
		found.Note, found.Fix = true, fmt.Sprintf("choose a smaller model: below %d tokens a second, ghost text comes after you have typed on", usable)
	}
	return found
}

// trial asks the model to continue each of the trials until an answer has text.
func (rt *Runtime) trial(ctx context.Context) (u usage, text bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	const tokens = 16
	for _, prompt := range trials {
		answered := false
		err = rt.complete(ctx, rt.probing(rt.family.Load(), prompt, tokens), func(c chunk) {
			u, answered, text = c.usage, true, text || c.text != ""
		})
		if answered && errors.Is(err, context.DeadlineExceeded) {
			err = &problem{kind: ErrServer, what: fmt.Sprintf("fewer than %d tokens in a minute", tokens), fix: "choose a smaller model", cause: err}
		}
		if err != nil || text {
			break
		}
	}
	return u, text, err
}

// probing is a completion request for a model of a family (nil if unknown), sent to see how
// the server handles it.
func (rt *Runtime) probing(f *Family, prompt string, maxTokens int) request {
	if f == nil {
		return rt.completion(prompt, maxTokens, nil, 0)
	}
	r := rt.completion(prompt, maxTokens, f.Stops[:min(len(f.Stops), maxStops)], 0)
	r.between = f.Between
	return r
}

// olderThan is whether a release is older than 0.minor. Development builds call themselves
// 0.0.0 and do not count as old.
func olderThan(version string, minor int) bool {
	var major, have int
	n, err := fmt.Sscanf(version, "%d.%d", &major, &have)
	return err == nil && n == 2 && major == 0 && have > 0 && have < minor
}
