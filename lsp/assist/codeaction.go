package assist

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"quarry/agent"
	"quarry/lsp/document"
)

// actionKind is the LSP kind of a refactoring's code action.
func actionKind(r agent.Refactoring) protocol.CodeActionKind {
	if r == agent.Extract {
		return protocol.CodeActionKindRefactorExtract
	}
	return protocol.CodeActionKindRefactorRewrite
}

// CodeActionKinds are announced to the client.
var CodeActionKinds = []protocol.CodeActionKind{
	protocol.CodeActionKindQuickFix,
	protocol.CodeActionKindRefactor,
	protocol.CodeActionKindRefactorExtract,
	protocol.CodeActionKindRefactorRewrite,
}

var errNoSelection = errors.New("select the code to change")

// instruction finds what a user writes into their code for quarry to do there.
var instruction = regexp.MustCompile(`(?im)(?://|#|--|;|/\*|<!--|%|")\s*quarry:[ \t]*(.*?)\s*(?:\*/|-->)?\s*$`)

// CodeAction implements textDocument/codeAction. No model is asked: the actions
// say what could be asked, and running them does it. Imports are looked up.
func (s *Service) CodeAction(ctx context.Context, params *protocol.CodeActionParams) ([]protocol.CommandOrCodeAction, error) {
	u := params.TextDocument.URI
	doc := s.docs.Get(u)
	if doc == nil || doc.Stale || doc.Path() == "" {
		return nil, nil
	}
	start, startErr := doc.Text.PositionToOffset(document.Position(params.Range.Start), s.encoding)
	end, endErr := doc.Text.PositionToOffset(document.Position(params.Range.End), s.encoding)
	if err := errors.Join(startErr, endErr); err != nil {
		return nil, err
	}
	problems := params.Context.Diagnostics
	problems = problems[:min(len(problems), maxProblems)]
	s.known.saw(u, start, end, s.diagnosticsIn(doc, problems))
	if end > start {
		s.selected.Store(&selection{doc: doc, r: params.Range})
	}
	jsonrpc2.Async(ctx)
	if excluded, err := s.host.Core().Excluded(ctx, doc.Path(), doc.Text.String()); excluded || err != nil {
		return nil, err
	}
	unavailable := s.host.Core().Available()
	var list []protocol.CommandOrCodeAction
	lacks := protocol.CodeActionKind("") // what cannot be done for want of a model
	offer := func(a action) {
		if a.disabled == nil && !a.isModelFree && unavailable != nil {
			a.disabled, lacks = unavailable, a.kind
		}
		if offered := s.offered(a, params.Context); offered != nil {
			list = append(list, offered)
		}
	}
	at := request{URI: string(s.host.Spelled(u)), Version: &doc.Version}
	mended := 0
	for _, d := range problems {
		about := at
		about.Range, about.Diagnostic = &d.Range, quoteDiagnostic(d)
		message := oneLine(about.Diagnostic.Message, 60)
		certain := false
		if mended < mostMended {
			imports := s.importActions(ctx, doc, about, d, params.Context)
			for _, a := range imports {
				certain = certain || a.isPreferred
				offer(a)
			}
			mended += min(1, len(imports))
		}
		about.Do = doExplain
		offer(action{title: "Explain: " + message, kind: protocol.CodeActionKindQuickFix, request: about, diagnostic: &d, isModelFree: unavailable != nil})
		about.Do = doFix
		offer(action{title: "Fix: " + message, kind: protocol.CodeActionKindQuickFix, request: about, diagnostic: &d, isModelFree: certain})
	}
	at.Do, at.Range = doRefactor, &params.Range
	for _, a := range offerRefactorings(at, doc.Shown()[start:max(start, end)], params.Context) {
		offer(a)
	}
	if lacks != "" && !errors.Is(unavailable, ErrOff) { // many editors hide what is disabled, and why
		offer(action{title: "No model answers: what helps, and what works", kind: lacks, command: statusCommand, isModelFree: true})
	}
	return list, nil
}

// statusCommand tells how quarry is, and what helps; the server has it.
const statusCommand = commandPrefix + "status"

// mostMended is for how many diagnostics of one menu imports are looked up: who selects a whole file
// waits for all of them.
const mostMended = 8

// importActions are the imports that would make the name known that a diagnostic does not know. They
// need no model.
func (s *Service) importActions(ctx context.Context, doc *document.Document, about request, d protocol.Diagnostic, asked protocol.CodeActionContext) (list []action) {
	if !s.makesChanges() || !asksFor(asked, protocol.CodeActionKindQuickFix) {
		return nil
	}
	start, startErr := doc.Text.PositionToOffset(document.Position(d.Range.Start), s.encoding)
	end, endErr := doc.Text.PositionToOffset(document.Position(d.Range.End), s.encoding)
	if startErr != nil || endErr != nil || start > end {
		return nil
	}
	p := agent.Problem{
		Location: agent.Location{Document: agent.Document{Path: doc.Path(), Language: doc.Language, Text: doc.Shown()}, Start: start, End: end},
		Source:   about.Diagnostic.Source, Code: about.Diagnostic.Code, Message: about.Diagnostic.Message,
	}
	about.Do = doFix
	for _, im := range s.host.Core().Imports(ctx, p) {
		about.Import = im.What
		list = append(list, action{
			title: oneLine(im.Title, 100), kind: protocol.CodeActionKindQuickFix, request: about, diagnostic: &d, isModelFree: true, isPreferred: im.Certain,
		})
	}
	return list
}

