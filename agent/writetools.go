package agent

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"

	"quarry/index/mask"
)

func (b *Toolbox) applyDiff(ctx context.Context, raw json.RawMessage) (reply, error) {
	args, err := decodeArguments[struct {
		Diff  string `json:"diff"`
		Token string `json:"confirmation_token"`
	}](raw)
	if err != nil {
		return reply{}, err
	}
	if b.parts.Patcher == nil || b.parts.Staging == nil {
		return reply{}, errReadOnly
	}
	p, err := b.parts.Patcher.Patch(ctx, args.Diff)
	if err != nil {
		return reply{}, err
	}
	return b.propose(ctx, p, args.Token)
}

func (b *Toolbox) applyEdits(ctx context.Context, raw json.RawMessage) (reply, error) {
	args, err := decodeArguments[struct {
		Path  string      `json:"path"`
		Edits []RangeEdit `json:"edits"`
		Token string      `json:"confirmation_token"`
	}](raw)
	if err != nil {
		return reply{}, err
	}
	if b.parts.Patcher == nil || b.parts.Staging == nil {
		return reply{}, errReadOnly
	}
	file, err := b.locate(ctx, args.Path)
	if err != nil {
		return reply{}, err
	}
	p, err := b.parts.Patcher.Edit(ctx, file, args.Edits)
	if err != nil {
		return reply{}, err
	}
	return b.propose(ctx, p, args.Token)
}

var errReadOnly = Failf(PermissionDenied, "nothing can be changed here; say in words what should be changed")

// proposed is the data that goes with requires_confirmation.
type proposed struct {
	ID    string   `json:"proposal_id"`
	Files []string `json:"files"`
	// Diff is the change for the user to read where no editor shows it.
	Diff string `json:"diff,omitempty"`
}

// applied is the data of a change that was made.
type applied struct {
	Applied bool     `json:"applied"`
	Files   []string `json:"files"`
}

// propose stages a change, or applies one that waits if the token says that the
// user has confirmed it.
func (b *Toolbox) propose(ctx context.Context, p Proposal, token string) (reply, error) {
	names, err := b.confine(ctx, p)
	if err != nil {
		return reply{}, err
	}
	shown, err := b.masked(ctx, p)
	if err != nil {
		return reply{}, err
	}
	careful := ""
	if dangers := Dangers(names); dangers != "" {
		careful = ". " + strings.TrimSuffix(dangers, ".")
	}
	switch {
	case b.parts.Apply == nil && token != "":
		return reply{}, errReadOnly
	case b.parts.Apply == nil:
		// Nobody puts the values back into this diff.
		changed, around := shown.in(p.Diff)
		if changed {
			return reply{}, Failf(InvalidArguments, "tell the user to change these lines by hand: a masked secret (xxxx) stands in them, so that the diff would not apply, or would write x's")
		}
		if around {
			careful += ". A masked secret (xxxx) stands beside the changed lines, so that git apply does not take this diff: the user makes the change by hand"
		}
		return whole(proposed{b.parts.Staging.Stage(p), names, p.Diff}), Failf(RequiresConfirmation,
			"nothing is changed, and nothing can be from here: show the user the diff of this answer, for them to apply%s", careful)
	case token == "":
		return whole(proposed{b.parts.Staging.Stage(p), names, ""}), Failf(RequiresConfirmation,
			"the change waits for the user to confirm it in the editor. Nothing is changed yet. Do not propose it again; tell the user what it does%s", careful)
	}
	confirmed, err := b.parts.Staging.Redeem(token, p.Digest())
	if errors.Is(err, ErrNotConfirmed) {
		return reply{}, Failf(PermissionDenied, "%v", err)
	}
	if err != nil {
		return reply{}, err
	}
	if err := b.parts.Apply(ctx, confirmed); err != nil {
		return reply{}, err
	}
	return whole(applied{true, names}), nil
}

// masks are lines that show a masked secret, before a change or after it.
type masks map[string]bool

// masked answers which lines of the files that a proposal changes show a mask. It fails if
// the change would leave a mask whose value cannot be put back.
func (b *Toolbox) masked(ctx context.Context, p Proposal) (masks, error) {
	whole := make([]string, len(p.Files))
	for i, f := range p.Files {
		if !f.Create {
			var err error
			if whole[i], err = b.parts.Workspace.OnDisk(f.Path); err != nil {
				return nil, err
			}
		}
	}
	beside, err := mask.ReadBeside(ctx, whole...)
	if err != nil {
		return nil, err
	}
	lines := masks{}
	for i, f := range p.Files {
		shown := mask.Text(whole[i])
		if HashText(shown) != f.Base {
			continue // the editor has another text of it, and judges the change itself
		}
		after := ApplyEdits(shown, f.Edits)
		restored, err := mask.Restore(ctx, whole[i], after, beside)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			return nil, Failf(InvalidArguments, "leave the lines with a masked secret (xxxx) of %s as they are, or tell the user to change them by hand: %v", b.parts.Workspace.Name(f.Path), err)
		}
		lines.add(shown, whole[i])
		lines.add(after, restored)
	}
	return lines, nil
}

func (m masks) add(shown, whole string) {
	real := strings.Split(whole, "\n")
	for i, line := range strings.Split(shown, "\n") {
		if line != real[i] {
			m[strings.TrimSuffix(line, "\r")] = true
		}
	}
}

// in answers whether a diff changes such lines, and whether it has one around its changes.
func (m masks) in(diff string) (changed, around bool) {
	for line := range strings.Lines(diff) {
		if m[strings.TrimRight(line[1:], "\r\n")] {
			changed = changed || line[0] == '+' || line[0] == '-'
			around = around || line[0] == ' '
		}
	}
	return changed, around
}

// rulesFile says what quarry may read; a change of it by quarry would be a way
// around it.
const rulesFile = ".quarryignore"

// confine answers the names of the files that a proposal changes, if all of them
// may be changed. It trusts nothing in the proposal, whoever made it.
func (b *Toolbox) confine(ctx context.Context, p Proposal) (names []string, err error) {
	met := map[string]bool{}
	for _, f := range p.Files {
		find := b.parts.Workspace.Locate
		if f.Create {
			find = b.parts.Workspace.LocateNew
		}
		at, err := find(ctx, f.Path)
		switch {
		case err != nil:
			return nil, err
		case at != f.Path:
			return nil, Failf(PermissionDenied, "%s is reached through a link; change %s", clip(f.Path, 200), b.parts.Workspace.Name(at))
		case strings.EqualFold(filepath.Base(at), rulesFile): // some disks take one for the other
			return nil, Failf(PermissionDenied, "%s is for the user to change", rulesFile)
		case met[at]:
			return nil, Failf(InvalidArguments, "%s is changed twice; put all its changes into one", b.parts.Workspace.Name(at))
		}
		text := ""
		if !f.Create {
			if text, err = b.parts.Workspace.Text(at); err != nil {
				return nil, err
			}
		}
		if HashText(text) != f.Base {
			return nil, Failf(InvalidArguments, "%s has changed meanwhile; read it again", b.parts.Workspace.Name(at))
		}
		if len(f.Edits) > 0 || f.Create {
			names = append(names, b.parts.Workspace.Name(at))
		}
		met[at] = true
	}
	if len(names) == 0 {
		return nil, Failf(InvalidArguments, "this changes nothing: the result is the text that is there already")
	}
	return names, nil
}
