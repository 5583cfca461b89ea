package assist

import (
	"context"
	"fmt"
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
// round.
func (s *Service) apply(ctx context.Context, p agent.Proposal) error {
	files, err := s.changedFiles(ctx, p)
	if err != nil {
		return err
	}
	before, after := map[string]string{}, map[string]string{}
	for _, f := range files {
		before[f.Path], after[f.Path] = f.base.String(), f.after()
	}
	title := oneLine(p.Title, 200)
	result, err := s.client.ApplyEdit(ctx, &protocol.ApplyWorkspaceEditParams{Label: &title, Edit: s.inClientsTerms(files)})
	if err != nil {
		return fmt.Errorf("ask again, the editor could not apply the change: %w", err)
	}
	if result == nil {
		result = &protocol.ApplyWorkspaceEditResult{}
	}
	if result.Applied {
		soon, cancel := context.WithTimeout(ctx, verifyFor)
		defer cancel()
		s.docs.Await(soon, func() bool { return s.shows(after) })
	}
	s.log.Info("a proposal was offered", "files", len(p.Files), "applied", result.Applied, "seen", s.shows(after))
	switch {
	case s.shows(after):
		return nil
	case !s.shows(before):
		return fmt.Errorf("%s differs from the proposal; check it before you save", s.changed(p))
	case result.Applied:
		return fmt.Errorf("ask again: the editor reported a change, but %s is unchanged", s.changed(p))
	case result.FailureReason != nil && *result.FailureReason != "":
		return fmt.Errorf("the editor did not apply the change; ask again (%s)", *result.FailureReason)
	}
	return errDeclined
}

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
