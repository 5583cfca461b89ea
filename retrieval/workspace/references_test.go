package workspace_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry/index/store"
	"quarry/retrieval/workspace"
)

// place is a reference in short: the file's name and line, how often, and in what.
func placesOf(w *world, root string, list []workspace.Reference) (places []string) {
	w.t.Helper()
	for _, r := range list {
		rel, err := filepath.Rel(root, r.Path)
		if err != nil {
			w.t.Fatal(err)
		}
		places = append(places, fmt.Sprintf("%s:%d x%d %s", filepath.ToSlash(rel), r.Line, r.Uses, r.In))
	}
	return places
}

func (w *world) references(id string, limit int) workspace.References {
	w.t.Helper()
	s, _, err := w.SymbolByID(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	found, err := w.References(w.t.Context(), s, limit)
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}

// T1: every line that uses a symbol is listed, and the total counts the uses.
func TestReferencesAreAllPlaces(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{
		"a.go": "package a\n\nfunc Pick(n int) int { return n }\n\nfunc first() int {\n\t// Pick is not used here, nor in \"Pick\".\n\tif Pick(1) > 0 {\n\t\treturn Pick(Pick(2))\n\t}\n\treturn len(\"Pick(3)\") + Pick(4)\n}\n\nfunc second() int { return Pick(5) }\n",
		"b.go": "package a\n\nvar top = Pick(6) +\n\tPick(7)\n",
		"c.py": "def pick(n):\n    return n\n\n\nclass Tree:\n    def climb(self):\n        pick(1)\n        pick(2)\n\n    def fall(self):\n        return [pick(3), pick(4)]\n\n\npick(5)\npick(6)\n",
		"d.py": "import e\nfrom e import drop\n\n\ndef tip():\n    e.drop(1), drop(2)\n    return e.drop(3)\n",
		"e.py": "def drop(n):\n    return n\n",
	})
	w := open(t, false, root)
	if err := w.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	found := w.references("a.go#Pick", 50)
	want := []string{"a.go:7 x1 first", "a.go:8 x2 first", "a.go:10 x1 first", "a.go:13 x1 second", "b.go:3 x1 top", "b.go:4 x1 top"}
	if got := placesOf(w, root, found.List); !slices.Equal(got, want) || found.Total != 7 || !found.Whole || found.Vague != 0 {
		t.Errorf("%q, %+v", got, found)
	}
	found = w.references("c.py#pick", 50)
	want = []string{"c.py:7 x1 Tree.climb", "c.py:8 x1 Tree.climb", "c.py:11 x2 Tree.fall", "c.py:14 x1 ", "c.py:15 x1 "}
	if got := placesOf(w, root, found.List); !slices.Equal(got, want) || found.Total != 6 {
		t.Errorf("%q, %+v", got, found)
	}
	// What is named in two ways is listed by line, too.
	found = w.references("e.py#drop", 50)
	want = []string{"d.py:6 x2 tip", "d.py:7 x1 tip"}
	if got := placesOf(w, root, found.List); !slices.Equal(got, want) || found.Total != 3 {
		t.Errorf("%q, %+v", got, found)
	}
	// Every part says how many there are, and parts together are the whole.
	for limit := range 8 {
		part := w.references("a.go#Pick", limit)
		if len(part.List) != min(limit, 6) || part.Total != 7 || part.Whole != (limit >= 6) {
			t.Errorf("%d: %d of %d, whole %v", limit, len(part.List), part.Total, part.Whole)
		}
	}
	// Where the text is ahead of the index, the first use stands for those of its declaration.
	path := filepath.Join(root, "b.go")
	w.DidOpen(path, "package a\n\nvar top = Pick(6) +\n\tPick(7)\n\nfunc third() {}\n")
	found = w.references("a.go#Pick", 50)
	if got := placesOf(w, root, found.List); found.Total != 7 || !slices.Contains(got, "b.go:3 x1 top") && !slices.Contains(got, "b.go:3 x2 top") {
		t.Errorf("%q, %+v", got, found)
	}
}

