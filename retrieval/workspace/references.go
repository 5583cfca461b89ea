package workspace

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"quarry/index/lang"
	"quarry/index/link"
	"quarry/index/store"
	"quarry/index/syntax"
)

// Reference is a line that uses a symbol.
type Reference struct {
	// Path is absolute, Line 1-based.
	Path string
	Line int
	// Uses is how often the line does.
	Uses int
	Kind store.EdgeKind
	// In is the declaration around the line, "" at file level.
	In string
	// Weight in (0, 1] is how sure it is that this symbol is meant.
	Weight float32
}

// References are lines that use a symbol.
type References struct {
	List []Reference
	// Total is how many uses there are, those on lines beyond List too; Vague is how many of
	// them name it where so many declarations are called so that any may be meant.
	Total, Vague int
	// Whole says that List has them all.
	Whole bool
	// Backend says what was asked.
	Backend []string
	// Missing is what could not be looked at, nil if nothing.
	Missing *Missing
}

// References are the lines that use a symbol, the surest first and then by place, at most limit.
// It fails with *NotReady if it finds none while it cannot know.
func (w *Workspace) References(ctx context.Context, s Symbol, limit int) (found References, err error) {
	var missing *Missing
	missing, err = w.whenKnown(ctx, needSymbols, func() (bool, error) {
		var err error
		found, err = w.referencesNow(ctx, s, limit)
		return err != nil || len(found.List) > 0, err
	})
	found.Backend, found.Missing = []string{backendEdges}, missing
	return found, err
}

// referencesNow are those in what is known now.
func (w *Workspace) referencesNow(ctx context.Context, s Symbol, limit int) (found References, err error) {
	x, err := s.folder.ready()
	if err != nil {
		return References{}, err
	}
	st := x.Store()
	edges, err := link.Possibly(ctx, st, s.id)
	if err != nil {
		return References{}, err
	}
	var ids []int64
	for _, e := range edges {
		ids = append(ids, e.FromFile)
		found.Total += int(e.Count)
		if e.Vague {
			found.Vague += int(e.Count)
		}
	}
	slices.Sort(ids)
	paths, err := st.Paths(ctx, slices.Compact(ids))
	if err != nil {
		return References{}, err
	}
	slices.SortStableFunc(edges, func(a, b store.Edge) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(paths[a.FromFile], paths[b.FromFile]), cmp.Compare(a.Line, b.Line))
	})
	files := map[int64]*referring{}
	var around []int64 // by the list's index, 0 for none
	for len(edges) > 0 && len(found.List) < limit {
		// What is as sure in one file is listed by line, whatever declaration it is in.
		n := 1
		for n < len(edges) && edges[n].FromFile == edges[0].FromFile && edges[n].Weight == edges[0].Weight {
			n++
		}
		run := edges[:n]
		edges = edges[n:]
		f, known := files[run[0].FromFile]
		if !known {
			f = &referring{folder: s.folder, rel: paths[run[0].FromFile]}
			f.shown = f.rel != "" && x.Root().Check(f.rel) == ""
			files[run[0].FromFile] = f
		}
		if !f.shown {
			continue
		}
		type place struct {
			Reference
			symbol int64
		}
		if err := f.declarations(ctx, run); err != nil {
			return References{}, err
		}
		var places []place
		for _, e := range run {
			lines, err := f.lines(ctx, e)
			if err != nil {
				return References{}, err
			}
			for _, l := range lines {
				places = append(places, place{Reference{Path: filepath.Join(s.folder.dir, filepath.FromSlash(f.rel)), Line: l.line, Uses: l.uses, Kind: e.Kind, Weight: e.Weight}, e.FromSymbol})
			}
		}
		slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(a.Line, b.Line) })
		for i, p := range places {
			if i > 0 && p.Line == places[i-1].Line && p.Kind == places[i-1].Kind && p.symbol == places[i-1].symbol {
				found.List[len(found.List)-1].Uses += p.Uses // named in two ways
				continue
			}
			found.List, around = append(found.List, p.Reference), append(around, p.symbol)
		}
	}
	found.Whole = len(edges) == 0 && len(found.List) <= limit
	found.List, around = found.List[:min(limit, len(found.List))], around[:min(limit, len(around))]
	declared, err := st.Declared(ctx, around)
	if err != nil {
		return References{}, err
	}
	for i, id := range around {
		if d, ok := declared[id]; ok {
			found.List[i].In = qualified(&d)
		}
	}
	return found, nil
}

