package diagnostics

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"quarry/agent"
	"quarry/diagnostics/patch"
)

// Fix proposes the smallest safe change that removes a problem, in the problem's
// own file: the import that is missing where there is no doubt, else a model's. A proposal without files means that the model knows none; its Reason
// says why. The error is a *patch.Refusal if what the model wrote twice could not
// be taken, or if the file cannot be changed at all, else that of the model or of
// ctx.
func (a *Assistant) Fix(ctx context.Context, p agent.Problem) (agent.Proposal, error) {
	if err := a.patch.For(p.Document, nil).Changeable(); err != nil {
		return agent.Proposal{}, err
	}
	if known, ok := a.certainImport(ctx, p); ok {
		return known, nil
	}
	form := a.parts.Form
	if a.parts.FormNow != nil {
		var err error
		if form, err = a.parts.FormNow(ctx); err != nil {
			return agent.Proposal{}, err
		}
	}
	e := task{name: "fix", about: a.problemContext(p), form: form}
	if e.form == Line {
		if e.about.narrow() {
			return a.fixLine(ctx, e)
		}
		e.form = Whole
	}
	e.about.Form = e.form.String()
	e.query = e.problemQuery()
	return a.propose(ctx, e, e.fixTitle(), nil, func(agent.Proposal) *patch.Refusal { return nil })
}

func (e task) fixTitle() string { return "Fix: " + firstLine(e.about.Message) }

// near is how many lines from a problem its fix is expected.
const near = 10

// propose asks for a change. One that the patcher or check refuses is objected to,
// and so is one that cites nothing.
func (a *Assistant) propose(ctx context.Context, e task, title string, also func(path string) bool, check func(p agent.Proposal) *patch.Refusal) (agent.Proposal, error) {
	patcher := a.patch.For(e.about.doc, also)
	e.complete = e.form.written
	var failed error
	e.validate = func(s *answer) string {
		var err error
		if _, ended := afterDiffs(s.whole); strings.Contains(s.whole, "```diff\n") && !ended {
			s.refusal = &patch.Refusal{Reason: patch.Incomplete, Text: "the diff breaks off; write less, only the lines that change and three around them"}
		} else if s.reading, err = patcher.Read(ctx, s.whole); err == nil {
			s.refusal = check(s.reading.Proposal)
		} else if !errors.As(err, &s.refusal) {
			failed = err
		}
		switch {
		case s.isNoFix():
			return ""
		case s.refusal != nil && s.refusal.Reason == patch.NoDiff && e.form != Diff:
			return e.form.wanted()
		case s.refusal != nil:
			return s.refusal.Error()
		case len(s.citations) == 0:
			return uncited
		}
		return ""
	}
	answers, err := a.ask(ctx, e)
	if err == nil {
		err = failed
	}
	if err != nil {
		return agent.Proposal{}, err
	}
	best := answers[len(answers)-1]
	if best.refusal != nil && answers[0].refusal == nil {
		best = answers[0] // its only fault was to cite nothing
	}
	switch {
	case best.isNoFix():
		return agent.Proposal{Title: title, Reason: reasonOf(best.text), Confidence: agent.Low, Citations: best.citations}, nil
	case best.isWords(): // after it was told to write a diff
		return agent.Proposal{Title: title, Reason: "The model wrote no change, only: " + reasonOf(best.text), Confidence: agent.Low}, nil
	case best.refusal != nil && best.cut:
		return agent.Proposal{}, fmt.Errorf("select less, the model's change was too long: %w", best.refusal)
	case best.refusal != nil:
		return agent.Proposal{}, refusedChange(best.refusal)
	}
	return a.finish(ctx, e, title, best), nil
}

func refusedChange(why error) error {
	return fmt.Errorf("ask again, the model's change is refused: %w", why)
}

// isNoFix says whether the answer is that no change is known: it has none, and
// says what that rests on.
func (s *answer) isNoFix() bool {
	return s.refusal != nil && s.refusal.Reason == patch.NoDiff && len(s.citations) > 0 && !strings.Contains(s.whole, "```diff")
}

// isWords says whether the answer is words alone.
func (s *answer) isWords() bool {
	return s.refusal != nil && s.refusal.Reason == patch.NoDiff && s.text != "" && beforeCode(s.whole) == s.whole
}

// wordsAfter is how many bytes of words follow the last of a model's diffs before
// nothing more is expected of it: some write one diff a place.
const wordsAfter = 200

// diffsWritten says whether a text that is being written has all its diffs.
func diffsWritten(text string) bool {
	after, ok := afterDiffs(text)
	return ok && len(strings.TrimSpace(after)) > wordsAfter && !strings.Contains(after, "```")
}

// afterDiffs is what follows the last fence that labels itself a diff. ok says that
// there is one, and that each has its end.
func afterDiffs(text string) (after string, ok bool) {
	for {
		_, inside, more := strings.Cut(text, "```diff\n")
		if !more {
			return text, ok
		}
		if _, text, ok = strings.Cut(inside, "\n```"); !ok || text != "" && text[0] != '\n' {
			return "", false
		}
	}
}

// finish says how far a change is to be trusted.
func (a *Assistant) finish(ctx context.Context, e task, title string, s *answer) agent.Proposal {
	p := s.reading.Proposal
	d := s.common()
	d.unless(s.text != "", "the model gave no reason")
	d.unless(!s.reading.Forgiven, "its lines fitted only after their indentation or context was corrected")
	d.unless(len(s.reading.Rewritten) == 0, "it writes %s anew, see that nothing is lost", strings.Join(s.reading.Rewritten, ", "))
	if e.about.Message != "" {
		d.unless(touches(p.Files, e.about.doc, e.about.Line), "it changes lines far from the problem")
	}
	for _, f := range p.Files {
		before := e.about.doc.Text
		if f.Path != e.about.doc.Path {
			before = ""
			if !f.Create {
				var err error
				if before, err = a.parts.Files.Text(f.Path); err != nil || agent.HashText(before) != f.Base {
					continue // moved on already; applying will say so
				}
			}
		}
		if n := a.unknownCall(ctx, e.about, f, agent.ApplyEdits(before, f.Edits), s.evidence); n != "" {
			d.unless(false, "it calls `%s`, which does not occur elsewhere in the workspace", n)
			break
		}
	}
	p.Title = title
	p.Reason = strings.TrimSpace(reasonOf(s.text) + " " + d.sentence())
	p.Confidence, p.Citations = d.confidence(), s.citations
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
	for _, mark := range []string{"\n```", "\n--- ", "\ndiff --git ", "\n@@ ", "\n*** Begin Patch", "\n<<<<<<< "} {
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
