package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"quarry/index/lang"
	"quarry/index/link"
	"quarry/index/store"
	"quarry/index/syntax"
	"quarry/retrieval/pattern"
)

// Renaming is where a declaration's name is to be changed.
type Renaming struct {
	// Files have at least one place each, in the order of their names.
	Files []RenamedFile
	// Check are places among them that were taken for the declaration's name because no other
	// declaration has it, Left are places that may mean the declaration and stay as they
	// are. Both name their lines.
	Check, Left []Spot
	// Checked says what proves that the code compiles as before, "" where nothing does.
	Checked string
	Missing *Missing
}

// RenamedFile is a file with the places to change.
type RenamedFile struct {
	// Path is absolute.
	Path  string
	Spans []syntax.Span
}

// Spot is a line of a file.
type Spot struct {
	Path string
	Line int
	Text string
}

// Unnamed is the error for a name that a declaration cannot be given.
type Unnamed struct{ Reason string }

func (e *Unnamed) Error() string { return e.Reason }

var wholeName = regexp.MustCompile(`^[\pL_$][\pL\pN_$]*[?!]?$`)

const (
	// maxNamesakes is how many other declarations a name may have.
	maxNamesakes = 40
	// maxRenamed is how many files a renaming may touch, and maxPlaces how many places it may look
	// at in languages without a type checker. Of the 5,028 files that the bounds of package syntax
	// were measured on, the one that uses a name most does so 1,700 times.
	maxRenamed, maxPlaces = 300, 10_000
	// maxDeclared is how many declarations of a name are counted.
	maxDeclared = 10_000
	// surely is the weight from which a reference is taken to mean its declaration.
	surely = .5
	// maxName is the longest name that is taken, in bytes.
	maxName = 100
)

// Rename finds where the name of a declaration stands, by the references that the index
// resolves. Comments and strings stay as they are, but for the declaration's own doc comment.
func (w *Workspace) Rename(ctx context.Context, s Symbol, to string) (Renaming, error) {
	switch {
	case !wholeName.MatchString(to), len(to) > maxName:
		return Renaming{}, &Unnamed{fmt.Sprintf("%q is no name; give letters, digits and underscores", to)}
	case to == s.Name:
		return Renaming{}, &Unnamed{fmt.Sprintf("it is called %s already", to)}
	case s.Kind == syntax.KindModule, s.Kind == syntax.KindSection:
		return Renaming{}, &Unnamed{fmt.Sprintf("a %s is renamed by its file or folder, not here", s.Kind)}
	}
	missing, err := w.await(ctx, needWords, wait{asked(ctx), true, w.opts.WaitLimit})
	if err != nil {
		return Renaming{}, err
	}
	if missing != nil {
		return Renaming{}, &NotReady{*missing} // a place that is not known would be missed
	}
	r := renamer{w: w, of: s, to: to, folders: w.snapshot()}
	if err := r.read(ctx); err != nil {
		return Renaming{}, err
	}
	if slices.Contains(r.language.Reserved, to) {
		return Renaming{}, &Unnamed{fmt.Sprintf("%s is a keyword of %s", to, r.language.ID)}
	}
	if err := r.clash(ctx); err != nil {
		return Renaming{}, err
	}
	want, err := pattern.Compile(regexp.QuoteMeta(s.Name))
	if err != nil {
		return Renaming{}, &Unnamed{err.Error()}
	}
	files, _, err := w.matchingNow(ctx, want, nil)
	if err != nil {
		return Renaming{}, err
	}
	if r.language.ID == "go" {
		err := r.typed(ctx, files)
		return r.found, err
	}
	for _, f := range files {
		if ctx.Err() != nil {
			return Renaming{}, ctx.Err()
		}
		owner, rel := innermost(r.folders, f.Path)
		if owner != s.folder || lang.Family(lang.Detect(rel, nil)) != r.language.Family {
			continue
		}
		if err := r.file(ctx, f.Path, rel); err != nil {
			return Renaming{}, err
		}
		if len(r.found.Files) > maxRenamed {
			return Renaming{}, &Unnamed{fmt.Sprintf("%s stands in more than %d files; a change of that size is for a tool that knows the types", s.Name, maxRenamed)}
		}
	}
	if s.Container != "" && len(r.found.Left) > 0 {
		at := r.found.Left[0]
		return Renaming{}, &Unnamed{fmt.Sprintf("%d of the places may mean it or another %s, such as %s:%d; use your language server's rename, which knows the types", len(r.found.Left), s.Name, w.Name(at.Path), at.Line)}
	}
	return r.found, nil
}

// usedIn is where references stand, as edges say.
type usedIn struct {
	file, symbol int64
	kind         store.EdgeKind
}

