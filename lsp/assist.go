package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"go.lsp.dev/protocol"

	"quarry/agent"
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

// errand is what a person wants of the assistance: the data of a code action and
// the argument of its command.
type errand struct {
	Do  errandKind `json:"do,omitzero"`
	URI string     `json:"uri,omitzero"`
	// Version is the document's when it was offered; a document that has moved on
	// since is not touched. Nil means whatever is current.
	Version    *int32            `json:"version,omitzero"`
	Range      *protocol.Range   `json:"range,omitzero"`
	Diagnostic *errandDiagnostic `json:"diagnostic,omitzero"`
	Kind       agent.Refactoring `json:"kind,omitzero"`
	Goal       string            `json:"goal,omitzero"`
	Question   string            `json:"question,omitzero"`
}

type errandKind string

const (
	doExplain  errandKind = "explain"
	doFix      errandKind = "fix"
	doRefactor errandKind = "refactor"
	doAsk      errandKind = "ask"
)

// errandDiagnostic is what an errand keeps of a diagnostic; its range is the
// errand's.
type errandDiagnostic struct {
	Severity protocol.DiagnosticSeverity `json:"severity,omitzero"`
	Source   string                      `json:"source,omitzero"`
	Code     string                      `json:"code,omitzero"`
	Message  string                      `json:"message"`
}

func quoteDiagnostic(d protocol.Diagnostic) *errandDiagnostic {
	source, _ := d.Source.Get()
	return &errandDiagnostic{Severity: d.Severity, Source: source, Code: codeOf(d), Message: messageOf(d)}
}

// whole is the diagnostic that was quoted, but for its range.
func (d errandDiagnostic) whole() protocol.Diagnostic {
	return protocol.Diagnostic{
		Severity: d.Severity, Source: protocol.NewOptional(d.Source), Code: protocol.String(d.Code), Message: protocol.String(d.Message),
	}
}

func (e errand) encode() protocol.LSPAny {
	raw, err := json.Marshal(e)
	if err != nil {
		panic(fmt.Sprintf("encode an errand: %v", err)) // strings and numbers always encode
	}
	return raw
}

// key is the same for errands that ask for the same of the same place.
func (e errand) key() string {
	e.Version = nil
	if u, err := parseURI(e.URI); err == nil {
		e.URI = string(u)
	}
	return string(e.encode())
}

// place pins the document that an errand is about.
func (s *Server) place(ctx context.Context, e errand) (agent.Place, error) {
	u, err := parseURI(e.URI)
	if err != nil {
		return agent.Place{}, invalidParams("uri %q: %v", e.URI, err)
	}
	doc := s.docs.get(u)
	switch {
	case doc == nil:
		return agent.Place{}, fmt.Errorf("%s is not open in the editor; open it and ask again", filepath.Base(u.Path()))
	case doc.Stale || e.Version != nil && *e.Version != doc.Version:
		return agent.Place{}, movedError{u.Path()}
	case doc.Path() == "":
		return agent.Place{}, fmt.Errorf("%s is not saved as a file yet; save it and ask again", filepath.Base(u.Path()))
	case s.currentCore().Withheld(ctx, doc.Path()):
		return agent.Place{}, fmt.Errorf("%s is a secret, is left out by a .quarryignore, or is a link out of the workspace; no model is shown it", filepath.Base(u.Path()))
	}
	p := agent.Place{Document: agent.Document{Path: doc.Path(), Language: doc.Language, Text: doc.Text.String()}}
	if e.Range != nil {
		var startErr, endErr error
		p.Start, startErr = doc.Text.PositionToOffset(position(e.Range.Start), s.encoding)
		p.End, endErr = doc.Text.PositionToOffset(position(e.Range.End), s.encoding)
		if err := errors.Join(startErr, endErr); err != nil {
			return agent.Place{}, err
		}
		if p.Start > p.End {
			return agent.Place{}, invalidParams("the range ends before it starts")
		}
	}
	return p, nil
}

// problem is the diagnostic that an errand is about.
func (s *Server) problem(ctx context.Context, e errand) (agent.Problem, error) {
	if e.Diagnostic == nil || e.Diagnostic.Message == "" {
		return agent.Problem{}, invalidParams("there is no diagnostic to %s", e.Do)
	}
	place, err := s.place(ctx, e)
	return agent.Problem{
		Place: place, Severity: severityName(e.Diagnostic.Severity),
		Source: e.Diagnostic.Source, Code: e.Diagnostic.Code, Message: e.Diagnostic.Message,
	}, err
}

func severityName(s protocol.DiagnosticSeverity) agent.Severity {
	switch s {
	case protocol.DiagnosticSeverityWarning:
		return agent.SeverityWarning
	case protocol.DiagnosticSeverityInformation:
		return agent.SeverityInformation
	case protocol.DiagnosticSeverityHint:
		return agent.SeverityHint
	}
	return agent.SeverityError // LSP leaves an absent one to the client; most show an error
}

