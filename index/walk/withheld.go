package walk

import (
	"path"
	"path/filepath"
	"strings"
)

// quarryKind is the place of .quarryignore among the ignore files.
const quarryKind = 0

// Withheld answers whether a document of the editor must not be shown to a model,
// open as it is: a secret, or what a .quarryignore leaves out. What git ignores
// or a build made is left out of the index for its worth, not because it is
// private, and may be completed in.
func (r *Root) Withheld(rel string) bool {
	if !filepath.IsLocal(filepath.FromSlash(rel)) || IsSecret(rel) {
		return true
	}
	rel = path.Clean(rel)
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := 0; ; {
		slash := strings.IndexByte(rel[i:], '/')
		at := rel
		if slash >= 0 {
			at = rel[:i+slash]
		}
		for l := r.levelOf(parentOf(at)); l != nil; l = l.parent {
			name, base := fold(l, at)
			if v := ask(l.lists[quarryKind], name, base, slash >= 0); v == leave {
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
