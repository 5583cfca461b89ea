package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"quarry/index/syntax"
	"quarry/retrieval"
)

// Symbol is a declaration of the workspace.
type Symbol struct {
	// ID names it for as long as it is declared: the file's name, "#", its name
	// with what it is declared in, and where one file declares that several times,
	// "~" and which: db/store.go#Store.Open, a.ts#parse~2. It depends on nothing
	// else, so it survives edits, a new index and a restart; SymbolByID finds a
	// symbol that moved to another file too.
	ID string
	// Path is absolute.
	Path string
	syntax.Symbol

	folder *folder
	id     int64 // in the folder's index
}

// Qualified is the name with what it is declared in.
func (s *Symbol) Qualified() string { return qualified(&s.Symbol) }

func qualified(s *syntax.Symbol) string {
	if s.Container == "" {
		return s.Name
	}
	return s.Container + "." + s.Name
}

// UnknownSymbol is the error for an id that means no symbol, or not one alone.
type UnknownSymbol struct {
	ID string
	// Near are ids that may be meant, the likeliest first.
	Near []string
	// Several: each of Near has the name.
	Several bool
}

func (e *UnknownSymbol) Error() string {
	if len(e.Near) == 0 {
		return fmt.Sprintf("there is no symbol %s; look for its name with search_symbols", e.ID)
	}
	if e.Several {
		return fmt.Sprintf("several symbols are called %s; say which: %s", e.ID, strings.Join(e.Near, ", "))
	}
	return fmt.Sprintf("there is no symbol %s; perhaps one of: %s", e.ID, strings.Join(e.Near, ", "))
}

// Symbols are declarations that were found by name.
type Symbols struct {
	List []Symbol
	// Backend says what was asked: what searches know, or the database.
	Backend []string
	// Missing is what could not be looked at, nil if nothing.
	Missing *Missing
}

// What Symbols.Backend and References.Backend say.
const (
	backendSymbols = "symbols"
	backendEdges   = "graph"
)

// Symbols finds declarations by name in all folders, the nearest first, at most
// limit. See retrieval.Snapshot.Declared for names and kinds. It fails with *NotReady
// if it finds nothing while it cannot know. Names that are only near the one asked for do
// not end the search for it.
func (w *Workspace) Symbols(ctx context.Context, name string, kinds []syntax.Kind, limit int) (found Symbols, err error) {
	found.Backend = []string{backendSymbols}
	found.Missing, err = w.whenKnown(ctx, needNear, func() (bool, error) {
		var err error
		found.List, err = w.symbolsNow(ctx, name, kinds, limit)
		return err != nil || slices.ContainsFunc(found.List, func(s Symbol) bool { return isNamed(s, name) }), err
	})
	var notReady *NotReady
	if errors.As(err, &notReady) && len(found.List) > 0 {
		err = nil // the near ones, and Missing
	}
	return found, err
}

// isNamed answers whether a symbol has the name that is asked for, perhaps with its container.
func isNamed(s Symbol, name string) bool {
	return strings.EqualFold(s.Name, name[strings.LastIndexAny(name, ".:#/")+1:])
}

// symbolsNow finds declarations in what is known now.
func (w *Workspace) symbolsNow(ctx context.Context, name string, kinds []syntax.Kind, limit int) ([]Symbol, error) {
	folders := w.snapshot()
	hits, err := declaredNow(ctx, folders, name, kinds, limit)
	if err != nil {
		return nil, err
	}
	return declaredSymbols(ctx, folders, hits, limit)
}

// hit is a declaration that searches know of.
type hit struct {
	*folder
	retrieval.Declaration
}

// declaredNow are the declarations of a name that searches know of, the nearest first, at most
// limit of each folder.
func declaredNow(ctx context.Context, folders []*folder, name string, kinds []syntax.Kind, limit int) (hits []hit, err error) {
	name = retrieval.Clip(name)
	for _, f := range folders {
		if _, err := f.ready(); err != nil {
			continue
		}
		declared, err := f.warm.Declared(ctx, name, kinds, limit)
		if err != nil {
			return nil, err
		}
		for _, d := range declared {
			hits = append(hits, hit{f, d})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(a.Distance, b.Distance) })
	return hits, nil
}

// declaredSymbols reads the symbols of hits, in their order, at most limit.
func declaredSymbols(ctx context.Context, folders []*folder, hits []hit, limit int) (list []Symbol, err error) {
	type file struct {
		*folder
		path string
	}
	read := map[file][]Symbol{}
	for _, h := range hits {
		key := file{h.folder, h.Path}
		symbols, ok := read[key]
		if !ok {
			if symbols, err = h.symbols(ctx, folders, h.Path); err != nil {
				return nil, err
			}
		}
		// Of several with the same name, each hit takes the next.
		i := slices.IndexFunc(symbols, func(s Symbol) bool {
			return s.Kind == h.Kind && s.Name == h.Name && s.Container == h.Container
		})
		if i >= 0 {
			list = append(list, symbols[i])
			symbols = slices.Delete(symbols, i, i+1)
		}
		read[key] = symbols
		if len(list) == limit {
			break
		}
	}
	return list, nil
}

// symbols are the declarations of one file, none if it is not indexed or may not
// be read any more.
func (f *folder) symbols(ctx context.Context, folders []*folder, rel string) ([]Symbol, error) {
	if f.index.Root().Check(rel) != "" {
		return nil, nil
	}
	declared, ids, err := f.index.Store().SymbolsIn(ctx, rel)
	if err != nil {
		return nil, err
	}
	file := nameIn(folders, f, rel)
	times := map[string]int{}
	list := make([]Symbol, len(ids))
	for i, s := range declared {
		name := qualified(&s)
		times[name]++
		id := file + "#" + name
		if n := times[name]; n > 1 {
			id += "~" + strconv.Itoa(n)
		}
		list[i] = Symbol{ID: id, Path: filepath.Join(f.dir, filepath.FromSlash(rel)), Symbol: s, folder: f, id: ids[i]}
	}
	return list, nil
}

