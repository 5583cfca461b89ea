package walk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

func parentOf(rel string) string {
	if up := path.Dir(rel); up != "." {
		return up
	}
	return ""
}

// Check answers why a path, relative with slashes, is left out: "" if it is not.
// A path that does not exist is judged as a file.
func (r *Root) Check(rel string) Reason {
	if !filepath.IsLocal(filepath.FromSlash(rel)) {
		return Outside
	}
	rel = path.Clean(rel)
	if rel == "." {
		return ""
	}
	r.mu.Lock()
	defer r.unlock()
	for i := 0; ; {
		slash := strings.IndexByte(rel[i:], '/')
		at := rel
		if slash >= 0 {
			at = rel[:i+slash]
		}
		if reason := r.checkOne(at, slash >= 0); reason != "" || slash < 0 {
			return reason
		}
		i += slash + 1
	}
}

// checkOne judges one component whose parents are not left out. mu is held.
func (r *Root) checkOne(rel string, isParent bool) Reason {
	info, err := os.Lstat(filepath.Join(r.dir, filepath.FromSlash(rel)))
	if slices.Contains(r.own, rel) {
		return Own
	}
	isDir := isParent || err == nil && info.IsDir()
	dir := parentOf(rel)
	exists := onDisk(filepath.Join(r.dir, filepath.FromSlash(dir)))
	if reason := r.levelOf(dir).reason(rel, isDir, exists); reason != "" {
		return reason
	}
	if r.Excludes(rel) {
		return BySettings
	}
	switch {
	case err != nil:
		return ""
	case info.Mode()&fs.ModeSymlink != 0:
		return Link
	case isDir:
		if IsKernels(filepath.Join(r.dir, filepath.FromSlash(rel))) {
			return Special
		}
		if exists(path.Base(rel) + "/CACHEDIR.TAG") {
			return BuildOutput
		}
	case !info.Mode().IsRegular():
		return Special
	case info.Size() > r.maxSize:
		return TooLarge
	}
	return ""
}

// levelOf returns the rules in a folder; those above it were asked for before, or are
// read with it. mu is held.
func (r *Root) levelOf(dir string) *level {
	if dir == "" {
		r.currentAbove()
	}
	if l, ok := r.levels[dir]; ok && r.current(l) {
		return l
	}
	parent := r.above
	if dir != "" {
		parent = r.levelOf(parentOf(dir))
	}
	abs, from, round := filepath.Join(r.dir, filepath.FromSlash(dir)), &reader{root: r.dir}, r.round.Load()
	l := newLevel(parent, abs, dir, "", onDisk(abs), from)
	l.sources, l.round = from.sources, round
	if r.cached += l.size(); r.cached > maxCached {
		r.levels, r.cached = map[string]*level{}, l.size()
	}
	r.levels[dir] = l
	return l
}

// Excluded is the error for a path that may not be read.
type Excluded struct {
	Path   string
	Reason Reason
}

func (e *Excluded) Error() string {
	return fmt.Sprintf("%s may not be read: %s", e.Path, e.Reason)
}

// Resolve turns a path that somebody names, absolute or relative to the root, into
// the relative path of the file it means, links followed. The answer lies inside
// the root and is not left out by any rule; else the error is an *Excluded.
func (r *Root) Resolve(name string) (rel string, err error) {
	given := name
	if !filepath.IsAbs(name) {
		name = filepath.Join(r.dir, filepath.FromSlash(name))
	}
	// A secret stays one whatever it links to, and whatever links to it.
	if rel, ok := r.Rel(name); ok && IsSecret(rel) {
		return "", &Excluded{given, Secret}
	}
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		if _, ok := r.Rel(name); !ok {
			return "", &Excluded{given, Outside}
		}
		if cause := errors.Unwrap(err); cause != nil { // too many links have none
			err = cause
		}
		return "", fmt.Errorf("%s: %w", given, err)
	}
	rel, ok := r.Rel(real)
	if !ok {
		return "", &Excluded{given, Outside}
	}
	if reason := r.Check(rel); reason != "" {
		return "", &Excluded{given, reason}
	}
	return rel, nil
}

// Rel turns an absolute path into one relative to the root, with slashes; ok is
// false if it leads outside. The root may be spelled as it was given to Open or
// with its links resolved; links below it are not followed.
func (r *Root) Rel(abs string) (rel string, ok bool) {
	for _, dir := range []string{r.dir, r.given} {
		if rel, err := filepath.Rel(dir, abs); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel), true
		}
	}
	return "", false
}
