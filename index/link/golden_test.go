package link_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/txtar"

	"quarry/index/link"
	"quarry/index/store"
	"quarry/index/syntax"
)

var update = flag.Bool("update", false, "write the edges of testdata/*.txtar instead of comparing")

// edgesFile is the last file of each archive: what the references of the others mean.
const edgesFile = "edges"

// trees are the archives of testdata: small trees of one language each.
func trees(t *testing.T) (names []string, archives []*txtar.Archive) {
	t.Helper()
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no trees in testdata: %v", err)
	}
	for _, name := range names {
		a, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		archives = append(archives, a)
	}
	return names, archives
}

// sources are the files of an archive but the golden.
func sources(a *txtar.Archive) map[string]string {
	files := map[string]string{}
	for _, f := range a.Files {
		if f.Name != edgesFile {
			files[f.Name] = string(f.Data)
		}
	}
	return files
}

// TestTrees holds what each import and reference of a tree was resolved to, and which
// were not, against the archive's golden.
func TestTrees(t *testing.T) {
	names, archives := trees(t)
	for i, a := range archives {
		t.Run(filepath.Base(names[i]), func(t *testing.T) {
			got := whole(t, sources(a))
			at := slices.IndexFunc(a.Files, func(f txtar.File) bool { return f.Name == edgesFile })
			if *update {
				if at < 0 {
					at = len(a.Files)
					a.Files = append(a.Files, txtar.File{Name: edgesFile})
				}
				a.Files[at].Data = []byte(got)
				if err := os.WriteFile(names[i], txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if at < 0 || string(a.Files[at].Data) != got {
				t.Errorf("the edges of %s differ (go test -update rewrites them); they are\n%s", names[i], got)
			}
		})
	}
}

// TestTreesGrownByEdits brings every tree about file by file, with files that come,
// go and lose their lines on the way: what its references mean must be the same as
// in the tree made at once.
func TestTreesGrownByEdits(t *testing.T) {
	names, archives := trees(t)
	for i, a := range archives {
		t.Run(filepath.Base(names[i]), func(t *testing.T) {
			files := sources(a)
			want := whole(t, files)
			for seed := range uint64(12) {
				x := newTree(t)
				r := rand.New(rand.NewPCG(seed, 0))
				order := slices.Sorted(maps.Keys(files))
				r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
				here := map[string]string{}
				for n, name := range order {
					here[name] = files[name]
					x.apply(t, map[string]string{name: files[name]})
					other := order[r.IntN(n+1)]
					switch r.IntN(4) {
					case 0: // every line but one
						lines := strings.SplitAfter(files[other], "\n")
						at := r.IntN(len(lines))
						x.apply(t, map[string]string{other: strings.Join(slices.Delete(lines, at, at+1), "")})
						x.apply(t, map[string]string{other: files[other]})
					case 1: // gone and back
						x.apply(t, map[string]string{other: gone})
						x.apply(t, map[string]string{other: files[other]})
					case 2: // moved away and back
						away := path.Join("away", other)
						x.apply(t, map[string]string{other: gone, away: files[other]})
						x.apply(t, map[string]string{away: gone, other: files[other]})
					}
					if n == len(order)/2 {
						if got, want := x.print(t), whole(t, here); got != want {
							t.Fatalf("seed %d, after half of %s:\n%s\nwant\n%s", seed, strings.Join(order, ", "), got, want)
						}
					}
				}
				if got := x.print(t); got != want {
					t.Fatalf("seed %d, in the order %s:\n%s\nwant\n%s", seed, strings.Join(order, ", "), got, want)
				}
			}
		})
	}
}

func whole(t *testing.T, files map[string]string) string {
	t.Helper()
	x := newTree(t)
	x.apply(t, files)
	return x.print(t)
}

// tree is an index that remembers what its references were resolved to: the store
// keeps only those that mean something.
type tree struct {
	*store.Store
	mu    sync.Mutex
	meant map[int64]importTarget
}

type importTarget struct {
	file  *store.Unresolved
	lists [][]store.Target
}

func newTree(t *testing.T) *tree {
	return &tree{Store: index(t, nil), meant: map[int64]importTarget{}}
}

// apply changes files and resolves all that waits for it then. A file without a text
// is removed.
func (x *tree) apply(t *testing.T, files map[string]string) {
	t.Helper()
	var b store.Batch
	for name, text := range files {
		if text == gone {
			b.Remove = append(b.Remove, name)
		} else {
			b.Put = append(b.Put, document(t, name, text))
		}
	}
	if err := x.Apply(b); err != nil {
		t.Fatal(err)
	}
	for left := 1; left > 0; {
		var err error
		left, err = x.Relink(context.Background(), 3, func(v *store.View, f *store.Unresolved) [][]store.Target {
			lists := link.Resolve(v, f)
			x.mu.Lock()
			defer x.mu.Unlock()
			x.meant[f.ID] = importTarget{f, lists}
			return lists
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// gone stands for the text of a file that is not there.
const gone = "\x00"

// print writes what each import and reference means, one a line and target, with its
// weight: "call cmd/main.go:main fmt.Println -> fmt/print.go:Println 0.9". What means
// nothing that is here ends in "-> -".
func (x *tree) print(t *testing.T) string {
	t.Helper()
	ctx := context.Background()
	var files []*store.File
	names := map[int64]string{}
	_, err := x.Load(ctx, nil, func(f *store.File) error {
		files = append(files, f)
		names[f.ID] = f.Path
		for i, sym := range f.Syntax.Symbols {
			names[f.SymbolIDs[i]] = f.Path + ":" + strings.TrimPrefix(sym.Container+"."+sym.Name, ".")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(files, func(a, b *store.File) int { return strings.Compare(a.Path, b.Path) })
	var b strings.Builder
	for _, f := range files {
		stored, err := x.EdgesFrom(ctx, f.ID)
		if err != nil {
			t.Fatal(err)
		}
		m := x.meant[f.ID]
		var lines []string
		for i, list := range m.lists {
			what := "import " + f.Path
			if i < len(m.file.Imports) {
				what += " " + describe(&m.file.Imports[i])
			} else {
				r := &m.file.Refs[i-len(m.file.Imports)]
				what = string(r.Kind) + " " + f.Path
				if r.From >= 0 {
					what = string(r.Kind) + " " + names[f.SymbolIDs[r.From]]
				}
				what += " " + strings.TrimPrefix(r.Qualifier+"."+r.Name, ".")
			}
			if len(list) == 0 {
				lines = append(lines, what+" -> -\n")
			}
			for _, to := range list {
				if len(stored) == 0 || stored[0].ToFile != to.File || stored[0].ToSymbol != to.Symbol || stored[0].Weight != to.Weight {
					t.Fatalf("%s: not stored as resolved: %s", f.Path, what)
				}
				stored = stored[1:]
				target := names[to.File]
				if to.Symbol != 0 {
					target = names[to.Symbol]
				}
				lines = append(lines, fmt.Sprintf("%s -> %s %.2g\n", what, target, to.Weight))
			}
		}
		if len(stored) > 0 {
			t.Fatalf("%s: more is stored than was resolved", f.Path)
		}
		slices.Sort(lines)
		b.WriteString(strings.Join(slices.Compact(lines), ""))
	}
	return b.String()
}

// describe writes an import as "path{names} as alias".
func describe(im *syntax.Import) string {
	s := im.Path
	if len(im.Names) > 0 {
		s += "{" + strings.Join(im.Names, ",") + "}"
	}
	if im.Alias != "" {
		s += " as " + im.Alias
	}
	return s
}
