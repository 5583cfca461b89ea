package golden

import (
	"context"
	"fmt"
	"strings"

	"quarry/agent"
	"quarry/completion"
	"quarry/index/syntax"
)

func (s Suite) fix(ctx context.Context, t Task, e Engines, p agent.Problem, out *Outcome) {
	change, err := e.Fix(ctx, p)
	if err != nil {
		out.Failed = err.Error()
		return
	}
	out.Shown = len(change.Files) > 0
	if !out.Shown { // the model knows no safe fix
		out.Text = change.Reason
		return
	}
	out.Changed, out.Applies, out.Text, out.Rules = true, true, change.Diff, change.Rules
	out.judge(s, change.Citations)
	after := p.Document.Text
	for _, f := range change.Files {
		if f.Path != p.Document.Path || f.Base != agent.HashText(p.Document.Text) || !fits(p.Document.Text, f.Edits) {
			out.Applies = false
			return
		}
		after = agent.ApplyEdits(p.Document.Text, f.Edits)
	}
	out.Parses = parses(p.Document, after)
	out.Right = out.Parses && holds(after, t.Want)
}

// complete asks for what stands behind the cursor. The suite's files have holes
// there, so that the index has not read the answer.
func (s Suite) complete(ctx context.Context, t Task, e Engines, out *Outcome) error {
	doc, err := s.document(t.File)
	if err != nil {
		return err
	}
	at := strings.Index(doc.Text, t.After)
	if at < 0 || strings.Count(doc.Text, t.After) != 1 {
		return fmt.Errorf("the task %s has its cursor behind %q, which is not once in %s", t.ID, t.After, t.File)
	}
	offset := at + len(t.After)
	res, err := e.Complete(ctx, completion.Request{
		Key:      t.ID,
		Document: completion.Document{Root: s.Workspace, Path: t.File, Language: doc.Language, Text: doc.Text},
		Version:  1, Offset: offset, Manual: true,
	})
	if err != nil {
		out.Failed = err.Error()
		return nil
	}
	if len(res.Items) == 0 {
		return nil
	}
	item := res.Items[0]
	out.Shown, out.Changed, out.Text = true, true, item.Text
	edits := []agent.TextEdit{{Start: item.Start, End: item.End, New: item.Text}}
	if out.Applies = item.Start <= offset && item.End >= offset && fits(doc.Text, edits); !out.Applies {
		return nil
	}
	after := agent.ApplyEdits(doc.Text, edits)
	out.Parses = parses(doc, after)
	out.Right = out.Parses && holds(item.Text, t.Want)
	return nil
}

// fits answers whether edits lie in a text, in order.
func fits(text string, edits []agent.TextEdit) bool {
	at := 0
	for _, e := range edits {
		if e.Start < at || e.End < e.Start || e.End > len(text) {
			return false
		}
		at = e.End
	}
	return len(edits) > 0
}

// parses answers whether a text has no more syntax errors than its document.
func parses(doc agent.Document, after string) bool {
	before, ok := syntax.ParseErrors(doc.Language, []byte(doc.Text))
	if !ok {
		return false
	}
	now, ok := syntax.ParseErrors(doc.Language, []byte(after))
	return ok && len(now) <= len(before)
}

func holds(text string, want []string) bool {
	for _, w := range want {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}