// propose asks for the change that a fix or refactor errand is about.
func (s *Server) propose(ctx context.Context, e errand) (agent.Proposal, error) {
	core := s.currentCore()
	var p agent.Proposal
	if e.Do == doFix {
		problem, err := s.problem(ctx, e)
		if err != nil {
			return p, err
		}
		if p, err = core.Fix(ctx, problem); err != nil {
			return p, err
		}
	} else {
		place, err := s.place(ctx, e)
		if err != nil {
			return p, err
		}
		if strings.TrimSpace(place.Document.Text[place.Start:place.End]) == "" {
			return p, errNoSelection
		}
		if p, err = core.Refactor(ctx, agent.Selection{Place: place, Kind: e.Kind, Goal: e.Goal}); err != nil {
			return p, err
		}
	}
	if len(p.Files) == 0 {
		return p, fmt.Errorf("no change is proposed. %s", p.Reason)
	}
	return p, nil
}

// alone does a whole errand by work, until the same errand is begun anew: then
// work's context ends, and its failure is errSuperseded.
func (s *Server) alone(ctx context.Context, e errand, work func(ctx context.Context) error) error {
	ctx, done := s.errands.begin(ctx, e.key())
	defer done()
	err := work(ctx)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// run does an errand in the background, shown as a job under title that the
// person can cancel. A newer run of the same kind takes the place of an older
// one where both would be shown in the same page.
func (s *Server) run(title, kind string, work func(ctx context.Context, job Job) (result string, err error)) {
	ctx, cancel := context.WithCancel(s.base)
	done := func() {}
	if kind != "" {
		ctx, done = s.errands.begin(ctx, kind)
	}
	job := s.startJob(title, cancel)
	s.task(title, func(context.Context) error {
		defer cancel()
		defer done()
		result := "failed" // also of a panic
		defer func() { job.End(result) }()
		job.Report(0.01, "the model reads")
		made, err := work(ctx, job)
		switch {
		case ctx.Err() != nil || errors.Is(err, errSuperseded):
			result = "cancelled"
		case errors.Is(err, errDeclined):
			result = err.Error()
		case err != nil:
			s.say(Warning, title+": "+err.Error())
		default:
			result = made
		}
		return nil
	})
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
	head := fmt.Sprintf("# %s\n\n%s", oneLine(problem.Message, 200), whereabout(s.currentCore().Name(problem.Document.Path), problem.Place))
	if problem.Source != "" {
		head += ", says " + problem.Source
	}
	whole, err := s.written(ctx, "explanation", head+".\n\n", job, func(emit func(string) bool) (string, error) {
		x, err := s.currentCore().Explain(ctx, problem, emit)
		return x.Text + footer(x.Confidence, x.Citations, x.Removed), err
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
	_, err = s.written(ctx, "answer", "# "+oneLine(q.Text, 200)+"\n\n", job, func(emit func(string) bool) (string, error) {
		a, err := s.currentCore().Ask(ctx, q, emit)
		return a.Text + footer("", nil, a.Removed), err
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

// written shows head and what write emits in a page as it comes, and at the end
// head and what write returns. It answers the latter.
func (s *Server) written(ctx context.Context, name, head string, job Job, write func(emit func(string) bool) (string, error)) (string, error) {
	p := s.newPage(ctx, name)
	length := 0
	text, err := write(func(piece string) bool {
		if length == 0 {
			p.add(head) // nothing is shown before there is something to read
		}
		p.add(piece)
		length += len(piece)
		// How long it will be nobody knows; most answers have some 800 bytes.
		job.Report(float64(length)/float64(length+200), fmt.Sprintf("%d characters", length))
		return ctx.Err() == nil
	})
	switch {
	case ctx.Err() != nil:
		return "", errors.Join(ctx.Err(), p.abandon("\n\n(cancelled)\n"))
	case err != nil:
		return "", errors.Join(err, p.abandon("\n\n(interrupted)\n"))
	}
	return text, p.end(head + text)
}

// footer says how far what stands above it is to be trusted.
func footer(confidence agent.Confidence, citations []agent.Citation, removed int) string {
	var parts []string
	if confidence != "" {
		parts = append(parts, fmt.Sprintf("Confidence: %s.", confidence))
	}
	if len(citations) > 0 {
		parts = append(parts, "Based on "+places(citations)+".")
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

// oneLine is the first line of text, cut to at most n characters.
func oneLine(text string, n int) string {
	line, _, more := strings.Cut(strings.TrimSpace(text), "\n")
	line = strings.TrimRight(line, "\r")
	if runes := []rune(line); len(runes) > n {
		return string(runes[:n]) + "…"
	}
	if more {
		line += " …"
	}
	return line
}
