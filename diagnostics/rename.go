package diagnostics

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"quarry/agent"
	"quarry/agent/prompt"
	"quarry/index/pattern"
	"quarry/index/syntax"
)

// rename gives a local name another one in the whole of its function. The syntax
// tree says where it stands, so that no place is missed and none is too many; a
// model is asked only for a name where the user gives none. What is known
// outside of a function is for the language server that knows the types: its own
// rename is exact, and what a tree can tell would be a guess.
func (a *Assistant) rename(ctx context.Context, sel agent.Selection) (agent.Proposal, error) {
	s := a.newContext(sel.Location)
	found, err := syntax.FindLocal(s.Language, []byte(s.doc.Text), sel.Start)
	if err != nil {
		return agent.Proposal{}, fmt.Errorf("use your language server's rename: %w; quarry renames only what is local to a function", err)
	}
	l, to := local{found}, strings.TrimSpace(sel.Goal)
	if to == "" {
		if to, err = a.betterName(ctx, s, l); err != nil {
			return agent.Proposal{}, err
		}
	}
	if why := l.unfit(to); why != "" {
		return agent.Proposal{}, fmt.Errorf("give another name than %q for %s: %s", to, l.Name, why)
	}
	var edits []agent.TextEdit
	for _, p := range l.Occurrences {
		edits = append(edits, agent.TextEdit{Start: int(p.Start), End: int(p.End), New: to})
	}
	p, err := a.patch.For(s.doc, nil).Change(ctx, s.doc.Path, edits)
	if err != nil {
		return agent.Proposal{}, err
	}
	after := agent.ApplyEdits(s.doc.Text, edits)
	if again, err := syntax.FindLocal(s.Language, []byte(after), edits[0].Start); err != nil || again.Name != to || len(again.Occurrences) != len(edits) {
		return agent.Proposal{}, fmt.Errorf("cannot rename %s to %q: that name is already a variable there", l.Name, to)
	}
	var d doubts
	d.unless(!l.Parameter || s.Language != "python", "callers that pass it as %s= have to change, too", l.Name)
	p.Title = fmt.Sprintf("Rename %s to %s", l.Name, to)
	p.Reason = strings.TrimSpace(fmt.Sprintf("All %d uses of %s in the function are renamed; comments and strings are left alone. %s", len(edits), l.Name, d.sentence()))
	p.Confidence = d.confidence()
	p.Citations = []agent.Citation{{Path: s.Name, StartLine: int(l.Occurrences[0].StartLine), EndLine: int(l.Occurrences[len(l.Occurrences)-1].EndLine)}}
	return p, nil
}

// local is a name with what is said about it.
type local struct{ *syntax.Local }

var wholeName = pattern.Lazy(`^[\pL_$][\pL\pN_$]*$`)

// maxName is the longest name that is taken, in characters.
const maxName = 61

// unfit answers why a name cannot take a local's place, "" if it can.
func (l local) unfit(name string) string {
	switch {
	case !wholeName().MatchString(name), utf8.RuneCountInString(name) > maxName:
		return "it is no name"
	case name == l.Name:
		return "it has that name already"
	case l.Taken[name]:
		return "that name is taken in the function or the file"
	}
	return ""
}

// betterName asks the model for a name, twice if the first is unfit.
func (a *Assistant) betterName(ctx context.Context, s promptContext, l local) (string, error) {
	s.Goal = l.Name
	c := agent.Conversation{MaxTokens: 24, Temperature: a.parts.Temperature, Messages: task{name: "rename", about: s}.messages()}
	why := ""
	for range 2 {
		reply, err := a.parts.Chat.Chat(ctx, c, func(string) bool { return true })
		if err != nil {
			return "", err
		}
		name := strings.Trim(strings.TrimSpace(reply.Text), "`\"'.*")
		if why = l.unfit(name); why == "" {
			return name, nil
		}
		c.Messages = append(c.Messages,
			agent.Message{Role: "assistant", Text: prompt.Own(reply.Text)},
			agent.Message{Role: "user", Text: prompt.Text(prompts, "object.tmpl", why+"; write another name and nothing else")})
	}
	return "", fmt.Errorf("no better name for %s was found; give one (%s)", l.Name, why)
}
