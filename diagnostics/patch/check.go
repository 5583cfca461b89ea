package patch

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"quarry/agent"
	"quarry/index/mask"
	"quarry/index/syntax"
	"quarry/index/visible"
)

// check looks at what a target's edits make of it: edits that overlap are a
// fault of the change; new syntax errors refuse it, and so do characters that
// whoever reads the diff would not see, such as those that turn the direction of
// text and make code of a comment. A mask that the text does not show would be written as x's.
// The error is that of ctx once it has ended.
func (t *target) check(ctx context.Context) error {
	for i := 1; i < len(t.edits); i++ {
		if t.edits[i].Start < t.edits[i-1].End {
			return t.refuse(refuse(Conflict, "two of its changes touch the same text; write one hunk for both"))
		}
	}
	was := visible.In(t.doc.Text)
	for _, e := range t.edits {
		if r, ok := was.Added(t.doc.Text[:e.Start], e.New, t.doc.Text[e.End:]); ok {
			return t.refuse(refuse(Unseen, "it adds %U, which nobody sees; leave it out, or write it as an escape of the language", r))
		}
	}
	if _, err := mask.Restore(ctx, t.doc.Text, agent.ApplyEdits(t.doc.Text, t.edits), nil); ctx.Err() != nil {
		return ctx.Err()
	} else if err != nil {
		return t.refuse(refuse(Masked, "it writes a masked secret (xxxx) that the file does not show so; keep what is masked exactly as it is, or leave it to the user"))
	}
	if refusal := newErrors(t.doc.Language, t.doc.Text, t.edits); refusal != nil {
		return t.refuse(refusal)
	}
	return nil
}

// newErrors refuses edits after which a text has more syntax errors than before.
// A language without a grammar, and a text on which the parser gives up, pass.
func newErrors(language, text string, edits []agent.TextEdit) *Refusal {
	before, err := syntax.Parse(language, []byte(text))
	if err != nil {
		return nil
	}
	defer before.Close()
	had, ok := before.ErrorCount()
	if !ok {
		return nil
	}
	changed := agent.ApplyEdits(text, edits)
	after, err := before.Update([]byte(changed))
	if err != nil {
		return nil
	}
	defer after.Close()
	has, ok := after.ErrorCount()
	if !ok || has <= had {
		return nil
	}
	return refuse(Syntax, "with it the file has a syntax error%s; write the change so that the whole file stays valid %s", errorLine(before, after, changed), language)
}

// errorLine says where the first syntax error is that is new, by its text.
func errorLine(before, after *syntax.Tree, changed string) string {
	was := before.Analyze().Errors
	old := map[uint32]bool{}
	for _, e := range was {
		old[e.End-e.Start] = true
	}
	is := after.Analyze().Errors
	i := slices.IndexFunc(is, func(e syntax.Span) bool { return !old[e.End-e.Start] })
	if i < 0 {
		i = 0
	}
	if len(is) == 0 {
		return ""
	}
	at := int(is[i].Start)
	start := strings.LastIndexByte(changed[:at], '\n') + 1
	end := strings.IndexByte(changed[at:], '\n')
	if end < 0 {
		end = len(changed) - at
	}
	return fmt.Sprintf(" at line %d, %q", is[i].StartLine, shorten(changed[start:at+end]))
}
