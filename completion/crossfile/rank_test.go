package crossfile

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"quarry/completion"
	"quarry/index/lang"
)

// What speaks for a declaration besides its name standing at the cursor.
func TestEvidence(t *testing.T) {
	filler := strings.Repeat("\n\tother()", 60)
	for _, tt := range []struct {
		name, file, doc, first, second string
	}{
		{
			"a name of the document, however far away",
			"package far\n\nfunc Aaa() {}\n\n\n\n\n\n\n\n\n\n\n\nfunc Zzz() {}\n",
			"package main\n\nimport \"x/far\"\n\nfunc f() {\n\tZzz()" + filler + "\n\t‸\n}\n", "func Zzz()", "func Aaa()",
		},
		{
			"beside what is named at the cursor",
			"package far\n\nfunc Aaa() {}\nfunc B1() {}\nfunc B2() {}\nfunc B3() {}\nfunc B4() {}\nfunc Begin() {}\nfunc End() {}\n",
			"package main\n\nimport \"x/far\"\n\nfunc f() {\n\tBegin()\n\t‸\n}\n", "func End()", "func Aaa()",
		},
		{
			"named like what stands at the cursor",
			"package far\n\nfunc Aaa() {}\n\n\n\n\n\n\n\n\n\n\n\nfunc readHeader() {}\n",
			"package main\n\nimport \"x/far\"\n\nfunc f() {\n\theader := open()\n\t‸\n}\n", "func readHeader()", "func Aaa()",
		},
		{
			"begins with the word at the cursor",
			"package far\n\nfunc Aaa() {}\n\n\n\n\n\n\n\n\n\n\n\nfunc Zealous() {}\n",
			"package main\n\nimport \"x/far\"\n\nfunc f() {\n\tZea‸\n}\n", "func Zealous()", "func Aaa()",
		},
		{
			"a function before a type",
			"package far\n\ntype Aaa int\n\nfunc Zzz() {}\n",
			"package main\n\nimport \"x/far\"\n\nfunc f() {\n\t‸\n}\n", "func Zzz()", "type Aaa int",
		},
	} {
		list := found(t, reading(t, map[string]string{"far/a.go": tt.file}), "main.go", tt.doc, "")
		at := func(what string) int {
			return slices.IndexFunc(list, func(s string) bool { return strings.HasSuffix(s, what) })
		}
		if first, second := at(tt.first), at(tt.second); first < 0 || second < 0 || first > second {
			t.Errorf("%s: %q", tt.name, list)
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
