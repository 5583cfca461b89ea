package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"quarry/index/glob"
	"quarry/retrieval/pattern"
	"quarry/retrieval/workspace"
)

// matchedLines is what search_regex answers.
type matchedLines struct {
	listing[string]
	// NotSearched counts what lies in the folders and is not indexed, by why.
	NotSearched map[string]int `json:"not_searched,omitempty"`
}

func (b *Toolbox) searchRegex(ctx context.Context, raw json.RawMessage) (reply, error) {
	args, err := decodeArguments[struct {
		bounds
		Pattern  string `json:"pattern"`
		PathGlob string `json:"path_glob"`
		Limit    int    `json:"limit"`
	}](raw)
	if err != nil {
		return reply{}, err
	}
	want, err := pattern.Compile(args.Pattern)
	if err != nil {
		return reply{}, Failf(InvalidArguments, "pattern %q cannot be searched for: %v", clip(args.Pattern, 200), err)
	}
	keep := func(workspace.File) bool { return true }
	if args.PathGlob != "" {
		wanted, err := glob.Compile(args.PathGlob)
		if err != nil {
			return reply{}, Failf(InvalidArguments, "path_glob %q is not valid: %v; try **/*.go", clip(args.PathGlob, 200), err)
		}
		keep = func(f workspace.File) bool { return wanted.Covers(f.Name) }
	}
	within := window{args.Offset, args.Limit}
	list, missing, err := b.grep(ctx, want, keep, within.end()+1)
	if err != nil {
		return reply{}, err
	}
	out := matchedLines{}
	if len(list) <= within.end() {
		out.Total = len(list)
	}
	if out.NotSearched, err = b.parts.Workspace.LeftOut(ctx); err != nil {
		return reply{}, err
	}
	r := part(list, within.offset, within.limit, func(list []matchedLine) any {
		out.Items = make([]string, len(list))
		for i, l := range list {
			out.Items[i] = l.place() + " " + l.text
		}
		return out
	})
	r.from([]string{backendFiles}, missing)
	if want.NamesLineEnd() {
		r.warn(`lines are matched one by one, so that \n matches nothing`)
	}
	if len(list) == 0 && len(out.NotSearched) > 0 {
		r.warn("only indexed files were searched, not what stands in not_searched: " + strings.Join(slices.Sorted(maps.Keys(out.NotSearched)), ", "))
	}
	return r, nil
}

// matchedLine is a line that grep found. The name of its file may have spaces and colons.
type matchedLine struct {
	name string
	line int
	text string
}

// place is where the line stands.
func (l matchedLine) place() string { return at(l.name, l.line, l.line) }

// grep finds the first lines that match, at most most. What comes behind them is not looked for.
func (b *Toolbox) grep(ctx context.Context, want *pattern.Pattern, keep func(workspace.File) bool, most int) (list []matchedLine, missing *workspace.Missing, err error) {
	var slow *workspace.Missing
	missing, err = b.parts.Workspace.Matching(ctx, want, keep, func(l *workspace.Look) (bool, error) {
		list = nil
		run := l.Within(want).Start()
		for done, f := range l.Files {
			if ctx.Err() != nil {
				return false, ctx.Err()
			}
			if l.Over() {
				break
			}
			text, err := b.parts.Workspace.Text(f.Path)
			if err != nil {
				continue // gone, or left out by now
			}
			err = run.Lines(ctx, text, func(n int, line string) bool {
				list = append(list, matchedLine{f.Name, n, clip(strings.TrimSpace(line), maxLineBytes)})
				return len(list) < most
			})
			if errors.Is(err, pattern.ErrSlow) {
				if l.Over() {
					break
				}
				if slow = workspace.TooSlow(b.parts.Workspace.Roots()[0], done, len(l.Files)); len(list) == 0 {
					return false, &workspace.NotReady{Missing: *slow}
				}
				return true, nil
			}
			if err != nil {
				return false, err
			}
			if len(list) == most {
				break
			}
		}
		return len(list) > 0, nil
	})
	return list, cmp.Or(missing, slow), err
}
