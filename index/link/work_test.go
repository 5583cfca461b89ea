package link_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"quarry/index/link"
	"quarry/index/store"
)

// many writes a line for each number below n.
func many(n int, line string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(line, "NN", fmt.Sprint(i)) + "\n")
	}
	return b.String()
}

// crowded are trees in which each of n imports or names of the file "u.*" may mean as many files,
// folders or declarations of one name, by language and what there are many of.
func crowded(n int) map[string]map[string]string {
	trees := map[string]map[string]string{
		"javascript, packages": {"u.js": many(n, "import { t as tNN } from 'lib/xNN'")},
		"javascript, files":    {"u.js": many(n, "import { t as tNN } from 'NN/x.js'")},
		"javascript, in one":   {"u.js": many(n, "import { t as tNN } from './a.xNN'")},
		"python, modules":      {"u.py": many(n, "import aNN.lib")},
		"python, bindings":     {"u.py": many(n, "import aNN.lib") + many(n, "lib.fNN()"), "a/lib.py": "def f():\n    pass\n"},
		"python, handed":       {"u.py": many(n, "from pack import fNN") + many(n, "fNN()"), "pack/__init__.py": many(n, "from .mNN import *")},
		"go, modules":          {"u.go": "package u\n" + many(n, `import "m.example/m/xNN"`)},
		"go, folders":          {"u.go": "package u\n" + many(n, `import "m.example/xNN/lib"`)},
		"rust, crates":         {"u.rs": many(n, "use lib::xNN;")},
		"c#, namespaces":       {"u.cs": many(n, "using A.ZNN;")},
		"java, packages":       {"u.java": many(n, "import a.ZNN;")},
		"python, members":      {"u.py": many(n, "aNN.run()")},
		"c, headers":           {"u.c": many(n, "#include \"NN/x.h\"")},
	}
	for i := range n {
		put := func(tree, name, text string) {
			trees[tree][fmt.Sprintf(name, i)] = strings.ReplaceAll(text, "NN", fmt.Sprint(i))
		}
		put("javascript, packages", "p%d/lib/package.json", "{}")
		put("javascript, files", "p%d/x.js", "export function t() {}\n")
		put("javascript, in one", "p%d/a.js", "export function t() {}\n")
		put("javascript, in one", "a.y%d.js", "export function t() {}\n")
		put("python, modules", "p%d/lib.py", "")
		put("python, bindings", "b%d/lib.py", "")
		put("python, handed", "pack/m%d.py", "x = 1\n")
		put("go, modules", "p%d/go.mod", "module m.example/m\n")
		put("go, folders", "p%d/lib/a.go", "package lib\n")
		put("rust, crates", "p%d/lib/src/lib.rs", "")
		put("c#, namespaces", "p%d.cs", "namespace A { class CNN {} }\n")
		put("java, packages", "p%d.java", "package a;\nclass CNN {}\n")
		put("python, members", "p%d.py", "class C:\n    def run(self):\n        pass\n")
		put("c, headers", "p%d/x.h", "int x;\n")
	}
	return trees
}

// The files of a folder and the imports of one file may each be many; their product is not looked
// at: what is left when a file has had its share means nothing, and a question that has ended looks
// at nothing more.
func TestLooksAreBounded(t *testing.T) {
	const n, few = 400, 50_000
	for name, files := range crowded(n) {
		t.Run(name, func(t *testing.T) {
			s := index(t, files)
			var id int64
			if _, err := s.Load(t.Context(), nil, func(f *store.File) error {
				if strings.HasPrefix(f.Path, "u.") {
					id = f.ID
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			looked, _, err := link.Looks(t.Context(), s, id, link.MaxLooks, func() {})
			if err != nil || looked < 2*few || looked > link.MaxLooks {
				t.Errorf("looks %d times, want more than %d, since each of %d has %d candidates; %v", looked, 2*few, n, n, err)
			}
			// A look that nobody counts is none that is bounded: so the share is met, and soon after all ends.
			looked, _, err = link.Looks(t.Context(), s, id, few, func() {})
			if most := few + 40*n*16; err != nil || looked < few || looked > most {
				t.Errorf("may look %d times, and looks %d times, want at most %d; %v", few, looked, most, err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			looked, _, err = link.Looks(ctx, s, id, link.MaxLooks, cancel)
			if most := link.BetweenLooks + 40*n*16; !errors.Is(err, context.Canceled) || looked > most {
				t.Errorf("a question that has ended looks %d times, want at most %d; %v", looked, most, err)
			}
		})
	}
}

// Of many packages of one name the nearest is meant, and imports of what none of them has are told
// by a few.
func TestManyPackagesOfOneName(t *testing.T) {
	const packages, imports = 1000, 1000
	files := map[string]string{
		"p777/app/u.js": "import { t } from 'lib/x';\nt();\n",
		"u.js":          many(imports, "import { t as tNN } from 'lib/yNN'"),
	}
	for i := range packages {
		files[fmt.Sprintf("p%d/lib/package.json", i)] = "{}"
		files[fmt.Sprintf("p%d/lib/x.js", i)] = "export function t() {}\n"
	}
	s := index(t, files)
	ids := map[string]int64{}
	paths := map[int64]string{}
	if _, err := s.Load(t.Context(), nil, func(f *store.File) error {
		ids[f.Path], paths[f.ID] = f.ID, f.Path
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	edges, err := link.From(t.Context(), s, ids["p777/app/u.js"])
	if err != nil || len(edges) != 2 || paths[edges[0].ToFile] != "p777/lib/x.js" || paths[edges[1].ToFile] != "p777/lib/x.js" {
		t.Errorf("the nearest is not meant: %+v, %v", edges, err)
	}
	looked, _, err := link.Looks(t.Context(), s, ids["u.js"], link.MaxLooks, func() {})
	if most := 10_000 * imports; err != nil || looked > most {
		t.Errorf("looks %d times, want at most %d; %v", looked, most, err)
	}
}
