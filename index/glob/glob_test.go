package glob

import (
	"strings"
	"testing"
)

// TestGlob: what users of such globs expect, a space between pattern and paths, ! before
// a path that is not covered. What a line of a .gitignore means is held against git in index/walk.
func TestGlob(t *testing.T) {
	for _, c := range []struct{ glob, paths string }{
		{"cmd", "cmd cmd/aa/x/m.go a/cmd/b.go !cmds/a.go !a/cmd.go"},
		{"/cmd", "cmd/a.go !a/cmd/b.go"},
		{"cmd/", "cmd/a.go a/cmd/b.go !cmd"},
		{"./cmd/x", "cmd/x/a.go !a/cmd/x/b.go"},
		{"docs", "docs/a.md"},
		{"src/gen", "src/gen/a.go !lib/src/gen/a.go"},
		{"*.{ts,tsx}", "a.ts b/c.tsx !a.js !a.ts.txt"},
		{"*.{go,py}", "a.go b/c.py !a.rs"},
		{"{a,b{c,d}}/*.go", "a/x.go bc/x.go bd/x.go !b/x.go !a/x.py"},
		{"{a,}b", "ab b !a"},
		{"a{b}c", "a{b}c !abc"},
		{`a\{b,c}`, "a{b,c} !ab"},
		{"[{]a", "{a"},
		{"**/*.go", "a.go b/c/d.go !a.py"},
		{"cmd/*/x/**", "cmd/aa/x/m.go !cmd/aa/b/x/m.go"},
		{"cmd/**/x/**", "cmd/x/m.go cmd/bb/x/y/n.go !cmd/bb/y/n.go"},
		{"*.min.js", "js/lib.min.js !min.js"},
		{"a*", "a b/ab/c !ba"},
		{"#a", "#a !a"},
		{"Cmd", "Cmd/a !cmd/a"},
	} {
		g, err := Compile(c.glob)
		if err != nil {
			t.Errorf("%s: %v", c.glob, err)
			continue
		}
		for _, name := range strings.Fields(c.paths) {
			name, not := strings.CutPrefix(name, "!")
			if g.Covers(name) == not {
				t.Errorf("%s covers %s: %v", c.glob, name, !not)
			}
		}
	}
}

func TestGlobWithoutMatches(t *testing.T) {
	for _, text := range []string{"", "./", "/", "[", "a[b", "{a", "{a,{b}", `a\`, strings.Repeat("{a,b}", 10), strings.Repeat("{a,", 300_000) + strings.Repeat("}", 300_000)} {
		if _, err := Compile(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
	if g, err := Compile(strings.Repeat("{a,b}", 9)); err != nil || !g.Covers("abababaab") {
		t.Errorf("nine alternatives: %v", err)
	}
	if g, err := Compile("!a"); err != nil || !g.Covers("!a") || g.Covers("b") {
		t.Errorf("! is not a letter: %v", err)
	}
	if list := CompileAll([]string{"[", "a"}); len(list) != 1 || list[0].String() != "a" {
		t.Errorf("of one that matches and one that cannot there is %v", list)
	}
}

// TestManyFolders: a pattern of many ** in a deep path, which takes forever to match by
// trying all ways; the limit of go test is all that this needs.
func TestManyFolders(t *testing.T) {
	g, err := Compile(strings.Repeat("**/", 40) + "x")
	if err != nil {
		t.Fatal(err)
	}
	deep := strings.Repeat("a/", 200)
	if g.Covers(deep + "y") {
		t.Error("y is taken for x")
	}
	if !g.Covers(deep + "x") {
		t.Error("x is not found")
	}
}

// FuzzGlob: no text is too much, and one without special characters covers itself.
func FuzzGlob(f *testing.F) {
	f.Add("a/{b,c}*[d-f]", "a/b")
	f.Fuzz(func(t *testing.T, text, name string) {
		g, err := Compile(text)
		if err != nil {
			return
		}
		g.Covers(name)
		if plain := strings.TrimSuffix(strings.TrimPrefix(text, "/"), "/"); !Special(text) && pathLike(plain) && !g.Covers(plain+"/x") {
			t.Errorf("%q does not cover what is in it", text)
		}
	})
}

func pathLike(s string) bool {
	for part := range strings.SplitSeq(s, "/") {
		if part == "" || part == "." || part == ".." || strings.TrimSpace(part) != part {
			return false
		}
	}
	return !strings.ContainsAny(s, "\n\r")
}
