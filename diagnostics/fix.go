package diagnostics

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"quarry/agent"
	"quarry/diagnostics/patch"
)

// Fix proposes the smallest safe change that removes a problem, in the problem's
// own file. A proposal without files means that the model knows none; its Reason
// says why. The error is a *patch.Refusal if what the model wrote twice could not
// be taken, else that of the model or of ctx.
func (a *Assistant) Fix(ctx context.Context, p agent.Problem) (agent.Proposal, error) {
	e := errand{name: "fix", scene: a.problemScene(p), tokens: changeTokens, wantsCode: true}
	e.query = e.problemQuery()
	title := "Fix: " + firstLine(p.Message)
	return a.propose(ctx, e, title, nil, func(c agent.Proposal) *patch.Refusal { return nil })
}

// near is how many lines from a problem its fix is expected.
const near = 10

// propose asks for a change, reads it, and asks once more if it is refused or
// cites nothing. judge may refuse what the patcher took.
func (a *Assistant) propose(ctx context.Context, e errand, title string, also func(path string) bool, judge func(p agent.Proposal) *patch.Refusal) (agent.Proposal, error) {
	patcher := a.patch.For(e.scene.doc, also)
	var kept *candidate
	refused := ""
	for attempt := range 2 {
		s, err := a.ask(ctx, e, refused, nil)
		if err != nil {
			if kept != nil && errors.Is(err, errNothing) {
				break
			}
			return agent.Proposal{}, err
		}
		c := candidate{said: s, again: attempt > 0}
		var refusal *patch.Refusal
		if s.cut {
			refusal = &patch.Refusal{Reason: patch.Incomplete, Text: "the answer breaks off; write less, only the lines that change and few around them"}
		} else if c.Reading, err = patcher.Read(ctx, s.whole); err != nil && !errors.As(err, &refusal) {
			return agent.Proposal{}, err
		}
		if refusal == nil {
			refusal = judge(c.Proposal)
		}
		switch {
		case refusal != nil && refusal.Reason == patch.NoDiff && len(s.citations) > 0:
			return agent.Proposal{Title: title, Reason: reasonOf(s.text), Confidence: agent.Low, Citations: s.citations}, nil
		case refusal != nil && attempt == 1 && kept == nil:
			return agent.Proposal{}, fmt.Errorf("the model's change was refused twice: %w", refusal)
		case refusal != nil:
			refused = refusal.Error()
			continue
		case kept == nil || len(s.citations) > 0:
			kept = &c
		}
		if len(s.citations) > 0 {
			break
		}
		refused = uncited
	}
	return a.finish(ctx, e, title, *kept), nil
}

// candidate is an answer whose change was taken.
type candidate struct {
	said
	patch.Reading
	again bool
}

// finish says how far a candidate is to be trusted.
func (a *Assistant) finish(ctx context.Context, e errand, title string, c candidate) agent.Proposal {
	d := c.common(c.again)
	d.unless(!c.Forgiven, "its lines fitted only after their indentation or context was corrected")
	if e.scene.Message != "" {
		d.unless(touches(c.Files, e.scene.doc, e.scene.Line), "it changes lines far from the problem")
	}
	for _, f := range c.Files {
		before := e.scene.doc.Text
		if f.Path != e.scene.doc.Path {
			before = ""
			if !f.Create {
				var err error
				if before, err = a.parts.Files.Text(f.Path); err != nil || agent.HashText(before) != f.Base {
					continue // moved on already; applying will say so
				}
			}
		}
		if n := a.unknownCall(ctx, e.scene, f, patch.Apply(before, f.Edits), c.evidence); n != "" {
			d.unless(false, "it calls `%s`, which stands nowhere else in the workspace", n)
			break
		}
	}
	p := c.Proposal
	p.Title = title
	p.Reason = strings.TrimSpace(reasonOf(c.text) + " " + d.sentence())
	p.Confidence, p.Citations = d.confidence(), c.citations
	return p
}

// touches says whether a change of the document is near a line.
func touches(files []agent.FileChange, doc agent.Document, line int) bool {
	for _, f := range files {
		for _, e := range f.Edits {
			if f.Path == doc.Path && lineOf(doc.Text, e.Start) <= line+near && lineOf(doc.Text, e.End) >= line-near {
				return true
			}
		}
	}
	return false
}

// beforeCode is what an answer says before its diff.
func beforeCode(text string) string {
	text = "\n" + text
	for _, mark := range []string{"\n```", "\n--- ", "\ndiff --git ", "\n@@ ", "\n*** Begin Patch"} {
		text, _, _ = strings.Cut(text, mark)
	}
	return strings.TrimSpace(text)
}

// reasonOf is the words of an answer as one paragraph.
func reasonOf(words string) string {
	const most = 600
	reason := strings.Join(strings.Fields(words), " ")
	if len(reason) > most {
		reason = strings.ToValidUTF8(reason[:most], "") + "…"
	}
	return strings.TrimRight(reason, ":")
}

func firstLine(text string) string {
	const most = 80
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if r := []rune(strings.TrimSpace(line)); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return strings.TrimSpace(line)
}

// isTest says whether a file is one for tests, by the habits of most languages.
func isTest(name string) bool {
	base := strings.ToLower(path.Base(filepath.ToSlash(name)))
	stem := strings.TrimSuffix(base, path.Ext(base))
	for _, word := range strings.FieldsFunc(stem, func(r rune) bool { return strings.ContainsRune("_-.", r) }) {
		if word == "test" || word == "tests" || word == "spec" {
			return true
		}
	}
	return strings.HasSuffix(strings.TrimSuffix(path.Base(filepath.ToSlash(name)), path.Ext(name)), "Test") || strings.HasSuffix(strings.TrimSuffix(path.Base(filepath.ToSlash(name)), path.Ext(name)), "Tests")
}
