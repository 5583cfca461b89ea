package walk

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"quarry/index/systest"
)

// TestSettingsSameAsGit holds the parser against git's own reading of random files.
func TestSettingsSameAsGit(t *testing.T) {
	systest.NeedProgram(t, "git")
	home := home(t)
	file := filepath.Join(t.TempDir(), "config")
	pieces := []string{"[core]", "[Core]\n", `[remote "a b"]`, `[include "x\"]\\y"]`, "[a.B]", "[", "]", "\n", "\n", "\n\t", " ", "key", "Key-2", "k = v", "=", " = ", `"`, `"q # r" `,
		`\n`, `\t`, `\"`, `\\`, "\\\n", `\x`, "#", " ; c", "v w", "é", "\r\n", "_", "1", `[x "`, "yes=no"}
	compared := 0
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 14).Draw(rt, "pieces"), "")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			rt.Fatal(err)
		}
		cmd := exec.Command("git", "config", "-f", file, "--no-includes", "--list", "-z")
		cmd.Env = append(os.Environ(), "HOME="+home)
		out, err := cmd.Output()
		if err != nil {
			return // a mistake: what stands before it is not told
		}
		compared++
		var got []string
		eachSetting(text, func(section, sub, key, value string) {
			if sub != "" {
				section += "." + sub
			}
			got = append(got, strings.TrimPrefix(section+"."+key, ".")+"="+value)
		})
		var want []string
		for entry := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
			if entry == "" {
				continue
			}
			key, value, ok := strings.Cut(entry, "\n")
			if !ok {
				value = "true"
			}
			want = append(want, key+"="+value)
		}
		if !slices.Equal(got, want) {
			rt.Fatalf("%q is read as %q, git reads %q", text, got, want)
		}
	})
	if compared < 5 {
		t.Errorf("only %d files were without mistake: the pieces are no good", compared)
	}
}

// TestGlobalExcludesSameAsGit compares which of git's files has the say about
// core.excludesFile, whichever way it is included.
func TestGlobalExcludesSameAsGit(t *testing.T) {
	systest.NeedProgram(t, "git")
	home := home(t)
	system := filepath.Join(home, "system", "gitconfig")
	t.Setenv("GIT_CONFIG_SYSTEM", system)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "0")
	top := t.TempDir()
	repo := filepath.Join(top, "Work", "repo")
	tree := filepath.Join(top, "tree")
	write(t, repo, map[string]string{"x.txt": ""})
	// git is run with the system's file read: the tests' own helper turns it off.
	run := func(dir string, args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.com", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.com")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	run(repo, "init", "-q", "-b", "topic/one")
	run(repo, "add", ".")
	run(repo, "commit", "-qm", "x")
	run(repo, "worktree", "add", "-q", "-b", "other", tree)
	run(repo, "remote", "add", "origin", "https://example.com/acme/tool.git")
	names := []string{"a", "b", "c", "d", "e", "f"}
	for _, n := range names {
		write(t, home, map[string]string{"ex/" + n: n + "\n", "xdg/git/ignore": "e\n"})
	}
	write(t, repo, map[string]string{"own": "f\n"})
	local := string(must(os.ReadFile(filepath.Join(repo, ".git", "config"))))
	if err := os.Symlink(filepath.Join(top, "Work"), filepath.Join(home, "work")); err != nil && runtime.GOOS != "windows" {
		t.Fatal(err)
	}

	conditions := []string{
		"gitdir:**/repo/", "gitdir:repo/", "gitdir:repo/.git", "gitdir:work/", "gitdir/i:work/", "gitdir:~/work/", "gitdir/i:~/WORK/", "gitdir:" + filepath.ToSlash(top) + "/Work/",
		"gitdir:" + filepath.ToSlash(top) + "/**/repo/.git", "gitdir:" + filepath.ToSlash(top) + "/*/repo/", "gitdir:" + filepath.ToSlash(top) + "/W**/.git", "gitdir:./", "gitdir:../", "gitdir/i:./",
		"gitdir:.git/worktrees/", "gitdir:**/worktrees/tree", "onbranch:topic/", "onbranch:topic/*", "onbranch:topic/one", "onbranch:*", "onbranch:**", "onbranch:other",
		"hasconfig:remote.*.url:https://example.com/**", "hasconfig:remote.*.url:https://*/acme/*", "hasconfig:remote.*.url:**/other/**", "nonsense:x", "gitdir:", "gitdir:/",
	}
	value := rapid.SampledFrom([]string{"~/ex/a", "~/ex/b", "~/ex/c", "~/ex/d", "own", `"~/ex/a" # x`, "", "~/ex/none"})
	include := rapid.SampledFrom([]string{"inc/1", "~/inc/1", "inc/2", "./inc/2", "../inc/2", "inc/none", filepath.ToSlash(home) + "/inc/1"})
	section := rapid.Custom(func(t *rapid.T) string {
		switch rapid.IntRange(0, 5).Draw(t, "section") {
		case 0, 1:
			return "[core]\n\texcludesFile = " + value.Draw(t, "excludes") + "\n"
		case 2:
			return "[include]\n\tpath = " + include.Draw(t, "include") + "\n"
		}
		return `[includeIf "` + rapid.SampledFrom(conditions).Draw(t, "condition") + "\"]\n\tpath = " + include.Draw(t, "include") + "\n"
	})
	config := func(t *rapid.T, name string) string {
		return strings.Join(rapid.SliceOfN(section, 0, 3).Draw(t, name), "")
	}
	rapid.Check(t, func(rt *rapid.T) {
		write(t, home, map[string]string{
			"system/gitconfig": config(rt, "system"), "xdg/git/config": config(rt, "xdg"), ".gitconfig": config(rt, "home"),
			"inc/1": config(rt, "inc/1"), "system/inc/2": config(rt, "system's inc/2"), "inc/2": "[core]\nexcludesFile = ~/ex/d\n",
		})
		write(t, repo, map[string]string{".git/config": local + config(rt, "local"), ".git/inc/2": "[core]\nexcludesFile = ~/ex/c\n"})
		for _, dir := range []string{repo, tree} {
			cmd := exec.Command("git", "check-ignore", "--no-index", "-z", "--stdin")
			cmd.Dir, cmd.Stdin = dir, strings.NewReader(strings.Join(names, "\x00")+"\x00")
			var stderr strings.Builder
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			if code := cmd.ProcessState.ExitCode(); err != nil && code != 1 {
				if code == 128 {
					continue // includes that go round in a circle
				}
				rt.Fatalf("git check-ignore: %v: %s", err, stderr.String())
			}
			r, err := Open(dir, Limits{})
			if err != nil {
				rt.Fatal(err)
			}
			var got []string
			for _, n := range names {
				if r.Check(n) != "" {
					got = append(got, n)
				}
			}
			if err := r.Close(); err != nil {
				rt.Fatal(err)
			}
			if want := strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 }); !slices.Equal(got, want) {
				rt.Fatalf("in %s %q is left out, git leaves out %q", filepath.Base(dir), got, want)
			}
		}
	})
}