// offerRefactorings are the actions on a selection. Without one there are none,
// unless refactorings were asked for by name: then they say what is missing.
func offerRefactorings(at request, selected string, asked protocol.CodeActionContext) []action {
	var missing error
	if strings.TrimSpace(selected) == "" {
		if !slices.ContainsFunc(asked.Only, func(k protocol.CodeActionKind) bool { return strings.HasPrefix(string(k), "refactor") }) {
			return nil
		}
		missing = errNoSelection
	}
	var list []action
	for _, r := range agent.Refactorings {
		at.Kind = r.Kind
		list = append(list, action{title: r.Title, kind: actionKind(r.Kind), request: at, disabled: missing})
	}
	at.Kind = agent.Free
	free := action{title: "Do what the selection's quarry: comment says", kind: protocol.CodeActionKindRefactorRewrite, disabled: missing}
	if m := instruction.FindStringSubmatch(selected); m != nil && m[1] != "" {
		at.Goal = m[1]
		free.title = "Do: " + oneLine(at.Goal, 60)
	} else if missing == nil {
		free.disabled = errors.New("write what you want as a comment in it (quarry: ...), or pass it to the command quarry.refactor")
	}
	free.request = at
	return append(list, free)
}

// action is one entry of the menu before it is written for the client.
type action struct {
	title string
	kind  protocol.CodeActionKind
	// command is run without an argument, "" for that of the request with it.
	command    string
	request    request
	diagnostic *protocol.Diagnostic
	disabled   error
	// isModelFree: it asks no model. isPreferred: it mends the problem beyond doubt.
	isModelFree, isPreferred bool
}

// asksFor answers whether a client asks for actions of a kind.
func asksFor(asked protocol.CodeActionContext, kind protocol.CodeActionKind) bool {
	return len(asked.Only) == 0 || slices.ContainsFunc(asked.Only, func(only protocol.CodeActionKind) bool {
		return only == "" || kind == only || strings.HasPrefix(string(kind), string(only)+".")
	})
}

// offered is an action as the client can run it, nil if it did not ask for it. It
// carries a command: an edit that the client gets by resolving the action it would
// apply before the user has seen it.
func (s *Service) offered(a action, asked protocol.CodeActionContext) protocol.CommandOrCodeAction {
	if !asksFor(asked, a.kind) {
		return nil
	}
	if !s.makesChanges() && (a.request.Do == doFix || a.request.Do == doRefactor) {
		return nil
	}
	caps := s.codeActions()
	title := a.title + " (quarry)"
	command := protocol.Command{Title: title, Command: a.command}
	if a.command == "" {
		command.Command, command.Arguments = commandPrefix+string(a.request.Do), []protocol.LSPAny{a.request.encode()}
	}
	canDisable := caps.DisabledSupport != nil && *caps.DisabledSupport
	if a.disabled != nil && !canDisable && a.request.Do == doRefactor {
		return nil // a refactoring that cannot be done is noise; what ails a fix is said when it is run
	}
	if len(caps.CodeActionLiteralSupport.CodeActionKind.ValueSet) == 0 {
		return &command
	}
	out := &protocol.CodeAction{Title: title, Kind: &a.kind}
	if a.isPreferred && caps.IsPreferredSupport != nil && *caps.IsPreferredSupport {
		out.IsPreferred = &a.isPreferred
	}
	if !a.isModelFree && slices.Contains(caps.TagSupport.ValueSet, protocol.CodeActionTagLLMGenerated) {
		out.Tags = []protocol.CodeActionTag{protocol.CodeActionTagLLMGenerated}
	}
	if a.diagnostic != nil && isCarried(*a.diagnostic) {
		out.Diagnostics = []protocol.Diagnostic{*a.diagnostic}
	}
	switch {
	case a.disabled != nil && canDisable:
		out.Disabled = protocol.CodeActionDisabled{Reason: oneLine(a.disabled.Error(), 200)}
	default:
		out.Command = command
	}
	return out
}

// isCarried answers whether an action takes a diagnostic back to the editor, which finds the action by
// it: what it gets is the whole of it or nothing.
func isCarried(d protocol.Diagnostic) bool {
	raw, err := json.Marshal(d)
	return err == nil && len(raw) <= maxCarried
}

// codeActions are the client's capabilities for code actions, the zero value if
// it has none.
func (s *Service) codeActions() protocol.CodeActionClientCapabilities {
	if td := s.caps.TextDocument; td != nil && td.CodeAction != nil {
		return *td.CodeAction
	}
	return protocol.CodeActionClientCapabilities{}
}

// selection is what the user selected when their editor last asked for code
// actions.
type selection struct {
	doc *document.Document
	r   protocol.Range
}
