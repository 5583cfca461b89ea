package walk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"quarry/index/glob"
)

// numbered answers so many patterns, the last of which is about last.go.
func numbered(n int) string {
	var b strings.Builder
	for i := range n - 1 {
		fmt.Fprintf(&b, "x%d\n", i)
	}
	return b.String() + "last.go\n"
}

// checkedAlike asks Check about every file; its answer must be the walk's.
func checkedAlike(t *testing.T, r *Root) {
	t.Helper()
	files, skips := walked(t, r)
	for _, f := range files {
		if reason := r.Check(f); reason != "" {
			t.Errorf("the walk takes %s, Check says %q", f, reason)
		}
	}
	for _, s := range skips {
		name, reason, _ := strings.Cut(strings.TrimSuffix(s, ")"), " (")
		if got := r.Check(name); string(got) != reason && name != ".git/info/exclude" {
			t.Errorf("%s: the walk says %q, Check %q", name, reason, got)
		}
	}
}

func TestAsManyRulesAsAreReadAreInForce(t *testing.T) {
	home(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{".gitignore": numbered(maxPatterns), "a.go": "", "last.go": ""})
	files, skips := walked(t, root(t, dir))
	equal(t, "files", files, ".gitignore", "a.go")
	equal(t, "skips", skips, "last.go (ignored)")
}

func TestRulesBeyondTheBoundsAreNotInForceAndToldOf(t *testing.T) {
	long := "a.go\n" + strings.Repeat("# words\n", maxRuleText/8) + "last.go\n"
	for name, text := range map[string]string{"patterns": "a.go\n" + numbered(maxPatterns), "bytes": long} {
		t.Run(name, func(t *testing.T) {
			home(t)
			dir := t.TempDir()
			write(t, dir, map[string]string{"sub/.gitignore": text, "sub/a.go": "", "sub/last.go": "", "b.go": ""})
			r := root(t, dir)
			files, skips := walked(t, r)
			equal(t, "files", files, "b.go", "sub/last.go")
			equal(t, "skips", skips, "sub/.gitignore (too many rules)", "sub/a.go (ignored)")
			checkedAlike(t, r)

			// What a .quarryignore says further down may be what must not be read.
			if err := os.Rename(filepath.Join(dir, "sub/.gitignore"), filepath.Join(dir, "sub/.quarryignore")); err != nil {
				t.Fatal(err)
			}
			files, skips = walked(t, r)
			equal(t, "files", files, "b.go")
			equal(t, "skips", skips, "sub/.quarryignore (too many rules)", "sub/a.go (too many rules)", "sub/last.go (too many rules)")
			checkedAlike(t, r)
		})
	}
}

func TestRulesOfAllFoldersAboveCountTogether(t *testing.T) {
	home(t)
	dir := t.TempDir()
	half := strings.TrimSuffix(numbered(maxPatterns/2), "last.go\n")
	write(t, dir, map[string]string{
		".git/HEAD": "ref: x\n", ".git/info/exclude": half, "a/.ignore": half, "a/b/.gitignore": "one\ntwo\nthree\n", "a/b/one": "", "a/b/two": "", "a/b/three": "",
		"c/.gitignore": "one\ntwo\nthree\n", "c/three": "",
	})
	files, skips := walked(t, root(t, dir))
	equal(t, "files", files, "a/.ignore", "a/b/three", "c/.gitignore")
	equal(t, "skips", skips, "a/b/.gitignore (too many rules)", "a/b/one (ignored)", "a/b/two (ignored)", "c/three (ignored)")
}

func TestTooManyRulesOfGitsOwnAreToldOf(t *testing.T) {
	home(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{".git/HEAD": "ref: x\n", ".git/info/exclude": numbered(maxPatterns + 1), "a.go": "", "last.go": ""})
	files, skips := walked(t, root(t, dir))
	equal(t, "files", files, "a.go", "last.go")
	equal(t, "skips", skips, ".git/info/exclude (too many rules)")
}

// Many folders side by side, each with rules of a megabyte, many short ones or one that is
// long: before, 200 of them held 6 GB.
func TestTheCacheOfRulesIsBounded(t *testing.T) {
	for name, text := range map[string]string{
		"many":     numbered(maxPatterns),
		"stars":    strings.Repeat("x*yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\n", maxPatterns-1) + "last.go\n",
		"sets":     strings.Repeat(strings.Repeat("[a-c]", 20_000)+"\n", 10) + "last.go\n",
		"too long": "x*" + strings.Repeat("y", maxRuleText-20) + "\nlast.go\n",
	} {
		t.Run(name, func(t *testing.T) {
			home(t)
			dir := t.TempDir()
			files := map[string]string{}
			for i := range 15 {
				files[fmt.Sprintf("d%d/.gitignore", i)] = text
			}
			write(t, dir, files)
			r := root(t, dir)
			for i := range 15 {
				if reason := r.Check(fmt.Sprintf("d%d/last.go", i)); reason != Ignored {
					t.Errorf("d%d: %q", i, reason)
				}
				held := 0
				for _, l := range r.levels {
					held += l.size()
				}
				if held > maxCached || held != r.cached {
					t.Fatalf("%d bytes of %d folders are kept, counted as %d", held, len(r.levels), r.cached)
				}
			}
		})
	}
}

