package walk

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"slices"

	"quarry/index/glob"
)

// ignoreFiles in the order of their say. The first kind that has a matching line
// in any folder decides; within a kind the deepest folder does, and within a file
// the last line. git's own lists (info/exclude, then core.excludesFile) come last.
var ignoreFiles = [...]string{".quarryignore", ".ignore", ".gitignore"}

const gitKind = len(ignoreFiles) - 1

// level is what the ignore files of one folder say, and those above it.
type level struct {
	parent *level
	// dir is the folder relative to the root, "" for the root and for those above.
	dir string
	// above is the way from a folder above the root down to it ("a/b/"), else "".
	above string
	lists [len(ignoreFiles)][]glob.Pattern
	// repo is set on the top folder of a work tree: .gitignore files above it do
	// not count in it.
	repo *repository
	// fold: names are compared without regard to case (core.ignoreCase).
	fold bool
	// cut says of which of the ignore files not every line is in force, and why.
	cut [len(ignoreFiles)]Reason
	// left is what the folders below may still read.
	left allowance
	// sources are the files that the folder's own rules are from, those of it that there
	// are; round is the Refresh since which they are what was read. Both are set and used
	// where a Root keeps the level, under its mu.
	sources []source
	round   uint64
}

// closed answers why everything in the folder is left out, "" if it is not: nobody
// knows what the rest of its .quarryignore withholds. That gives a repository no power,
// since a line with a star does the same.
func (l *level) closed() Reason { return l.cut[quarryKind] }

// sum is a hash of the rules in force.
func (l *level) sum() uint64 {
	if l == nil {
		return 0
	}
	return l.left.sum
}

// name is rel as seen from the level's folder.
func (l *level) name(rel string) string {
	if l.above != "" || l.dir == "" {
		return l.above + rel
	}
	return rel[len(l.dir)+1:]
}

// newLevel reads the ignore files of one folder. has answers whether a name is in
// it, so that a walk, which has the listing, need not ask the disk.
func newLevel(parent *level, abs, dir, above string, has func(string) bool, from *reader) *level {
	l := &level{parent: parent, dir: dir, above: above, left: allowance{patterns: maxPatterns, text: maxRuleText}}
	if parent != nil {
		l.fold, l.left = parent.fold, parent.left
		l.cut[quarryKind] = parent.closed() // of a folder above the root: a walk enters no other
	}
	if has(".git") {
		if git := from.gitDir(abs); git != "" {
			l.repo = from.openRepository(abs, git, &l.left)
			l.fold = l.repo.fold
		}
	}
	for i, file := range ignoreFiles {
		if !has(file) {
			continue
		}
		// A link could make another file's lines look like patterns, and git refuses it.
		// But a .quarryignore says what is private, wherever its user keeps that.
		var cut bool
		var err error
		l.lists[i], cut, err = l.left.read(from, filepath.Join(abs, file), i == quarryKind, l.fold)
		switch {
		case cut:
			l.cut[i] = RulesCut
		case err != nil && i == quarryKind && !isFolder(filepath.Join(abs, file)):
			l.cut[i] = RulesUnread
		}
	}
	return l
}

func isFolder(name string) bool {
	info, err := os.Lstat(name)
	return err != nil || info.IsDir()
}

// parseIgnore compiles the lines of an ignore file, up to so many patterns; all is
// false if there are more. cut says that the text was cut off, perhaps within a line.
func parseIgnore(text []byte, cut, fold bool, most int) (list []glob.Pattern, all bool) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if cut {
		text = text[:bytes.LastIndexByte(text, '\n')+1]
	}
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		// A string of its own, so that a pattern does not keep the whole text.
		p, ok := glob.Parse(string(bytes.TrimSuffix(line, []byte("\r"))), fold)
		if !ok {
			continue
		}
		if len(list) == most {
			return list, false
		}
		list = append(list, p)
	}
	return list, true
}

type verdict int8

const (
	silent verdict = iota
	leave
	take
)

func ask(list []glob.Pattern, name *glob.Name, dir bool) verdict {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].Match(name, dir) {
			if list[i].Negated {
				return take
			}
			return leave
		}
	}
	return silent
}

// ignored asks all ignore files about one path whose parents are not left out.
// taken is true if a .quarryignore or .ignore took it in explicitly.
func (l *level) ignored(rel string, dir bool) (ignored, taken bool) {
	for kind := range ignoreFiles {
		for at := l; at != nil; at = at.parent {
			v := silent
			git := kind == gitKind && at.repo != nil
			if len(at.lists[kind]) > 0 || git && len(at.repo.exclude)+len(at.repo.global) > 0 { // most folders have none
				name := nameAt(at, rel)
				v = ask(at.lists[kind], name, dir)
				if git && v == silent {
					if v = ask(at.repo.exclude, name, dir); v == silent {
						v = ask(at.repo.global, name, dir)
					}
				}
			}
			switch {
			case v == leave:
				return true, false
			case v == take:
				return false, kind != gitKind
			}
			if git {
				break
			}
		}
	}
	return false, false
}

func nameAt(l *level, rel string) *glob.Name {
	name := l.name(rel)
	if l.fold {
		name = glob.FoldCase(name)
	}
	return glob.NameOf(name)
}

// reason decides about one path whose parents are not left out. exists answers for
// a path relative to the one's folder.
func (l *level) reason(rel string, dir bool, exists func(string) bool) Reason {
	if secretEntry(rel, dir) {
		return Secret
	}
	base := path.Base(rel)
	if why := l.closed(); why != "" {
		return why
	}
	if i := slices.Index(ignoreFiles[:], base); i >= 0 && l.cut[i] != "" {
		return l.cut[i] // so that the status names it
	}
	built := denied(base, dir, exists)
	if built == VersionControl {
		return built
	}
	ignored, taken := l.ignored(rel, dir)
	switch {
	case taken:
		return ""
	case built != "":
		return built
	case ignored:
		return Ignored
	}
	return ""
}

// size is about what the folder's own rules hold of memory, in bytes.
func (l *level) size() (n int) {
	count := func(list []glob.Pattern) {
		for i := range list {
			n += list[i].Size()
		}
	}
	for _, list := range l.lists {
		count(list)
	}
	if l.repo != nil {
		count(l.repo.exclude)
		count(l.repo.global)
	}
	return n
}
