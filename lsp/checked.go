package lsp

import (
	"context"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"quarry/agent"
	"quarry/diagnostics"
	"quarry/index/walk"
	"quarry/lsp/document"
	"quarry/lsp/settings"
)

// checkDelay is how long a document must not have changed before its syntax
// errors are told: half a word is no mistake.
const checkDelay = 300 * time.Millisecond

// check tells the client of the syntax errors of a document soon, if the user
// wants that. A newer check of the document takes the place of an older one.
func (s *Server) check(u uri.URI) {
	if now, _ := s.current(); !now.Diagnostics.Syntax {
		return
	}
	ctx, done := s.checks.Begin(s.base, string(u))
	s.task("check the syntax", func(context.Context) error {
		defer done()
		timer := time.NewTimer(checkDelay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nil
		}
		doc := s.docs.Get(u)
		if doc == nil || doc.Stale {
			return nil
		}
		as := s.spellings.Spelled(doc.URI) // which is forgotten when it is closed
		var problems []agent.Problem
		if !walk.IsMinified(doc.Text.String()) {
			problems = diagnostics.Syntax(agent.Document{Path: doc.Path(), Language: doc.Language, Text: doc.Text.String()})
		}
		if ctx.Err() != nil {
			return nil
		}
		if err := s.publish(doc, as, problems); err != nil {
			return err
		}
		if s.docs.Get(u) == nil { // closed meanwhile
			return s.publish(doc, as, nil)
		}
		return nil
	})
}

// publish tells the client all problems that quarry itself sees in a document, by the client's own URI of it.
func (s *Server) publish(doc *document.Document, as uri.URI, problems []agent.Problem) error {
	list := []protocol.Diagnostic{}
	for _, p := range problems {
		list = append(list, protocol.Diagnostic{
			Range:    document.Range(doc.Text, p.Start, p.End, s.encoding),
			Severity: protocol.DiagnosticSeverityError,
			Source:   protocol.NewOptional(p.Source),
			Code:     protocol.String(p.Code),
			Message:  protocol.String(p.Message),
		})
	}
	return s.client.PublishDiagnostics(s.base, &protocol.PublishDiagnosticsParams{
		URI: as, Version: protocol.NewOptional(doc.Version), Diagnostics: list,
	})
}

// checkAll follows a change of the settings: syntax errors are told from now on,
// or those told are taken back.
func (s *Server) checkAll(before, now settings.Settings) {
	if before.Diagnostics.Syntax == now.Diagnostics.Syntax {
		return
	}
	for _, doc := range s.docs.Others("") {
		if now.Diagnostics.Syntax {
			s.check(doc.URI)
		} else if err := s.uncheck(doc); err != nil && s.base.Err() == nil {
			s.log.Error("take syntax errors back", "error", err)
		}
	}
}

// uncheck takes back what was told of a document.
func (s *Server) uncheck(doc *document.Document) error {
	s.checks.Cancel(string(doc.URI))
	return s.publish(doc, s.spellings.Spelled(doc.URI), nil)
}
