package assist

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.lsp.dev/protocol"

	"quarry/agent"
	"quarry/lsp/document"
	"quarry/lsp/text"
	"quarry/lsp/wire"
)

// commandPrefix and the kind of a request make its command.
const commandPrefix = "quarry."

// requestCommand begins a request. Its argument is a request, a text, or nothing:
// the last two are what a user types.
func requestCommand(do requestKind) func(*Service, []protocol.LSPAny) error {
	return func(s *Service, args []protocol.LSPAny) error {
		e, typed, err := requestOf(args)
		if err != nil {
			return err
		}
		e.Do = do
		complete := map[requestKind]func(*Service, context.Context, request, string) (request, error){
			doExplain: (*Service).completeProblem, doFix: (*Service).completeProblem,
			doRefactor: (*Service).completeRefactor, doAsk: (*Service).completeQuestion,
		}[do]
		page := ""
		if do == doExplain || do == doAsk {
			page = string(do)
		}
		s.run(requestTitle(e, typed), page, func(ctx context.Context, job Job) (string, error) {
			e, err := complete(s, ctx, e, typed)
			if err != nil {
				return "", err
			}
			switch do {
			case doExplain:
				return s.explain(ctx, e, job)
			case doAsk:
				return s.answer(ctx, e, job)
			}
			result := ""
			err = s.alone(ctx, e, func(ctx context.Context) (err error) {
				result, err = s.offer(ctx, e, job)
				return err
			})
			if err == nil && result != plainlyApplied { // not all clients show a job's result, nor those that do for long
				s.screen.Say(protocol.MessageTypeInfo, strings.Replace(result, "applied", "Applied", 1))
			}
			return result, err
		})
		return nil
	}
}

// requestOf reads the arguments of a command.
func requestOf(args []protocol.LSPAny) (e request, typed string, err error) {
	var words []string
	for i, arg := range args {
		var word string
		switch {
		case string(arg) == "null":
		case json.Unmarshal(arg, &word) == nil:
			words = append(words, word) // some editors cut a line at its blanks
		case i == 0:
			if err := json.Unmarshal(arg, &e); err != nil {
				return e, "", wire.InvalidParams("the argument %s is neither a text nor what quarry's code actions carry", arg)
			}
		}
	}
	return e, strings.TrimSpace(strings.Join(words, " ")), nil
}

func requestTitle(e request, typed string) string {
	about := typed
	switch {
	case e.Import != "":
		return "Import " + oneLine(e.Import, 60)
	case e.Diagnostic != nil:
		about = e.Diagnostic.Message
	case e.Question != "":
		about = e.Question
	case e.Goal != "":
		about = e.Goal
	case e.Kind != "":
		about = string(e.Kind)
	}
	verb := strings.ToUpper(string(e.Do[:1])) + string(e.Do[1:])
	if about == "" {
		return verb
	}
	return verb + ": " + oneLine(about, 60)
}

// spot is how a user names a line: PATH:LINE, perhaps with a column and what a
// tool says of it, as compilers print.
var spot = regexp.MustCompile(`^(.+?):(\d+)(?::\d+)?(?::\s*(.+))?$`)

// mostChoices is how many entries a user is asked to choose from.
const mostChoices = 6

// completeProblem finds the diagnostic that an explain or fix request is about.
func (s *Service) completeProblem(ctx context.Context, e request, typed string) (request, error) {
	if e.Diagnostic != nil {
		return e, nil
	}
	type known struct {
		doc *document.Document
		knownDiagnostic
	}
	var found []known
	gather := func(docs []*document.Document, want func(*document.Document, knownDiagnostic) bool) {
		for _, d := range docs {
			for _, f := range s.known.in(d) {
				if want(d, f) {
					found = append(found, known{d, f})
				}
			}
		}
	}
	open := s.docs.Others("")
	m := spot.FindStringSubmatch(typed)
	switch u, err := wire.ParseURI(typed); {
	case e.URI != "" || err == nil && s.docs.Get(u) != nil: // a document, perhaps with a place
		if e.URI != "" {
			if u, err = wire.ParseURI(e.URI); err != nil {
				return e, wire.InvalidParams("uri %q: %v", e.URI, err)
			}
		}
		gather(open, func(d *document.Document, f knownDiagnostic) bool {
			return d.URI == u && (e.Range == nil || s.touches(d, f, *e.Range))
		})
	case m != nil:
		path, err := s.host.Core().Locate(ctx, m[1])
		if err != nil {
			return e, fmt.Errorf("%s: %w", m[1], err)
		}
		line, _ := strconv.Atoi(m[2]) // too long a number is past every line
		doc := s.docs.At(path)
		if doc == nil {
			return e, fmt.Errorf("%s is not open in the editor; open it and ask again", m[1])
		}
		if m[3] != "" {
			return s.at(e, doc, line, m[3])
		}
		gather(open, func(d *document.Document, f knownDiagnostic) bool {
			return d == doc && d.Text.LineAt(f.start) < line && line-1 <= d.Text.LineAt(f.end)
		})
		if len(found) == 0 {
			return e, fmt.Errorf("no diagnostic is known there; add its message, as in %s:%s: undefined: x", m[1], m[2])
		}
	default:
		gather(open, func(_ *document.Document, f knownDiagnostic) bool {
			return strings.Contains(messageOf(f.Diagnostic), typed)
		})
	}
	if len(found) == 0 {
		return e, fmt.Errorf("no diagnostic is known there; choose %s in its menu of code actions, or pass line and message, as in main.go:3: undefined: x", e.Do)
	}
	titles := make([]string, 0, mostChoices)
	for _, k := range found[:min(len(found), mostChoices)] {
		titles = append(titles, fmt.Sprintf("%s:%d %s", filepath.Base(k.doc.Path()), k.doc.Text.LineAt(k.start)+1, oneLine(messageOf(k.Diagnostic), 60)))
	}
	chosen := 0
	if len(found) > 1 {
		answer, err := s.screen.Choose(ctx, "Which one?", slices.Compact(slices.Clone(titles))...)
		if err != nil {
			return e, err
		}
		if chosen = slices.Index(titles, answer); chosen < 0 {
			return e, errDeclined
		}
	}
	k := found[chosen]
	r := document.Range(k.doc.Text, k.start, k.end, s.encoding)
	e.URI, e.Version, e.Range, e.Diagnostic = string(k.doc.URI), &k.doc.Version, &r, quoteDiagnostic(k.Diagnostic)
	return e, nil
}

