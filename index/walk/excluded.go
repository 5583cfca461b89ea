package walk

import (
	"os"
	"path"
	"path/filepath"
	"strings"
)

// quarryKind is the place of .quarryignore among the ignore files.
const quarryKind = 0

// Excluded answers whether a document of the editor must not be shown to a model,
// open as it is: a secret, or what a .quarryignore or the user's settings leave out. What git ignores
// or a build made is left out of the index for its worth, not because it is
// private, and may be completed in. A link is what it leads to, whatever its name
// promises; one that leads out of the root is excluded, and so is one to nowhere.
func (r *Root) Excluded(rel string) bool {
	if !filepath.IsLocal(filepath.FromSlash(rel)) || r.excludedName(path.Clean(rel)) {
		return true
	}
	real, ok := r.follow(rel)
	return !ok || real != path.Clean(rel) && r.excludedName(real)
}

// follow is the place of a file, which need not exist, with links followed. ok is
// false if it is not in the root or a link leads nowhere.
func (r *Root) follow(rel string) (real string, ok bool) {
	if real, ok = realPath(filepath.Join(r.dir, filepath.FromSlash(rel))); ok {
		return r.Rel(real)
	}
	return "", false
}

// realPath is an absolute path, of what need not exist, with links followed. ok is false if
// a link leads nowhere.
func realPath(at string) (real string, ok bool) {
	missing := ""
	for {
		real, err := filepath.EvalSymlinks(at)
		if err == nil {
			return filepath.Join(real, missing), true
		}
		if _, err := os.Lstat(at); err == nil || at == filepath.Dir(at) {
			return "", false
		}
		missing = filepath.Join(filepath.Base(at), missing)
		at = filepath.Dir(at)
	}
}

// excludedName is Excluded by name alone.
func (r *Root) excludedName(rel string) bool {
	if IsSecret(rel) || r.Excludes(rel) {
		return true
	}
	r.mu.Lock()
	defer r.unlock()
	for i := 0; ; {
		slash := strings.IndexByte(rel[i:], '/')
		at := rel
		if slash >= 0 {
			at = rel[:i+slash]
		}
		own := r.levelOf(parentOf(at))
		if own.closed() != "" {
			return true
		}
		for l := own; l != nil; l = l.parent {
			if v := ask(l.lists[quarryKind], nameAt(l, at), slash >= 0); v == leave {
				return true
			} else if v == take {
				break
			}
		}
		if slash < 0 {
			return false
		}
		i += slash + 1
	}
}
