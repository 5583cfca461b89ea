package engines

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
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
	models map[string]*other // by name; guarded by mu
	closed bool              // guarded by mu
}

// other is a model with what completes by it; runtime is nil for one that cannot be asked at all.
type other struct {
	runtime    *model.Runtime
	completion *completion.Engine
	refused    error // why it cannot
}

// all are those that were made.
func (o *others) all() (list []*other) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, m := range o.models {
		if m.runtime != nil {
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
	if m == nil || m.runtime == nil {
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
		c.changed()
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
		return &other{refused: err}
	}
	m := &other{runtime: runtime, completion: c.completing(runtime, s, completion.Choice{}, runtime.Family)}
	runtime.Start()
	return m
}

// A broken is a model of single languages that cannot be asked, which the usual one completes then.
type broken struct {
	name      string
	languages []string
	phase     model.Phase
	err       error
}

// broken are those of which that is known: a model is looked at when a document of its language asks first.
func (e *generation) broken() (list []broken) {
	if e.runtime == nil {
		return nil
	}
	e.others.mu.Lock()
	defer e.others.mu.Unlock()
	for _, language := range slices.Sorted(maps.Keys(e.settings.Completion.Models)) {
		name := e.settings.Completion.Models[language]
		if name == "" || model.SameModel(name, e.settings.Model) {
			continue
		}
		if at := slices.IndexFunc(list, func(b broken) bool { return b.name == name }); at >= 0 {
			list[at].languages = append(list[at].languages, language)
			continue
		}
		b := broken{name: name, languages: []string{language}}
		switch m := e.others.models[name]; {
		case !e.settings.Ollama.AllowRemote && model.InCloud(name):
			b.phase, b.err = model.Unsuitable, model.RefusedCloud(name)
		case m == nil:
			continue
		case m.runtime == nil:
			b.phase, b.err = model.Unsuitable, m.refused
		default:
			switch st := m.runtime.State(); st.Phase {
			case model.Missing, model.Unsuitable, model.Failing:
				b.phase, b.err = st.Phase, st.Err
			}
		}
		if b.err != nil {
			list = append(list, b)
		}
	}
	return list
}

// asked is the model that the settings name, and what is sent to it and to those others that can be asked.
func (e *generation) asked() ConfiguredModel {
	s := e.settings
	s.Completion.Models = maps.Clone(s.Completion.Models)
	for _, b := range e.broken() {
		for _, language := range b.languages {
			if b.phase != model.Failing { // which is tried again
				delete(s.Completion.Models, language)
			}
		}
	}
	return ModelOf(s, e.elsewhere)
}

// brokenNote is what is wrong with models of single languages, and what helps; note is of the usual one.
func (c *Core) brokenNote(e *generation, note lsp.NoteModel) (says []string, help []lsp.Remedy) {
	for _, b := range e.broken() {
		text := b.err.Error()
		if note.State == lsp.ModelReady {
			text += fmt.Sprintf(". Until then %s completes %s", note.Name, inWords(b.languages))
		}
		says = append(says, text)
		p := c.downloads.state()
		if b.phase == model.Missing && e.runtime.PullsModels() && note.Host == "" && (p == nil || !model.SameModel(p.name, b.name)) {
			help = append(help, lsp.Remedy{Title: "Pull " + b.name, Command: lsp.CommandPull, Arguments: []string{b.name}})
		}
	}
	return says, help
}

// inWords is "a", "a and b" or "a, b and c".
func inWords(list []string) string {
	last := len(list) - 1
	if last < 1 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:last], ", ") + " and " + list[last]
}

// WithModel is the settings for another model, whose family is found by itself.
func WithModel(s settings.Settings, name string) settings.Settings {
	s.Model, s.Completion.Template = name, "auto"
	return s
}
