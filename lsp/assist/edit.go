package assist

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"quarry/agent"
	"quarry/agent/cite"
	"quarry/index/mask"
	"quarry/index/visible"
	"quarry/lsp/document"
	"quarry/lsp/text"
)

// movedError says that a document is not as it was when a change to it was
// begun. Nothing is applied then: what was proposed no longer fits.
type movedError struct{ path string }

func (e movedError) Error() string {
	return fmt.Sprintf("%s changed, so nothing was applied; ask again", filepath.Base(e.path))
}

// changedFile is what a proposal does to one document, values and all.
type changedFile struct {
	agent.FileChange
	id   protocol.OptionalVersionedTextDocumentIdentifier
	base text.Text
}

// after is its text as it would become.
func (f changedFile) after() string { return agent.ApplyEdits(f.base.String(), f.Edits) }

// changedFiles are the documents of a proposal with edits that have the values which the
// model saw masked. It fails if a document has moved on, for what the client or the
// workspace does not allow, and where a value would be lost or could be another's.
func (s *Service) changedFiles(ctx context.Context, p agent.Proposal) ([]changedFile, error) {
	var files []changedFile
	for _, file := range p.Files {
		id, base, err := s.target(ctx, file)
		if err != nil {
			return nil, err
		}
		files = append(files, changedFile{file, id, base})
	}
	texts := make([]string, len(files))
	for i, f := range files {
		texts[i] = f.base.String()
	}
	beside, err := mask.ReadBeside(ctx, texts...)
	if err != nil {
		return nil, err
	}
	edits := make([][]agent.TextEdit, len(files))
	for i, f := range files {
		if edits[i], err = restored(ctx, f, beside); err != nil {
			return nil, err
		}
	}
	for i := range files {
		files[i].Edits = edits[i]
	}
	return files, nil
}

// workspaceEdit is a proposal in the client's terms, see changedFiles and inClientsTerms.
func (s *Service) workspaceEdit(ctx context.Context, p agent.Proposal) (protocol.WorkspaceEdit, error) {
	files, err := s.changedFiles(ctx, p)
	return s.inClientsTerms(files), err
}

// inClientsTerms has positions in the client's encoding, open documents by the URI and the
// version it gave them. It carries no annotation that needs confirmation: what clients make
// of one takes keys that were meant for the text, or shows no line of the change.
func (s *Service) inClientsTerms(files []changedFile) protocol.WorkspaceEdit {
	var changes []protocol.DocumentChange
	plain := map[uri.URI][]protocol.TextEdit{}
	for _, f := range files {
		if f.Create {
			create := &protocol.CreateFile{URI: f.id.URI, Kind: "create"}
			create.ResourceOperation.Kind = "create"
			changes = append(changes, create)
		}
		edit := &protocol.TextDocumentEdit{TextDocument: f.id}
		list := make([]protocol.TextEdit, 0, len(f.Edits))
		for _, e := range f.Edits {
			list = append(list, protocol.TextEdit{Range: document.Range(f.base, e.Start, e.End, s.encoding), NewText: e.New})
			edit.Edits = append(edit.Edits, &list[len(list)-1])
		}
		plain[f.id.URI] = list
		changes = append(changes, edit)
	}
	if !s.takesDocumentChanges() {
		return protocol.WorkspaceEdit{Changes: plain}
	}
	return protocol.WorkspaceEdit{DocumentChanges: changes}
}

// target is the document that file changes and its text now.
func (s *Service) target(ctx context.Context, file agent.FileChange) (id protocol.OptionalVersionedTextDocumentIdentifier, base text.Text, err error) {
	core := s.host.Core()
	id.URI, base = uri.File(file.Path), text.New("")
	doc := s.docs.At(file.Path)
	switch {
	case doc != nil:
		id.URI, id.Version, base = s.host.Spelled(doc.URI), &doc.Version, doc.Text
		excluded, err := core.Excluded(ctx, file.Path, doc.Text.String())
		if err != nil {
			return id, base, err
		}
		if excluded {
			return id, base, fmt.Errorf("%s is private, change it yourself: it looks like a secret, is excluded by .quarryignore, or links outside the workspace", filepath.Base(file.Path))
		}
		if doc.Stale || file.Create || agent.HashText(doc.Shown()) != file.Base {
			return id, base, movedError{file.Path}
		}
	case file.Create:
		if !s.createsFiles() {
			return id, base, fmt.Errorf("this editor cannot create files; create %s yourself and ask again", filepath.Base(file.Path))
		}
		at, err := core.LocateNew(ctx, file.Path)
		if err != nil || at != file.Path {
			return id, base, fmt.Errorf("cannot create %s: %w", file.Path, cmp.Or(err, fs.ErrExist))
		}
	default:
		now, err := core.OnDisk(file.Path)
		if err != nil {
			return id, base, fmt.Errorf("cannot change %s: %w", file.Path, err)
		}
		if base = text.New(now); base.String() != now {
			return id, base, fmt.Errorf("%s is not UTF-8 throughout; open it in the editor and ask again", filepath.Base(file.Path))
		}
		if agent.HashText(mask.Text(now)) != file.Base {
			return id, base, movedError{file.Path}
		}
	}
	return id, base, nil
}

