package diagnostics

import (
	"context"
	"fmt"
	"strings"

	"quarry/agent"
	"quarry/agent/cite"
)

// Imports are the imports that would make the name known that a problem does not know, the
// likeliest first, each with the edits that add it. No model is asked; the list is empty where the
// problem is something else.
func (a *Assistant) Imports(ctx context.Context, p agent.Problem) (list []agent.Import) {
	if a.parts.Imports == nil {
		return nil
	}
	found := a.parts.Imports.Find(ctx, p)
	patcher := a.patch.For(p.Document, nil)
	for i, c := range found.Candidates {
		proposal, err := patcher.Changes(ctx, []agent.FileEdits{{Path: p.Document.Path, Edits: c.Edits}})
		if err != nil {
			continue // it would break the file, or may not be changed
		}
		proposal.Title = c.Title()
		proposal.Reason = fmt.Sprintf("`%s` is not imported here, and no model was asked.", found.Name)
		proposal.Confidence = agent.Low
		if c.Files > 0 {
			proposal.Confidence = agent.Medium
		}
		isCertain := found.Certain && i == 0
		if isCertain {
			proposal.Confidence = agent.High
		}
		if c.Evidence != "" {
			proposal.Citations = []agent.Citation{{Path: a.parts.Files.Name(c.Evidence), StartLine: c.Line, EndLine: c.Line}}
		}
		list = append(list, agent.Import{Proposal: proposal, What: c.What, Certain: isCertain})
	}
	return list
}

// certainImport is the import that mends a problem where there is no doubt.
func (a *Assistant) certainImport(ctx context.Context, p agent.Problem) (agent.Proposal, bool) {
	if list := a.Imports(ctx, p); len(list) > 0 && list[0].Certain {
		return list[0].Proposal, true
	}
	return agent.Proposal{}, false
}

// ExplainImport explains a problem by the imports that would mend it, for where no model can be
// asked; ok is false if none is known.
func (a *Assistant) ExplainImport(ctx context.Context, p agent.Problem) (x agent.Explanation, ok bool) {
	list := a.Imports(ctx, p)
	if len(list) == 0 {
		return x, false
	}
	var b strings.Builder
	b.WriteString("The name is not known here because its import is missing. What other files of the workspace say:\n\n")
	for _, im := range list {
		b.WriteString("- " + im.Title)
		for _, c := range im.Citations {
			b.WriteString(" " + cite.Format(c))
			x.Citations = append(x.Citations, c)
		}
		b.WriteByte('\n')
	}
	x.Text, x.Confidence, x.Backend = b.String(), list[0].Confidence, []string{"index"}
	return x, true
}
