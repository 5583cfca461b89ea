package workspace

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"quarry/index/lang"
	"quarry/index/link"
	"quarry/index/store"
)

// Neighbour is a declaration that a reference joins with another one.
type Neighbour struct {
	// Symbol is the declaration; only its Path is set for a reference at file level.
	Symbol
	// Line, 1-based, is where the reference stands in the file that refers.
	Line int
	// Weight in (0, 1] is how sure it is that this declaration is meant.
	Weight float32
	// Kind is that of the reference.
	Kind store.EdgeKind
}

// AnyReference has Users and Used answer references of all kinds.
const AnyReference store.EdgeKind = ""

// Neighbours are the declarations next to one.
type Neighbours struct {
	// List is the surest first and then by place; a declaration is in it once.
	List []Neighbour
	// Backend says what was asked.
	Backend []string
	// Missing is what could not be looked at, nil if nothing.
	Missing *Missing
	// Notes are sentences about what cannot be known by names alone.
	Notes []string
}

// Users are the declarations that refer to s by edges of a kind. It fails with
// *NotReady if it finds none while it cannot know.
func (w *Workspace) Users(ctx context.Context, s Symbol, kind store.EdgeKind) (Neighbours, error) {
	return w.neighbours(ctx, func() ([]Neighbour, error) {
		x, err := s.folder.ready()
		if err != nil {
			return nil, err
		}
		edges, err := link.To(ctx, x.Store(), s.id)
		if err != nil {
			return nil, err
		}
		return w.ends(ctx, s.folder, edges, kind, func(e store.Edge) (file, symbol int64) { return e.FromFile, e.FromSymbol })
	})
}

// Used are the declarations that s refers to by edges of a kind, like Users. An overload that is
// a signature alone refers to what its implementation does, and a note says so.
func (w *Workspace) Used(ctx context.Context, s Symbol, kind store.EdgeKind) (Neighbours, error) {
	body := s
	found, err := w.neighbours(ctx, func() ([]Neighbour, error) {
		x, err := s.folder.ready()
		if err != nil {
			return nil, err
		}
		if body, err = w.bodyOf(ctx, s); err != nil {
			return nil, err
		}
		edges, err := link.FromSymbols(ctx, x.Store(), store.FileOf(s.id), s.id, body.id)
		if err != nil {
			return nil, err
		}
		edges = slices.DeleteFunc(edges, func(e store.Edge) bool { return e.ToSymbol == 0 })
		return w.ends(ctx, s.folder, edges, kind, func(e store.Edge) (file, symbol int64) { return store.FileOf(e.ToSymbol), e.ToSymbol })
	})
	if body.id != s.id {
		found.Notes = append(found.Notes, fmt.Sprintf("%s is the signature of an overload; this is what its implementation %s uses", s.ID, body.ID))
	}
	return found, err
}

// overloaded is a signature of Python that typing.overload decorates.
var overloaded = regexp.MustCompile(`^(?:@\S+ )*@(?:\w+\.)*overload\s`)

// bodyOf is the implementation of an overload that is a signature alone, in Python and
// TypeScript, else s itself.
func (w *Workspace) bodyOf(ctx context.Context, s Symbol) (Symbol, error) {
	rel, err := filepath.Rel(s.folder.dir, s.Path)
	if err != nil || !isCallable(s.Kind) {
		return s, nil
	}
	rel = filepath.ToSlash(rel)
	var isStub func(*Symbol) bool
	switch language := lang.Detect(rel, nil); {
	case language == "python":
		isStub = func(s *Symbol) bool { return overloaded.MatchString(s.Signature) }
	case lang.Family(language) == "js":
		text, err := s.folder.text(rel)
		if err != nil {
			return s, nil // gone, or left out by now
		}
		isStub = func(s *Symbol) bool {
			return int(s.Span.End) <= len(text) && strings.HasSuffix(strings.TrimRight(strings.Join(strings.Fields(text[s.Span.Start:s.Span.End]), " "), "; "), s.Signature)
		}
	}
	if isStub == nil || !isStub(&s) {
		return s, nil
	}
	siblings, err := s.folder.symbols(ctx, w.snapshot(), rel)
	if err != nil {
		return s, err
	}
	for i := range siblings {
		if b := &siblings[i]; b.Span.Start > s.Span.Start && b.Qualified() == s.Qualified() && isCallable(b.Kind) && !isStub(b) {
			return *b, nil
		}
	}
	return s, nil
}

func (w *Workspace) neighbours(ctx context.Context, ask func() ([]Neighbour, error)) (found Neighbours, err error) {
	found.Backend = []string{backendEdges}
	found.Missing, err = w.whenKnown(ctx, needSymbols, func() (bool, error) {
		var err error
		found.List, err = ask()
		return err != nil || len(found.List) > 0, err
	})
	return found, err
}

// ends are the declarations at one end of edges, of files that may be read.
func (w *Workspace) ends(ctx context.Context, f *folder, edges []store.Edge, kind store.EdgeKind, end func(store.Edge) (file, symbol int64)) ([]Neighbour, error) {
	var ids []int64
	for _, e := range edges {
		file, _ := end(e)
		ids = append(ids, file)
	}
	slices.Sort(ids)
	paths, err := f.index.Store().Paths(ctx, slices.Compact(ids))
	if err != nil {
		return nil, err
	}
	folders := w.snapshot()
	type key struct{ file, symbol int64 }
	declared := map[int64][]Symbol{}
	hidden := map[int64]bool{} // which files may not be read any more
	best := map[key]int{}      // their place in list
	var list []Neighbour
	for _, e := range edges {
		file, symbol := end(e)
		rel := paths[file]
		if kind != AnyReference && e.Kind != kind || rel == "" {
			continue
		}
		if _, known := hidden[file]; !known {
			hidden[file] = f.index.Root().Check(rel) != ""
		}
		if hidden[file] {
			continue
		}
		if _, read := declared[file]; !read {
			if declared[file], err = f.symbols(ctx, folders, rel); err != nil {
				return nil, err
			}
		}
		n := Neighbour{Symbol: Symbol{Path: filepath.Join(f.dir, filepath.FromSlash(rel))}, Line: int(e.Line), Weight: e.Weight, Kind: e.Kind}
		if i := slices.IndexFunc(declared[file], func(s Symbol) bool { return s.id == symbol }); i >= 0 {
			n.Symbol = declared[file][i]
		}
		if i, met := best[key{file, symbol}]; met {
			if n.Weight > list[i].Weight {
				list[i] = n
			}
			continue
		}
		if n.Line == 0 { // of no reference
			n.Line = int(n.NameSpan.StartLine)
		}
		best[key{file, symbol}] = len(list)
		list = append(list, n)
	}
	slices.SortStableFunc(list, func(a, b Neighbour) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
	})
	return list, nil
}

// Declared are the declarations of the file at an absolute path, in its order. It fails
// with *NotReady if it finds none while it cannot know.
func (w *Workspace) Declared(ctx context.Context, path string) (found Symbols, err error) {
	found.Backend = []string{backendSymbols}
	found.Missing, err = w.whenKnown(ctx, needFile, func() (bool, error) {
		folders := w.snapshot()
		f, rel := innermost(folders, w.placed(path))
		if f == nil {
			return true, nil
		}
		if _, err := f.ready(); err != nil {
			return false, nil
		}
		var err error
		found.List, err = f.symbols(ctx, folders, rel)
		return err != nil || len(found.List) > 0, err
	})
	return found, err
}
