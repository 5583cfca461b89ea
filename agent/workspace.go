package agent

import (
	"context"

	"quarry/index/store"
	"quarry/index/syntax"
	"quarry/retrieval"
	"quarry/retrieval/pattern"
	"quarry/retrieval/workspace"
)

// Files is where names meet texts; retrieval/workspace has it.
type Files interface {
	// Roots are the folders' absolute paths in the order of the editor.
	Roots() []string
	// Locate turns a name as a model writes it into the absolute path of a file
	// that may be read. Links are followed; see retrieval/workspace/names.go.
	Locate(ctx context.Context, name string) (path string, err error)
	// LocateNew is Locate for a file that does not exist yet.
	LocateNew(ctx context.Context, name string) (path string, err error)
	// Name is how models and citations name a file.
	Name(path string) string
	// Text is the present text of a file: the editor's buffer if it is open there.
	Text(path string) (string, error)
}

// Workspace is what the tools read through; retrieval/workspace has it. All it
// answers is of files that may be read, and it never answers that there is nothing while
// it cannot know: it waits, and then fails with *workspace.NotReady.
type Workspace interface {
	Files
	// OnDisk is a file with nothing masked, for what judges a change; no model may see it.
	OnDisk(path string) (string, error)
	Files(ctx context.Context, keep func(workspace.File) bool) (list []workspace.File, missing *workspace.Missing, err error)
	// Matching are those of Files that a pattern may match a line of.
	Matching(ctx context.Context, p *pattern.Pattern, keep func(workspace.File) bool, look func(*workspace.Look) (found bool, err error)) (missing *workspace.Missing, err error)
	// Plain are the files that are known by their lines only.
	Plain(ctx context.Context) ([]workspace.Plain, error)
	// LeftOut counts what is not indexed, by reason.
	LeftOut(ctx context.Context) (map[string]int, error)
	Search(ctx context.Context, req retrieval.Request) (workspace.Answer, error)
	FindSimilar(ctx context.Context, req workspace.SimilarRequest) (workspace.Answer, error)
	Symbols(ctx context.Context, name string, kinds []syntax.Kind, limit int) (workspace.Symbols, error)
	SymbolByID(ctx context.Context, id string) (workspace.Symbol, *workspace.Missing, error)
	References(ctx context.Context, s workspace.Symbol, limit int) (workspace.References, error)
	Users(ctx context.Context, s workspace.Symbol, kind store.EdgeKind) (workspace.Neighbours, error)
	Implementations(ctx context.Context, s workspace.Symbol) (workspace.Neighbours, error)
	Used(ctx context.Context, s workspace.Symbol, kind store.EdgeKind) (workspace.Neighbours, error)
	Declared(ctx context.Context, path string) (workspace.Symbols, error)
	Searchable() []*workspace.Searchable
	Learned(ctx context.Context) (*workspace.Missing, error)
	// Changes fails with git.ErrNone if no folder has a last commit.
	Changes(ctx context.Context) (workspace.Changes, error)
	// Rename fails with *workspace.Unnamed where the name cannot be given.
	Rename(ctx context.Context, s workspace.Symbol, to string) (workspace.Renaming, error)
}

var _ Workspace = (*workspace.Workspace)(nil)
