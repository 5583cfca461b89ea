package crossfile

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"quarry/completion"
	"quarry/index/lang"
)

// What speaks for a declaration, and against it: a kind of evidence decides which of two comes
// first, and without its weight the other one would.
func TestEvidence(t *testing.T) {
	filler := strings.Repeat("\n\tother()", 60)
	const apart = "\n\n\n\n\nfunc b1() {}\nfunc b2() {}\nfunc b3() {}\nfunc b4() {}\n\n\n\n\n\n\n" // farther than siblings stand
	const two = "package far\n\nfunc Aaa() {}\n" + apart + "func Zzz() {}\n"
	main := func(body string) string { return "package main\n\nimport \"x/far\"\n\nfunc f() {" + body + "\n}\n" }
	const none = kinds // what several kinds say together
	for _, tt := range []struct {
		kind          evidence
		name          string
		files         map[string]string
		doc           string
		first, second string
	}{
		{called, "the name that is called at the cursor, however often others stand beside it", map[string]string{"far/a.go": two}, main("\n\tuse(Aaa, Aaa, Aaa, Zzz(‸))"), "func Zzz()", "func Aaa()"},
		{none, "a name of the document, however far away", map[string]string{"far/a.go": two}, main("\n\tZzz()" + filler + "\n\t‸"), "func Zzz()", "func Aaa()"},
		{
			near, "the name that stands nearer to the cursor (so short that no part of it counts)",
			map[string]string{"far/a.go": "package far\n\nfunc Aa() {}\n" + apart + "func Zz() {}\n"}, main("\n\tAa()" + filler + "\n\tZz()\n\t‸"), "func Zz()", "func Aa()",
		},
		{often, "the name that the document has more often, of two as near", map[string]string{"far/a.go": two}, main("\n\tuse(Aaa, Zzz, Zzz, Zzz)\n\t‸"), "func Zzz()", "func Aaa()"},
		{
			member, "a member of a type that stands near the cursor",
			map[string]string{"far/a.go": "package far\n\nfunc Aaa() {}\n" + apart + "type Tin struct{}\n" + strings.ReplaceAll(apart, "b", "c") + "func (t *Tin) Zzz() {}\n"},
			main("\n\tvar t far.Tin\n\t‸"), "Zzz()", "func Aaa()",
		},
		{
			beside, "what the files beside the document use, though more files elsewhere use the other",
			map[string]string{"far/a.go": two, "b.go": "package main\n\nfunc g() { Zzz() }\n", "c/c.go": "package c\n\nfunc g() { Aaa() }\n", "c/d.go": "package c\n\nfunc h() { Aaa() }\n"},
			main("\n\t‸"), "func Zzz()", "func Aaa()",
		},
		{
			imported, "what an import declares, before what a file beside the document does",
			map[string]string{"a.go": "package main\n\nfunc Aaa() {}\n", "far/z.go": "package far\n\nfunc Zzz() {}\n"}, main("\n\t‸"), "func Zzz()", "func Aaa()",
		},
		{
			sibling, "beside what is named at the cursor",
			map[string]string{"far/a.go": "package far\n\nfunc Aaa() {}\nfunc B1() {}\nfunc B2() {}\nfunc B3() {}\nfunc B4() {}\nfunc Begin() {}\nfunc End() {}\n"},
			main("\n\tBegin()\n\t‸"), "func End()", "func Aaa()",
		},
		{
			alike, "named like what stands at the cursor", map[string]string{"far/a.go": "package far\n\nfunc Aaa() {}\n" + apart + "func readHeader() {}\n"},
			main("\n\theader := open()\n\t‸"), "func readHeader()", "func Aaa()",
		},
		{
			begun, "begins with the word at the cursor", map[string]string{"far/a.go": "package far\n\nfunc Aaa() {}\n" + apart + "func Zealous() {}\n"},
			main("\n\tZea‸"), "func Zealous()", "func Aaa()",
		},
		{isType, "a function before a type", map[string]string{"far/a.go": "package far\n\ntype Aaa int\n\nfunc Zzz() {}\n"}, main("\n\t‸"), "func Zzz()", "type Aaa int"},
		{isField, "a function before a variable", map[string]string{"far/a.go": "package far\n\nvar Aaa int\n\nfunc Zzz() {}\n"}, main("\n\t‸"), "func Zzz()", "var Aaa int"},
		{
			many, "a name that is declared once, before one that several files declare",
			map[string]string{"far/a.go": "package far\n\nfunc Aaa() {}\n", "far/z.go": "package far\n\nfunc Zzz() {}\n", "c/c.go": "package c\n\nfunc Aaa() {}\n", "d/d.go": "package d\n\nfunc Aaa() {}\n"},
			main("\n\t‸"), "func Zzz()", "func Aaa()",
		},
	} {
		s := reading(t, tt.files)
		isFirst := func() (bool, []string) {
			list := found(t, s, "main.go", tt.doc, "")
			at := func(what string) int {
				return slices.IndexFunc(list, func(s string) bool { return strings.HasSuffix(s, what) })
			}
			first, second := at(tt.first), at(tt.second)
			return first >= 0 && (second < 0 || first < second), list
		}
		if ok, list := isFirst(); !ok {
			t.Errorf("%s: %q", tt.name, list)
		}
		if tt.kind == none {
			continue
		}
		kept := weights[tt.kind]
		weights[tt.kind] = 0
		ok, list := isFirst()
		weights[tt.kind] = kept
		if ok {
			t.Errorf("%s, also where that has no weight: %q", tt.name, list)
		}
	}
}

