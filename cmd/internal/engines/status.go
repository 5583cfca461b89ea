package engines

import (
	"errors"
	"time"

	"quarry/lsp"
	"quarry/lsp/settings"
	"quarry/model"
)

// ConfiguredModel is a model as the settings name it.
type ConfiguredModel struct {
	Name string `json:"name"`
	URL  string `json:"url"`
	// Remote is whether it runs on another machine, Host which that is.
	Remote bool   `json:"remote"`
	Host   string `json:"host,omitempty"`
}

// ModelOf is the model that the settings name.
func ModelOf(s settings.Settings) ConfiguredModel {
	c := ConfiguredModel{Name: s.Model, URL: s.Ollama.URL}
	if u, err := model.ParseEndpoint(s.Ollama.URL, true); err == nil {
		c.URL, c.Remote = u.Redacted(), !model.IsLoopback(u)
		if c.Remote {
			c.Host = u.Host
		}
	}
	if !c.Remote && s.Ollama.AllowRemote && model.InCloud(s.Model) {
		c.Remote, c.Host = true, "Ollama's cloud"
	}
	return c
}

// EngineStatus implements lsp.Core.
func (c *Core) EngineStatus() (lsp.ModelStatus, lsp.CompletionStatus) {
	c.mu.Lock()
	s := c.settings
	c.mu.Unlock()
	e := c.acquire()
	defer e.calls.Done()
	m := e.completion.Metrics()
	promptTokens := m.PromptTokens // of the usual model, as all of ModelStatus is
	for _, o := range e.others.all() {
		m.Add(o.completion.Metrics())
	}
	ghost := lsp.CompletionStatus{
		Requests: m.Requests, Model: m.Model, Reused: m.Reused, Local: m.Local, Overtaken: m.Overtaken, Unanswered: m.Unanswered,
		Shown: m.Shown, Accepted: m.Accepted, Launched: m.Launched,
		RetrievalP50: millis(m.ContextP50), RetrievalP95: millis(m.ContextP95), AnswerP50: millis(m.AnswerP50), AnswerP95: millis(m.AnswerP95),
	}
	ghost.By = []lsp.GhostStatus{}
	for _, g := range c.usage.Ghost() {
		ghost.By = append(ghost.By, lsp.GhostStatus{Language: g.Language, Engine: g.Engine, Shown: g.Shown, Accepted: g.Accepted})
	}
	asked := ModelOf(s)
	of := lsp.ModelStatus{Name: asked.Name, URL: asked.URL, Remote: asked.Remote, Phase: string(model.Failing)}
	if e.runtime == nil {
		of.Problem = e.refused.Error()
		if errors.Is(e.refused, errModelsOff) {
			of.Phase = "off"
		}
		return of, ghost
	}
	state, r := e.runtime.State(), e.runtime.Metrics()
	of.Phase = string(state.Phase)
	if state.Err != nil {
		of.Problem = state.Err.Error()
	}
	of.Sent, of.Failed, of.Stopped, of.NotSent, of.Waiting, of.Reloaded = r.Sent, r.Failed, r.Stopped, r.NotSent, r.Waiting, r.Unstuck
	of.FirstTokenP50, of.FirstTokenP95 = millis(r.FirstTokenP50), millis(r.FirstTokenP95)
	of.QueueP50, of.QueueP95, of.TokensPerSecond = millis(r.QueueP50), millis(r.QueueP95), r.TokensPerSecond
	of.PromptTokens = promptTokens
	if r.PromptBytes > 0 {
		of.PromptTokensReused = int(float64(promptTokens) * float64(r.SharedBytes) / float64(r.PromptBytes))
	}
	return of, ghost
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