// TestRulesKeepNoText: a line of a file of comments does not keep the file.
func TestRulesKeepNoText(t *testing.T) {
	text := []byte("last.go\n" + strings.Repeat("# words\n", maxRuleText/10))
	heap := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	before := heap()
	var kept [][]glob.Pattern
	for range 50 {
		list, all := parseIgnore(slices.Clone(text), false, false, maxPatterns)
		if len(list) != 1 || !all {
			t.Fatalf("%d patterns", len(list))
		}
		kept = append(kept, list)
	}
	if grown := heap() - before; grown > 10*len(text) {
		t.Errorf("50 files of %d bytes keep %d", len(text), grown)
	}
	runtime.KeepAlive(kept)
}

// Within git's bound on the depth, a file that includes itself twice is read a
// thousand times, one that does so a hundred times for ever.
func TestConfigurationThatIncludesItselfEnds(t *testing.T) {
	home(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{
		".git/HEAD":   "ref: refs/heads/main\n",
		".git/config": "[core]\n\texcludesFile = " + filepath.ToSlash(dir) + "/list\n[include]\n" + strings.Repeat("\tpath = config\n", 100),
		"list":        "left.go\n", "left.go": "", "a.go": "",
	})
	files, _ := walked(t, root(t, dir))
	equal(t, "files", files, "a.go", "list")
}

func TestWalkEndsWithinAFolder(t *testing.T) {
	home(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.go": "", "b.go": "", "c.go": ""})
	ctx, cancel := context.WithCancel(t.Context())
	met := 0
	err := root(t, dir).Walk(ctx, "", Visitor{
		Dir:  func(string) {},
		File: func(Entry) error { met++; cancel(); return nil },
		Skip: func(Skip) {},
	})
	if !errors.Is(err, context.Canceled) || met != 1 {
		t.Errorf("%d files are met, %v", met, err)
	}
}

// A million one-byte sets are the most memory that a file of rules asks for.
func TestMemoryOfRulesIsBounded(t *testing.T) {
	home(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{".gitignore": strings.Repeat("[a]", maxRuleText/3), "a/.gitignore": strings.Repeat("[a]", maxRuleText/3), "a/a.go": ""})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	files, _ := walked(t, root(t, dir))
	runtime.ReadMemStats(&after)
	equal(t, "files", files, ".gitignore", "a/a.go")
	if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 200 {
		t.Errorf("%d MB are allocated", mb)
	}
}

// Whatever stands in the files of rules, a walk ends, tells of each file once or of a
// folder above it, and Check says of each the same.
func FuzzRules(f *testing.F) {
	f.Add("*.go\n!a.go\n/sub/\n**/x\n[a-z]b\\ \n", "last.go\n", "[core]\n\texcludesFile = list\n", "a/**/b\r\n", "gitdir: ../.git\n")
	f.Add("\ufeff#a\n\\#b\n!!c\n", "[!a]*\n", "[include]\n\tpath = config\n[core]\n\tignoreCase = true\n", "*\n!*/\n", "gitdir: \n")
	f.Add("[[:alpha:]]*\n[]-a]\n***\n", "", "[includeIf \"gitdir:**/.git\"]\n\tpath = \"../list\"\n\t[core] ; x\nexcludesFile=\\\nlist\n", "", "gitdir: /dev/zero\n")
	f.Fuzz(func(t *testing.T, gitignore, quarryignore, config, list, dot string) {
		if strings.ContainsAny(config, "/~%") {
			return // may name a file of this machine
		}
		home(t)
		dir := t.TempDir()
		names := []string{"a.go", "last.go", "B.GO", "sub/a.go", "sub/deep/x/b.go", "sub/é [1].txt", "other/Makefile"}
		files := map[string]string{
			".git/HEAD": "ref: refs/heads/main\n", ".git/config": config, ".git/info/exclude": list, "list": list, ".gitignore": gitignore, "sub/.quarryignore": quarryignore,
			"sub/.gitignore": list, "other/.ignore": gitignore, "other/.git": dot,
		}
		for _, name := range names {
			files[name] = ""
		}
		write(t, dir, files)
		r := root(t, dir)
		checkedAlike(t, r)
		took, left := walked(t, r)
		for _, name := range names {
			told := 0
			for _, file := range took {
				if file == name {
					told++
				}
			}
			for _, skip := range left {
				at, _, _ := strings.Cut(skip, " (")
				if at == name || strings.HasPrefix(name, at+"/") || strings.HasPrefix(skip, name+" (") {
					told++
				}
			}
			if told != 1 {
				t.Errorf("%s is told of %d times: %q, %q", name, told, took, left)
			}
		}
	})
}
