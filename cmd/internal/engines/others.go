package engines

import (
	"context"
	"fmt"
	"sync"

	"quarry/completion"
	"quarry/lsp"
	"quarry/lsp/settings"
	"quarry/model"
)

// others are the models of a generation that complete single languages. Each is made when a
// document of its language asks first.
type others struct {
	mu     sync.Mutex
	models map[string]*other // by name; nil for one that cannot be asked at all; guarded by mu
	closed bool              // guarded by mu
}

// other is a model with what completes by it.
type other struct {
	runtime    *model.Runtime
	completion *completion.Engine
}

// all are those that were made.
func (o *others) all() (list []*other) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, m := range o.models {
		if m != nil {
			list = append(list, m)
		}
	}
	return list
}

// close ends them. No call is under way.
func (o *others) close() {
	list := o.all()
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	for _, m := range list {
		m.completion.Close()
		m.runtime.Close()
	}
}

// engineOf is what completes a language: by the model that the settings name for it once that
// can be asked, until then by the usual one.
func (c *Core) engineOf(ctx context.Context, e *generation, language string) *completion.Engine {
	name := e.settings.Completion.Models[language]
	if name == "" || e.runtime == nil || model.SameModel(name, e.settings.Model) {
		return e.completion
	}
	e.others.mu.Lock()
	m, made := e.others.models[name]
	if !made && !e.others.closed {
		if e.others.models == nil {
			e.others.models = map[string]*other{}
		}
		m = c.serve(e, name)
		e.others.models[name] = m
	}
	e.others.mu.Unlock()
	if m == nil {
		return e.completion
	}
	ready := m.runtime.Ready()
	if ready != nil && c.oneShot {
		ready = m.runtime.WaitReady(ctx)
	}
	if ready != nil {
		return e.completion
	}
	return m.completion
}

// serve begins to ask another model of the same server, in turns with the usual one.
func (c *Core) serve(e *generation, name string) *other {
	s := WithModel(e.settings, name)
	options := ModelOptions(s)
	options.Beside, options.OnAnswer, options.OnElsewhere, options.Logger = e.runtime, c.answered, e.hears(c), c.log
	options.OnSent, options.Clock = e.sends(c), c.clock
	options.OnChange = func(st model.State) {
		c.log.Info("model", "name", name, "phase", st.Phase, "error", st.Err)
		switch st.Phase {
		case model.Ready:
			c.lookSoon() // it takes memory
		case model.Missing, model.Unsuitable, model.Failing:
			c.usage.Event("model", string(st.Phase)+": the usual model completes instead of another", true)
			c.notify(lsp.Warning, "model "+name, fmt.Sprintf("%v. Until then, %s completes in its place.", st.Err, e.settings.Model))
		}
	}
	runtime, err := model.New(options)
	if err != nil {
		c.notify(lsp.Warning, "model "+name, err.Error())
		return nil
	}
	m := &other{runtime, c.completing(runtime, s, completion.Choice{}, runtime.Family)}
	runtime.Start()
	return m
}

// WithModel is the settings for another model, whose family is found by itself.
func WithModel(s settings.Settings, name string) settings.Settings {
	s.Model, s.Completion.Template = name, "auto"
	return s
}
