package workspace

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// An editor may name one folder twice, by a link and without it, or a folder that lies in another
// by a link. All of them are taken for what they are below the outermost one, so that each file
// has one name and answers once; the editor's own paths of them are translated.

// root is a folder of the workspace: dir as it is named, and real with its links followed.
type root struct{ dir, real string }

// linked is a folder that an editor names otherwise than it is named here.
type linked struct{ dir, at string }

// rootsOf follows the links of folders that the editor names, in the order in which it does. On a disk
// that does not answer in time links are what they seem: the editor waits for this.
func rootsOf(dirs []string) []root {
	roots := make([]root, len(dirs))
	for i, dir := range dirs {
		dir = filepath.Clean(dir)
		roots[i] = root{dir, dir}
	}
	if len(roots) < 2 {
		return roots // whatever it is, nothing is in another
	}
	found := make(chan []root, 1)
	go func() {
		followed := slices.Clone(roots)
		for i := range followed {
			if real, err := filepath.EvalSymlinks(followed[i].dir); err == nil {
				followed[i].real = real
			}
		}
		found <- followed
	}()
	timer := time.NewTimer(followLimit)
	defer timer.Stop()
	select {
	case roots = <-found:
	case <-timer.C:
	}
	return roots
}

// followLimit is how long an editor waits for the links of its folders, a thousand times what they
// take.
const followLimit = 200 * time.Millisecond

// straighten names each root as it lies in the outermost one that holds it, each once; links are
// those that have another name then, the longest first.
func straighten(roots []root) (list []root, links []linked) {
	first := map[string]int{} // the first root of a real folder
	for i := len(roots) - 1; i >= 0; i-- {
		first[folderKey(roots[i].real)] = i
	}
	listed := map[string]bool{}
	for _, r := range roots {
		outer, rel := r, "."
		for dir, below := r.real, "."; ; {
			if k, ok := first[folderKey(dir)]; ok {
				outer, rel = roots[k], below
			}
			up := filepath.Dir(dir)
			if up == dir {
				break
			}
			dir, below = up, filepath.Join(filepath.Base(dir), below)
		}
		at := filepath.Join(outer.dir, rel)
		if folderKey(at) != folderKey(r.dir) {
			links = append(links, linked{r.dir, at})
		} else {
			at = r.dir
		}
		if key := folderKey(at); !listed[key] {
			listed[key] = true
			list = append(list, root{at, r.real})
		}
	}
	slices.SortFunc(links, func(a, b linked) int { return cmp.Compare(len(b.dir), len(a.dir)) })
	return list, links
}

// place is what a path of the editor is named here. mu is held.
func (w *Workspace) place(path string) string {
	for _, l := range w.links {
		if path == l.dir {
			return l.at
		}
		if rest, ok := strings.CutPrefix(path, l.dir+string(filepath.Separator)); ok {
			return filepath.Join(l.at, rest)
		}
	}
	return path
}

// placed is place for whoever does not hold mu.
func (w *Workspace) placed(path string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.place(path)
}
