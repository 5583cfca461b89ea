package syntax_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/index/lang"
	"quarry/index/syntax"
)

// TestFindLocal: the place looked at is marked with |. The text has N wherever
// the local name n stands; without one it must be refused.
func TestFindLocal(t *testing.T) {
	for name, c := range map[string]struct{ language, src string }{
		"go parameter": {"go", "package a\nfunc f(|N int) int { N++; return N + g.n }\nfunc h(n int) int { return n }\n"},
		"go short":     {"go", "package a\nfunc f() { N := 1; if N, ok := g(N); ok { _ = |N }; func() { N = 2 }() }\n"},
		"go range":     {"go", "package a\nfunc f(xs []int) { for _, N := range xs { use(|N) } }\n"},
		"go branch":    {"go", "package a\nfunc f(x any) { switch N := x.(type) { case int: _ = |N } }\n"},
		"go key":       {"go", "package a\nfunc f(|n int) T { return T{n: n} }\n"},
		"go free":      {"go", "package a\nfunc f() int { return |n }\n"},
		"go outside":   {"go", "package a\nvar n = 1\nfunc f() { n := |n; _ = n }\n"},
		"go sibling":   {"go", "package a\nfunc f() { { n := 1; _ = |n }; _ = n }\n"},
		"go import":    {"go", "package a\nimport \"x/n\"\nfunc f(|n int) int { return n }\n"},
		"go member":    {"go", "package a\nfunc f(n int) int { return x.|n }\n"},
		"go itself":    {"go", "package a\nfunc n(|n int) int { return n }\n"},

		"python":               {"python", "def f(|N, m):\n    N = N + self.n\n    for m in N: pass\n    return g(n=N)\n"},
		"python comprehension": {"python", "def f(xs):\n    return [|N for N in xs if N]\n"},
		"python nested":        {"python", "def f(N):\n    def g():\n        return |N\n    return g\n"},
		"python default":       {"python", "def f(a, |N=1, *r, **kw) -> int:\n    with open(N) as q:\n        return f\"{N}\"\n"},
		"python global":        {"python", "def f():\n    global n\n    n = |n + 1\n"},
		"python branch":        {"python", "def f(x):\n    if x:\n        N = 1\n    return |N\n"},

		"typescript":           {"typescript", "function f({a, b: N}: X, [d]: Y) { const o = {n: |N}; return () => N + o.n }\n"},
		"typescript arrow":     {"typescript", "const f = (|N: number) => N * 2\n"},
		"typescript shorthand": {"typescript", "function f(|n: number) { return {n} }\n"},
		"javascript catch":     {"javascript", "function f() { try { g() } catch (N) { throw |N } }\n"},
		"javascript free":      {"javascript", "function f() { |n = 1 }\n"},

		"rust":        {"rust", "fn f(N: u8) -> u8 { let m = |N; if let Some(N) = g(N) { println!(\"{}\", N); } q.n + N }\n"},
		"rust format": {"rust", "fn f(|n: u8) { println!(\"{n}\"); }\n"},
		"rust short":  {"rust", "fn f(|n: u8) -> T { T { n } }\n"},

		"java":       {"java", "class A { int f(int N) { for (int i : r) N += this.n; return |N + n(); } }\n"},
		"java field": {"java", "class A { int n; int f(int |n) { return n; } }\n"},
		"java sup":   {"java", "class A { int f() { { int n = 1; g(|n); } return n; } }\n"},

		"c":          {"c", "int f(int N, const char *p) { int m = N, k; return |N + p->n; }\n"},
		"cpp range":  {"cpp", "int f(V v) { for (auto &N : v) { q.n = |N; } return [&](int z) { return z; }(1); }\n"},
		"c function": {"c", "int f(void) { return |n(); }\n"},
		"lua":        {"lua", "function f(|n) return n end\n"},
	} {
		t.Run(name, func(t *testing.T) {
			at := strings.Index(c.src, "|")
			marked := strings.Replace(c.src, "|", "", 1)
			src := strings.ReplaceAll(marked, "N", "n")
			l, err := syntax.FindLocal(c.language, []byte(src), at)
			if !strings.Contains(marked, "N") {
				if err == nil {
					t.Fatalf("found %+v, want an error", l)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := []byte(src)
			for _, p := range l.Occurrences {
				got[p.Start] = 'N'
			}
			if string(got) != marked {
				t.Errorf("got\n%s\nwant\n%s", got, marked)
			}
		})
	}
}

// TestFindLocalEverywhere renames every local of the fixtures, and of two files of
// quarry, to a name that stands nowhere: the result has no new syntax errors, and
// the same places under the new name.
func TestFindLocalEverywhere(t *testing.T) {
	files, err := filepath.Glob("../../testdata/syntax/*/*")
	if err != nil {
		t.Fatal(err)
	}
	const fresh = "zz9zz"
	found := map[string]int{}
	for _, file := range append(files, "lines.go", "errors.go") {
		src, err := os.ReadFile(file)
		if err != nil || strings.HasSuffix(file, ".golden") {
			continue
		}
		language := lang.Detect(filepath.Base(file), src)
		errors := func(src []byte) int {
			faults, _ := syntax.ParseErrors(language, src)
			return len(faults)
		}
		seen := map[uint32]bool{}
		for at := range src {
			if at > 0 && isWord(src[at-1]) || !isWord(src[at]) || seen[uint32(at)] {
				continue
			}
			l, err := syntax.FindLocal(language, src, at)
			if err != nil {
				continue
			}
			found[language]++
			var renamed []byte
			from := 0
			for _, p := range l.Occurrences {
				seen[p.Start] = true
				if string(src[p.Start:p.End]) != l.Name {
					t.Fatalf("%s: %s is said to stand at %d, where %q is", file, l.Name, p.Start, src[p.Start:p.End])
				}
				renamed = append(append(renamed, src[from:p.Start]...), fresh...)
				from = int(p.End)
			}
			renamed = append(renamed, src[from:]...)
			if errors(renamed) > errors(src) {
				t.Errorf("%s: renaming %s at %d makes syntax errors", file, l.Name, at)
			}
			again, err := syntax.FindLocal(language, renamed, int(l.Occurrences[0].Start))
			if err != nil || len(again.Occurrences) != len(l.Occurrences) {
				t.Errorf("%s: %s at %d has %d places, under another name %+v, %v", file, l.Name, at, len(l.Occurrences), again, err)
			}
		}
	}
	for _, language := range []string{"go", "python", "javascript", "typescript", "rust", "java", "c", "cpp"} {
		if found[language] == 0 {
			t.Errorf("no local was found in the fixtures of %s", language)
		}
	}
	t.Log("locals renamed:", found)
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
