package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"quarry/index/walk"
)

// How models, citations and people name files: relative to the folder, with
// slashes. Where the workspace has several folders, the folder's own name comes
// first: api/main.go and web/main.go. Folders of the same name are told apart by
// a number, api and api-2, in the order of the editor.
//
// Locate is generous, because small models are not exact: an absolute path, a
// path that leaves the folder's name out while only one folder has such a file,
// and one that has it although there is a single folder, mean what they can only
// mean.

// Ambiguous is the error for a name that means a file in several folders.
type Ambiguous struct {
	Name string
	// Choices are the names that mean one of them each.
	Choices []string
}

func (e *Ambiguous) Error() string {
	return fmt.Sprintf("%s is in several folders of the workspace; say which: %s", e.Name, strings.Join(e.Choices, ", "))
}

// Roots are the folders' paths in the order of the editor.
func (w *Workspace) Roots() []string {
	var dirs []string
	for _, f := range w.snapshot() {
		dirs = append(dirs, f.dir)
	}
	return dirs
}

// Name is the name of a file whose path is absolute; outside of all folders, its
// path.
func (w *Workspace) Name(path string) string {
	folders := w.snapshot()
	f, rel := innermost(folders, w.placed(path))
	if f == nil {
		return filepath.ToSlash(path)
	}
	return nameIn(folders, f, rel)
}

// nameIn is the name of the file rel of one of the folders.
func nameIn(folders []*folder, f *folder, rel string) string {
	if len(folders) == 1 {
		return rel
	}
	return folderNames(folders)[slices.Index(folders, f)] + "/" + rel
}

// folderNames are the names of the folders, all different.
func folderNames(folders []*folder) []string {
	names := make([]string, len(folders))
	for i, f := range folders {
		base := filepath.Base(f.dir)
		name := base
		for n := 2; slices.Contains(names[:i], name); n++ {
			name = fmt.Sprintf("%s-%d", base, n)
		}
		names[i] = name
	}
	return names
}

// pathsIn are path filters as the folder f has them. Filters are in lower case.
func pathsIn(folders []*folder, f *folder, filters []string) []string {
	if len(folders) == 1 || len(filters) == 0 {
		return filters
	}
	prefix := strings.ToLower(folderNames(folders)[slices.Index(folders, f)]) + "/"
	own := make([]string, len(filters))
	for i, p := range filters {
		own[i] = strings.TrimPrefix(p, prefix)
		if own[i] == "" {
			own[i] = "**" // all of the folder
		}
	}
	return own
}

// Locate turns a name into the absolute path of the file that it means, links
// followed. The file lies in a folder and no rule leaves it out of the index; else
// the error is a *walk.Excluded, an *Ambiguous, or fs.ErrNotExist. A document that
// is open in the editor need not be on disk. Locate waits while a folder is being
// opened.
func (w *Workspace) Locate(ctx context.Context, name string) (path string, err error) {
	return w.search(ctx, name, func(f *folder, rel string) (string, error) {
		root, path := f.index.Root(), filepath.Join(f.dir, filepath.FromSlash(rel))
		at, err := root.Resolve(path)
		if errors.Is(err, fs.ErrNotExist) && w.isOpen(path) {
			return f.vacant(rel)
		}
		if err != nil {
			return "", err
		}
		if info, err := root.Stat(at); err != nil || info.IsDir() {
			return "", &walk.Excluded{Path: rel, Reason: walk.Special}
		}
		return at, nil
	})
}

// LocateNew turns the name of a file that does not exist into its absolute path.
// The path lies in a folder, no link on the way leads out of it, and no rule
// would leave the file out of the index.
func (w *Workspace) LocateNew(ctx context.Context, name string) (path string, err error) {
	return w.search(ctx, name, (*folder).vacant)
}

func (w *Workspace) isOpen(path string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for name := range w.buffers {
		if w.place(name) == path {
			return true
		}
	}
	return false
}

// candidate is a place that a name may mean.
type candidate struct {
	*folder
	rel string
}