const (
	// maxNear is how many symbols an UnknownSymbol offers.
	maxNear = 5
	// maxCalled is how many declarations of a name are looked at for the one that is meant.
	maxCalled = 64
)

// SymbolByID finds a symbol by its id. A symbol that is not in the id's file any
// more, or a bare name, means the only declaration of that name; else the error is
// an *UnknownSymbol, or *NotReady while that cannot be known. missing is what could not
// be looked at, nil if nothing.
func (w *Workspace) SymbolByID(ctx context.Context, id string) (s Symbol, missing *Missing, err error) {
	missing, err = w.whenKnown(ctx, needNames, func() (bool, error) {
		var unknown *UnknownSymbol
		var err error
		s, err = w.symbolNow(ctx, id)
		return !errors.As(err, &unknown), err
	})
	return s, missing, err
}

// symbolNow finds a symbol in what is known now.
func (w *Workspace) symbolNow(ctx context.Context, id string) (Symbol, error) {
	folders := w.snapshot()
	name := id
	for i := range len(id) {
		if id[i] != '#' {
			continue
		}
		name = id[i+1:]
		path, err := w.Locate(ctx, id[:i])
		if ctx.Err() != nil {
			return Symbol{}, ctx.Err()
		}
		if err != nil {
			continue // a # in the file's name, or the file is gone
		}
		f, rel := innermost(folders, path)
		if f == nil {
			continue
		}
		symbols, err := f.symbols(ctx, folders, rel)
		if err != nil {
			return Symbol{}, err
		}
		want := w.Name(path) + "#" + name
		if k := slices.IndexFunc(symbols, func(s Symbol) bool { return s.ID == want }); k >= 0 {
			return symbols[k], nil
		}
	}
	name = strings.TrimSuffix(name, "()") // as it is called
	if before, n, ok := strings.Cut(name, "~"); ok {
		if _, err := strconv.Atoi(n); err == nil {
			name = before
		}
	}
	near, err := w.symbolsNow(ctx, name, nil, maxCalled)
	if err != nil {
		return Symbol{}, err
	}
	meant := filter(near, func(s *Symbol) bool { return s.Qualified() == name })
	if len(meant) == 0 {
		meant = filter(near, func(s *Symbol) bool { return strings.HasSuffix(s.Qualified(), "."+name) })
	}
	if i := strings.LastIndexByte(name, '.'); i >= 0 && len(meant) == 0 { // package.Name
		inside, err := w.symbolsNow(ctx, name[i+1:], nil, maxCalled)
		if err != nil {
			return Symbol{}, err
		}
		meant = filter(inside, func(s *Symbol) bool { return s.Qualified() == name[i+1:] && isIn(s.Path, name[:i]) })
	}
	if len(meant) == 1 {
		return meant[0], nil
	}
	unknown := &UnknownSymbol{ID: id, Several: len(meant) > 1}
	if unknown.Several {
		near = meant
	}
	for _, s := range near[:min(len(near), maxNear)] {
		unknown.Near = append(unknown.Near, s.ID)
	}
	return Symbol{}, unknown
}

// filter are those of list that keep keeps.
func filter(list []Symbol, keep func(*Symbol) bool) (kept []Symbol) {
	for i := range list {
		if keep(&list[i]) {
			kept = append(kept, list[i])
		}
	}
	return kept
}

// isIn answers whether code calls what the file declares by a package's or module's name: that
// of its folder, or its own without its ending.
func isIn(path, called string) bool {
	base := filepath.Base(path)
	return filepath.Base(filepath.Dir(path)) == called || strings.TrimSuffix(base, filepath.Ext(base)) == called
}

// File is one file of the workspace.
type File struct {
	// Name is as Locate takes it, Path absolute.
	Name, Path string
	// Size is in bytes, ModTime in nanoseconds since 1970; 0 for a buffer that
	// was not saved.
	Size, ModTime int64
	// Changed is as walk.Entry's.
	Changed int64
}

// Files are the indexed files of all folders that keep takes, or all if it is nil, in
// the order of their names. missing is what is not indexed yet, nil if nothing. It fails
// with *NotReady if there is no such file while that cannot be known.
func (w *Workspace) Files(ctx context.Context, keep func(File) bool) (list []File, missing *Missing, err error) {
	missing, err = w.whenKnown(ctx, needFiles, func() (bool, error) {
		var err error
		list, err = w.filesNow(ctx)
		if keep != nil {
			list = slices.DeleteFunc(list, func(f File) bool { return !keep(f) })
		}
		return err != nil || len(list) > 0, err
	})
	return list, missing, err
}

// filesNow are those that are known now.
func (w *Workspace) filesNow(ctx context.Context) (list []File, err error) {
	folders := w.snapshot()
	for _, f := range folders {
		x, err := f.ready()
		if err != nil {
			continue // it is being opened, or it was said then
		}
		stats, err := x.Store().Stats(ctx, "")
		if err != nil {
			return nil, err
		}
		for rel, st := range stats {
			path := filepath.Join(f.dir, filepath.FromSlash(rel))
			if len(folders) > 1 {
				if owner, _ := innermost(folders, path); owner != f {
					continue // of a folder inside this one
				}
			}
			list = append(list, File{nameIn(folders, f, rel), path, st.Size, st.ModTime, st.Changed})
		}
	}
	slices.SortFunc(list, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	return list, nil
}
