package walk

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"quarry/index/glob"
)

// repository is what git's own files say about ignoring in one work tree.
type repository struct {
	exclude []glob.Pattern // .git/info/exclude
	global  []glob.Pattern // core.excludesFile
	fold    bool           // core.ignoreCase
	cut     bool           // there are more patterns than are in force
}

// gitDir finds the repository data of a work tree: .git, or where a .git file of
// a worktree or submodule points. "" if dir is not the top of a work tree. git
// follows a .git that is a link.
func (r *reader) gitDir(dir string) string {
	dot := filepath.Join(dir, ".git")
	info, err := os.Stat(dot)
	if err != nil || !info.Mode().IsRegular() {
		r.kind(dot)
		if err == nil && info.IsDir() {
			return dot
		}
		return ""
	}
	text, _, err := r.text(dot, true, maxRuleFile)
	if err != nil {
		return ""
	}
	target, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	if !ok {
		return ""
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(dir, target)
	}
	if isElsewhere(runtime.GOOS, r.root, target) {
		return ""
	}
	return target
}

// commonDir is where a linked worktree keeps what it shares with the others.
func (r *reader) commonDir(gitDir string) string {
	text, _, err := r.text(filepath.Join(gitDir, "commondir"), true, maxRuleFile)
	if err != nil {
		return gitDir
	}
	target := strings.TrimSpace(string(text))
	if !filepath.IsAbs(target) {
		target = filepath.Join(gitDir, target)
	}
	if isElsewhere(runtime.GOOS, r.root, target) {
		return gitDir
	}
	return target
}

// Head answers the files whose change tells that another commit was checked out
// in the work tree at dir: none if it is not the top of one.
func Head(dir string) []string {
	git := (&reader{root: dir}).gitDir(dir)
	if git == "" {
		return nil
	}
	return []string{filepath.Join(git, "HEAD"), filepath.Join(git, "logs", "HEAD")}
}

// Exclude is git's own list of what is left out of the work tree at dir: "" if that
// is not the top of one.
func Exclude(dir string) string {
	r := &reader{root: dir}
	git := r.gitDir(dir)
	if git == "" {
		return ""
	}
	return filepath.Join(r.commonDir(git), "info", "exclude")
}

// openRepository reads what git's own files say; own is the work tree's gitDir.
func (from *reader) openRepository(dir, own string, left *allowance) *repository {
	git := from.commonDir(own)
	config := readGitConfig(from, own, git)
	r := &repository{fold: runtime.GOOS != "linux"}
	if value, ok := config.values["core.ignorecase"]; ok {
		r.fold = isTrue(value)
	}
	excludes, ok := config.values["core.excludesfile"]
	if xdg := config.xdg(); !ok && xdg != "" {
		excludes = filepath.Join(xdg, "ignore")
	}
	r.exclude, r.cut, _ = left.read(from, filepath.Join(git, "info", "exclude"), true, r.fold)
	if excludes = config.expand(excludes, config.home); excludes != "" {
		if !filepath.IsAbs(excludes) { // git works at the top of the work tree
			excludes = filepath.Join(dir, excludes)
		}
		var cut bool
		r.global, cut, _ = left.read(from, excludes, true, r.fold)
		r.cut = r.cut || cut
	}
	return r
}
