package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"quarry/index/walk"
	"quarry/retrieval/overview"
)

// overviewAnswer is what repo_overview answers: sections of lines, each with its place.
type overviewAnswer struct {
	Purpose      []string       `json:"purpose,omitempty"`
	Files        int            `json:"files"`
	Languages    []string       `json:"languages,omitempty"`
	Folders      []string       `json:"folders,omitempty"`
	EntryPoints  []string       `json:"entry_points,omitempty"`
	MostUsed     []string       `json:"most_used,omitempty"`
	Commands     []string       `json:"commands,omitempty"`
	Dependencies []string       `json:"dependencies,omitempty"`
	Tests        []string       `json:"tests,omitempty"`
	Documents    []string       `json:"documents,omitempty"`
	NotIndexed   map[string]int `json:"not_indexed,omitempty"`
}

// folderOf is a folder as files are named, "" for all. An absolute path is one of a folder, or of
// a file, as other tools take it.
func (b *Toolbox) folderOf(name string) (string, error) {
	if filepath.IsAbs(name) {
		// What lies in it has a name, and it has not where it is all there is.
		if inside := b.parts.Workspace.Name(filepath.Join(name, "x")); !filepath.IsAbs(filepath.FromSlash(inside)) {
			name = path.Dir(inside)
		}
	}
	dir := path.Clean(strings.ReplaceAll(name, `\`, "/"))
	switch {
	case dir == ".":
		return "", nil
	case dir == ".." || strings.HasPrefix(dir, "../"):
		return "", &walk.Excluded{Path: name, Reason: walk.Outside}
	}
	return dir, nil
}

func (b *Toolbox) overview(ctx context.Context, raw json.RawMessage) (reply, error) {
	args, err := decodeArguments[struct {
		Path string `json:"path"`
	}](raw)
	if err != nil {
		return reply{}, err
	}
	dir, err := b.folderOf(args.Path)
	if err != nil {
		return reply{}, err
	}
	o, err := overview.Make(ctx, b.parts.Workspace, dir)
	switch {
	case err != nil:
		return reply{}, err
	case o.Files == 0 && dir != "":
		if _, err := b.locate(ctx, args.Path); err != nil {
			return reply{}, err
		}
		return reply{}, Failf(InvalidArguments, "%s is a file; get_outline shows what it declares", clip(args.Path, 200))
	case o.Files == 0:
		return reply{}, Failf(NotFound, "no file is indexed here; list_files shows what is")
	}
	r := overviewReply(o)
	r.from([]string{"files", "symbols"}, o.Missing)
	if o.Cut {
		r.warn("incomplete: some files were not read, because that takes long now; ask again in a few seconds")
	}
	return r, nil
}

// overviewReply is an overview that can be cut: what matters most of each section comes first,
// a line of each in turn.
func overviewReply(o *overview.Overview) reply {
	all := overviewAnswer{Files: o.Files, NotIndexed: o.LeftOut}
	for _, n := range o.Purpose {
		all.Purpose = append(all.Purpose, note(n))
	}
	for _, l := range o.Languages {
		all.Languages = append(all.Languages, fmt.Sprintf("%s: %d files", l.Name, l.Files))
	}
	for _, f := range o.Folders {
		line := fmt.Sprintf("%s/: %d files", f.Path, f.Files)
		if f.Tests > 0 {
			line += fmt.Sprintf(", %d of tests", f.Tests)
		}
		if f.Purpose.Text != "" {
			line += ". " + clip(f.Purpose.Text, 160) + " " + f.Purpose.String()
		}
		all.Folders = append(all.Folders, line)
	}
	for _, e := range o.Entries {
		all.EntryPoints = append(all.EntryPoints, note(e))
	}
	for _, d := range o.Used {
		all.MostUsed = append(all.MostUsed, fmt.Sprintf("%s %s (in %d files)", d.Place, clip(d.Signature, 120), d.UsedBy))
	}
	for _, c := range o.Commands {
		all.Commands = append(all.Commands, note(c))
	}
	for _, m := range o.Manifests {
		all.Dependencies = append(all.Dependencies, fmt.Sprintf("%s %d: %s", m.Place, len(m.Needs), clip(strings.Join(m.Needs, ", "), 300)))
	}
	for _, t := range o.TestFolders {
		all.Tests = append(all.Tests, fmt.Sprintf("%s/: %d files", t.Name, t.Files))
	}
	all.Documents = o.Documents

	sections := func(a *overviewAnswer) []*[]string {
		return []*[]string{&a.Purpose, &a.Languages, &a.Folders, &a.EntryPoints, &a.Commands, &a.MostUsed, &a.Dependencies, &a.Tests, &a.Documents}
	}
	count := 0
	for _, s := range sections(&all) {
		count += len(*s)
	}
	return reply{count: count, first: func(n int) any {
		cut := all
		from, to := sections(&all), sections(&cut)
		for _, s := range to {
			*s = nil
		}
		for row := 0; n > 0; row++ {
			taken := false
			for i, s := range from {
				if row < len(*s) && n > 0 {
					*to[i] = append(*to[i], (*s)[row])
					n--
					taken = true
				}
			}
			if !taken {
				break
			}
		}
		return cut
	}}
}

// note is a sentence behind its place.
func note(n overview.Note) string { return n.Place.String() + " " + clip(n.Text, 400) }
