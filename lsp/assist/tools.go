package assist

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"go.lsp.dev/jsonrpc2"

	"quarry/agent"
	"quarry/lsp/wire"
)

// toolDefinition is one entry of the result of quarry/tools.list.
type toolDefinition struct {
	Type     string       `json:"type"`
	Function toolFunction `json:"function"`
}

type toolFunction struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Parameters  map[string]any `json:"parameters" jsonschema:"a JSON schema"`
}

// toolParams are the params of quarry/tools.call.
type toolParams struct {
	Name      string         `json:"name"`
	Arguments map[string]any `json:"arguments,omitzero"`
}

// toolResult is the result of quarry/tools.call: an agent.Envelope.
type toolResult struct {
	OK    bool           `json:"ok"`
	Data  any            `json:"data"`
	Error *agent.Failure `json:"error" jsonschema:"code is invalid_arguments, not_found, permission_denied, requires_confirmation, too_large, not_ready or internal_error"`
	Meta  agent.Meta     `json:"meta"`
}

func (s *Service) listTools(_ context.Context, _ json.RawMessage) (any, error) {
	return s.host.Core().ToolDefinitions(), nil
}

func (s *Service) callTool(ctx context.Context, raw json.RawMessage) (any, error) {
	var p toolParams
	if err := wire.DecodeParams(raw, &p); err != nil {
		return nil, err
	}
	if p.Name == "" {
		return nil, wire.InvalidParams("name is empty; quarry/tools.list has the names")
	}
	jsonrpc2.Async(ctx)
	e, err := s.call(ctx, p)
	if err != nil {
		return nil, err
	}
	if e.Error != nil && e.Error.Code == agent.RequiresConfirmation {
		if e, err = s.decide(ctx, p, e); err != nil {
			return nil, err
		}
	}
	if e.Meta.Warnings == nil {
		e.Meta.Warnings = []string{}
	}
	return toolResult{e.OK, e.Data, e.Error, e.Meta}, nil
}

func (s *Service) call(ctx context.Context, p toolParams) (agent.Envelope, error) {
	args, err := json.Marshal(p.Arguments)
	if err != nil {
		return agent.Envelope{}, err
	}
	e := s.host.Core().CallTool(ctx, p.Name, args)
	return e, ctx.Err()
}

// decide puts the change that a call has staged to the user, and makes the call
// again with a token if they want it. This is the only place where tokens are
// made: whoever called the tool has no part in it.
func (s *Service) decide(ctx context.Context, p toolParams, waiting agent.Envelope) (agent.Envelope, error) {
	var staged struct {
		ID string `json:"proposal_id"`
	}
	if err := json.Unmarshal(waiting.Data, &staged); err != nil {
		return waiting, fmt.Errorf("read the staged proposal: %w", err)
	}
	proposal, err := s.staging.Proposal(staged.ID)
	if err != nil {
		return waiting, err
	}
	d := s.decisions.begin("", proposal)
	defer s.endDecision(d)
	if err := s.agreed(ctx, d); err != nil {
		s.staging.Discard(staged.ID)
		return agent.Envelope{Error: refusal(err)}, ctx.Err()
	}
	token, err := s.staging.Mint(staged.ID)
	if err != nil {
		return waiting, err
	}
	confirmed := toolParams{p.Name, map[string]any{}}
	for name, value := range p.Arguments {
		confirmed.Arguments[name] = value
	}
	confirmed.Arguments["confirmation_token"] = token
	return s.call(ctx, confirmed)
}

// ApplyConfirmed has the editor apply what the user agreed to, for a tool.
func (s *Service) ApplyConfirmed(ctx context.Context, p agent.Proposal) error {
	if _, err := s.apply(ctx, p); err != nil {
		return refusal(err)
	}
	return nil
}

// refusal says to a model why a change was not made.
func refusal(err error) *agent.Failure {
	var moved movedError
	switch {
	case errors.Is(err, errDeclined):
		return agent.Failf(agent.PermissionDenied, "the user does not want this change; do not propose it again")
	case errors.As(err, &moved):
		return agent.Failf(agent.InvalidArguments, "%v", err)
	}
	return agent.Failf(agent.InternalError, "nothing was changed: %v", err)
}
