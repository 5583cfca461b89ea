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

// TestLongPatterns: what needs more than a path can have matches nothing, and what has
// more bytes than that without needing them does.
func TestLongPatterns(t *testing.T) {
	for _, line := range []string{strings.Repeat("x", longestPath+1), "a*" + strings.Repeat("x", longestPath), strings.Repeat("?", longestPath+1), strings.Repeat("[a-z]*", longestPath+1)} {
		if _, ok := Parse(line, false); ok {
			t.Errorf("%.10s of %d bytes is taken", line, len(line))
		}
	}
	for line, name := range map[string]string{
		strings.Repeat("**/", longestPath) + "x":                     "a/b/x",
		strings.Repeat("*", 2*longestPath) + "x":                     "aax",
		strings.Repeat("[abc]", longestPath/4) + "*":                 strings.Repeat("c", longestPath/4) + "d",
		strings.Repeat("x", longestPath):                             strings.Repeat("x", longestPath),
		"[" + strings.Repeat("a-z", longestPath/2) + "]":             "q",
		strings.Repeat("*a", longestPath/2) + strings.Repeat("?", 9): strings.Repeat("a", longestPath/2+9),
	} {
		p, ok := Parse(line, false)
		if !ok || !p.Match(NameOf(name), false) {
			t.Errorf("%.10s of %d bytes: %t, and does not match", line, len(line), ok)
		}
		if p.Size() > 16*longestPath+100 {
			t.Errorf("%.10s of %d bytes holds %d", line, len(line), p.Size())
		}
	}
}

// TestRangesAndClasses: a set of words says of each byte what a look at it says.
func TestRangesAndClasses(t *testing.T) {
	for _, fold := range []bool{false, true} {
		for lo := range 256 {
			for hi := range 256 {
				text := string([]byte{'\\', byte(lo), '-', '\\', byte(hi), ']'})
				set, n := parseSet(text, fold)
				for c := range 256 {
					want := c == lo || c >= lo && c <= hi || fold && c >= 'a' && c <= 'z' && c-32 >= lo && c-32 <= hi
					if c == '/' {
						want = false
					}
					if n != len(text) || set.has(byte(c)) != want {
						t.Fatalf("%q, folded %t, has %d: %t", text, fold, c, !want)
					}
				}
			}
		}
	}
	for text, want := range map[string]string{
		"[:alpha:]": "azAZ", "[:upper:]": "AZ", "[:lower:]": "az", "[:digit:]": "09", "[:xdigit:]": "09afAF", "[:alnum:]": "azAZ09",
		"[:blank:]": " \t", "[:space:]": " \t\r\n\f\v", "[:cntrl:]": "\x00\x1f\x7f", "[:punct:]": "!.:@[`{~", "[:graph:]": "!~aZ0", "[:print:]": " !~aZ0",
	} {
		set, n := parseSet(text+"]", false)
		folded, m := parseSet(text+"]", true)
		if n != len(text)+1 || m != n {
			t.Errorf("%s is read as %d and %d bytes", text, n, m)
		}
		for c := range 256 {
			other := isAlpha(byte(c)) && set.has(byte(c)^32)
			if in := set.has(byte(c)); strings.IndexByte(want, byte(c)) >= 0 && !in || folded.has(byte(c)) != (in || other) {
				t.Errorf("%s has %d: %t, folded %t", text, c, in, folded.has(byte(c)))
			}
		}
	}
}

// TestSetsOfManyBrackets: 32 MB of "[:" in one set, for each of which looking for its end anew
// takes hours; the limit of go test is all that this needs.
func TestSetsOfManyBrackets(t *testing.T) {
	many := "[" + strings.Repeat("[:", 16<<20)
	if p, ok := Parse(many+"x]", false); !ok || !p.Match(NameOf("x"), false) || p.Match(NameOf("y"), false) {
		t.Errorf("the set does not have its last letter alone: %t", ok)
	}
	if _, ok := Parse(many, false); ok {
		t.Error("a set without an end is taken")
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
