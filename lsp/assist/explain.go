package assist

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"quarry/agent"
	"quarry/agent/cite"
	"quarry/agent/markdown"
	"quarry/index/visible"
	"quarry/lsp/wire"
	"quarry/retrieval/workspace"
)

// explain shows an explanation as it is written, and keeps it for hover.
func (s *Service) explain(ctx context.Context, e request, job Job) (string, error) {
	problem, err := s.problem(ctx, e)
	if err != nil {
		return "", err
	}
	u, _ := wire.ParseURI(e.URI) // problem has read it
	number := s.known.number(u, knownDiagnostic{Diagnostic: e.Diagnostic.whole(), start: problem.Start, end: problem.End})
	where := whereabout(s.host.Core().Name(problem.Document.Path), problem.Location)
	if problem.Source != "" {
		where += ", says " + problem.Source
	}
	head := headline(problem.Message) + markdown.Inline(where) + ".\n\n"
	whole, err := s.written(ctx, "explanation", head, job, func(emit func(string) bool) (words, foot string, err error) {
		x, err := s.host.Core().Explain(ctx, problem, emit)
		return x.Text, footer(x.Confidence, x.Citations, x.Removed), err
	})
	if err == nil {
		s.known.explained(u, number, whole)
	}
	return "explained", err
}

// answer shows an answer as it is written.
func (s *Service) answer(ctx context.Context, e request, job Job) (string, error) {
	q, err := s.question(ctx, e)
	if err != nil {
		return "", err
	}
	_, err = s.written(ctx, "answer", headline(q.Text), job, func(emit func(string) bool) (words, foot string, err error) {
		said := processing
		a, err := s.host.Core().Ask(workspace.WithProgress(ctx, func(m workspace.Missing) {
			if now := cmp.Or(m.Waits(), processing); now != said {
				said = now
				job.Report(0.01, now)
			}
		}), q, emit)
		removed := a.Removed
		if a.Unfounded {
			removed = 0 // of words that are not shown
		}
		return a.Text, footer("", nil, removed), err
	})
	return "answered", err
}

func (s *Service) question(ctx context.Context, e request) (agent.Question, error) {
	q := agent.Question{Text: strings.TrimSpace(e.Question)}
	if q.Text == "" {
		return q, wire.InvalidParams("the question is empty")
	}
	if e.URI != "" {
		location, err := s.location(ctx, e)
		if err != nil {
			return q, err
		}
		q.About = &location
	}
	return q, nil
}

// headline is a heading of what a tool or the user said.
func headline(text string) string { return "# " + markdown.Inline(oneLine(text, 200)) + "\n\n" }

// written shows head, which is Markdown, and the words that write emits in a page as
// they come, and at the end head and what write returns. It answers the latter.
func (s *Service) written(ctx context.Context, name, head string, job Job, write func(emit func(string) bool) (words, foot string, err error)) (prose, error) {
	p := s.screen.newDocument(ctx, name)
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
		parts = append(parts, "Based on "+markdown.Inline(citationList(citations))+".")
	}
	switch {
	case removed == 1:
		parts = append(parts, "One citation was removed: the answer's evidence does not show it.")
	case removed > 1:
		parts = append(parts, fmt.Sprintf("%d citations were removed: the answer's evidence does not show them.", removed))
	}
	if len(parts) == 0 {
		return "\n"
	}
	return "\n\n---\n\n" + strings.Join(parts, " ") + "\n"
}

// whereabout is where a place begins: a file's name and 1-based line.
func whereabout(name string, p agent.Location) string {
	return cite.Place(name, strconv.Itoa(1+strings.Count(p.Document.Text[:p.Start], "\n")))
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
