package link_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"quarry/index/lang"
	"quarry/index/link"
	"quarry/index/store"
	"quarry/index/syntax"
)

// index analyses files in an index in memory.
func index(t *testing.T, files map[string]string) *store.Store {
	t.Helper()
	s, err := store.Open("", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	var b store.Batch
	for name, text := range files {
		b.Put = append(b.Put, document(t, name, text))
	}
	put(t, s, b)
	return s
}

func document(t *testing.T, name, text string) *store.Document {
	t.Helper()
	language := lang.Detect(name, []byte(text))
	f, err := syntax.Analyze(language, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(text))
	return &store.Document{Path: name, Language: language, Hash: store.Hash(sum[:16]), Syntax: f}
}

func put(t *testing.T, s *store.Store, b store.Batch) {
	t.Helper()
	if err := s.Apply(b); err != nil {
		t.Fatal(err)
	}
}

// edges prints every edge as "kind file[:symbol] -> file[:symbol] weight".
func edges(t *testing.T, s *store.Store) []string {
	t.Helper()
	ctx := context.Background()
	names := map[int64]string{0: ""}
	var ids []int64
	_, err := s.Load(ctx, nil, func(f *store.File) error {
		ids = append(ids, f.ID)
		names[f.ID] = path.Base(f.Path)
		for i, sym := range f.Syntax.Symbols {
			names[f.SymbolIDs[i]] = ":" + strings.TrimPrefix(sym.Container+"."+sym.Name, ".")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, id := range ids {
		es, err := link.From(ctx, s, id)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range es {
			list = append(list, fmt.Sprintf("%s %s%s -> %s%s %.2g", e.Kind, names[e.FromFile], names[e.FromSymbol], names[e.ToFile], names[e.ToSymbol], e.Weight))
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// want holds the edges among those listed against the expected ones.
func want(t *testing.T, got []string, want ...string) {
	t.Helper()
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("edges\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func TestGo(t *testing.T) {
	s := index(t, map[string]string{
		"go.mod":        "module example.com/m\n",
		"cmd/main.go":   "package main\n\nimport (\n\t\"fmt\"\n\t\"example.com/m/lib\"\n)\n\nfunc main() { lib.Open(); fmt.Println(); helper() }\n",
		"cmd/helper.go": "package main\n\nfunc helper() {}\n",
		"lib/lib.go":    "package lib\n\ntype DB struct{}\n\nfunc Open() *DB { return new(DB) }\n\nfunc (d *DB) Close() { d.flush() }\n",
		"lib/flush.go":  "package lib\n\nfunc (d *DB) flush() {}\n",
		"other/x.go":    "package other\n\nfunc Open() {}\nfunc Println() {}\nfunc helper() {}\n",
	})
	want(t, edges(t, s),
		"import main.go -> flush.go 0.5", "import main.go -> lib.go 0.5",
		"call main.go:main -> lib.go:Open 0.9", "call main.go:main -> helper.go:helper 0.9",
		"use lib.go:Open -> lib.go:DB 1", "use lib.go:DB.Close -> lib.go:DB 1", "use flush.go:DB.flush -> lib.go:DB 0.9",
		"call lib.go:DB.Close -> flush.go:DB.flush 0.45",
	)
}

func TestPython(t *testing.T) {
	s := index(t, map[string]string{
		"src/app/__init__.py": "",
		"src/app/base.py":     "class Base:\n    def run(self):\n        self.step()\n\n    def step(self):\n        pass\n",
		"src/app/main.py":     "from app.base import Base\nfrom . import util\nfrom .util import clean\n\nclass Job(Base):\n    def step(self):\n        clean(1)\n        util.dirty(2)\n",
		"src/app/util.py":     "def clean(x):\n    return x\n\ndef dirty(x):\n    return x\n",
		"other/util.py":       "def clean(x):\n    pass\n",
	})
	got := edges(t, s)
	for _, w := range []string{
		"import main.py -> base.py 1", "import main.py -> util.py 1", "inherit main.py:Job -> base.py:Base 0.9",
		"call main.py:Job.step -> util.py:clean 0.9", "call main.py:Job.step -> util.py:dirty 0.9", "call base.py:Base.run -> base.py:Base.step 1",
	} {
		if !slices.Contains(got, w) {
			t.Errorf("no edge %s in\n  %s", w, strings.Join(got, "\n  "))
		}
	}
}

func TestTypeScript(t *testing.T) {
	s := index(t, map[string]string{
		"src/a.ts":            "import { Shape, area as size } from './shapes/index.js';\nimport * as util from './util';\n\nexport class Box extends Shape {\n  grow() { util.log(1); this.paint(); }\n  paint() {}\n}\n",
		"src/shapes/index.ts": "export class Shape {}\nexport function area() {}\n",
		"src/util.ts":         "export function log(x: number) {}\n",
		"test/util.ts":        "export function log(x: number) {}\n",
	})
	got := edges(t, s)
	for _, w := range []string{
		"import a.ts -> index.ts 1", "import a.ts -> util.ts 1", "inherit a.ts:Box -> index.ts:Shape 0.9",
		"call a.ts:Box.grow -> util.ts:log 0.9", "call a.ts:Box.grow -> a.ts:Box.paint 1",
	} {
		if !slices.Contains(got, w) {
			t.Errorf("no edge %s in\n  %s", w, strings.Join(got, "\n  "))
		}
	}
}

func TestAmbiguousTargetsShareTheWeight(t *testing.T) {
	files := map[string]string{"main.py": "def go(x):\n    x.render()\n"}
	for _, n := range []string{"a", "b"} {
		files[n+"/"+n+".py"] = "class " + strings.ToUpper(n) + ":\n    def render(self):\n        pass\n"
	}
	s := index(t, files)
	want(t, edges(t, s), "call main.py:go -> a.py:A.render 0.12", "call main.py:go -> b.py:B.render 0.12")
	var b store.Batch
	for i := range maxSprayed {
		b.Put = append(b.Put, document(t, fmt.Sprintf("more/m%d.py", i), "class M:\n    def render(self):\n        pass\n"))
	}
	put(t, s, b)
	want(t, edges(t, s))
}

// maxSprayed is more candidates than edges are drawn to.
const maxSprayed = 8