// What a repository's configuration asks is bounded: how often files are read and looked for, and how
// much is compared. Blanks are read once, for which the limit of go test is all that this needs.
func TestConfigurationWithoutBounds(t *testing.T) {
	home := home(t)
	many := func(s string) string { return strings.Repeat(s, (maxRuleFile-100_000)/len(s)) }
	long := strings.Repeat("a", 200)
	urls := ""
	for i := range 20 {
		urls += fmt.Sprintf("[remote \"r%d\"]\n\turl=%s\n", i, strings.Repeat(long, 12))
	}
	for name, c := range map[string]struct{ head, config string }{
		"onbranch":   {"ref: refs/heads/main", many("[includeIf \"onbranch:*" + long + "b\"]\n\tpath=x\n")},
		"long HEAD":  {"ref: refs/heads/" + many("a"), many("[includeIf \"onbranch:*" + long + "b\"]\n\tpath=x\n")},
		"gitdir":     {"", many("[includeIf \"gitdir:**/*" + long + "b\"]\n\tpath=x\n")},
		"hasconfig":  {"", urls + many("[includeIf \"hasconfig:remote.*.url:*"+long+"b\"]\n\tpath=x\n")},
		"no file":    {"", "[include]\n" + many("\tpath=x\n")},
		"met":        {"ref: refs/heads/main", many("[includeIf \"onbranch:main\"]\n\tpath=x\n")},
		"all blanks": {"", "[core]\n\tx = y" + many(" ") + "z\n"},
	} {
		repo := filepath.Join(home, name)
		write(t, repo, map[string]string{".git/HEAD": c.head, ".git/config": c.config})
		git := filepath.Join(repo, ".git")
		from := &reader{root: repo}
		config := readGitConfig(from, git, git)
		if n := len(from.sources); n > 220 {
			t.Errorf("%s: %d files are looked for", name, n)
		}
		heads := 0
		for _, s := range from.sources {
			if filepath.Base(s.name) == "HEAD" {
				heads++
			}
		}
		if asks := strings.Contains(c.config, "onbranch"); asks && heads != 1 || heads > 2 {
			t.Errorf("%s: HEAD is read %d times", name, heads)
		}
		if (name == "hasconfig" || name == "gitdir") && config.compared <= mostCompared {
			t.Errorf("%s is not much: %d", name, config.compared)
		}
	}
	value, _, ok := cutValue("= x" + strings.Repeat(" ", 64<<20) + "y" + strings.Repeat("\t", 1<<20) + "\n")
	if !ok || len(value) != 64<<20+2 {
		t.Errorf("a value with blanks has %d letters", len(value))
	}
}
