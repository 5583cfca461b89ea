// Package crossfile finds what a completion should know of other places: the
// signatures of the declarations that the code at the cursor uses or is likely
// to use next, and code like the code being written. A [Source] is a
// completion.ContextSource that asks what searches know of the workspace, and
// keeps nothing itself.
//
// The likely declarations are found by name, which needs no types and works in
// every language there is a grammar for: names used near the cursor and in the
// rest of the file, members of the types among them, and what the files beside
// it and the rest of the workspace use most. Where a name has several
// declarations, those in the same folder and in what the file imports come
// first.
//
// declared.go finds them, here.go reads the document at the cursor, rank.go
// decides which matter, snippets.go writes them down.
package crossfile

import (
	"context"
	"path/filepath"
	"slices"

	"quarry/completion"
	"quarry/retrieval/workspace"
)

// Workspace is where declarations and texts are. It refuses texts that no prompt may hold.
type Workspace interface {
	// Searchable is as in workspace.Workspace.
	Searchable() []*workspace.Searchable
	// Text is the present text of the file with an absolute path.
	Text(path string) (string, error)
	// Allows answers whether a file may be shown now, whatever is known of it.
	Allows(root, path string) bool
	// Similar is as in workspace.Workspace.
	Similar(text, root, except string, k int) []workspace.SimilarChunk
}

// Reach is how far from the document a Source looks; bench/context.md has what
// each step is worth.
type Reach int

// The reaches, each with those before it.
const (
	Similar    Reach = iota // all of it, with similar code
	Repository              // declarations anywhere
	Imports                 // those in the folder and in what the document imports
	Folder                  // those in the document's folder
)

// Source knows the declarations of a workspace. It is safe for concurrent use.
type Source struct {
	workspace Workspace
	reach     Reach
}

// New makes a Source of what w knows.
func New(w Workspace, reach Reach) *Source { return &Source{w, reach} }

// Version tells the versions of a file apart; ok is false if it is none of the workspace's,
// as what is excluded is not.
func (s *Source) Version(root, path string) (version int64, ok bool) {
	if s.workspace == nil || !s.workspace.Allows(root, path) {
		return 0, false
	}
	at, ok := see(s.workspace.Searchable()).at(fileKey{root, path})
	if !ok {
		return 0, false
	}
	return at.in.Snapshot.Modified(at.id).UnixNano(), true
}

// Context implements completion.ContextSource.
func (s *Source) Context(ctx context.Context, q completion.ContextQuery) []completion.Snippet {
	here := look(q)
	if ctx.Err() != nil {
		return nil
	}
	known := see(s.workspace.Searchable())
	// A rule may be newer than what searches know.
	allowed := map[fileKey]bool{}
	return slices.DeleteFunc(s.snippets(ctx, q, here, known, s.rank(ctx, q, here, known)), func(sn completion.Snippet) bool {
		key := fileKey{sn.Root, sn.Path}
		if _, asked := allowed[key]; !asked {
			allowed[key] = s.workspace.Allows(sn.Root, sn.Path)
		}
		return !allowed[key]
	})
}

// text is the present text of a file, "" if it cannot be had.
func (s *Source) text(root, path string) string {
	text, err := s.workspace.Text(filepath.Join(root, filepath.FromSlash(path)))
	if err != nil {
		return "" // it went, or must not be shown
	}
	return text
}
