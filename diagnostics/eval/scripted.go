package eval

import (
	"context"
	"fmt"
	"strings"

	"quarry/agent"
	"quarry/diagnostics/patch"
)

// Script is a model that knows the suite: it measures the suite and the harness.
type Script string

// The scripts: Known takes the breakage back, Deleting deletes the line of the problem,
// Silent says that it knows no fix; with FirstImport it is silent too, and the first of the
// imports that a user would be offered is taken before it is asked.
const (
	Known       Script = "known"
	Deleting    Script = "deleting"
	Silent      Script = "silent"
	FirstImport Script = "imports"
)

// Scripts are all of them.
var Scripts = []Script{Known, Deleting, Silent, FirstImport}

// Offering is an assistant that offers imports.
type Offering interface {
	Assistant
	Imports(ctx context.Context, p agent.Problem) []agent.Import
}

// Assistant is the assistant of the script's run.
func (s Script) Assistant(a Offering) Assistant {
	if s == FirstImport {
		return taking{a}
	}
	return a
}

// taking takes the first import that is offered.
type taking struct{ Offering }

// Fix implements Assistant.
func (t taking) Fix(ctx context.Context, p agent.Problem) (agent.Proposal, error) {
	if list := t.Imports(ctx, p); len(list) > 0 {
		return list[0].Proposal, nil
	}
	return t.Offering.Fix(ctx, p)
}

// Chat is the script's model for one case.
func (s Script) Chat(c Case) agent.Chat { return scripted{s, c} }

type scripted struct {
	script Script
	Case
}

// edit is what the script changes; it changes nothing if it is silent.
func (s scripted) edit() (e agent.TextEdit, ok bool) {
	text := s.Problem.Document.Text
	switch s.script {
	case Known:
		return between(text, s.Original), true
	case Deleting:
		start := strings.LastIndexByte(text[:s.Problem.Start], '\n') + 1
		line, _, _ := strings.Cut(text[start:], "\n")
		return agent.TextEdit{Start: start, End: min(start+len(line)+1, len(text))}, true
	}
	return e, false
}

// Chat implements agent.Chat.
func (s scripted) Chat(_ context.Context, _ agent.Conversation, emit func(text string) bool) (agent.Reply, error) {
	text := s.Problem.Document.Text
	number := 1 + strings.Count(text[:s.Problem.Start], "\n")
	answer := fmt.Sprintf("%s:%d-%d is wrong.\n", s.Breakage.File, number, number)
	if e, ok := s.edit(); ok {
		answer += "\n```diff\n" + patch.Unified(s.Breakage.File, text, []agent.TextEdit{e}, false) + "```\n"
	}
	emit(answer)
	return agent.Reply{Text: answer}, nil
}

// between is the one edit that makes a text of another.
func between(text, wanted string) agent.TextEdit {
	shorter := min(len(text), len(wanted))
	first := 0
	for first < shorter && text[first] == wanted[first] {
		first++
	}
	last := 0
	for last < shorter-first && text[len(text)-1-last] == wanted[len(wanted)-1-last] {
		last++
	}
	return agent.TextEdit{Start: first, End: len(text) - last, New: wanted[first : len(wanted)-last]}
}
