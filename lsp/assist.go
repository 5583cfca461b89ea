package lsp

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.lsp.dev/protocol"

	"quarry/agent"
	"quarry/index/visible"
	"quarry/lsp/markdown"
)

// Assistant explains, proposes and answers by asking a model. Its methods may be
// called concurrently. emit gets each piece of an answer as it comes, and ends
// the answer early by returning false; what is returned is the whole, checked,
// and may differ from what was emitted.
type Assistant interface {
	// Available answers why no model can be asked now, nil if one can. It does
	// not wait.
	Available() error
	Explain(ctx context.Context, p agent.Problem, emit func(text string) bool) (agent.Explanation, error)
	Fix(ctx context.Context, p agent.Problem) (agent.Proposal, error)
	Refactor(ctx context.Context, sel agent.Selection) (agent.Proposal, error)
	Ask(ctx context.Context, q agent.Question, emit func(text string) bool) (agent.Answer, error)
}

// say shows the person a message that answers what they asked for.
func (s *Server) say(severity Severity, message string) {
	err := s.client.ShowMessage(s.base, &protocol.ShowMessageParams{Type: protocol.MessageType(severity), Message: "quarry: " + message})
	if err != nil && s.base.Err() == nil {
		s.log.Error("show message", "error", err)
	}
}

// choose asks the person to choose one of choices, which differ; it answers ""
// if they choose none.
func (s *Server) choose(ctx context.Context, message string, choices ...string) (string, error) {
	params := &protocol.ShowMessageRequestParams{Type: protocol.MessageTypeInfo, Message: "quarry: " + message}
	for _, c := range choices {
		params.Actions = append(params.Actions, protocol.MessageActionItem{Title: c})
	}
	chosen, err := s.client.ShowMessageRequest(ctx, params)
	if err != nil {
		return "", fmt.Errorf("the editor cannot ask you: %w", err)
	}
	if chosen == nil {
		return "", nil
	}
	return chosen.Title, nil
}

// explain shows an explanation as it is written, and keeps it for hover.
func (s *Server) explain(ctx context.Context, e errand, job Job) (string, error) {
	problem, err := s.problem(ctx, e)
	if err != nil {
		return "", err
	}
	u, _ := parseURI(e.URI) // problem has read it
	number := s.findings.number(u, finding{Diagnostic: e.Diagnostic.whole(), start: problem.Start, end: problem.End})
	where := whereabout(s.currentCore().Name(problem.Document.Path), problem.Place)
	if problem.Source != "" {
		where += ", says " + problem.Source
	}
	head := headline(problem.Message) + markdown.Inline(where) + ".\n\n"
	whole, err := s.written(ctx, "explanation", head, job, func(emit func(string) bool) (words, foot string, err error) {
		x, err := s.currentCore().Explain(ctx, problem, emit)
		return x.Text, footer(x.Confidence, x.Citations, x.Removed), err
	})
	if err == nil {
		s.findings.explained(u, number, whole)
	}
	return "explained", err
}

// answer shows an answer as it is written.
func (s *Server) answer(ctx context.Context, e errand, job Job) (string, error) {
	q, err := s.question(ctx, e)
	if err != nil {
		return "", err
	}
	_, err = s.written(ctx, "answer", headline(q.Text), job, func(emit func(string) bool) (words, foot string, err error) {
		a, err := s.currentCore().Ask(ctx, q, emit)
		return a.Text, footer("", nil, a.Removed), err
	})
	return "answered", err
}

func (s *Server) question(ctx context.Context, e errand) (agent.Question, error) {
	q := agent.Question{Text: strings.TrimSpace(e.Question)}
	if q.Text == "" {
		return q, invalidParams("the question is empty")
	}
	if e.URI != "" {
		place, err := s.place(ctx, e)
		if err != nil {
			return q, err
		}
		q.About = &place
	}
	return q, nil
}

// headline is a heading of what a tool or the user said.
func headline(text string) string { return "# " + markdown.Inline(oneLine(text, 200)) + "\n\n" }

// written shows head, which is Markdown, and the words that write emits in a page as
// they come, and at the end head and what write returns. It answers the latter.
func (s *Server) written(ctx context.Context, name, head string, job Job, write func(emit func(string) bool) (words, foot string, err error)) (prose, error) {
	p := s.newPage(ctx, name)
	length := 0
	words, foot, err := write(func(piece string) bool {
		p.add(head, piece) // nothing is shown before there is something to read
		length += len(piece)
		// How long it will be nobody knows; most answers have some 800 bytes.
		job.Report(float64(length)/float64(length+200), fmt.Sprintf("%d characters", length))
		return ctx.Err() == nil
	})
	switch {
	case ctx.Err() != nil:
		return prose{}, errors.Join(ctx.Err(), p.abandon("\n\n(cancelled)\n"))
	case err != nil:
		return prose{}, errors.Join(err, p.abandon("\n\n(interrupted)\n"))
	}
	return prose{"", words, foot}, p.end(prose{head, words, foot})
}

// footer says how far what stands above it is to be trusted.
func footer(confidence agent.Confidence, citations []agent.Citation, removed int) string {
	var parts []string
	if confidence != "" {
		parts = append(parts, fmt.Sprintf("Confidence: %s.", confidence))
	}
	if len(citations) > 0 {
		parts = append(parts, "Based on "+markdown.Inline(places(citations))+".")
	}
	switch {
	case removed == 1:
		parts = append(parts, "One citation named nothing in the workspace and was removed.")
	case removed > 1:
		parts = append(parts, fmt.Sprintf("%d citations named nothing in the workspace and were removed.", removed))
	}
	if len(parts) == 0 {
		return "\n"
	}
	return "\n\n---\n\n" + strings.Join(parts, " ") + "\n"
}

// whereabout is where a place begins: a file's name and 1-based line.
func whereabout(name string, p agent.Place) string {
	return fmt.Sprintf("%s:%d", name, 1+strings.Count(p.Document.Text[:p.Start], "\n"))
}

// oneLine is the first line of text, all of it visible, cut to at most n characters.
func oneLine(text string, n int) string {
	line, _, more := strings.Cut(strings.TrimSpace(text), "\n")
	line = visible.Text(strings.TrimRight(line, "\r"))
	if runes := []rune(line); len(runes) > n {
		return string(runes[:n]) + "…"
	}
	if more {
		line += " …"
	}
	return line
}
