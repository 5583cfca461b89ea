package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"quarry/retrieval/workspace"
)

// maxSpots is how many places a renaming names that are to be looked at.
const maxSpots = 20

func (b *Toolbox) renameSymbol(ctx context.Context, raw json.RawMessage) (reply, error) {
	args, err := decodeArguments[struct {
		ID      string `json:"symbol_id"`
		NewName string `json:"new_name"`
		Token   string `json:"confirmation_token"`
	}](raw)
	if err != nil {
		return reply{}, err
	}
	if b.parts.Patcher == nil || b.parts.Staging == nil {
		return reply{}, errReadOnly
	}
	s, _, err := b.parts.Workspace.SymbolByID(ctx, args.ID) // what is missing is found out below
	if err != nil {
		return reply{}, err
	}
	found, err := b.parts.Workspace.Rename(ctx, s, args.NewName)
	var unnamed *workspace.Unnamed
	if errors.As(err, &unnamed) {
		return reply{}, Failf(InvalidArguments, "%s cannot be renamed: %v", s.ID, unnamed)
	}
	if err != nil {
		return reply{}, err
	}
	var files []FileEdits
	places := 0
	for _, f := range found.Files {
		edits := FileEdits{Path: f.Path}
		for _, at := range f.Spans {
			edits.Edits = append(edits.Edits, TextEdit{int(at.Start), int(at.End), args.NewName})
		}
		places += len(f.Spans)
		files = append(files, edits)
	}
	p, err := b.parts.Patcher.Changes(ctx, files)
	if err != nil {
		return reply{}, err
	}
	p.Title = fmt.Sprintf("Rename %s to %s", s.Qualified(), args.NewName)
	by := "by the references that the index resolves; nothing checked that it compiles"
	if found.Checked != "" {
		by = found.Checked
	}
	p.Reason = fmt.Sprintf("%d places in %d files: %s. Strings and comments stay as they are, but for the declaration's own.", places, len(files), by)
	r, err := b.propose(ctx, p, args.Token)
	r.from([]string{"graph"}, nil)
	r.warn(b.spots(found.Check, "changed because no other declaration has the name; check them")...)
	r.warn(b.spots(found.Left, "left as they are, though they may mean it; look at them")...)
	return r, err
}

// spots is a warning about places, none where there are none.
func (b *Toolbox) spots(list []workspace.Spot, what string) []string {
	if len(list) == 0 {
		return nil
	}
	text := fmt.Sprintf("%d places %s:", len(list), what)
	for i, s := range list {
		if i == maxSpots {
			return append([]string{text}, fmt.Sprintf("and %d more", len(list)-maxSpots))
		}
		text += fmt.Sprintf(" %s %s;", at(b.parts.Workspace.Name(s.Path), s.Line, s.Line), clip(s.Text, 60))
	}
	return []string{text}
}
