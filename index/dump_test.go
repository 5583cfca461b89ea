package index

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"quarry/index/link"
	"quarry/index/store"
	"quarry/index/token"
)

// dump writes all that an index holds, ids and times left out, so that two indexes
// of the same files are equal texts however they came about. What contradicts
// itself is a line of its own, which no sound index has.
func dump(t testing.TB, x *Index) string {
	t.Helper()
	ctx := context.Background()
	s := x.Store()
	var files []*store.File
	if _, err := s.Load(ctx, nil, func(f *store.File) error { files = append(files, f); return nil }); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(files, func(a, b *store.File) int { return strings.Compare(a.Path, b.Path) })
	names := map[int64]string{}
	for _, f := range files {
		names[f.ID] = f.Path
		seen := map[string]int{}
		for i, sym := range f.Syntax.Symbols {
			name := fmt.Sprintf("%s:%s %s.%s", f.Path, sym.Kind, sym.Container, sym.Name)
			seen[name]++
			names[f.SymbolIDs[i]] = fmt.Sprintf("%s#%d", name, seen[name])
		}
	}
	var b strings.Builder
	var a token.Analyzer
	for _, f := range files {
		fmt.Fprintf(&b, "FILE %s %s %d %x %q\n", f.Path, f.Syntax.Language, f.Size, f.Hash, f.Summary)
		for _, sym := range f.Syntax.Symbols {
			fmt.Fprintf(&b, "  symbol %+v\n", sym)
		}
		for _, im := range f.Syntax.Imports {
			fmt.Fprintf(&b, "  import %+v\n", im)
		}
		for _, c := range f.Syntax.Chunks {
			fmt.Fprintf(&b, "  chunk %+v\n", c)
		}
		edges, err := link.From(ctx, s, f.ID)
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, e := range edges {
			from, to := names[e.FromFile], names[e.ToFile]
			if e.FromSymbol != 0 {
				from = names[e.FromSymbol]
			}
			if e.ToSymbol != 0 {
				to = names[e.ToSymbol]
			}
			if from == "" || to == "" {
				fmt.Fprintf(&b, "PROBLEM %s: an edge from or to nothing: %+v\n", f.Path, e)
			}
			lines = append(lines, fmt.Sprintf("  edge %s %s -> %s line %d weight %.3f\n", e.Kind, from, to, e.Line, e.Weight))
		}
		slices.Sort(lines)
		b.WriteString(strings.Join(lines, ""))
		// A file can be found by its name, or its full-text row is due.
		stem, _ := store.PathWords(f.Path)
		if terms := strings.Fields(string(a.AppendText(nil, stem))); len(terms) > 0 {
			m, err := s.MatchAny(ctx, terms[:1], 1<<20, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(m.Files, f.ID) && !slices.ContainsFunc(m.Due, func(d store.TextDue) bool { return d.ID == f.ID }) {
				fmt.Fprintf(&b, "PROBLEM %s is not in the full-text table\n", f.Path)
			}
		}
	}
	totals, err := s.Totals(ctx)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&b, "TOTALS %+v\n", totals)
	if err := s.Check(ctx); err != nil {
		fmt.Fprintf(&b, "PROBLEM %v\n", err)
	}
	return b.String()
}

// firstDifference shows where two dumps part.
func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		at := func(l []string) string {
			if i < len(l) {
				return l[i]
			}
			return "(end)"
		}
		if at(g) != at(w) {
			return fmt.Sprintf("line %d:\n got %s\nwant %s", i, at(g), at(w))
		}
	}
	return "none"
}

// fresh is the dump of an index of the same folder made at once.
func fresh(t testing.TB, dir string) string {
	t.Helper()
	x := open(t, Config{Dir: dir, StateDir: t.TempDir()})
	defer shut(t, x)
	if err := x.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	return dump(t, x)
}
