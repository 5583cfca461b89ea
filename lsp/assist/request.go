package assist

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"go.lsp.dev/protocol"

	"quarry/agent"
	"quarry/index/mask"
	"quarry/lsp/document"
	"quarry/lsp/wire"
)

// request is what a user wants of the assistance: the data of a code action and
// the argument of its command.
type request struct {
	Do  requestKind `json:"do,omitzero"`
	URI string      `json:"uri,omitzero"`
	// Version is the document's when it was offered; a document that has moved on
	// since is not touched. Nil means whatever is current.
	Version    *int32             `json:"version,omitzero"`
	Range      *protocol.Range    `json:"range,omitzero"`
	Diagnostic *requestDiagnostic `json:"diagnostic,omitzero"`
	Kind       agent.Refactoring  `json:"kind,omitzero"`
	Goal       string             `json:"goal,omitzero"`
	Question   string             `json:"question,omitzero"`
	// Import is what a fix imports; "" leaves it to the fix.
	Import string `json:"import,omitzero"`
}

type requestKind string

const (
	doExplain  requestKind = "explain"
	doFix      requestKind = "fix"
	doRefactor requestKind = "refactor"
	doAsk      requestKind = "ask"
)

// requestDiagnostic is what a request keeps of a diagnostic; its range is the
// request's.
type requestDiagnostic struct {
	Severity protocol.DiagnosticSeverity `json:"severity,omitzero"`
	Source   string                      `json:"source,omitzero"`
	Code     string                      `json:"code,omitzero"`
	Message  string                      `json:"message"`
}

func quoteDiagnostic(d protocol.Diagnostic) *requestDiagnostic {
	return &requestDiagnostic{Severity: d.Severity, Source: sourceOf(d), Code: codeOf(d), Message: messageOf(d)}
}

// whole is the diagnostic that was quoted, but for its range.
func (d requestDiagnostic) whole() protocol.Diagnostic {
	return protocol.Diagnostic{
		Severity: d.Severity, Source: protocol.NewOptional(d.Source), Code: protocol.String(d.Code), Message: protocol.String(d.Message),
	}
}

func (e request) encode() protocol.LSPAny {
	raw, err := json.Marshal(e)
	if err != nil {
		panic(fmt.Sprintf("encode a request: %v", err)) // strings and numbers always encode
	}
	return raw
}

// key is the same for requests that ask for the same of the same place.
func (e request) key() string {
	e.Version = nil
	if u, err := wire.ParseURI(e.URI); err == nil {
		e.URI = string(u)
	}
	return string(e.encode())
}

// location pins the document that a request is about.
func (s *Service) location(ctx context.Context, e request) (agent.Location, error) {
	u, err := wire.ParseURI(e.URI)
	if err != nil {
		return agent.Location{}, wire.InvalidParams("uri %q: %v", e.URI, err)
	}
	doc := s.docs.Get(u)
	switch {
	case doc == nil:
		return agent.Location{}, fmt.Errorf("%s is not open in the editor; open it and ask again", filepath.Base(u.Path()))
	case doc.Stale || e.Version != nil && *e.Version != doc.Version:
		return agent.Location{}, movedError{u.Path()}
	case doc.Path() == "":
		return agent.Location{}, fmt.Errorf("%s is not saved as a file yet; save it and ask again", filepath.Base(u.Path()))
	}
	excluded, err := s.host.Core().Excluded(ctx, doc.Path(), doc.Text.String())
	if err != nil {
		return agent.Location{}, err
	}
	if excluded {
		return agent.Location{}, fmt.Errorf("%s is private, see docs/secrets.md: it looks like a secret, is excluded by .quarryignore, or links outside the workspace, so no model is asked", filepath.Base(u.Path()))
	}
	p := agent.Location{Document: agent.Document{Path: doc.Path(), Language: doc.Language, Text: doc.Shown()}}
	if e.Range != nil {
		var startErr, endErr error
		p.Start, startErr = doc.Text.PositionToOffset(document.Position(e.Range.Start), s.encoding)
		p.End, endErr = doc.Text.PositionToOffset(document.Position(e.Range.End), s.encoding)
		if err := errors.Join(startErr, endErr); err != nil {
			return agent.Location{}, err
		}
		if p.Start > p.End {
			return agent.Location{}, wire.InvalidParams("the range ends before it starts")
		}
	}
	return p, nil
}