// touches is whether a diagnostic meets a range of its document.
func (s *Service) touches(d *document.Document, f knownDiagnostic, r protocol.Range) bool {
	start, startErr := d.Text.PositionToOffset(document.Position(r.Start), s.encoding)
	end, endErr := d.Text.PositionToOffset(document.Position(r.End), s.encoding)
	return startErr == nil && endErr == nil && f.start <= end && start <= f.end
}

// at is e about a 1-based line of doc of which a tool says message.
func (s *Service) at(e request, doc *document.Document, line int, message string) (request, error) {
	if line < 1 || line > doc.Text.LineCount() {
		return e, fmt.Errorf("%s has %d lines: %w", filepath.Base(doc.Path()), doc.Text.LineCount(), text.ErrOutside)
	}
	start, end := doc.Text.LineBounds(line - 1)
	r := document.Range(doc.Text, start, end, s.encoding)
	e.URI, e.Version, e.Range = string(doc.URI), &doc.Version, &r
	e.Diagnostic = &requestDiagnostic{Message: message}
	return e, nil
}

// completeRefactor finds what a refactor request changes, and how.
func (s *Service) completeRefactor(ctx context.Context, e request, typed string) (request, error) {
	if e.URI == "" || e.Range == nil {
		sel := s.selected.Load()
		known := sel != nil && s.docs.Get(sel.doc.URI) == sel.doc
		if e.URI == "" && !known {
			return e, fmt.Errorf("nothing is selected; select code and use its menu of code actions, or open that menu once and run this command again")
		}
		if e.URI != "" {
			u, err := wire.ParseURI(e.URI)
			if err != nil {
				return e, wire.InvalidParams("uri %q: %v", e.URI, err)
			}
			if !known || sel.doc.URI != u {
				return e, errNoSelection
			}
		}
		if e.URI == "" || e.Version == nil {
			e.Version = &sel.doc.Version
		}
		e.URI, e.Range = string(sel.doc.URI), &sel.r
	}
	if e.Kind != "" {
		return e, nil
	}
	if e.Goal == "" {
		e.Goal = typed
	}
	if e.Goal == "" {
		titles := make([]string, 0, len(agent.Refactorings))
		for _, r := range agent.Refactorings {
			titles = append(titles, r.Title)
		}
		answer, err := s.screen.Choose(ctx, "What should quarry do with the selection? For anything else, pass your own words to quarry.refactor.", titles...)
		if err != nil {
			return e, err
		}
		i := slices.Index(titles, answer)
		if i < 0 {
			return e, errDeclined
		}
		e.Kind = agent.Refactorings[i].Kind
		return e, nil
	}
	e.Kind = agent.Free
	first, rest, _ := strings.Cut(e.Goal, " ")
	for _, r := range agent.Refactorings {
		if first == string(r.Kind) && (rest == "" || r.Kind == agent.Rename && !strings.Contains(rest, " ")) {
			e.Kind, e.Goal = r.Kind, rest
		}
	}
	return e, nil
}

// completeQuestion finds what an ask request asks.
func (s *Service) completeQuestion(ctx context.Context, e request, typed string) (request, error) {
	if e.Question == "" {
		e.Question = typed
	}
	if e.Question != "" {
		return e, nil
	}
	questions := []string{"What is this workspace for, and where does it begin?"}
	var about *document.Document
	if open := s.docs.Others(""); len(open) > 0 && open[0].Path() != "" {
		about = open[0]
		name := filepath.Base(about.Path())
		questions = append([]string{"What does " + name + " do?", "Who uses " + name + ", and for what?"}, questions...)
	}
	answer, err := s.screen.Choose(ctx, "What do you want to know? For anything else, pass your question to quarry.ask.", questions...)
	if err != nil {
		return e, err
	}
	i := slices.Index(questions, answer)
	if i < 0 {
		return e, errDeclined
	}
	e.Question = answer
	if i < len(questions)-1 {
		e.URI = string(about.URI)
	}
	return e, nil
}
