package agent

import "context"

// Patcher turns what a model wrote into a proposal for the documents as they are
// now. An error that is a *Failure says why the change is refused in words that
// the model can act on.
type Patcher interface {
	// Patch reads a unified diff as models write them.
	Patch(ctx context.Context, diff string) (Proposal, error)
	// Edit replaces ranges of one file, which is named as Workspace.Locate takes
	// it.
	Edit(ctx context.Context, path string, edits []RangeEdit) (Proposal, error)
	// Changes replaces ranges of files, by bytes of the texts as they are now, sorted in each.
	Changes(ctx context.Context, files []FileEdits) (Proposal, error)
}

// RangeEdit replaces a range of a text. Lines are 1-based, columns 0-based and
// counted in characters; the end is exclusive.
type RangeEdit struct {
	StartLine   int    `json:"start_line"`
	StartCol    int    `json:"start_col"`
	EndLine     int    `json:"end_line"`
	EndCol      int    `json:"end_col"`
	Replacement string `json:"replacement"`
}

// FileEdits are edits of the file at an absolute path. They do not overlap.
type FileEdits struct {
	Path  string
	Edits []TextEdit
}
