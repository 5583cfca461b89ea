package engines

import (
	"errors"
	"slices"
	"time"

	"quarry/completion"
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
	e, sum := c.soFar()
	defer e.calls.Done()
	m, latest := sum.ghost, e.completion.Metrics()
	ghost := lsp.CompletionStatus{
		Requests: m.Requests, Model: m.Model, Reused: m.Reused, Local: m.Local, Overtaken: m.Overtaken, Unanswered: m.Unanswered,
		Shown: m.Shown, Accepted: m.Accepted, Launched: m.Launched,
		RetrievalP50: millis(latest.ContextP50), RetrievalP95: millis(latest.ContextP95), AnswerP50: millis(latest.AnswerP50), AnswerP95: millis(latest.AnswerP95),
	}
	ghost.By = []lsp.GhostStatus{}
	for _, g := range c.usage.Ghost() {
		ghost.By = append(ghost.By, lsp.GhostStatus{Language: g.Language, Engine: g.Engine, Shown: g.Shown, Accepted: g.Accepted})
	}
	asked := e.asked()
	of := lsp.ModelStatus{Name: asked.Name, URL: asked.URL, Remote: asked.Remote, Phase: string(model.Failing)}
	of.Sent, of.Failed, of.Stopped, of.NotSent, of.Reloaded = sum.model.Sent, sum.model.Failed, sum.model.Stopped, sum.model.NotSent, sum.model.Unstuck
	of.PromptTokens, of.PromptTokensReused = sum.promptTokens, sum.reusedTokens
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
	of.Waiting, of.FirstTokenP50, of.FirstTokenP95 = r.Waiting, millis(r.FirstTokenP50), millis(r.FirstTokenP95)
	of.QueueP50, of.QueueP95, of.TokensPerSecond = millis(r.QueueP50), millis(r.QueueP95), r.TokensPerSecond
	return of, ghost
}

// counts are what engines have done, without times.
type counts struct {
	ghost completion.Metrics
	// The rest is of the usual model alone; the tokens of prompts are those for ghost text.
	model                      model.Metrics
	promptTokens, reusedTokens int
}

func (s *counts) add(o counts) {
	s.ghost.Add(o.ghost)
	s.model.Add(o.model)
	s.promptTokens += o.promptTokens
	s.reusedTokens += o.reusedTokens
}

// counts are those of one generation, which may be closed.
func (e *generation) counts() (sum counts) {
	usual := e.completion.Metrics()
	sum.ghost.Add(usual)
	for _, o := range e.others.all() {
		sum.ghost.Add(o.completion.Metrics())
	}
	if sum.promptTokens = usual.PromptTokens; e.runtime == nil {
		return sum
	}
	r := e.runtime.Metrics()
	if sum.model.Add(r); r.PromptBytes > 0 {
		sum.reusedTokens = int(float64(usual.PromptTokens) * float64(r.SharedBytes) / float64(r.PromptBytes))
	}
	return sum
}

// soFar is what all engines of this process have done, and the engines in use; the caller calls calls.Done.
func (c *Core) soFar() (*generation, counts) {
	e := c.acquire()
	c.mu.Lock()
	now, sum, leaving := c.engines, c.past, slices.Clone(c.leaving)
	c.mu.Unlock()
	for _, old := range append(leaving, now) {
		sum.add(old.counts())
	}
	return e, sum
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