// renamer finds the places of one renaming.
type renamer struct {
	w        *Workspace
	folders  []*folder
	of       Symbol
	to       string
	language *lang.Language
	rel      string // of the declaration's file
	// own and others are the weights of references that mean the declaration, and of those
	// that mean its namesakes.
	own, others map[usedIn]float32
	ownFiles    map[int64]bool
	alone       bool // no other declaration has the name
	twin        bool // one beside it has
	places      int  // that were looked at
	found       Renaming
}

// read finds the references of the declaration and of its namesakes.
func (r *renamer) read(ctx context.Context) error {
	r.own, r.others, r.ownFiles = map[usedIn]float32{}, map[usedIn]float32{}, map[int64]bool{}
	_, r.rel = innermost(r.folders, r.of.Path)
	r.language = lang.Of(lang.Detect(r.rel, nil))
	if r.language.ID == "go" { // its type checker tells namesakes apart, however many there are
		return nil
	}
	hits, err := r.declared(ctx, r.of.Name)
	if err != nil {
		return err
	}
	if len(hits) > maxNamesakes+1 { // itself is one
		return &Unnamed{fmt.Sprintf("more than %d declarations are called %s; which of them a place means takes a tool that knows the types", maxNamesakes, r.of.Name)}
	}
	named, err := declaredSymbols(ctx, r.folders, hits, len(hits))
	if err != nil {
		return err
	}
	named = slices.DeleteFunc(named, func(s Symbol) bool { return s.id == r.of.id })
	r.alone = len(named) == 0
	for _, s := range named {
		_, rel := innermost(r.folders, s.Path)
		beside := s.Container == r.of.Container && r.isBeside(rel)
		if beside && isCallable(s.Kind) && isCallable(r.of.Kind) {
			return &Unnamed{fmt.Sprintf("%s is declared again at %s:%d; which of them a call means takes a tool that knows the types, such as your language server's rename", r.of.Name, r.w.Name(s.Path), s.Span.StartLine)}
		}
		r.twin = r.twin || beside
	}
	for _, s := range append(named, r.of) {
		edges, err := link.To(ctx, r.of.folder.index.Store(), s.id)
		if err != nil {
			return err
		}
		into := r.others
		if s.id == r.of.id {
			into = r.own
		}
		for _, e := range edges {
			k := usedIn{e.FromFile, e.FromSymbol, e.Kind}
			into[k] = max(into[k], e.Weight)
			if s.id == r.of.id && e.Weight >= surely {
				r.ownFiles[e.FromFile] = true
			}
		}
	}
	return nil
}

// declared are the declarations of a name in the folder and the languages of the one to rename.
func (r *renamer) declared(ctx context.Context, name string) ([]hit, error) {
	hits, err := declaredNow(ctx, []*folder{r.of.folder}, name, nil, maxDeclared)
	return slices.DeleteFunc(hits, func(h hit) bool {
		return h.Name != name || lang.Family(lang.Detect(h.Path, nil)) != r.language.Family
	}), err
}

func isCallable(k syntax.Kind) bool { return k == syntax.KindFunction || k == syntax.KindMethod }

// clash refuses a name that is taken where the declaration stands.
func (r *renamer) clash(ctx context.Context) error {
	hits, err := r.declared(ctx, r.to)
	if err != nil {
		return err
	}
	beside := slices.IndexFunc(hits, func(h hit) bool { return h.Container == r.of.Container && r.isBeside(h.Path) })
	if beside < 0 {
		return nil
	}
	taken, err := declaredSymbols(ctx, r.folders, hits[beside:beside+1], 1)
	if err != nil || len(taken) == 0 {
		return err
	}
	return &Unnamed{fmt.Sprintf("%s is declared there already, at %s:%d; give another name", r.to, r.w.Name(taken[0].Path), taken[0].Span.StartLine)}
}

// isBeside answers whether a file sees the declaration's name without an import.
func (r *renamer) isBeside(rel string) bool {
	return rel == r.rel || r.language.FolderScope && dirOf(rel) == dirOf(r.rel)
}

func dirOf(rel string) string { return rel[:strings.LastIndexByte(rel, '/')+1] }

// verdict is what a place means.
type verdict int

const (
	another  verdict = iota // something else
	meant                   // the declaration
	probably                // the declaration, since nothing else has the name
	unclear                 // perhaps the declaration
)