// Of the many members of one name that are called, that of the own type's base is meant, which
// may stand in the same file above the window.
func TestMembersOfBasesComeFirst(t *testing.T) {
	py, js, java := "", "", ""
	for i := range 12 {
		py += fmt.Sprintf("class Other%d:\n    def __init__(self, other%d: int) -> None:\n        self.a = other%d\n\n\n", i, i, i)
		js += fmt.Sprintf("export class Other%d {\n  constructor(other%d) {\n    this.a = other%d;\n  }\n}\n\n", i, i, i)
		java += fmt.Sprintf("class Other%d {\n    void close(int other%d) {\n        a();\n    }\n}\n\n", i, i)
	}
	for _, tt := range []struct{ name, file, others, doc, want string }{
		{"a.py", "b.py", py, "from b import Other1, Other2, Other3\n\nclass Answer:\n    def __init__(self, content, status):\n        self.c = content\n\n\n" +
			"class Plain(Answer):\n    pass\n\n\n# from here on\nclass Json(Plain):\n    def __init__(self, content, status):\n        super().__init__(‸\n", "content, status"},
		{"a.py", "b.py", py, "class Answer:\n    def __init__(self, content, status):\n        self.c = content\n\n\n" +
			"# from here on\nclass Json(Answer):\n    def __init__(self, content, status):\n        super().__in‸\n", "content, status"},
		{"a.ts", "b.ts", js, "class Answer {\n  constructor(content) {\n    this.c = content;\n  }\n}\n\n" +
			"// from here on\nclass Json extends Answer {\n  constructor(content) {\n    super(‸\n  }\n}\n", "constructor(content)"},
		{"A.java", "B.java", java, "class Answer {\n    void close(String content) {\n        b();\n    }\n}\n\n" +
			"// from here on\nclass Json extends Answer {\n    void close(String content) {\n        super.close(‸\n    }\n}\n", "close(String content)"},
	} {
		s := reading(t, map[string]string{tt.name: strings.Replace(tt.doc, "‸", "", 1), tt.file: tt.others})
		at, text := strings.Index(tt.doc, "‸"), strings.Replace(tt.doc, "‸", "", 1)
		list := s.Context(t.Context(), completion.ContextQuery{
			Document: completion.Document{Root: "/w", Path: tt.name, Language: lang.Detect(tt.name, nil), Text: text},
			Offset:   at, Shown: [2]int{strings.Index(text, "from here on"), len(text)}, Tokens: 1000,
		})
		if len(list) == 0 || !strings.Contains(list[0].Text, tt.want) {
			t.Errorf("%s: first %+v", tt.doc[at-10:at], list[:min(len(list), 2)])
		}
		for _, sn := range list {
			if strings.HasPrefix(sn.Why, "declaration of") && strings.Contains(sn.Text, "other") {
				t.Errorf("%s: %q of %s", tt.doc[at-10:at], sn.Text, sn.Within)
			}
		}
	}
}

// A member that many types have tells less of those that the document does not name.
func TestCommonMembersCountLess(t *testing.T) {
	file := ""
	for i := range 8 {
		file += fmt.Sprintf("type T%d struct{}\n\nfunc (t *T%d) Close(n%d int) {\n}\n\n", i, i, i)
	}
	list := found(t, reading(t, map[string]string{"far/a.go": "package far\n\n" + file}), "main.go",
		"package main\n\nimport \"x/far\"\n\nfunc f(c far.T5) {\n\tc.Close(‸\n}\n", "")
	if len(list) == 0 || !strings.Contains(list[0], "n5 int") {
		t.Errorf("first %q", list)
	}
}

// The best n of a ranking are the first n of the whole one.
func TestRankingIsCutBehindTheBest(t *testing.T) {
	files := map[string]string{}
	for i := range 40 {
		files[fmt.Sprintf("far/f%d.go", i)] = fmt.Sprintf("package far\n\nfunc Name%d() {}\n\ntype Other%d int\n", i, i%7)
	}
	s := reading(t, files)
	r := ranking{
		reach: Similar, declared: see(s.workspace.Searchable()), here: &surroundings{names: []weighted{{text: "Name7", weight: 1, count: 3}, {text: "Other3", weight: 0.8, count: 1}}},
		key: fileKey{"/w", "main.go"}, family: "go", reached: imports{"x/far"},
	}
	rank := func(n int) []*candidate {
		r.list, r.found = nil, map[declaration]int{}
		r.named()
		r.imports()
		return r.order(n)
	}
	whole := rank(1000)
	if len(whole) != 80 {
		t.Fatalf("%d candidates", len(whole))
	}
	for _, n := range []int{1, 2, 5, 40, 79, 80} {
		some := rank(n)
		if len(some) < n {
			t.Errorf("%d of the best %d", len(some), n)
		}
		for i, c := range some {
			if c.declaration != whole[i].declaration {
				t.Fatalf("the best %d differ at %d: %s, %s", n, i, c.Name, whole[i].Name)
			}
		}
	}
}

func TestEachPart(t *testing.T) {
	for name, want := range map[string]string{
		"parseRange": "parse range", "HTTPServer": "httpserver", "read_header_v2": "read header", "x": "", "MAX_SIZE": "max size", "a_b": "",
		"_private": "private", strings.Repeat("a", 90): strings.Repeat("a", 64),
	} {
		var parts []string
		eachPart(name, func(p []byte) { parts = append(parts, string(p)) })
		if got := strings.Join(parts, " "); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