// search answers the only candidate for name that resolve takes.
func (w *Workspace) search(ctx context.Context, name string, resolve func(f *folder, rel string) (string, error)) (string, error) {
	w.refresh()
	folders := w.snapshot()
	if filepath.IsAbs(name) {
		name = w.placed(filepath.Clean(name))
	}
	exact, loose := candidates(folders, name)
	var refusal error
	for _, list := range [][]candidate{exact, loose} {
		var found []candidate
		for _, c := range list {
			if err := c.wait(ctx); err != nil {
				return "", err
			}
			switch _, err := c.ready(); {
			case errors.Is(err, errCovered): // since the folders were listed; try the others again
				return w.search(ctx, name, resolve)
			case err != nil:
				return "", c.refusal(err)
			}
			rel, err := resolve(c.folder, c.rel)
			switch {
			case err == nil:
				found = append(found, candidate{c.folder, rel})
			case refusal == nil || errors.Is(refusal, fs.ErrNotExist):
				refusal = err
			}
		}
		switch len(found) {
		case 0:
		case 1:
			return filepath.Join(found[0].dir, filepath.FromSlash(found[0].rel)), nil
		default:
			e := &Ambiguous{Name: name}
			for _, c := range found {
				e.Choices = append(e.Choices, nameIn(folders, c.folder, c.rel))
			}
			return "", e
		}
	}
	if refusal == nil {
		refusal = &walk.Excluded{Path: name, Reason: walk.Outside}
	}
	var excluded *walk.Excluded
	switch {
	case errors.As(refusal, &excluded): // say it in the words of who asked
		return "", &walk.Excluded{Path: name, Reason: excluded.Reason}
	case errors.Is(refusal, fs.ErrNotExist) || errors.Is(refusal, syscall.ENOTDIR):
		return "", fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	case errors.Is(refusal, fs.ErrExist):
		return "", fmt.Errorf("%s: %w", name, fs.ErrExist)
	}
	// No permission, or nothing that the system takes for a name. Its own words
	// hold the absolute path.
	return "", &walk.Excluded{Path: name, Reason: walk.Unreadable}
}

// candidates are the places that name says, and those it may mean if it says
// none.
func candidates(folders []*folder, name string) (exact, loose []candidate) {
	if filepath.IsAbs(name) {
		if f, rel := innermost(folders, name); f != nil {
			exact = append(exact, candidate{f, rel})
		}
		return exact, nil
	}
	name = filepath.ToSlash(filepath.Clean(filepath.FromSlash(name)))
	for i, short := range folderNames(folders) {
		loose = append(loose, candidate{folders[i], name})
		if rel, ok := strings.CutPrefix(name, short+"/"); ok {
			exact = append(exact, candidate{folders[i], rel})
		}
	}
	if len(folders) == 1 { // its name is not part of file names
		return loose, exact
	}
	return exact, loose
}

// vacant answers rel, links followed, if a file may be created there: what exists
// of the way to it lies in the folder.
func (f *folder) vacant(rel string) (string, error) {
	if !filepath.IsLocal(filepath.FromSlash(rel)) || rel == "." {
		return "", &walk.Excluded{Path: rel, Reason: walk.Outside}
	}
	root := f.index.Root()
	if walk.IsSecret(rel) {
		return "", &walk.Excluded{Path: rel, Reason: walk.Secret}
	}
	path := filepath.Join(f.dir, filepath.FromSlash(rel))
	if _, err := os.Lstat(path); err == nil {
		return "", fmt.Errorf("%s: %w", rel, fs.ErrExist)
	}
	dir, rest := filepath.Dir(path), filepath.Base(path)
	for {
		if _, err := os.Lstat(dir); err == nil || dir == f.dir {
			break
		}
		dir, rest = filepath.Dir(dir), filepath.Join(filepath.Base(dir), rest)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", fmt.Errorf("%s: %w", rel, err)
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return "", &walk.Excluded{Path: rel, Reason: walk.Special}
	}
	at, ok := root.Rel(filepath.Join(real, rest))
	if !ok {
		return "", &walk.Excluded{Path: rel, Reason: walk.Outside}
	}
	if reason := root.Check(at); reason != "" {
		return "", &walk.Excluded{Path: rel, Reason: reason}
	}
	return at, nil
}
