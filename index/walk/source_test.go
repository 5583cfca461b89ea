package walk

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"quarry/index/systest"
)

// A rule counts from the next question on, wherever it stands and however it comes: nobody
// need tell of it.
func TestRulesCountAtTheNextQuestion(t *testing.T) {
	const file = "sub/deep/c.go"
	tests := map[string]struct {
		before map[string]string // what is there
		rule   string            // where the rule stands, of those below
		say    string            // "%s" is the folder
		why    Reason
	}{
		"a .quarryignore":                    {rule: "top/.quarryignore", say: "c.go\n"},
		"one of the file's folder":           {rule: "top/sub/deep/.quarryignore", say: "c.go\n"},
		"one that changes":                   {before: map[string]string{"top/sub/.quarryignore": "d.go\n"}, rule: "top/sub/.quarryignore", say: "c.go\n"},
		"a .gitignore":                       {rule: "top/sub/.gitignore", say: "c.go\n"},
		"a .ignore":                          {rule: "top/.ignore", say: "deep/\n"},
		"one above the root":                 {before: map[string]string{".git/HEAD": "ref: x\n"}, rule: ".gitignore", say: "c.go\n"},
		"one above it in a new repository":   {before: map[string]string{".gitignore": "c.go\n"}, rule: ".git/HEAD", say: "ref: x\n"},
		"git's list, with its folder":        {before: map[string]string{"top/.git/HEAD": "ref: x\n"}, rule: "top/.git/info/exclude", say: "c.go\n"},
		"git's list that changes":            {before: map[string]string{"top/.git/info/exclude": "# none\n"}, rule: "top/.git/info/exclude", say: "c.go\n"},
		"the list of a linked work tree":     {before: map[string]string{"top/.git": "gitdir: ../main/.git/worktrees/top\n", "main/.git/worktrees/top/commondir": "../..\n"}, rule: "main/.git/info/exclude", say: "c.go\n"},
		"another excludesFile":               {before: map[string]string{"top/.git/HEAD": "ref: x\n", "list": "c.go\n"}, rule: "top/.git/config", say: "[core]\n\texcludesFile = %s/list\n"},
		"an excludesFile that comes":         {before: map[string]string{"top/.git/config": "[core]\n\texcludesFile = ../list\n"}, rule: "list", say: "c.go\n"},
		"the user's list":                    {before: map[string]string{"top/.git/HEAD": "ref: x\n"}, rule: "home/.config/git/ignore", say: "c.go\n"},
		"the user's list that changes":       {before: map[string]string{"top/.git/HEAD": "ref: x\n", "home/.config/git/ignore": "# none\n"}, rule: "home/.config/git/ignore", say: "c.go\n"},
		"one that the user's settings name":  {before: map[string]string{"top/.git/HEAD": "ref: x\n", "home/list": "c.go\n"}, rule: "home/.gitconfig", say: "[core]\n\texcludesFile = ~/list\n"},
		"settings that come to be included":  {before: map[string]string{"top/.git/config": "[include]\n\tpath = more\n", "list": "c.go\n"}, rule: "top/.git/more", say: "[core]\n\texcludesFile = ../list\n"},
		"a branch that has settings":         {before: map[string]string{"top/.git/HEAD": "ref: refs/heads/main\n", "top/.git/config": "[includeIf \"onbranch:side\"]\n\tpath = more\n", "top/.git/more": "[core]\n\texcludesFile = ../list\n", "list": "c.go\n"}, rule: "top/.git/HEAD", say: "ref: refs/heads/side\n"},
		"a folder that becomes a repository": {before: map[string]string{"home/.config/git/ignore": "c.go\n"}, rule: "top/.git/HEAD", say: "ref: x\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			base, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			write(t, base, map[string]string{"top/" + file: "package c\n", "top/sub/other.go": "package c\n", "home/x": ""})
			write(t, base, test.before)
			home(t)
			t.Setenv("HOME", filepath.Join(base, "home"))
			t.Setenv("XDG_CONFIG_HOME", "")
			r := root(t, filepath.Join(base, "top"))
			var told []string
			r.OnChange(func(dir string) { told = append(told, dir) })
			look := func(want Reason) {
				t.Helper()
				r.Refresh()
				if got := r.Check(file); got != want {
					t.Errorf("Check says %q, want %q", got, want)
				}
				if got := r.Check("sub/other.go"); got != "" {
					t.Errorf("of another file Check says %q", got)
				}
				if want := want == Ignored && filepath.Base(test.rule) == ".quarryignore"; r.Excluded(file) != want {
					t.Errorf("Excluded says %t", !want)
				}
			}
			for range 3 {
				look("")
			}
			if len(told) > 0 {
				t.Fatalf("told of %q before anything changed", told)
			}
			before, err := os.ReadFile(filepath.Join(base, test.rule))
			was := err == nil
			say := strings.ReplaceAll(test.say, "%s", filepath.ToSlash(base))
			write(t, base, map[string]string{test.rule: say})
			look(Ignored)
			look(Ignored)
			if len(told) != 1 {
				t.Errorf("told %q, want one folder", told)
			}
			// It counts no longer when it is gone, or as it was.
			at := filepath.Join(base, test.rule)
			switch {
			case was:
				err = os.WriteFile(at, before, 0o600)
			case filepath.Base(at) == "HEAD":
				err = os.RemoveAll(filepath.Dir(at))
			default:
				err = os.Remove(at)
			}
			if err != nil {
				t.Fatal(err)
			}
			look("")
			if len(told) != 2 {
				t.Errorf("told %q, want two", told)
			}
		})
	}
}

