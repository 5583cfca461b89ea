package diagnostics

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"quarry/agent"
	"quarry/diagnostics/patch"
	"quarry/index/lang"
	"quarry/index/syntax"
)

// Refactor proposes a change of a selection. Only tests may touch another file
// than the selection's. The rest is as with Fix.
func (a *Assistant) Refactor(ctx context.Context, sel agent.Selection) (agent.Proposal, error) {
	if sel.Kind == agent.Rename {
		return a.rename(ctx, sel)
	}
	goal := strings.TrimSpace(sel.Goal)
	if sel.Kind == agent.Free && goal == "" {
		return agent.Proposal{}, fmt.Errorf("say what should be done with the selection")
	}
	title := titleOf(sel.Kind, goal)
	if title == "" {
		return agent.Proposal{}, fmt.Errorf("there is no refactoring %q", sel.Kind)
	}
	if err := a.patch.For(sel.Document, nil).Changeable(); err != nil {
		return agent.Proposal{}, err
	}
	e := task{name: string(sel.Kind), about: a.newContext(sel.Location), selects: true}
	if room, _ := a.budget(); len(e.about.Selected) > room {
		return agent.Proposal{}, fmt.Errorf("select less: %d bytes, and the model's context has room for %d", len(e.about.Selected), room)
	}
	e.about.Goal = goal
	e.about.TestName = lang.TestFile(e.about.Name, e.about.Language)
	e.query = clipped(strings.Join(namesIn(e.about.Goal+" "+e.about.Selected), " "), 400)
	if e.query == "" {
		e.query = e.about.Name
	}
	var also func(path string) bool
	if sel.Kind == agent.Test {
		also = lang.IsTest
	}
	return a.propose(ctx, e, title, also, func(p agent.Proposal) *patch.Refusal { return validate(sel.Kind, e.about, p) })
}

// titleOf is the title of a refactoring, "" if there is none of that kind.
func titleOf(kind agent.Refactoring, goal string) string {
	if kind == agent.Free {
		return firstLine(goal)
	}
	for _, r := range agent.Refactorings {
		if r.Kind == kind {
			return r.Title
		}
	}
	return ""
}

// validate holds a change against what it was to be, as far as a syntax tree can
// tell.
func validate(kind agent.Refactoring, s promptContext, p agent.Proposal) *patch.Refusal {
	if len(p.Files) == 0 {
		return nil
	}
	after := s.doc.Text
	for _, f := range p.Files {
		if f.Path == s.doc.Path {
			after = agent.ApplyEdits(s.doc.Text, f.Edits)
		}
	}
	refuse := func(format string, args ...any) *patch.Refusal {
		return &patch.Refusal{Reason: patch.Conflict, Path: s.Name, Text: fmt.Sprintf(format, args...)}
	}
	switch kind {
	case agent.Describe:
		if same, ok := syntax.SameCode(s.Language, []byte(s.doc.Text), []byte(after)); ok && !same {
			return refuse("it changes code, but only comments were asked for; leave every line of code as it is")
		}
	case agent.Extract:
		if ok, known := hasNewFunction(s.Language, s.doc.Text, after); known && !ok {
			return refuse("it declares no new function; move the selected lines into one and call it")
		}
	case agent.Simplify:
		if lost := lostDeclaration(s.Language, s.doc.Text, after); lost != "" {
			return refuse("it removes %s, which other code may use; simplify what is inside", lost)
		}
	}
	return nil
}

// hasNewFunction says whether a text has more functions than before; known is
// false for a language whose functions cannot be told.
func hasNewFunction(language, before, after string) (ok, known bool) {
	b, a := functions(language, before), functions(language, after)
	if b == nil && a == nil {
		return false, false
	}
	return len(a) > len(b), true
}

// lostDeclaration is a function that is there before and not after, "" if there is
// none.
func lostDeclaration(language, before, after string) string {
	is := functions(language, after)
	for _, name := range slices.Sorted(maps.Keys(functions(language, before))) {
		if !is[name] {
			return name
		}
	}
	return ""
}

// functions are the names of a text's functions and methods with their
// containers; nil if it has none.
func functions(language, text string) map[string]bool {
	file, err := syntax.Analyze(language, []byte(text))
	if err != nil {
		return nil
	}
	var names map[string]bool
	for _, s := range file.Symbols {
		if s.Kind == syntax.KindFunction || s.Kind == syntax.KindMethod {
			if names == nil {
				names = map[string]bool{}
			}
			names[strings.TrimPrefix(s.Container+"."+s.Name, ".")] = true
		}
	}
	return names
}
