package engines

import (
	"context"
	"errors"
	"time"

	"quarry/agent"
	"quarry/agent/ask"
	"quarry/agent/loop"
	"quarry/diagnostics"
	"quarry/model"
	"quarry/retrieval"
)

// Available implements assist.Assistant. A model that is being loaded will answer.
func (c *Core) Available() error {
	e := c.acquire()
	defer e.calls.Done()
	if e.runtime == nil {
		return errNoModel
	}
	if err := e.runtime.Ready(); err != nil && !errors.Is(err, model.ErrNoFIM) && !errors.Is(err, model.ErrLoading) {
		return err
	}
	return nil
}

// Explain implements assist.Assistant.
func (c *Core) Explain(ctx context.Context, p agent.Problem, emit func(text string) bool) (agent.Explanation, error) {
	return c.diagnostics().Explain(ctx, p, emit)
}

// Fix implements assist.Assistant.
func (c *Core) Fix(ctx context.Context, p agent.Problem) (agent.Proposal, error) {
	return c.diagnostics().Fix(ctx, p)
}

// Refactor implements assist.Assistant.
func (c *Core) Refactor(ctx context.Context, sel agent.Selection) (agent.Proposal, error) {
	return c.diagnostics().Refactor(ctx, sel)
}

// diagnostics is the assistant for problems and selections, with the settings of
// now.
func (c *Core) diagnostics() *diagnostics.Assistant {
	c.mu.Lock()
	contextTokens := c.settings.Ollama.ContextSize
	c.mu.Unlock()
	return diagnostics.New(diagnostics.Parts{
		Chat: c, Tools: c.tools, Files: c.Workspace, Occurs: c.occurs,
		ContextTokens: contextTokens, MaxTokens: model.ChatPreset.MaxTokens, Temperature: model.ChatPreset.Temperature,
	})
}

// occurs answers whether a word stands anywhere in the workspace. Where that
// cannot be found out it is taken to.
func (c *Core) occurs(ctx context.Context, word string) bool {
	answer, err := c.Search(ctx, retrieval.Request{Query: retrieval.Parse(`"`+word+`"`, time.Now()), Limit: 1, Signals: retrieval.SignalsLexical})
	return err != nil || len(answer.Results) > 0
}

// Ask implements assist.Assistant.
func (c *Core) Ask(ctx context.Context, q agent.Question, emit func(text string) bool) (agent.Answer, error) {
	r, err := c.AskWithin(ctx, q, 0, ask.Watch{Text: emit})
	return r.Answer, err
}

// AskWithin answers a question with the model and settings of now, within limit, the
// assistant's own if 0.
func (c *Core) AskWithin(ctx context.Context, q agent.Question, limit time.Duration, w ask.Watch) (ask.Report, error) {
	c.mu.Lock()
	contextTokens := c.settings.Ollama.ContextSize
	c.mu.Unlock()
	show := w.Step
	w.Step = func(s loop.Step) {
		c.log.Debug("ask", "turn", s.Turn, "tool", s.Tool, "outcome", s.Outcome, "bytes", s.Bytes, "tokens", s.Tokens, "took", s.Took)
		if show != nil {
			show(s)
		}
	}
	return ask.New(c, c.tools, c.Workspace, ask.Options{
		ContextTokens: contextTokens, MaxTokens: model.ChatPreset.MaxTokens, Temperature: model.ChatPreset.Temperature, Time: limit,
	}).Ask(ctx, q, w)
}
