package retrieval

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

const (
	applesTS = "import { Basket } from './basket';\n\nexport interface Options { ripe: boolean }\n\n// countApples counts the apples of a basket.\nexport function countApples(basket: Basket, o: Options): number {\n  return basket.fruits.filter((f) => isApple(f, o)).length;\n}\n\nfunction isApple(f: string, o: Options): boolean {\n  return f === 'apple' && o.ripe;\n}\n"
	applesJS = "\"use strict\";\nvar __importDefault = (this && this.__importDefault) || function (mod) { return mod; };\nObject.defineProperty(exports, \"__esModule\", { value: true });\nexports.countApples = countApples;\n// countApples counts the apples of a basket.\nfunction countApples(basket, o) {\n  return basket.fruits.filter((f) => isApple(f, o)).length;\n}\nfunction isApple(f, o) {\n  return f === 'apple' && o.ripe;\n}\n"
	otherJS  = "// countApples asks the market how many apples there are.\nexport async function countApples(market) {\n  const answer = await market.fetch('/apples');\n  return answer.total;\n}\nexport function closeMarket(market) { market.close(); }\nexport function openMarket(market) { market.open(); }\n"
)

func treeIndex(files map[string]string) *Index {
	ix := New(Options{Project: "orchard"})
	var docs []Document
	for _, p := range slices.Sorted(maps.Keys(files)) {
		docs = append(docs, document(p, files[p]))
	}
	ix.Apply(changesOf(docs))
	return ix
}

// What is compiled ranks behind its source and is no code that is asked for, wherever it lies;
// what has no source in the tree is lowered for nothing.
func TestCompiledElsewhere(t *testing.T) {
	bundled := map[string]string{}
	typed := map[string]string{}
	var bundle, types strings.Builder
	for i := range 8 {
		var part strings.Builder
		for j := range 6 {
			fmt.Fprintf(&part, "function part%cStep%c(value) {\n  return countApples(value, %d);\n}\n", 'A'+i, 'A'+j, j)
		}
		bundled[fmt.Sprintf("lib/part%c.js", 'a'+i)] = part.String()
		bundle.WriteString(part.String())
		typed[fmt.Sprintf("src/part%c.ts", 'a'+i)] = strings.ReplaceAll(part.String(), "(value)", "(value: number): number")
		for j := range 6 {
			fmt.Fprintf(&types, "declare function part%cStep%c(value: number): number;\n", 'A'+i, 'A'+j)
		}
	}
	with := func(files map[string]string, more ...string) map[string]string {
		all := maps.Clone(files)
		for i := 0; i < len(more); i += 2 {
			all[more[i]] = more[i+1]
		}
		return all
	}
	for name, c := range map[string]struct {
		files map[string]string
		twins []string
	}{
		"lib and out":            {map[string]string{"src/a.ts": applesTS, "lib/a.js": applesJS, "out/a.js": applesJS}, []string{"lib/a.js", "out/a.js"}},
		"build":                  {map[string]string{"src/pick/a.ts": applesTS, "build/modern/pick/a.cjs": applesJS, "build/legacy/pick/a.js": applesJS}, []string{"build/legacy/pick/a.js", "build/modern/pick/a.cjs"}},
		"mirrors src":            {map[string]string{"src/pick/a.ts": applesTS, "pick/a.js": applesJS}, []string{"pick/a.js"}},
		"types":                  {map[string]string{"src/a.ts": applesTS, "dist/a.d.ts": "import { Basket } from './basket';\nexport interface Options { ripe: boolean }\nexport declare function countApples(basket: Basket, o: Options): number;\n"}, []string{"dist/a.d.ts"}},
		"scripts of scripts":     {map[string]string{"lib/a.js": applesJS, "dist/a.js": applesJS}, []string{"dist/a.js"}},
		"a bundle":               {with(bundled, "all.js", bundle.String()), []string{"all.js"}},
		"no source":              {map[string]string{"lib/a.js": applesJS, "out/b.js": applesJS}, nil},
		"a bundle of types":      {with(typed, "dist/all.d.ts", types.String()), []string{"dist/all.d.ts"}},
		"one of two outputs":     {map[string]string{"dist/cjs/a.js": applesJS, "dist/esm/a.js": applesJS}, nil},
		"another of that name":   {map[string]string{"src/a.ts": applesTS, "lib/a.js": otherJS}, nil},
		"another folder":         {map[string]string{"client/a.ts": applesTS, "server/a.js": applesJS}, nil},
		"its test":               {map[string]string{"src/a.ts": applesTS, "lib/test/a.js": applesJS}, nil},
		"parts alone":            {bundled, nil},
		"some of many":           {with(bundled, "all.js", bundle.String()[:bundle.Len()/4]+otherJS), nil},
		"a library of one's own": {map[string]string{"lib/a.js": applesJS, "src/main.js": otherJS}, nil},
	} {
		ix := treeIndex(c.files)
		var twins []string
		for p := range c.files {
			if ix.Current().Compiled(p) {
				twins = append(twins, p)
			}
		}
		if slices.Sort(twins); !slices.Equal(twins, c.twins) {
			t.Errorf("%s: %q are compiled, want %q", name, twins, c.twins)
		}
		for _, r := range find(t, ix, "countApples type:code").Results {
			if slices.Contains(c.twins, r.Path) {
				t.Errorf("%s: type:code finds %s", name, r.Path)
			}
		}
		for i, r := range find(t, ix, "count the apples of a basket").Results {
			lowered := strings.Contains(strings.Join(r.Reasons, ", "), "compiled")
			if lowered != slices.Contains(c.twins, r.Path) || lowered && i == 0 {
				t.Errorf("%s: result %d is %s because %q", name, i+1, r.Path, r.Reasons)
			}
		}
	}
}

// What is compiled is known as before where a process begins with what another kept.
func TestCompiledIsKept(t *testing.T) {
	ix := treeIndex(map[string]string{"src/a.ts": applesTS, "lib/a.js": applesJS})
	_, stored, _ := ix.Current().Sections()
	again := New(Options{Project: "orchard"})
	var sections [][]byte
	for section := range stored {
		sections = append(sections, slices.Clone(section))
	}
	if err := again.Restore(sections, nil); err != nil {
		t.Fatal(err)
	}
	if s := again.Current(); !s.Compiled("lib/a.js") || s.Compiled("src/a.ts") {
		t.Errorf("lib/a.js %t, src/a.ts %t", s.Compiled("lib/a.js"), s.Compiled("src/a.ts"))
	}
}
