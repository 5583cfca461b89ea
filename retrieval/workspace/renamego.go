package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"quarry/index/gotypes"
	"quarry/index/lang"
	"quarry/index/syntax"
	"quarry/retrieval/pattern"
)

// typed finds the places of a declaration of Go with its type checker, in files that may have the
// name, and refuses a renaming after which a package does not compile as before.
func (r *renamer) typed(ctx context.Context, files []File) error {
	all, err := r.w.filesNow(ctx)
	if err != nil {
		return err
	}
	folders := map[string][]string{}
	for _, f := range all {
		if owner, rel := innermost(r.folders, f.Path); owner == r.of.folder && lang.Detect(rel, nil) == "go" {
			folders[path.Dir(rel)] = append(folders[path.Dir(rel)], path.Base(rel))
		}
	}
	texts := map[string]string{} // one state of each file for the whole question
	repo := gotypes.Repository{Root: r.of.folder.dir, Files: func(dir string) []string { return folders[dir] }, Text: func(file string) (string, error) {
		if text, ok := texts[file]; ok {
			return text, nil
		}
		text, err := r.of.folder.text(file)
		if err == nil {
			texts[file] = text
		}
		return text, err
	}}
	having := func(files []File, what string) (list []string) {
		for _, f := range files {
			if ctx.Err() != nil {
				return nil
			}
			owner, rel := innermost(r.folders, f.Path)
			if owner != r.of.folder || lang.Detect(rel, nil) != "go" {
				continue
			}
			if text, err := repo.Text(rel); err == nil && strings.Contains(text, what) {
				list = append(list, rel)
			}
		}
		return list
	}
	named := having(files, r.of.Name)
	if len(named) > maxRenamed {
		return &Unnamed{fmt.Sprintf("%s stands in more than %d files; rename it by gopls", r.of.Name, maxRenamed)}
	}
	if r.of.Container != "" { // who has a value of the type may need its method and not name it
		imported := `"` + gotypes.ImportPath(repo, path.Dir(r.rel)) + `"`
		want, err := pattern.Compile(regexp.QuoteMeta(imported))
		if err != nil {
			return &Unnamed{err.Error()}
		}
		more, _, err := r.w.matchingNow(ctx, want, nil)
		if err != nil {
			return err
		}
		named = append(named, having(more, imported)...)
	}
	target := gotypes.Target{File: r.rel, Start: int(r.of.NameSpan.Start), Container: r.of.Container, Name: r.of.Name}
	found, err := gotypes.Rename(ctx, repo, target, r.to, named)
	var breaks *gotypes.Breaks
	if errors.As(err, &breaks) {
		return &Unnamed{breaks.Error()}
	}
	var unfinished *gotypes.Unfinished
	if errors.As(err, &unfinished) { // names alone would not tell what each place of Go means
		return &Unnamed{unfinished.Error() + "; change the places by hand, get_references lists them"}
	}
	if err != nil {
		return err
	}
	r.found.Checked = fmt.Sprintf("Go's type checker says that %d packages compile as before", found.Packages)
	if len(found.Absent) > 0 {
		r.found.Checked += fmt.Sprintf(", without %d packages that are not on this machine, such as %s", len(found.Absent), found.Absent[0])
	}
	r.take(found, texts)
	return nil
}

// take makes files and lines of places.
func (r *renamer) take(found gotypes.Renaming, texts map[string]string) {
	abs := func(rel string) string { return filepath.Join(r.of.folder.dir, filepath.FromSlash(rel)) }
	spans := map[string][]syntax.Span{}
	for _, p := range found.Places {
		spans[p.File] = append(spans[p.File], syntax.Span{Start: uint32(p.Start), End: uint32(p.End)})
	}
	spans[r.rel] = append(spans[r.rel], r.ownComment(texts[r.rel])...)
	for rel, list := range spans {
		slices.SortFunc(list, func(a, b syntax.Span) int { return cmp.Compare(a.Start, b.Start) })
		r.found.Files = append(r.found.Files, RenamedFile{abs(rel), list})
	}
	slices.SortFunc(r.found.Files, func(a, b RenamedFile) int { return strings.Compare(a.Path, b.Path) })
	var file, line string
	number, next := 0, 0 // of the line, and where the one behind it begins
	for _, p := range found.Unknown {
		text := texts[p.File]
		if p.File != file {
			file, number, next = p.File, 0, 0
		}
		for next <= p.Start {
			line, _, _ = strings.Cut(text[next:], "\n")
			number, next = number+1, next+len(line)+1
		}
		r.found.Left = append(r.found.Left, Spot{abs(p.File), number, strings.TrimSpace(line)})
	}
}