// referring is a file that refers to a symbol. The index has the first use in each declaration
// and how many there are; where the others stand, the file says.
type referring struct {
	folder *folder
	rel    string
	shown  bool // it may be read now
	// around are the declarations of which uses are looked for.
	around map[int64]syntax.Symbol
	// text is what is read of it, once.
	text     string
	read     bool
	analysed bool
	refs     []syntax.Ref
	ids      []int64 // of the declarations that refs are in
}

// declarations notes those in which edges have several uses.
func (f *referring) declarations(ctx context.Context, edges []store.Edge) error {
	var ids []int64
	for _, e := range edges {
		if e.Count > 1 && e.FromSymbol != 0 {
			ids = append(ids, e.FromSymbol)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	var err error
	f.around, err = f.folder.index.Store().Declared(ctx, ids)
	if !f.read && err == nil {
		f.read = true
		f.text, _ = f.folder.text(f.rel) // else it is gone, or left out by now
	}
	return err
}

// spelt are the lines of an edge's uses where its name stands in the declaration as often as that
// uses it: then each of the places is a use, and nobody has to parse the file.
func (f *referring) spelt(e store.Edge) []usingLine {
	d, ok := f.around[e.FromSymbol]
	if !ok || e.Name == "" || int(d.Span.End) > len(f.text) {
		return nil
	}
	body := f.text[d.Span.Start:d.Span.End]
	line := 1 + strings.Count(f.text[:d.Span.Start], "\n")
	var list []usingLine
	uses, from := 0, 0
	for {
		at := strings.Index(body[from:], e.Name)
		if at < 0 {
			break
		}
		at += from
		line += strings.Count(body[from:at], "\n")
		from = at + len(e.Name)
		if at > 0 && isNameByte(body[at-1]) || from < len(body) && isNameByte(body[from]) {
			continue // a part of another name
		}
		if uses++; uses > int(e.Count) {
			return nil
		}
		if last := len(list) - 1; last >= 0 && list[last].line == line {
			list[last].uses++
			continue
		}
		list = append(list, usingLine{line, 1})
	}
	if uses != int(e.Count) || list[0].line != int(e.Line) {
		return nil
	}
	return list
}

// isNameByte answers whether a byte may be a part of a name in any language.
func isNameByte(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

type usingLine struct{ line, uses int }

// lines are those of an edge's uses, in order. Where the file is not as it was indexed, the
// first stands for all of them.
func (f *referring) lines(ctx context.Context, e store.Edge) ([]usingLine, error) {
	first := []usingLine{{int(e.Line), int(e.Count)}}
	if e.Count < 2 {
		return first, nil
	}
	if list := f.spelt(e); list != nil {
		return list, nil
	}
	if err := f.analyse(ctx); err != nil {
		return nil, err
	}
	var list []usingLine
	uses := uint32(0)
	for i := range f.refs {
		r := &f.refs[i]
		in := int64(0)
		if r.From >= 0 && r.From < len(f.ids) {
			in = f.ids[r.From]
		}
		if store.EdgeKind(r.Kind) != e.Kind || r.Name != e.Name || r.Qualifier != e.Qualifier || in != e.FromSymbol {
			continue
		}
		uses++
		line := int(r.Span.StartLine)
		if last := len(list) - 1; last >= 0 && list[last].line == line {
			list[last].uses++
			continue
		}
		list = append(list, usingLine{line, 1})
	}
	if uses != e.Count || list[0].line != int(e.Line) {
		return first, nil
	}
	return list, nil
}

// analyse parses the file once.
func (f *referring) analyse(ctx context.Context) error {
	if f.analysed {
		return nil
	}
	f.analysed = true
	if !f.read {
		f.read = true
		f.text, _ = f.folder.text(f.rel) // else it is gone, or left out by now
	}
	record, err := f.folder.index.Store().ByPath(ctx, f.rel)
	if err != nil || record == nil {
		return err
	}
	syn, err := syntax.Analyze(lang.Detect(f.rel, []byte(f.text)), []byte(f.text))
	if err != nil || len(syn.Symbols) != len(record.SymbolIDs) {
		return nil // it changed, or cannot be read as code any more
	}
	f.refs, f.ids = syn.Refs, record.SymbolIDs
	return nil
}
