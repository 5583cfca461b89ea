package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// own fails with ErrNone where what git takes for the folder's repository is another's: a .git file,
// a link, or a file commondir, which anybody can put into a folder, names one that does not name
// this working tree. A linked working tree and a submodule are named by theirs.
func (r *Repository) own(ctx context.Context) error {
	out, err := r.ask(ctx, nil, "rev-parse", "--show-toplevel", "--absolute-git-dir", "--git-common-dir")
	if err != nil {
		return err
	}
	places := strings.Split(strings.ReplaceAll(strings.TrimRight(string(out), "\r\n"), "\r\n", "\n"), "\n")
	if len(places) != 3 {
		return fmt.Errorf("%w: the path of %s has a line break", ErrNone, r.dir)
	}
	for i, place := range append(places, r.dir) {
		at := filepath.FromSlash(place)
		if !filepath.IsAbs(at) {
			at = filepath.Join(r.dir, at)
		}
		if at, err = filepath.EvalSymlinks(at); err != nil {
			return fmt.Errorf("%w: %w", ErrNone, err)
		}
		if i < len(places) {
			places[i] = at
		} else if !within(places[0], at) {
			return fmt.Errorf("%w: the repository of %s is that of %s", ErrNone, r.dir, places[0])
		}
	}
	top, data, common := places[0], places[1], places[2]
	if within(top, common) || r.linked(top, data, common) || r.submodule(ctx, top, data, common) {
		return nil
	}
	return fmt.Errorf("%w: the repository of %s lies elsewhere, in %s, and does not name this folder", ErrNone, top, common)
}

// linked answers whether a repository has noted that it has a working tree at top.
func (r *Repository) linked(top, data, common string) bool {
	if filepath.Dir(data) != filepath.Join(common, "worktrees") {
		return false
	}
	info, err := os.Stat(filepath.Join(data, "gitdir"))
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxComplaint {
		return false
	}
	text, err := os.ReadFile(filepath.Join(data, "gitdir"))
	if err != nil {
		return false
	}
	at := filepath.FromSlash(strings.TrimRight(string(text), "\r\n"))
	if !filepath.IsAbs(at) {
		at = filepath.Join(data, at)
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(at))
	return err == nil && folder == top && filepath.Base(at) == ".git"
}

// submodule answers whether a repository says in its own configuration that top is its working tree.
func (r *Repository) submodule(ctx context.Context, top, data, common string) bool {
	if data != common {
		return false
	}
	out, err := r.ask(ctx, nil, "config", "--file", filepath.Join(common, "config"), "--get", "core.worktree")
	at := filepath.FromSlash(strings.TrimRight(string(out), "\r\n"))
	if err != nil || at == "" {
		return false
	}
	if !filepath.IsAbs(at) {
		at = filepath.Join(data, at)
	}
	at, err = filepath.EvalSymlinks(at)
	return err == nil && at == top
}

// within answers whether a place is a folder or lies in it.
func within(folder, place string) bool {
	rel, err := filepath.Rel(folder, place)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