// T1: a name that many declarations have is no reason to say that nothing uses one of them.
func TestReferencesOfACommonName(t *testing.T) {
	for _, namesakes := range []int{7, 8, 9, 40} {
		root := t.TempDir()
		files := map[string]string{
			"go.mod":     "module example.com/m\n",
			"use/use.go": "package use\n\nimport \"example.net/other\"\n\nfunc run(all []other.Thing) {\n\tfor _, one := range all {\n\t\tone.Close()\n\t\tdefer one.Close()\n\t}\n}\n\nfunc stop(one other.Thing) { one.Close() }\n",
		}
		for i := range namesakes {
			files[fmt.Sprintf("p%02d/p.go", i)] = fmt.Sprintf("package p%02d\n\ntype Door struct{}\n\nfunc (d *Door) Close() {}\n\nfunc (d *Door) Slam() { d.Close() }\n", i)
		}
		write(t, root, files)
		w := open(t, false, root)
		if err := w.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		found := w.references("p03/p.go#Door.Close", 50)
		vague := 0
		if namesakes > 8 {
			vague = 3
		}
		got := placesOf(w, root, found.List)
		if found.Total != 4 || found.Vague != vague || !found.Whole || len(got) != 4 || got[0] != "p03/p.go:7 x1 Door.Slam" {
			t.Errorf("%d declarations: %q, %d uses, %d vague", namesakes, got, found.Total, found.Vague)
			continue
		}
		if found.List[0].Weight < .5 || found.List[1].Weight >= .5 || found.List[1].Weight <= 0 {
			t.Errorf("%d declarations: %+v", namesakes, found.List)
		}
		// The graph has no edge that says nothing.
		s, _, err := w.SymbolByID(t.Context(), "p03/p.go#Door.Close")
		if err != nil {
			t.Fatal(err)
		}
		users, err := w.Users(t.Context(), s, store.EdgeCall)
		if want := 3 - 2*min(vague, 1); err != nil || len(users.List) != want {
			t.Errorf("%d declarations: %d users, want %d, %v", namesakes, len(users.List), want, err)
		}
	}
}

// T9: an overload's signature has the callees of its implementation.
func TestOverloadsUseWhatTheirImplementationDoes(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{
		"a.py": "import typing\nfrom typing import overload\n\n\ndef helper(a):\n    return a\n\n\n@overload\ndef parse(a: str) -> str: ...\n@typing.overload\ndef parse(a: int) -> int:\n    \"\"\"Doc.\"\"\"\n    ...\ndef parse(a):\n    return helper(a)\n\n\nclass Tree:\n    @overload\n    def climb(self, a: str) -> str: ...\n    def climb(self, a):\n        return helper(a)\n\n\ndef twice(a):\n    pass\n\n\ndef twice(a):\n    return helper(a)\n\n\nif typing.TYPE_CHECKING:\n    @overload\n    def fall(a: str) -> str: ...\n    def fall(a):\n        return a\nelse:\n    @overload\n    def fall(a: int) -> int: ...\n    def fall(a):\n        return helper(a)\n",
		"b.ts": "function helper(a: any) { return a }\nexport function parse(a: string): {x: string};\nexport function parse(a: number): {x: string}\nexport function parse(a: any): {x: string} { return helper(a) }\nclass Tree {\n  climb(a: string): void;\n  climb(a: any) { return helper(a) }\n}\ndeclare function only(a: string): void;\n",
	})
	w := open(t, false, root)
	if err := w.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	for id, by := range map[string]string{
		"a.py#parse": "a.py#parse~3", "a.py#parse~2": "a.py#parse~3", "a.py#parse~3": "", "a.py#Tree.climb": "a.py#Tree.climb~2", "a.py#Tree.climb~2": "", "a.py#twice~2": "",
		"b.ts#parse": "b.ts#parse~3", "b.ts#parse~2": "b.ts#parse~3", "b.ts#parse~3": "", "b.ts#Tree.climb": "b.ts#Tree.climb~2", "b.ts#Tree.climb~2": "",
		"a.py#fall": "stub a.py#fall~2", "a.py#fall~3": "a.py#fall~4", "a.py#fall~4": "",
		"a.py#twice": "none", "b.ts#only": "none", "b.ts#helper": "none",
	} {
		s, _, err := w.SymbolByID(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		used, err := w.Used(t.Context(), s, store.EdgeCall)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, n := range used.List {
			got = append(got, n.ID)
		}
		want := []string{id[:4] + "#helper"}
		if by == "none" {
			want, by = nil, ""
		}
		if stub, ok := strings.CutPrefix(by, "stub "); ok {
			want, by = nil, stub
		}
		if !slices.Equal(got, want) || (by != "") != (len(used.Notes) == 1) || by != "" && !strings.Contains(used.Notes[0], "its implementation "+by+" uses") {
			t.Errorf("%s uses %q, want %q; %q", id, got, want, used.Notes)
		}
	}
}
