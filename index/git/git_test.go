package git

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// repository is a new one with files committed.
func repository(t *testing.T, files map[string]string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed: nothing to compare with")
	}
	dir := t.TempDir()
	run(t, dir, "init", "-q")
	for name, text := range files {
		write(t, dir, name, text)
	}
	run(t, dir, "add", "-A")
	run(t, dir, "-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-q", "-m", "first")
	return dir
}

func run(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestChanged(t *testing.T) {
	dir := repository(t, map[string]string{"a.go": "a\n", "b c.go": "b\n", "sub/d.go": "d\n", "sub/gone.go": "g\n", "same.go": "s\n"})
	write(t, dir, "a.go", "a2\n")
	write(t, dir, "b c.go", "b2\n")
	run(t, dir, "add", "b c.go")
	write(t, dir, "sub/d.go", "d2\n")
	write(t, dir, "new.go", "n\n")
	if err := os.Remove(filepath.Join(dir, "sub", "gone.go")); err != nil {
		t.Fatal(err)
	}
	ask := func(dir string) (changed []string, known map[string]bool, committed map[string]string) {
		r, err := Open(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		if changed, err = r.Changed(t.Context()); err != nil {
			t.Fatal(err)
		}
		slices.Sort(changed)
		if known, err = r.Known(t.Context()); err != nil {
			t.Fatal(err)
		}
		if committed, err = r.Committed(t.Context(), append(changed, "new.go", "no\nname")); err != nil {
			t.Fatal(err)
		}
		return changed, known, committed
	}
	changed, known, committed := ask(dir)
	if want := []string{"a.go", "b c.go", "sub/d.go", "sub/gone.go"}; !slices.Equal(changed, want) {
		t.Errorf("changed %q, want %q", changed, want)
	}
	if known["new.go"] || !known["same.go"] || !known["b c.go"] {
		t.Errorf("known %v", known)
	}
	if len(committed) != 4 || committed["a.go"] != "a\n" || committed["b c.go"] != "b\n" || committed["sub/gone.go"] != "g\n" {
		t.Errorf("committed %q", committed)
	}
	// Below a folder, names are relative to that.
	changed, known, committed = ask(filepath.Join(dir, "sub"))
	if want := []string{"d.go", "gone.go"}; !slices.Equal(changed, want) || !known["d.go"] || committed["d.go"] != "d\n" {
		t.Errorf("below a folder: %q %v %q", changed, known, committed)
	}
	if _, err := Open(t.Context(), t.TempDir()); !errors.Is(err, ErrNone) {
		t.Errorf("a folder that is no repository: %v", err)
	}
}

// What a repository's own configuration names is not run.
func TestNothingOfTheRepositoryRuns(t *testing.T) {
	dir := repository(t, map[string]string{"a.go": "a\n", "b.txt": "b\n"})
	trap := filepath.Join(dir, "trap")
	canary := filepath.Join(dir, "canary")
	if err := os.WriteFile(trap, []byte("#!/bin/sh\necho \"$0 $*\" >>'"+canary+"'\ncat\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, dir, ".gitattributes", "*.go diff=evil filter=evil\n*.txt diff=evil filter=evil\n")
	for key, value := range map[string]string{
		"core.fsmonitor": trap, "diff.external": trap, "diff.evil.textconv": trap, "diff.evil.command": trap, "filter.evil.clean": trap, "filter.evil.smudge": trap,
		"filter.evil.process": trap, "core.pager": trap, "core.sshCommand": trap, "remote.origin.url": "ext::" + trap, "remote.origin.promisor": "true", "core.editor": trap,
		"pager.diff-index": trap, "alias.diff-index": "!" + trap, "alias.ls-files": "!" + trap, "credential.helper": trap, "core.alternateRefsCommand": trap,
	} {
		run(t, dir, "config", key, value)
	}
	for _, hook := range []string{"post-index-change", "pre-commit", "post-checkout", "fsmonitor-watchman"} {
		if err := os.WriteFile(filepath.Join(dir, ".git", "hooks", hook), []byte("#!/bin/sh\necho \"$0\" >>'"+canary+"'\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, dir, "a.go", "changed\n")
	write(t, dir, "b.txt", "c\n") // as long as it was
	// Of a list that is older than the files git would compare contents, and run filters for that.
	old := time.Unix(1_000_000_000, 0)
	if err := os.Chtimes(filepath.Join(dir, ".git", "index"), old, old); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_EXTERNAL_DIFF", trap)
	t.Setenv("GIT_DIR", t.TempDir())
	r, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	changed, err := r.Changed(t.Context())
	if err != nil || !slices.Contains(changed, "a.go") {
		t.Errorf("changed %q, %v", changed, err)
	}
	if _, err := r.Known(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := r.Committed(t.Context(), []string{"a.go", "b.txt", "none"}); err != nil {
		t.Error(err)
	}
	if said, err := os.ReadFile(canary); err == nil {
		t.Errorf("a program that the repository names was run: %s", said)
	}
}

// What comes of an address is bounded: ten folders that each hold the next ten times are ten
// billion files, and come in a few hundred bytes.
func TestCloneIsBounded(t *testing.T) {
	dir := repository(t, map[string]string{"a.go": "package a\n", "sub/large.txt": strings.Repeat("x", 1<<20)})
	from := "file://" + filepath.ToSlash(dir)
	to := filepath.Join(t.TempDir(), "whole")
	if err := Clone(t.Context(), from, to); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(to, "a.go")); err != nil || string(text) != "package a\n" {
		t.Errorf("%q, %v", text, err)
	}
	for name, most := range map[string]limits{"files": {1, 1 << 30}, "bytes": {10, 1 << 20}, "pack": {10, 100}} {
		to := filepath.Join(t.TempDir(), name)
		if err := clone(t.Context(), from, to, most); err == nil || !strings.Contains(err.Error(), "too large to fetch") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(filepath.Join(to, "a.go")); err == nil {
			t.Errorf("%s: the files are there", name)
		}
	}

	ask := func(in string, args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
		cmd.Stdin = strings.NewReader(in)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	id, kind := ask("x\n", "hash-object", "-w", "--stdin"), "100644 blob"
	for range 10 {
		var tree strings.Builder
		for i := range 10 {
			fmt.Fprintf(&tree, "%s %s\td%d\n", kind, id, i)
		}
		id, kind = ask(tree.String(), "mktree"), "040000 tree"
	}
	run(t, dir, "update-ref", "HEAD", ask("", "-c", "user.name=t", "-c", "user.email=t@example.com", "commit-tree", "-m", "bomb", id))
	if err := clone(t.Context(), from, filepath.Join(t.TempDir(), "bomb"), limits{50_000, 1 << 40}); err == nil || !strings.Contains(err.Error(), "too large to fetch") {
		t.Errorf("ten billion files: %v", err)
	}

	// One without a commit is there, and has nothing.
	empty := t.TempDir()
	run(t, empty, "init", "-q")
	if err := Clone(t.Context(), "file://"+filepath.ToSlash(empty), filepath.Join(t.TempDir(), "empty")); err != nil {
		t.Errorf("an empty repository: %v", err)
	}
}
