package crossfile

import (
	"fmt"
	"slices"
	"strings"
	"testing"
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