// A file that was only touched, or written as it was, changes no rule, and is told of to
// nobody.
func TestTouchedRulesAreNoChange(t *testing.T) {
	home(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{".git/config": "[core]\n", ".gitignore": "left.go\n", "left.go": "", "a.go": ""})
	r := root(t, dir)
	r.OnChange(func(dir string) { t.Errorf("told of %q", dir) })
	for i := range 5 {
		r.Refresh()
		if r.Check("left.go") != Ignored || r.Check("a.go") != "" {
			t.Fatalf("left.go: %q, a.go: %q", r.Check("left.go"), r.Check("a.go"))
		}
		write(t, dir, map[string]string{".gitignore": "left.go\n", fmt.Sprintf(".git/index%d", i): "x"})
	}
}

// What changes while it is walked is told of afterwards.
func TestRulesThatChangeDuringAWalk(t *testing.T) {
	home(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{".git/HEAD": "ref: x\n", "a.go": "", "left.go": ""})
	r := root(t, dir)
	var told []string
	r.OnChange(func(dir string) { told = append(told, dir) })
	met := []string{}
	if err := r.Walk(t.Context(), "", Visitor{
		Dir: func(string) {},
		File: func(e Entry) error {
			if met = append(met, e.Path); e.Path == "a.go" {
				write(t, dir, map[string]string{".git/info/exclude": "left.go\n"})
			}
			return nil
		},
		Skip: func(Skip) {},
	}); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(met, "left.go") {
		t.Fatalf("the walk met %q", met)
	}
	if r.Look(); !slices.Equal(told, []string{""}) {
		t.Errorf("told of %q", told)
	}
}

// Looking anew costs no more the more is known, and keeps nothing of folders without rules.
func TestLookingAnewIsCheap(t *testing.T) {
	home(t)
	dir := t.TempDir()
	files := map[string]string{".git/HEAD": "ref: x\n"}
	for i := range 50 {
		files[fmt.Sprintf("d%d/e/a.go", i)] = "package e\n"
	}
	write(t, dir, files)
	r := root(t, dir)
	for name := range files {
		r.Check(name)
	}
	for dir, l := range r.levels {
		if dir != "" && len(l.sources) > 0 {
			t.Errorf("%s keeps %d sources", dir, len(l.sources))
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const rounds = 100
	for range rounds {
		r.Refresh()
		r.Check("d7/e/a.go")
	}
	runtime.ReadMemStats(&after)
	if got := (after.Mallocs - before.Mallocs) / rounds; got > 200 {
		t.Errorf("%d pieces of memory are asked for each time", got)
	}
}

// A .quarryignore says what is private. A link is followed; where it cannot be read,
// nobody knows what it says, and all beside it and below is left out, open or not.
func TestQuarryignoreThatIsALink(t *testing.T) {
	systest.NeedLinks(t)
	home(t)
	base := t.TempDir()
	write(t, base, map[string]string{"list": "left.go\n", "top/sub/left.go": "", "top/sub/a.go": "", "top/b.go": ""})
	link := filepath.Join(base, "top/sub/.quarryignore")
	if err := os.Symlink(filepath.Join(base, "list"), link); err != nil {
		t.Fatal(err)
	}
	r := root(t, filepath.Join(base, "top"))
	files, skips := walked(t, r)
	equal(t, "files", files, "b.go", "sub/a.go")
	equal(t, "skips", skips, "sub/.quarryignore (link)", "sub/left.go (ignored)")
	checkedAlike(t, r)
	if !r.Excluded("sub/left.go") || r.Excluded("sub/a.go") {
		t.Error("an open document is judged otherwise")
	}
	if err := os.Remove(filepath.Join(base, "list")); err != nil {
		t.Fatal(err)
	}
	files, _ = walked(t, r)
	equal(t, "files with a link to nothing", files, "b.go")
	if got := r.Check("sub/a.go"); got != RulesUnread || !r.Excluded("sub/a.go") || r.Excluded("b.go") {
		t.Errorf("sub/a.go: %q", got)
	}
}

// On Windows a name may be another machine's, where asking for it logs in.
func TestNamesOfOtherMachines(t *testing.T) {
	for _, test := range []struct {
		goos, root, name string
		want             bool
	}{
		{"windows", `C:\w`, `\\evil\share\ignore`, true}, {"windows", `C:\w`, "//evil/share/ignore", true}, {"windows", `C:\w`, `\\?\UNC\evil\share`, true},
		{"windows", `C:\w`, `\\.\pipe\x`, true}, {"windows", `C:\w`, `\\evil`, true}, {"windows", `\\server\work\w`, `\\evil\work\x`, true},
		{"windows", `\\server\work\w`, `\\SERVER\work\w\.git\info\exclude`, false}, {"windows", `C:\w`, `C:\w\.git`, false}, {"windows", `C:\w`, "/etc/x", false},
		{"linux", "/w", "//evil/share/ignore", false},
	} {
		if got := isElsewhere(test.goos, test.root, test.name); got != test.want {
			t.Errorf("%s in %s: %t", test.name, test.root, got)
		}
	}
}
