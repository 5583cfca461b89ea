package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"quarry/agent"
	"quarry/agent/cite"
	"quarry/agent/markdown"
	"quarry/completion"
	"quarry/lsp/document"
	"quarry/lsp/progress"
	"quarry/lsp/wire"
)

// The commands of executeCommand. Each answers at once; what takes time goes on
// by itself.
const (
	// commandAccepted is run by the client when ghost text was accepted: its
	// arguments are the document and the cursor after it.
	commandAccepted = "quarry.accepted"
	// commandExplain shows where the ghost text of a document came from: its
	// argument is the document, without one the last edited.
	commandExplain = "quarry.explainCompletion"
	commandRebuild = "quarry.rebuildIndex"
	// CommandWithout shows what quarry does without a model.
	CommandWithout = "quarry.withoutModel"
	// CommandStatus tells how quarry is and offers what helps, and CommandStop ends what the
	// user has asked for: for editors that show no StatusNote and cannot cancel a job.
	CommandStatus = "quarry.status"
	CommandStop   = "quarry.stop"
)

// commandTable is what is run by workspace/executeCommand.
func (s *Server) commandTable() map[string]func(args []protocol.LSPAny) error {
	table, models := s.assist.Commands(), modelCommands{s}
	table[commandAccepted] = s.accepted
	table[commandExplain] = s.showExplanation
	table[CommandWithout] = func([]protocol.LSPAny) error {
		s.task("show what works", func(context.Context) error { return s.assist.Screen().Show("without-a-model", withoutModel) })
		return nil
	}
	table[CommandStartOllama], table[CommandPull], table[CommandUse] = s.startOllama, s.pullModel, models.useModel
	table[CommandSetup] = s.setupModel
	table[CommandList], table[CommandVerify], table[CommandImport], table[CommandRemove] = models.listModels, models.verifyModel, models.importModel, models.removeModel
	table[CommandPause] = func([]protocol.LSPAny) error { s.currentCore().PauseDownload(); return nil }
	table[CommandResume] = s.resumeDownload
	table[CommandCancel] = s.cancelDownload
	table[CommandIndex] = s.indexFolder
	table[CommandStatus], table[CommandStop] = s.tellStatus, s.stop
	table[commandRebuild] = func([]protocol.LSPAny) error {
		s.currentCore().Rebuild()
		return nil
	}
	return table
}

// startJob is Start.Job: work that goes on by itself.
func (s *Server) startJob(title string, cancel func()) Job {
	return s.jobs.Start(progress.Own, title, cancel)
}

// stop is CommandStop.
func (s *Server) stop([]protocol.LSPAny) error {
	said := "nothing that you asked for is under way"
	if s.jobs.CancelAsked() {
		said = "stopped"
	}
	s.task("say what was stopped", func(context.Context) error {
		s.assist.Screen().Say(protocol.MessageTypeInfo, said)
		return nil
	})
	return nil
}

// WorkDoneProgressCancel implements window/workDoneProgress/cancel.
func (s *Server) WorkDoneProgressCancel(_ context.Context, params *protocol.WorkDoneProgressCancelParams) error {
	s.jobs.Cancel(params.Token)
	return nil
}

// commandNames are announced, sorted.
func (s *Server) commandNames() []string { return slices.Sorted(maps.Keys(s.commands)) }

// ExecuteCommand implements workspace/executeCommand.
func (s *Server) ExecuteCommand(_ context.Context, params *protocol.ExecuteCommandParams) (protocol.LSPAny, error) {
	run, ok := s.commands[params.Command]
	if !ok {
		return nil, wire.InvalidParams("there is no command %q; there are %s", params.Command, strings.Join(s.commandNames(), ", "))
	}
	return nil, run(params.Arguments)
}

// withoutModel is the page of CommandWithout.
const withoutModel = `# Without a model

These work now:

- Ghost text and the completions of menus are copied from your own code, or end lines as everybody does.
- Search finds code by words, names and how files refer to each other. By meaning too: by the built-in lexicon, better where an embedding model answers.
- A question, or "Explain" on a diagnostic, shows the places that are nearest to it.
- The import that a name lacks is in the menu of its diagnostic, if other files have it.

These need a model, and work again by themselves as soon as one answers:

- Ghost text that was not written before.
- Fixes, refactorings, and explanations and answers in words.

` + "`quarry doctor`" + ` in a terminal says what is missing and what to do about it.
`

