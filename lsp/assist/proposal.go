package assist

import (
	"context"
	"encoding/json"

	"go.lsp.dev/jsonrpc2"

	"quarry/agent"
	"quarry/index/visible"
	"quarry/lsp/wire"
)

// A client that shows changes by itself says so in its capabilities,
// {"experimental": {"quarry": {"proposals": true}}}. It is told of a proposal by
// quarry/proposal, and once there is nothing left to decide by quarry/proposal.end;
// it tells what the user decided by quarry/decide.
const (
	methodProposal    = "quarry/proposal"
	methodProposalEnd = "quarry/proposal.end"
	methodDecide      = "quarry/decide"
)

// proposalParams are the params of quarry/proposal.
type proposalParams struct {
	ID     string `json:"id" jsonschema:"a proposal that is sent again replaces itself"`
	Title  string `json:"title"`
	Reason string `json:"reason"`
	// Basis says how far it is to be trusted and what it rests on.
	Basis      string           `json:"basis" jsonschema:"confidence and citations in words"`
	Confidence agent.Confidence `json:"confidence" jsonschema:"low, medium, high or empty"`
	Citations  []citation       `json:"citations"`
	Diff       string           `json:"diff" jsonschema:"unified, of all files, to be read: what nobody sees is written as an escape"`
	Files      []proposedFile   `json:"files"`
}

// proposedFile is one file of a proposal.
type proposedFile struct {
	URI    string `json:"uri"`
	Name   string `json:"name" jsonschema:"relative to the workspace folder, with slashes"`
	Create bool   `json:"create" jsonschema:"it is not there yet"`
	Text   string `json:"text" jsonschema:"all of it as it would become"`
}

// proposalID is the params of quarry/proposal.end.
type proposalID struct {
	ID string `json:"id"`
}

// decideParams are the params of quarry/decide.
type decideParams struct {
	ID    string `json:"id"`
	Apply bool   `json:"apply" jsonschema:"else it is discarded"`
}

// decideResult is the result of quarry/decide.
type decideResult struct {
	Open    bool   `json:"open" jsonschema:"the answer does not count; the proposal is still to be decided"`
	Message string `json:"message" jsonschema:"for the user, empty if there is none"`
}

// agreedInEditor has the client show a proposal and waits for what the user
// decides there.
func (s *Service) agreedInEditor(ctx context.Context, d hold) error {
	p := proposalParams{
		ID: d.id, Title: oneLine(d.Title, 200), Reason: visible.Text(d.Reason), Basis: s.basis(d.Proposal), Confidence: d.Confidence,
		Citations: []citation{}, Diff: visible.Text(d.Diff), Files: []proposedFile{},
	}
	for _, c := range d.Citations {
		p.Citations = append(p.Citations, citation(c))
	}
	files, err := s.changedFiles(ctx, d.Proposal)
	if err != nil {
		return err
	}
	for _, f := range files {
		p.Files = append(p.Files, proposedFile{string(f.id.URI), s.host.Core().Name(f.Path), f.Create, f.after()})
	}
	if err := s.host.Notify(ctx, methodProposal, p); err != nil {
		return err
	}
	select {
	case a := <-d.answers:
		close(d.taken)
		if a.choice != choiceApply {
			return errDeclined
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Service) hideProposal(id string) {
	if err := s.host.Notify(s.base, methodProposalEnd, proposalID{id}); err != nil && s.base.Err() == nil {
		s.log.Error("hide a proposal", "error", err)
	}
}

// decideProposal serves quarry/decide. The client has looked at the keys; what it
// told of texts is looked at here once more.
func (s *Service) decideProposal(ctx context.Context, raw json.RawMessage) (any, error) {
	var p decideParams
	if err := wire.DecodeParams(raw, &p); err != nil {
		return nil, err
	}
	d := s.decisions.get(p.ID)
	if past, _ := s.typing.since(); d.decision != nil && p.Apply && past < hasty {
		return decideResult{Open: true, Message: tooHasty + "Answer once more."}, nil
	}
	gone := decideResult{}
	if p.Apply {
		gone.Message = "Not applied: " + noMore
	}
	if d.decision == nil {
		return gone, nil
	}
	jsonrpc2.Async(ctx)
	choice := choiceDiscard
	if p.Apply {
		choice = choiceApply
	}
	select {
	case d.answers <- answer{choice: choice}:
		return decideResult{}, nil
	case <-d.taken:
		// The user has answered already, as where the change was shown once more meanwhile. What
		// came of that answer is told by the request that waited for it.
		return decideResult{}, nil
	case <-d.over:
		return gone, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
