package assist

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.lsp.dev/protocol"

	"quarry/agent"
)

// changed lists the files of a proposal for the user.
func (s *Service) changed(p agent.Proposal) string {
	var names []string
	for _, f := range p.Files {
		name := s.host.Core().Name(f.Path)
		if f.Create {
			name += " (new)"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// verifyFor is how long the editor's documents may take to show what it says it
// applied: Neovim tells of changes 150 ms after they were made, eglot 500 ms.
const verifyFor = 3 * time.Second

// apply has the editor apply a proposal and believes only the documents: some
// clients report a change as applied that they did not make, some the other way
// round. after are the texts that the files have then, by path.
func (s *Service) apply(ctx context.Context, p agent.Proposal) (after map[string]string, err error) {
	files, err := s.changedFiles(ctx, p)
	if err != nil {
		return nil, err
	}
	before := map[string]string{}
	after = map[string]string{}
	for _, f := range files {
		before[f.Path], after[f.Path] = f.base.String(), f.after()
	}
	title := oneLine(p.Title, 200)
	result, err := s.client.ApplyEdit(ctx, &protocol.ApplyWorkspaceEditParams{Label: &title, Edit: s.inClientsTerms(files)})
	if err != nil {
		return nil, fmt.Errorf("ask again, the editor could not apply the change: %w", err)
	}
	if result == nil {
		result = &protocol.ApplyWorkspaceEditResult{}
	}
	if result.Applied {
		s.showCreated(ctx, files)
		soon, cancel := context.WithTimeout(ctx, verifyFor)
		defer cancel()
		s.docs.Await(soon, func() bool { return s.shows(after) })
	}
	s.log.Info("a proposal was offered", "files", len(p.Files), "applied", result.Applied, "seen", s.shows(after))
	switch {
	case s.shows(after), result.Applied && s.unseen(files, after):
		return after, nil
	case !s.shows(before):
		return nil, fmt.Errorf("%s differs from the proposal; check it before you save", s.changed(p))
	case result.Applied:
		return nil, fmt.Errorf("ask again: the editor reported a change, but %s is unchanged", s.changed(p))
	case result.FailureReason != nil && *result.FailureReason != "":
		return nil, fmt.Errorf("the editor did not apply the change; ask again (%s)", *result.FailureReason)
	}
	return nil, errDeclined
}

// showCreated puts the first new file of a change before the user: it is in no window of theirs, and where it
// is not saved, nothing else would tell them that it is there.
func (s *Service) showCreated(ctx context.Context, files []changedFile) {
	for _, f := range files {
		if f.Create && s.screen.showsDocuments() {
			if err := s.screen.showBeside(ctx, f.id.URI); err != nil && ctx.Err() == nil {
				s.log.Warn("show a new file", "error", err)
			}
			return
		}
	}
}

// unseen is whether all that is not as it should be are new files that the client does not
// let quarry see: it need not open for a server what its user has not looked at.
func (s *Service) unseen(files []changedFile, after map[string]string) bool {
	for _, f := range files {
		hidden := f.Create && s.docs.At(f.Path) == nil
		if !hidden && !s.shows(map[string]string{f.Path: after[f.Path]}) {
			return false
		}
	}
	return true
}

// whatChanged is the result of a change for the user. It names the files that it was made in,
// unless that is only the one at path, where they asked for it: editors change others out
// of sight, leave them unsaved and undo each by itself.
func (s *Service) whatChanged(p agent.Proposal, path string, after map[string]string) string {
	if len(p.Files) == 1 && !p.Files[0].Create && p.Files[0].Path == path {
		return plainlyApplied
	}
	unsaved, stay := p, ""
	unsaved.Files = nil
	for _, f := range p.Files {
		saved, err := s.host.Core().OnDisk(f.Path)
		if err == nil && unify(saved) == unify(after[f.Path]) {
			continue
		}
		unsaved.Files = append(unsaved.Files, f)
		if f.Create && err == nil {
			stay = ". Undone, what is new stays as an empty file"
		}
	}
	in := "there"
	if len(unsaved.Files) > 1 {
		in = "in each"
	}
	switch len(unsaved.Files) {
	case 0:
		undo := "undo it in the editor"
		if slices.ContainsFunc(p.Files, func(f agent.FileChange) bool { return f.Create }) {
			undo = "delete what is new to undo it"
		}
		return fmt.Sprintf("applied, saved; %s: %s", undo, s.changed(p))
	case len(p.Files): // the names are what is cut off where there is no room
		return fmt.Sprintf("applied, not saved; undo %s: %s%s", in, s.changed(p), stay)
	}
	return fmt.Sprintf("applied, not all saved; undo %s: %s%s", in, s.changed(unsaved), stay)
}

// plainlyApplied is the result of a change that the user sees where they are.
const plainlyApplied = "applied"

// shows is whether each file has its text of want. Line endings do not count:
// clients write their own.
func (s *Service) shows(want map[string]string) bool {
	for path, text := range want {
		have, err := s.present(path)
		if err != nil && text != "" {
			return false
		}
		if unify(have) != unify(text) {
			return false
		}
	}
	return true
}

func unify(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// present is the text of a file now: the open document's, else what is on disk.
func (s *Service) present(path string) (string, error) {
	if doc := s.docs.At(path); doc != nil {
		return doc.Text.String(), nil
	}
	return s.host.Core().OnDisk(path)
}