// problem is the diagnostic that a request is about.
func (s *Service) problem(ctx context.Context, e request) (agent.Problem, error) {
	if e.Diagnostic == nil || e.Diagnostic.Message == "" {
		return agent.Problem{}, wire.InvalidParams("there is no diagnostic to %s", e.Do)
	}
	location, err := s.location(ctx, e)
	return agent.Problem{
		Location: location, Severity: severityName(e.Diagnostic.Severity),
		Source: mask.Text(e.Diagnostic.Source), Code: mask.Text(e.Diagnostic.Code), Message: mask.Text(e.Diagnostic.Message),
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

// propose asks for the change that a fix or refactor request is about.
func (s *Service) propose(ctx context.Context, e request) (agent.Proposal, error) {
	core := s.host.Core()
	var p agent.Proposal
	if e.Do == doFix {
		problem, err := s.problem(ctx, e)
		if err != nil {
			return p, err
		}
		if e.Import != "" {
			return s.importing(ctx, problem, e.Import)
		}
		if p, err = core.Fix(ctx, problem); err != nil {
			return p, err
		}
	} else {
		location, err := s.location(ctx, e)
		if err != nil {
			return p, err
		}
		if strings.TrimSpace(location.Document.Text[location.Start:location.End]) == "" {
			return p, errNoSelection
		}
		if p, err = core.Refactor(ctx, agent.Selection{Location: location, Kind: e.Kind, Goal: e.Goal}); err != nil {
			return p, err
		}
	}
	if len(p.Files) == 0 {
		return p, fmt.Errorf("no change is proposed. %s", p.Reason)
	}
	return p, nil
}

// importing is the change that imports what a user chose.
func (s *Service) importing(ctx context.Context, p agent.Problem, what string) (agent.Proposal, error) {
	for _, im := range s.host.Core().Imports(ctx, p) {
		if im.What == what {
			return im.Proposal, nil
		}
	}
	return agent.Proposal{}, fmt.Errorf("%s is no longer what other files import; open the menu again", oneLine(what, 40))
}

// alone does a whole request by work, until the same request is begun anew: then
// work's context ends, and its failure is wire.ErrSuperseded.
func (s *Service) alone(ctx context.Context, e request, work func(ctx context.Context) error) error {
	ctx, done := s.requests.Begin(ctx, e.key())
	defer done()
	err := work(ctx)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// titleOnBar is how many characters a job's title has: VS Code cuts its status bar at some
// 70, and how far the job is stands behind the title.
const titleOnBar = 30

// processing is what a job does before its first word.
const processing = "processing the prompt"

// run does a request in the background, shown as a job under title that the
// user can cancel. A newer run of the same kind takes the place of an older
// one where both would be shown in the same page.
func (s *Service) run(title, kind string, work func(ctx context.Context, job Job) (result string, err error)) {
	ctx, cancel := context.WithCancel(s.base)
	done := func() {}
	if kind != "" {
		ctx, done = s.requests.Begin(ctx, kind)
	}
	job := s.host.StartJob(oneLine(title, titleOnBar), cancel)
	s.host.Task(title, func(context.Context) error {
		defer cancel()
		defer done()
		result := "failed" // also of a panic
		defer func() { job.End(result) }()
		job.Report(0.01, processing)
		made, err := work(ctx, job)
		switch {
		case ctx.Err() != nil || errors.Is(err, wire.ErrSuperseded):
			result = "cancelled"
		case errors.Is(err, errDeclined):
			result = err.Error()
		case err != nil:
			// The cause first: a client without room shows no more than some 60 characters.
			s.screen.Say(protocol.MessageTypeWarning, fmt.Sprintf("%v (%s)", err, title))
			result = "failed: " + oneLine(err.Error(), 100) // Helix shows it in the place of what was said
		default:
			result = made
		}
		return nil
	})
}
