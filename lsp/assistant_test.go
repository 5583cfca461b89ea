package lsp_test

import (
	"context"
	"errors"

	"quarry/agent"
)

// assistant is an assist.Assistant whose answers a test scripts.
type assistant struct {
	unavailable error
	explain     func(context.Context, agent.Problem, func(string) bool) (agent.Explanation, error)
	fix         func(context.Context, agent.Problem) (agent.Proposal, error)
	refactor    func(context.Context, agent.Selection) (agent.Proposal, error)
	ask         func(context.Context, agent.Question, func(string) bool) (agent.Answer, error)
	imports     func(agent.Problem) []agent.Import
}

var errUnscripted = errors.New("the test did not expect this")

func (a assistant) Available() error { return a.unavailable }

func (a assistant) Explain(ctx context.Context, p agent.Problem, emit func(string) bool) (agent.Explanation, error) {
	if a.explain == nil {
		return agent.Explanation{}, errUnscripted
	}
	return a.explain(ctx, p, emit)
}

func (a assistant) Fix(ctx context.Context, p agent.Problem) (agent.Proposal, error) {
	if a.fix == nil {
		return agent.Proposal{}, errUnscripted
	}
	return a.fix(ctx, p)
}

func (a assistant) Imports(_ context.Context, p agent.Problem) []agent.Import {
	if a.imports == nil {
		return nil
	}
	return a.imports(p)
}

func (a assistant) Refactor(ctx context.Context, sel agent.Selection) (agent.Proposal, error) {
	if a.refactor == nil {
		return agent.Proposal{}, errUnscripted
	}
	return a.refactor(ctx, sel)
}

func (a assistant) Ask(ctx context.Context, q agent.Question, emit func(string) bool) (agent.Answer, error) {
	if a.ask == nil {
		return agent.Answer{}, errUnscripted
	}
	return a.ask(ctx, q, emit)
}
