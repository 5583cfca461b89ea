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
	// Remote is whether any text that models are asked with leaves this machine, Host where this one runs then.
	Remote bool   `json:"remote"`
	Host   string `json:"host,omitempty"`
	// Sends are all ways by which text comes to models.
	Sends []lsp.Send `json:"sends"`
}

// ModelOf is the model that the settings name, and what is sent to it and others.
func ModelOf(s settings.Settings, known *Elsewhere) ConfiguredModel {
	c := ConfiguredModel{Name: s.Model, URL: s.Ollama.URL, Sends: Sends(s, known)}
	if u, err := model.ParseEndpoint(s.Ollama.URL, true); err == nil {
		c.URL = u.Redacted()
	}
	for _, send := range c.Sends {
		if !send.Remote {
			continue
		}
		c.Remote = true
		if send.Use == "completion" {
			c.Host = send.Host
		}
	}
	return c
}

// EngineStatus implements lsp.Core.
func (c *Core) EngineStatus() (lsp.ModelStatus, lsp.CompletionStatus) {
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
	asked := ModelOf(e.settings, e.elsewhere)
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
	switch {
	case state.Err != nil:
		of.Problem = state.Err.Error()
	case state.Full:
		of.Problem = state.Warning
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
