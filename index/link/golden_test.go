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
			x := newTree(t)
			x.apply(t, sources(a))
			x.checkBackwards(t)
			got := x.print(t)
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
				if seed == 0 {
					x.checkBackwards(t)
					// What is kept of these answers is not given after an edit: what comes back has other ids.
					x.apply(t, map[string]string{order[0]: gone})
					x.apply(t, map[string]string{order[0]: files[order[0]]})
					x.checkBackwards(t)
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

// tree is an index that grows.
type tree struct{ *store.Store }

func newTree(t *testing.T) *tree { return &tree{index(t, nil)} }

// apply changes files. A file without a text is removed.
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
	put(t, x.Store, b)
}

// checkBackwards holds that the edges to each symbol are those from all files that end
// there.
func (x *tree) checkBackwards(t *testing.T) {
	t.Helper()
	want, symbols, seen := map[int64][]store.Edge{}, map[int64]string{}, 0
	var files []int64
	_, err := x.Load(t.Context(), nil, func(f *store.File) error {
		files = append(files, f.ID)
		for i, id := range f.SymbolIDs {
			symbols[id] = f.Path + ":" + f.Syntax.Symbols[i].Name
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range files {
		edges, err := link.From(t.Context(), x.Store, id)
		if err != nil {
			t.Fatal(err)
		}
		within := map[int64][]store.Edge{}
		for _, e := range edges {
			if e.ToSymbol != 0 {
				want[e.ToSymbol] = append(want[e.ToSymbol], e)
				seen++
			}
			within[e.FromSymbol] = append(within[e.FromSymbol], e)
		}
		for symbol := range symbols {
			if store.FileOf(symbol) != id {
				continue
			}
			if got, err := link.FromSymbols(t.Context(), x.Store, id, symbol); err != nil || !slices.Equal(got, within[symbol]) {
				t.Errorf("from %s lead %+v, %v; of the edges from its file those are %+v", symbols[symbol], got, err, within[symbol])
			}
		}
	}
	if seen == 0 {
		t.Error("no edge leads to a symbol")
	}
	for id, name := range symbols {
		if got, err := link.To(t.Context(), x.Store, id); err != nil || !slices.Equal(got, want[id]) {
			t.Errorf("to %s lead %+v, %v; of the edges from all files those are %+v", name, got, err, want[id])
		}
		// What possibly leads there adds edges that nobody else follows.
		got, err := link.Possibly(t.Context(), x.Store, id)
		got = slices.DeleteFunc(got, func(e store.Edge) bool { return e.Vague })
		if err != nil || !slices.Equal(got, want[id]) {
			t.Errorf("to %s lead surely %+v, %v; of the edges from all files those are %+v", name, got, err, want[id])
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
		edges, err := link.From(ctx, x.Store, f.ID)
		if err != nil {
			t.Fatal(err)
		}
		file, lists, err := link.Meaning(ctx, x.Store, f.ID)
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for i, list := range lists {
			what := "import " + f.Path
			if i < len(file.Imports) {
				what += " " + describe(&file.Imports[i])
			} else {
				r := &file.Refs[i-len(file.Imports)]
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
				if len(edges) == 0 || edges[0].ToFile != to.File || edges[0].ToSymbol != to.Symbol || edges[0].Weight != to.Weight {
					t.Fatalf("%s: no edge for what was resolved: %s", f.Path, what)
				}
				edges = edges[1:]
				target := names[to.File]
				if to.Symbol != 0 {
					target = names[to.Symbol]
				}
				lines = append(lines, fmt.Sprintf("%s -> %s %.2g\n", what, target, to.Weight))
			}
		}
		if len(edges) > 0 {
			t.Fatalf("%s: more edges than were resolved", f.Path)
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
