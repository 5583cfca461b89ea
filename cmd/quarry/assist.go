package main

import (
	"context"
	"errors"

	"quarry/agent"
)

var errNoAssistance = errors.New("not available: this build of quarry completes and searches, but does not explain, fix, refactor or answer yet")

// Available implements lsp.Assistant.
func (c *core) Available() error { return errNoAssistance }

// Explain implements lsp.Assistant.
func (c *core) Explain(context.Context, agent.Problem, func(string) bool) (agent.Explanation, error) {
	return agent.Explanation{}, errNoAssistance
}

// Fix implements lsp.Assistant.
func (c *core) Fix(context.Context, agent.Problem) (agent.Proposal, error) {
	return agent.Proposal{}, errNoAssistance
}

// Refactor implements lsp.Assistant.
func (c *core) Refactor(context.Context, agent.Selection) (agent.Proposal, error) {
	return agent.Proposal{}, errNoAssistance
}

// Ask implements lsp.Assistant.
func (c *core) Ask(context.Context, agent.Question, func(string) bool) (agent.Answer, error) {
	return agent.Answer{}, errNoAssistance
}
