// Package crossfile finds what a completion should know of other places: the
// signatures of the declarations that the code at the cursor uses or is likely
// to use next, and code like the code being written. A [Source] is a
// completion.ContextSource fed with what package syntax says of each file of
// the workspace.
//
// The likely declarations are found by name, which needs no types and works in
// every language there is a grammar for: names used near the cursor and in the
// rest of the file, members of the types among them, and what the files beside
// it and the rest of the workspace use most. Where a name has several
// declarations, those in the same folder and in what the file imports come
// first.
//
// declarations.go keeps them, here.go reads the document at the cursor, rank.go
// decides which matter, snippets.go writes them down.
package crossfile

import (
	"context"
	"path/filepath"
	"sync"

	"quarry/completion"
	"quarry/retrieval/workspace"
)

// Workspace is where the texts are. It refuses those no prompt may hold.
type Workspace interface {
	// Text is the present text of the file with an absolute path.
	Text(path string) (string, error)
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

	mu sync.RWMutex
	// declared is guarded by mu.
	declared declarations
}

// New makes a Source without files. Texts come from w; with nil there are
// signatures alone.
func New(w Workspace, reach Reach) *Source {
	return &Source{workspace: w, reach: reach, declared: newDeclarations()}
}

// Context implements completion.ContextSource.
func (s *Source) Context(ctx context.Context, q completion.ContextQuery) []completion.Snippet {
	here := look(q)
	if ctx.Err() != nil {
		return nil
	}
	return s.snippets(ctx, q, here, s.rank(ctx, q, here))
}

// text is the present text of a file, "" if it cannot be had.
func (s *Source) text(root, path string) string {
	if s.workspace == nil {
		return ""
	}
	text, err := s.workspace.Text(filepath.Join(root, filepath.FromSlash(path)))
	if err != nil {
		return "" // it went, or must not be shown
	}
	return text
}
