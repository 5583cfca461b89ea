package walk

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"quarry/index/systest"
)

// write makes a tree of files from "path": "text".
func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// git runs git with nothing of the machine's own configuration.
func git(t testing.TB, dir, home string, stdin []byte, args ...string) []byte {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+filepath.Join(home, "xdg"), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.com", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.com")
	cmd.Stdin = bytes.NewReader(stdin)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if code := cmd.ProcessState.ExitCode(); err != nil && !(args[0] == "check-ignore" && code == 1) {
		t.Fatalf("git %v: %v\n%s", args, err, stderr.String())
	}
	return out
}

// home gives the test a home folder of its own, for global excludes.
func home(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "xdg"))
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	return dir
}

// gitIgnores answers which of the paths git itself leaves out.
func gitIgnores(t testing.TB, dir, home string, paths []string) []string {
	t.Helper()
	out := git(t, dir, home, []byte(strings.Join(paths, "\x00")+"\x00"), "check-ignore", "--no-index", "-z", "--stdin")
	var list []string
	for p := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if p != "" {
			list = append(list, p)
		}
	}
	return list
}

func everyPath(t testing.TB, dir string) []string {
	t.Helper()
	var paths []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == dir {
			return err
		}
		if d.Name() == ".git" {
			return filepath.SkipDir
		}
		rel, err := filepath.Rel(dir, p)
		paths = append(paths, filepath.ToSlash(rel))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// TestSameAsGit holds the ignore rules against git itself on random trees and
// patterns, and the walk against single checks.
func TestSameAsGit(t *testing.T) {
	systest.NeedProgram(t, "git")
	home := home(t)
	repo := t.TempDir()
	git(t, repo, home, nil, "init", "-q")
	write(t, home, map[string]string{"xdg/git/config": "[core]\n\texcludesFile = \"~/every where\" ; not a file\n"})
	names := []string{"a", "b", "ab", "a.b", "A", "[a]", "a b", "a ", "#a", "!a", "é", "*", `a\`, "abc", "x-1"}
	pieces := []string{"a", "b", "c", "A", "*", "*", "**", "?", "/", "/", ".", " ", `\ `, `\#`, `\!`, `\*`, "[ab]", "[!a]", "[^a-b]", "[a-c]", "[b-a]", "[A]", "[A-B]", `\A`,
		"[[:alpha:]]", "[[:upper:]b]", "[]a]", "[a/b]", `[\]a]`, "[-a]", "[a-", "[[:nope:]]", "!", "#", "é", "x-1", "\t", `\\`, "[", "]"}
	var whole []string
	for _, s := range []string{"a/", "/a", "a/b", "**/a", "a/**", "a/**/b", "/**", "**/", "*/", "!a/", "!**/b", "!*", "*", "**", "a**b", "a**/b", "b/a**", "!b/a**", "**a", "/*", "!/*/", "a/*/b", "***", "a/***/b"} {
		whole = append(whole, s, s)
	}
	line := rapid.OneOf(
		rapid.SampledFrom(whole),
		rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 6).Draw(t, "pieces"), "")
		}),
	)
	ignoreFile := rapid.Custom(func(t *rapid.T) string {
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "line ending")
		bom := rapid.SampledFrom([]string{"", "", "", "\ufeff"}).Draw(t, "byte order mark")
		return bom + strings.Join(rapid.SliceOfN(line, 1, 5).Draw(t, "lines"), end) + rapid.SampledFrom([]string{end, ""}).Draw(t, "last")
	})
	rapid.Check(t, func(rt *rapid.T) {
		for _, e := range must(os.ReadDir(repo)) {
			if e.Name() != ".git" {
				if err := os.RemoveAll(filepath.Join(repo, e.Name())); err != nil {
					rt.Fatal(err)
				}
			}
		}
		for range rapid.IntRange(1, 12).Draw(rt, "files") {
			p := filepath.Join(append([]string{repo}, rapid.SliceOfN(rapid.SampledFrom(names), 1, 4).Draw(rt, "path")...)...)
			// A file may be in the way of a folder, or the other way round.
			if os.MkdirAll(filepath.Dir(p), 0o755) == nil {
				_ = os.WriteFile(p, nil, 0o644)
			}
		}
		dirs := []string{repo}
		for _, p := range everyPath(t, repo) {
			if info := must(os.Stat(filepath.Join(repo, p))); info.IsDir() {
				dirs = append(dirs, filepath.Join(repo, p))
			}
		}
		for range rapid.IntRange(1, 3).Draw(rt, "ignore files") {
			dir := rapid.SampledFrom(dirs).Draw(rt, "in")
			write(t, dir, map[string]string{".gitignore": ignoreFile.Draw(rt, "text")})
		}
		write(t, repo, map[string]string{".git/info/exclude": ignoreFile.Draw(rt, "exclude")})
		write(t, home, map[string]string{"every where": ignoreFile.Draw(rt, "global")})
		git(t, repo, home, nil, "config", "core.ignoreCase", rapid.SampledFrom([]string{"true", "false"}).Draw(rt, "ignore case"))

		r, err := Open(repo, Limits{})
		if err != nil {
			rt.Fatal(err)
		}
		defer r.Close()
		paths := everyPath(t, repo)
		want := gitIgnores(t, repo, home, paths)
		var got []string
		for _, p := range paths {
			if r.Check(p) != "" {
				got = append(got, p)
			}
		}
		if !slices.Equal(got, want) {
			rt.Fatalf("left out %q, git leaves out %q", got, want)
		}
		seen := map[string]bool{}
		err = r.Walk(t.Context(), "", Visitor{Dir: func(string) {}, File: func(e Entry) error { seen[e.Path] = true; return nil }, Skip: func(Skip) {}})
		if err != nil {
			rt.Fatal(err)
		}
		for _, p := range paths {
			info := must(os.Stat(filepath.Join(repo, p)))
			if !info.IsDir() && seen[p] == slices.Contains(want, p) {
				rt.Fatalf("%q: walked %v, checked otherwise", p, seen[p])
			}
		}
	})
}

// git takes a .git that is a link for what it leads to.
func TestLinkedGitDirectory(t *testing.T) {
	systest.NeedProgram(t, "git")
	systest.NeedLinks(t)
	home := home(t)
	top := t.TempDir()
	repo := filepath.Join(top, "repo")
	write(t, repo, map[string]string{"pkg/a.log": "", "pkg/b.txt": "", "pkg/c.tmp": "", ".gitignore": "*.log\n"})
	git(t, repo, home, nil, "init", "-q")
	write(t, repo, map[string]string{".git/info/exclude": "*.tmp\n"})
	if err := os.Rename(filepath.Join(repo, ".git"), filepath.Join(top, "data")); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"to a folder": filepath.Join(top, "data"), "to a file": filepath.Join(top, "pointer"), "to nothing": "gone"} {
		write(t, top, map[string]string{"pointer": "gitdir: " + filepath.ToSlash(filepath.Join(top, "data")) + "\n"})
		link := filepath.Join(repo, ".git")
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
		paths := []string{"a.log", "b.txt", "c.tmp"}
		var want []string
		if target != "gone" { // else git knows no work tree
			want = gitIgnores(t, filepath.Join(repo, "pkg"), home, paths)
			equal(t, "git", want, "a.log", "c.tmp")
		}
		var got []string
		r := root(t, filepath.Join(repo, "pkg"))
		for _, p := range paths {
			if r.Check(p) != "" {
				got = append(got, p)
			}
		}
		equal(t, name, got, want...)
		if heads := Head(repo); len(heads) == 0 && target != "gone" {
			t.Errorf("%s: no head is watched", name)
		}
		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
