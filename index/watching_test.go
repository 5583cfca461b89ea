package index

import (
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"quarry/index/systest"
)

// An index that is told of changes begins to look itself when whoever told goes.
func TestWatchingBeginsOnRequest(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, project)
	x := start(t, Config{Dir: dir})
	write(t, dir, map[string]string{"before.go": "package m\n\nfunc before() {}\n"})
	x.Watch()
	until(t, "what changed before", func() bool { return slices.Contains(symbols(t, x, "before.go"), "before") })
	settle(t, x)
	write(t, dir, map[string]string{"lib/after.go": "package lib\n\nfunc after() {}\n"})
	until(t, "what changed after", func() bool { return slices.Contains(symbols(t, x, "lib/after.go"), "after") })
}

// A checkout is noticed by git's own files, whoever tells of the others.
func TestCheckoutIsNoticedWithoutWatching(t *testing.T) {
	systest.NeedProgram(t, "git")
	dir := t.TempDir()
	write(t, dir, project)
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q", "-b", "one")
	x := start(t, Config{Dir: dir})
	write(t, dir, map[string]string{"late.go": "package m\n\nfunc late() {}\n"})
	git("symbolic-ref", "HEAD", "refs/heads/two")
	until(t, "the checkout", func() bool { return slices.Contains(symbols(t, x, "late.go"), "late") })

	// Whatever differs, the index is behind until that is known.
	settle(t, x)
	before := lagOf(t, x).CaughtUp
	write(t, dir, map[string]string{"late.go": "package m\n\nfunc later() {}\n"}) // of which nobody tells
	git("symbolic-ref", "HEAD", "refs/heads/three")
	until(t, "it to be behind, and no more", func() bool { lag := lagOf(t, x); return !lag.Behind && lag.CaughtUp != before })
}

// git's own list of what is left out counts at once, as ignore files do; a linked
// work tree has that of the main one.
func TestGitsOwnListIsWatched(t *testing.T) {
	systest.NeedProgram(t, "git")
	main, linked := t.TempDir(), filepath.Join(t.TempDir(), "linked")
	write(t, main, map[string]string{"a.go": "package a\n", "b.go": "package a\n", ".git/info/exclude": "# nothing\n"})
	for _, args := range [][]string{
		{"init", "-q"}, {"add", "."}, {"-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-qm", "one"}, {"worktree", "add", "-q", linked},
	} {
		if out, err := exec.Command("git", append([]string{"-C", main}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	for _, dir := range []string{main, linked} {
		x := start(t, Config{Dir: dir, Watch: true})
		if symbols(t, x, "b.go") == nil {
			t.Fatalf("%q is all there is", paths(t, x))
		}
		write(t, main, map[string]string{".git/info/exclude": "b.go\n"})
		until(t, "the file to be left out", func() bool { return symbols(t, x, "b.go") == nil })
		write(t, main, map[string]string{".git/info/exclude": "# nothing\n"})
		until(t, "the file to be back", func() bool { return symbols(t, x, "b.go") != nil })
	}
}

// git's own list may come with its folder, and so may the repository.
func TestGitsOwnListThatComesLater(t *testing.T) {
	for _, before := range []string{".git/config", "x"} {
		dir := t.TempDir()
		write(t, dir, map[string]string{"a.go": "package a\n", "b.go": "package a\n", before: "[core]\n"})
		x := start(t, Config{Dir: dir, Watch: true})
		write(t, dir, map[string]string{".git/info/exclude": "b.go\n"})
		until(t, "the file to be left out", func() bool { return symbols(t, x, "b.go") == nil })
		write(t, dir, map[string]string{".git/info/exclude": "a.go\n"})
		until(t, "the other to be left out", func() bool { return symbols(t, x, "a.go") == nil && symbols(t, x, "b.go") != nil })
	}
}
