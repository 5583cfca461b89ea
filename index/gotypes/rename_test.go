package gotypes

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// memory is a repository that is on no disk.
func memory(files map[string]string) Repository {
	return Repository{Root: "/nowhere", Text: func(file string) (string, error) {
		if text, ok := files[file]; ok {
			return text, nil
		}
		return "", os.ErrNotExist
	}, Files: func(dir string) (list []string) {
		for file := range files {
			if path.Dir(file) == dir && strings.HasSuffix(file, ".go") {
				list = append(list, path.Base(file))
			}
		}
		return list
	}}
}

// renamed has the files after a renaming of the declaration whose name follows the mark |.
func renamed(t *testing.T, from sources, files map[string]string, container, to string) (map[string]string, Renaming, error) {
	t.Helper()
	plain, target, list := map[string]string{}, Target{Container: container}, []string{}
	for file, text := range files {
		if at := strings.Index(text, "|"); at >= 0 {
			target.File, target.Start = file, at
			target.Name = text[at+1 : at+1+strings.IndexFunc(text[at+1:], func(r rune) bool {
				return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", r)
			})]
			text = text[:at] + text[at+1:]
		}
		plain[file] = text
		if strings.HasSuffix(file, ".go") {
			list = append(list, file)
		}
	}
	found, err := renameWith(t.Context(), memory(plain), from, target, to, list)
	for file, places := range byFile(found.Places) {
		text := plain[file]
		for i := len(places) - 1; i >= 0; i-- {
			text = text[:places[i].Start] + to + text[places[i].End:]
		}
		plain[file] = text
	}
	return plain, found, err
}

// toolchain is where the standard library is, if it is on this machine.
func toolchain(t *testing.T) sources {
	t.Helper()
	s := onThisMachine()
	if s.toolchain == "" {
		t.Skip("the sources of Go's standard library are not on this machine")
	}
	return sources{toolchain: s.toolchain}
}

// Each case has, in the file that is looked at, every N that means the declaration as it should
// be called then: it is M there after the renaming.
func TestWhatTheNameMeans(t *testing.T) {
	const module = "module example.com/m\n"
	for name, c := range map[string]struct {
		container string
		files     map[string]string // M stands for N before the renaming
	}{
		"keys of literals": {"T", map[string]string{
			"a.go": "package a\ntype T struct { |N int }\ntype U struct { N int }\nvar _, _, _ = T{M: 1}, []T{{M: 2}}, U{N: 3}\nvar _ = map[string]int{}[\"N\"]\n",
		}},
		"a method's namesakes": {"T", map[string]string{
			"a.go": "package a\ntype T struct{}\nfunc (t T) |N() T { return t }\ntype U struct{}\nfunc (U) N() T { return T{} }\nfunc f(u U, t T) { u.N().M().M(); t.M(); N := t.M; N() }\n",
		}},
		"promoted and embedded": {"", map[string]string{
			"a.go":   "package a\ntype |N struct{ x int }\ntype O struct { M }\nfunc f(o O) int { return o.M.x + o.x }\nvar _ = O{M: M{}}\n",
			"b/b.go": "package b\nimport \"example.com/m\"\ntype P struct { *a.M }\nfunc g(p P) *a.M { return p.M }\n",
		}},
		"generic": {"T", map[string]string{
			"a.go": "package a\ntype T[E any] struct { |N E }\nfunc (t *T[E]) get() E { return t.M }\nfunc f() int { t := T[int]{M: 1}; return t.M + t.get() }\n",
		}},
		"shadowed": {"", map[string]string{
			"a.go": "package a\nfunc |N() int { return 0 }\nfunc f(N int) int { return N }\nfunc g() int { N := M(); return N }\n",
		}},
		"other systems": {"", map[string]string{
			"a.go":         "package a\nfunc f() { M() }\n",
			"a_linux.go":   "package a\nfunc |N() {}\n",
			"a_windows.go": "package a\nfunc M() {}\nfunc w() { M() }\n",
			"a_other.go":   "//go:build !linux && !windows\n\npackage a\nfunc M() {}\n",
			"tagged.go":    "//go:build integration\n\npackage a\nfunc t() { M() }\n",
		}},
		"tests, inside and outside": {"", map[string]string{
			"a.go":        "package a\nfunc |N() {}\n",
			"in_test.go":  "package a\nvar Exported = M\nfunc x() { M() }\n",
			"out_test.go": "package a_test\nimport \"example.com/m\"\nfunc y() { a.M(); a.Exported() }\n",
		}},
		"a member of what is not here": {"T", map[string]string{
			"a.go": "package a\nimport \"example.org/absent\"\ntype T struct{}\nfunc (T) |N() {}\nfunc f(t T) { t.M(); absent.N() }\n",
		}},
		"two modules": {"", map[string]string{
			"a.go": "package a\nfunc |N() {}\n", "sub/go.mod": "module example.com/sub\n",
			"sub/s.go": "package s\nimport \"example.com/m\"\nfunc N() { a.M() }\n",
		}},
	} {
		want, files := map[string]string{}, map[string]string{"go.mod": module}
		for file, text := range c.files {
			files[file] = strings.NewReplacer("M ", "N ", "M.", "N.", "M(", "N(", "M{", "N{", "M:", "N:", "M\n", "N\n", "M;", "N;").Replace(text)
		}
		for file, text := range files {
			want[file] = text
			if before, ok := c.files[file]; ok {
				want[file] = strings.Replace(before, "|N", "M", 1)
			}
		}
		got, found, err := renamed(t, sources{}, files, c.container, "M")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for file := range want {
			if got[file] != want[file] {
				t.Errorf("%s: %s is\n%swant\n%s", name, file, got[file], want[file])
			}
		}
		if wantAbsent := name == "a member of what is not here"; (len(found.Absent) == 1) != wantAbsent {
			t.Errorf("%s: not on this machine: %v", name, found.Absent)
		}
	}
}