// acceptedArgs is what commandAccepted gets.
type acceptedArgs struct {
	URI      uri.URI           `json:"uri"`
	Position protocol.Position `json:"position"`
}

// acceptCommand tells the server that an item was accepted.
func (s *Server) acceptCommand(doc *document.Document, item completion.Item) protocol.Command {
	at := doc.Text.OffsetToPosition(item.Start, s.encoding).After(item.Text, s.encoding)
	raw, err := json.Marshal(acceptedArgs{doc.URI, protocol.Position{Line: at.Line, Character: at.Character}})
	if err != nil {
		return protocol.Command{} // strings and numbers always encode
	}
	return protocol.Command{Title: "Accepted", Command: commandAccepted, Arguments: []protocol.LSPAny{raw}}
}

// accepted begins to compute what the user will be shown next.
func (s *Server) accepted(args []protocol.LSPAny) error {
	if len(args) == 0 {
		return nil
	}
	var a acceptedArgs
	if err := json.Unmarshal(args[0], &a); err != nil {
		return wire.InvalidParams("argument of %s: %v", commandAccepted, err)
	}
	req, open := s.completionRequest(protocol.TextDocumentPositionParams{
		TextDocument: protocol.TextDocumentIdentifier{URI: a.URI}, Position: a.Position,
	})
	if req == nil {
		return nil
	}
	core := s.currentCore()
	s.task("prefetch", func(ctx context.Context) error {
		if s.withhold(ctx, req, open) {
			core.Prefetch(*req)
		}
		return nil
	})
	return nil
}

// showExplanation shows the record of a document's last ghost text.
func (s *Server) showExplanation(args []protocol.LSPAny) error {
	u, err := s.documentArgument(args)
	if err != nil {
		return err
	}
	s.task("show the explanation", func(ctx context.Context) error {
		text := "No ghost text has been shown in this document yet.\n"
		switch last, hidden := s.lastAnswer(ctx, u); {
		case hidden:
			text = "A rule leaves out what the last ghost text came from, so it is not shown any more.\n"
		case last != nil:
			text = explain(last).markdown(string(u))
		}
		return s.assist.Screen().Show("completion", text)
	})
	return nil
}

// documentArgument is the document a command is about: a URI or an object with
// one, or the last edited.
func (s *Server) documentArgument(args []protocol.LSPAny) (uri.URI, error) {
	if len(args) == 0 || string(args[0]) == "null" {
		if docs := s.docs.Others(""); len(docs) > 0 {
			return docs[0].URI, nil
		}
		return "", wire.InvalidParams("no document is open")
	}
	var raw string
	if json.Unmarshal(args[0], &raw) != nil {
		var object struct{ URI string }
		if err := json.Unmarshal(args[0], &object); err != nil {
			return "", wire.InvalidParams("the argument %s names no document", args[0])
		}
		raw = object.URI
	}
	u, err := wire.ParseURI(raw)
	if err != nil {
		return "", wire.InvalidParams("the argument %q names no document: %v", raw, err)
	}
	return u, nil
}

// markdown is the explanation for a user.
func (e Explanation) markdown(document string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Last completion\n\nIn %s.\n\n", markdown.Inline(document))
	switch {
	case e.Engine == "":
		fmt.Fprintf(&b, "Nothing was shown. %s\n", markdown.Inline(e.Note))
	case e.Note != "":
		fmt.Fprintf(&b, "By the model-free engine: %s\n", markdown.Inline(e.Note))
	default:
		fmt.Fprintf(&b, "By %s, from a prompt of %d tokens.\n", markdown.Inline(e.Engine), e.Prompt.Tokens)
	}
	b.WriteString("\n## Time\n\n| part | ms |\n|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(e.Timings)) {
		fmt.Fprintf(&b, "| %s | %.2f |\n", strings.ReplaceAll(name, "_", " "), e.Timings[name])
	}
	if len(e.Prompt.Snippets) > 0 {
		b.WriteString("\n## From other files\n\n| location | why |\n|---|---|\n")
		for _, sn := range e.Prompt.Snippets {
			place := cite.Format(agent.Citation{Path: sn.Path, StartLine: sn.StartLine, EndLine: sn.EndLine})
			fmt.Fprintf(&b, "| %s | %s |\n", markdown.Cell(place), markdown.Cell(sn.Why))
		}
	}
	if e.Prompt.Text != "" {
		fmt.Fprintf(&b, "\n## Prompt\n\n%s\n", markdown.Code("text", e.Prompt.Text))
	}
	return b.String()
}