// file finds the places in one file.
func (r *renamer) file(ctx context.Context, path, rel string) error {
	text, err := r.of.folder.text(rel)
	if err != nil {
		return nil // gone, or left out by now
	}
	mentions, syn, err := syntax.Mentions(ctx, lang.Detect(rel, []byte(text)), []byte(text), r.of.Name, maxPlaces-r.places)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, syntax.ErrManyMentions) {
		return &Unnamed{fmt.Sprintf("%s stands in more than %d places, with those in %s; use your language server's rename, or name that file in .quarryignore", r.of.Name, maxPlaces, r.w.Name(path))}
	}
	if err != nil {
		if rel == r.rel {
			return &Unnamed{fmt.Sprintf("%s is in a language whose names quarry does not know", r.w.Name(path))}
		}
		return nil
	}
	record, err := r.of.folder.index.Store().ByPath(ctx, rel)
	if err != nil || record == nil {
		return err
	}
	r.places += len(mentions)
	lines := strings.Split(text, "\n")
	out := RenamedFile{Path: path}
	for i := range mentions {
		m := &mentions[i]
		spot := Spot{path, int(m.Span.StartLine), strings.TrimSpace(lines[m.Span.StartLine-1])}
		switch r.verdict(m, syn, record, rel) {
		case probably:
			r.found.Check = append(r.found.Check, spot)
			out.Spans = append(out.Spans, m.Span)
		case meant:
			out.Spans = append(out.Spans, m.Span)
		case unclear:
			r.found.Left = append(r.found.Left, spot)
		}
	}
	if rel == r.rel {
		out.Spans = append(out.Spans, r.ownComment(text)...)
		slices.SortFunc(out.Spans, func(a, b syntax.Span) int { return cmp.Compare(a.Start, b.Start) })
		out.Spans = slices.CompactFunc(out.Spans, func(a, b syntax.Span) bool { return a.Start == b.Start })
	}
	if len(out.Spans) > 0 {
		r.found.Files = append(r.found.Files, out)
	}
	return nil
}

// verdict says what a place means.
func (r *renamer) verdict(m *syntax.Mention, syn *syntax.File, record *store.File, rel string) verdict {
	member := r.of.Container != ""
	switch {
	case m.Symbol >= 0:
		if rel == r.rel && syn.Symbols[m.Symbol].NameSpan == r.of.NameSpan {
			return meant
		}
		// A type's method of the same name may be what implements or overrides this one.
		if member && syn.Symbols[m.Symbol].Kind == syntax.KindMethod && r.of.Kind == syntax.KindMethod {
			return unclear
		}
		return another
	case m.Local:
		return another
	}
	if m.Ref >= 0 {
		ref := &syn.Refs[m.Ref]
		at := usedIn{file: record.ID, kind: store.EdgeKind(ref.Kind)}
		if ref.From >= 0 && ref.From < len(record.SymbolIDs) {
			at.symbol = record.SymbolIDs[ref.From]
		}
		own, other := r.own[at], r.others[at]
		switch {
		case own >= surely && other < surely:
			return meant
		case own == 0 && other > 0:
			return another
		case own > 0 && r.alone:
			return probably
		case own > 0:
			return unclear
		}
	}
	// The index resolves no such place: a value, an import, a member that is not called.
	near := rel == r.rel || r.isBeside(rel)
	switch {
	case member && !m.Member:
		return another
	case member && !r.alone, m.Member && !member && !r.ownFiles[record.ID] && !m.Import:
		return unclear
	case near && !member && !r.twin, r.ownFiles[record.ID] && (m.Import || r.alone && !member):
		return meant
	case near, r.alone:
		return probably
	}
	return unclear
}

// ownComment are the places of the name in the declaration's doc comment. A name that may be
// a word of a sentence counts only in code quotes, and where a comment of Go begins with it.
func (r *renamer) ownComment(text string) (list []syntax.Span) {
	from, to := int(r.of.Span.Start), int(r.of.NameSpan.Start)
	if from >= to || to > len(text) || r.of.Doc == "" {
		return nil
	}
	whole := regexp.MustCompile(`(?:^|[^\pL\pN_])(` + regexp.QuoteMeta(r.of.Name) + `)(?:$|[^\pL\pN_])`)
	isWord, first := plainWord.MatchString(r.of.Name), r.language.ID == "go"
	for line := range strings.Lines(text[from:to]) {
		if commentLine.MatchString(line) { // attributes stand there, too
			for _, m := range whole.FindAllStringSubmatchIndex(line, -1) {
				start, end := m[2], m[3]
				begins := first && strings.Trim(line[:start], " \t/*") == ""
				quoted := start > 0 && strings.ContainsRune("`[", rune(line[start-1])) && end < len(line) && strings.ContainsRune("`](", rune(line[end]))
				if !isWord || begins || quoted {
					list = append(list, syntax.Span{Start: uint32(from + start), End: uint32(from + end)})
				}
			}
			first = false
		}
		from += len(line)
	}
	return list
}

// plainWord is a name that may be a word of a sentence.
var plainWord = regexp.MustCompile(`^\p{Ll}+$`)

var commentLine = regexp.MustCompile(`^\s*(?://|/\*|\*|--|;|#\s)`)