// A name of the standard library's that is called alike is not the declaration.
func TestNamesOfTheStandardLibrary(t *testing.T) {
	got, found, err := renamed(t, toolchain(t), map[string]string{
		"go.mod": "module example.com/m\n",
		"a.go":   "package a\nimport \"net/url\"\ntype Client struct{}\nfunc (Client) |Get(u string) {}\nfunc f(c Client, h url.Values) string { c.Get(\"\"); url.Parse(\"\"); return h.Get(\"x\") }\n",
	}, "Client", "Fetch")
	if want := "package a\nimport \"net/url\"\ntype Client struct{}\nfunc (Client) Fetch(u string) {}\nfunc f(c Client, h url.Values) string { c.Fetch(\"\"); url.Parse(\"\"); return h.Get(\"x\") }\n"; err != nil || got["a.go"] != want || len(found.Unknown)+len(found.Absent) > 0 {
		t.Errorf("%v, unknown %v, absent %v:\n%s", err, found.Unknown, found.Absent, got["a.go"])
	}
}

// What would not compile, or mean something else, is refused with the place.
func TestBreaks(t *testing.T) {
	for name, c := range map[string]struct {
		container, to, want string
		files               map[string]string
	}{
		"an interface needs it": {"T", "Shut", "a.go:4 would not compile: cannot use T{}", map[string]string{
			"a.go": "package a\ntype closer interface{ Close() }\ntype T struct{}\nvar _ closer = T{}\nfunc (T) |Close() {}\n",
		}},
		"taken": {"", "g", "would not compile: g redeclared", map[string]string{"a.go": "package a\nfunc |f() {}\nfunc g() {}\n"}},
		"captured": {"", "x", "x would mean something else", map[string]string{
			"a.go": "package a\nvar |n = 1\nfunc f(x int) int { return n + x }\n",
		}},
		"hidden from others": {"", "open", "b/b.go:3 would not compile", map[string]string{
			"a.go": "package a\nfunc |Open() {}\n", "b/b.go": "package b\nimport \"example.com/m\"\nfunc f() { a.Open() }\n",
		}},
		"keyword": {"", "func", "syntax", map[string]string{"a.go": "package a\nfunc |f() {}\n"}},
		"main":    {"", "start", "meaning of its own", map[string]string{"a.go": "package main\nfunc |main() {}\n"}},
		"blank":   {"", "_", "meaning of their own", map[string]string{"a.go": "package a\nfunc |f() {}\n"}},
	} {
		c.files["go.mod"] = "module example.com/m\n"
		_, _, err := renamed(t, sources{}, c.files, c.container, c.to)
		var breaks *Breaks
		if !errors.As(err, &breaks) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// Code that did not compile before may be renamed, and what it leaves open is named.
func TestBrokenBefore(t *testing.T) {
	got, found, err := renamed(t, sources{}, map[string]string{
		"go.mod": "module example.com/m\n",
		"a.go":   "package a\ntype T struct { |N int }\nfunc f() { missing().N = 1; var t T; t.N = undefined }\n",
	}, "T", "M")
	if err != nil || !strings.Contains(got["a.go"], "missing().N = 1; var t T; t.M = undefined") || len(found.Unknown) != 1 {
		t.Errorf("%v, unknown %v:\n%s", err, found.Unknown, got["a.go"])
	}
}

// A repository says where its modules lie only by names that are modules'.
func TestModulesStayInTheirCache(t *testing.T) {
	cache := t.TempDir()
	outside := filepath.Join(filepath.Dir(cache), "secret")
	for _, dir := range []string{outside, filepath.Join(cache, "example.org", "!good@v1.0.0")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "x.go"), []byte("package x\nfunc F() {}\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for imported, want := range map[string]bool{"example.org/Good": true, "example.org/../../secret": false, "../secret": false, "example.org/Good/../../../secret": false} {
		repo := memory(map[string]string{
			"go.mod": "module example.com/m\nrequire (\n\texample.org/Good v1.0.0\n\t../secret v1.0.0\n\texample.org/.. v0.0.0\n)\nreplace example.org/Bad => ../secret\n",
		})
		l := loader{sources: sources{modules: cache}, modules: findModules(repo, []string{"a.go"})}
		if dir := l.foreign(imported, ""); (dir != "") != want || want && !strings.HasPrefix(dir, cache) {
			t.Errorf("%s is looked for in %q", imported, dir)
		}
	}
	for _, version := range []string{"v1.0.0/../../../secret", "../../secret"} {
		l := loader{sources: sources{modules: cache}, modules: []goModule{{dir: ".", path: "m"}}}
		text := fmt.Sprintf("module m\nrequire example.org/Good %s\n", version)
		l.modules = findModules(memory(map[string]string{"go.mod": text}), []string{"a.go"})
		if dir := l.foreign("example.org/Good", ""); dir != "" {
			t.Errorf("version %s leads to %s", version, dir)
		}
	}
}

// Junk ends in an answer or an error, not in the end of the process.
func TestJunk(t *testing.T) {
	for name, text := range map[string]string{
		"parentheses":    "package a\nfunc |f() {}\nvar x = " + strings.Repeat("(", 90_000) + "1" + strings.Repeat(")", 90_000) + "\n",
		"sums":           "package a\nfunc |f() {}\nvar x = 1" + strings.Repeat("+1", 90_000) + "\n",
		"pointers":       "package a\nfunc |f() {}\nvar x " + strings.Repeat("*", 90_000) + "int\n",
		"calls":          "package a\nfunc |f() {}\nvar x = " + strings.Repeat("g(", 90_000) + strings.Repeat(")", 90_000) + "\n",
		"functions":      "package a\nfunc |f() {}\nvar x = " + strings.Repeat("func() { _ = ", 9_000) + "1" + strings.Repeat("}", 9_000) + "\n",
		"blocks":         "package a\nfunc |f() {" + strings.Repeat("{", 30_000) + strings.Repeat("}", 30_000) + "}\n",
		"types in turn":  "package a\nfunc |f() {}\ntype T0 = T1\ntype T1 = T0\ntype S struct { S }\ntype I interface { I }\n",
		"arrays":         "package a\nfunc |f() {}\ntype A [1<<40][1<<40][1<<40]int\nvar x A\nconst c = 1<<100000<<100000\n",
		"growing":        "package a\nfunc |f() {}\ntype T[P any] struct { x *T[[]P] }\nvar x T[int]\n",
		"half a package": "package a\nfunc |f(",
		"constants":      "package a\nfunc |f() {}\nconst a = \"" + strings.Repeat("x", 1000) + "\"\nconst b = a" + strings.Repeat("+a", 5000) + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			_, found, err := renamed(t, sources{}, map[string]string{"go.mod": "module example.com/m\n", "a.go": text}, "", "g")
			t.Logf("%d places, %v", len(found.Places), err)
			if err == nil && len(found.Places) == 0 {
				t.Error("the declaration itself is none of the places")
			}
		})
	}
}