// restored are the edits of f with the values that the model saw masked.
func restored(ctx context.Context, f changedFile, beside *mask.Beside) ([]agent.TextEdit, error) {
	end := 0
	for _, e := range f.Edits {
		if e.Start < end || e.End < e.Start || e.End > f.base.Len() {
			return nil, fmt.Errorf("a bug in quarry, please report it: the edits of %s overlap or lie outside the text", f.Path)
		}
		end = e.End
	}
	before, name := f.base.String(), filepath.Base(f.Path)
	after, err := mask.Restore(ctx, before, agent.ApplyEdits(mask.Text(before), f.Edits), beside)
	switch {
	case errors.Is(err, mask.ErrAlike):
		return nil, fmt.Errorf("change %s by hand: its masked secrets look alike, and the change touches lines with them, or text around them, so that quarry cannot tell which is which. Nothing was applied", name)
	case errors.Is(err, mask.ErrUnknown):
		return nil, fmt.Errorf("change %s by hand: the model wrote a masked secret (xxxx) there, and quarry does not know which value it stands for. Nothing was applied", name)
	case err != nil:
		return nil, err
	}
	var edits []agent.TextEdit
	at := 0 // in after, which is as long as what the model made
	end = 0
	for _, e := range f.Edits {
		at += e.Start - end
		edits = append(edits, agent.TextEdit{Start: e.Start, End: e.End, New: after[at : at+len(e.New)]})
		at += len(e.New)
		end = e.End
	}
	if agent.ApplyEdits(before, edits) != after { // an edit begins or ends within a mask
		edits = []agent.TextEdit{{End: len(before), New: after}}
	}
	return edits, nil
}

// dangers names the files that a proposal should not be let change unseen, "" if none.
func (s *Service) dangers(p agent.Proposal) string {
	var names []string
	for _, f := range p.Files {
		names = append(names, s.host.Core().Name(f.Path))
	}
	return visible.Text(agent.Dangers(names))
}

// basis is what speaks against a proposal, how far it is to be trusted and what it
// rests on.
func (s *Service) basis(p agent.Proposal) string {
	var parts []string
	if dangers := s.dangers(p); dangers != "" {
		parts = append(parts, dangers)
	}
	if p.Confidence != "" {
		parts = append(parts, fmt.Sprintf("Confidence: %s.", p.Confidence))
	}
	if len(p.Citations) > 0 {
		parts = append(parts, "Based on "+citationList(p.Citations)+".")
	} else {
		parts = append(parts, "It cites no code.")
	}
	return visible.Text(strings.Join(parts, " "))
}

// citationList lists citations in one line.
func citationList(citations []agent.Citation) string {
	list := make([]string, 0, len(citations))
	for _, c := range citations {
		location := cite.Format(c)
		if c.StartLine == c.EndLine {
			location = cite.Place(c.Path, strconv.Itoa(c.StartLine))
		}
		if !slices.Contains(list, location) {
			list = append(list, location)
		}
	}
	return strings.Join(list, ", ")
}

// edits are the client's capabilities for workspace edits, the zero value if it
// has none.
func (s *Service) edits() protocol.WorkspaceEditClientCapabilities {
	if w := s.caps.Workspace; w != nil && w.WorkspaceEdit != nil {
		return *w.WorkspaceEdit
	}
	return protocol.WorkspaceEditClientCapabilities{}
}

// takesDocumentChanges is whether the client understands versioned changes. Not
// all that do say so: Neovim names only what comes with them.
func (s *Service) takesDocumentChanges() bool {
	c := s.edits()
	return c.DocumentChanges != nil && *c.DocumentChanges || len(c.ResourceOperations) > 0 || c.ChangeAnnotationSupport != nil
}

// createsFiles is whether the client can be asked to create files.
func (s *Service) createsFiles() bool {
	return slices.Contains(s.edits().ResourceOperations, protocol.ResourceOperationKindCreate)
}
