// Package near finds what stands beside a file and what its imports may mean, by names
// alone: it knows no language's rules, and needs no index, which is only being made when it
// is asked.
package near

import (
	"path"
	"slices"
	"strings"

	"quarry/index/store"
	"quarry/index/syntax"
)

// Names are the names of a list of files. All answers are places in the list. It is
// immutable.
type Names struct {
	paths   []string // without what follows the last dot
	folders map[string][]int
	dirs    map[string][]string // folders by the last part of their paths
	stems   map[string][]int
}

// New takes paths, relative and with slashes.
func New(files []string) *Names {
	n := &Names{paths: make([]string, len(files)), folders: map[string][]int{}, dirs: map[string][]string{}, stems: map[string][]int{}}
	for i, file := range files {
		n.paths[i] = strings.TrimSuffix(file, path.Ext(file))
		dir, stem := path.Dir(file), path.Base(n.paths[i])
		if n.folders[dir] == nil {
			n.dirs[path.Base(dir)] = append(n.dirs[path.Base(dir)], dir)
		}
		n.folders[dir] = append(n.folders[dir], i)
		n.stems[stem] = append(n.stems[stem], i)
	}
	return n
}

// Beside are the files in the folder of a file, which need not be in the list.
func (n *Names) Beside(file string) []int { return n.folders[path.Dir(file)] }

// maxImported bounds what one import brings forward: one that may mean so many files says
// nothing.
const maxImported = 64

// Imported answers the files that an import may mean: those whose path, or whose folder's,
// ends like the import's, in as many components as any. Of an import's last components some
// may name a declaration in the file, or be the file's extension.
func (n *Names) Imported(im *syntax.Import) []int {
	parts := store.ImportComponents(im.Path)
	if len(im.Names) > 0 { // Python's: each may be a file
		var all []int
		for _, name := range im.Names {
			all = append(all, n.endingIn(append(parts[:len(parts):len(parts)], name))...)
		}
		if len(all) > 0 {
			return all
		}
	}
	for drop := 0; drop < min(2, len(parts)); drop++ {
		if list := n.endingIn(parts[:len(parts)-drop]); len(list) > 0 {
			return list
		}
	}
	return nil
}

// endingIn are the files whose path, or whose folder's, ends in most of the components,
// and at least in the last.
func (n *Names) endingIn(parts []string) []int {
	last := parts[len(parts)-1]
	best, longest := []int(nil), 1
	consider := func(file string, list []int) {
		switch same := commonEnd(file, parts); {
		case same > longest:
			best, longest = slices.Clone(list), same
		case same == longest:
			best = append(best, list...)
		}
	}
	for _, dir := range n.dirs[last] {
		consider(dir, n.folders[dir])
	}
	for _, i := range n.stems[last] {
		consider(n.paths[i], []int{i})
	}
	if len(best) > maxImported {
		return nil
	}
	return best
}

// commonEnd is how many of its last components a path has in common with parts.
func commonEnd(file string, parts []string) (n int) {
	for n < len(parts) {
		if path.Base(file) != parts[len(parts)-1-n] {
			break
		}
		n++
		up := path.Dir(file)
		if up == "." {
			break
		}
		file = up
	}
	return n
}
