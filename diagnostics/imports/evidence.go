package imports

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"quarry/index/lang"
	"quarry/index/syntax"
	"quarry/retrieval"
)

// way is one of the ways to make a name known.
type way struct {
	given
	// files is how many files import it so, using how many of them use what the document takes
	// from it, too.
	files, using int
	// example is the nearest file that does, im its import.
	example string
	im      syntax.Import
	near    []string // some more, the nearest first
	// declared is a file that declares it, library says that the language's own library has it;
	// both only where no file imports it.
	declared string
	library  bool
}

func (w *way) why() string {
	switch {
	case w.files == 1:
		return "as " + w.example + " does"
	case w.files > 1:
		return fmt.Sprintf("as %d files do", w.files)
	case w.library:
		return "of the standard library"
	}
	return "declared in " + w.declared
}

// weight is what a way counts for against the others.
func (w *way) weight(u unknown) int {
	if u.member != "" && w.using >= 0 {
		return w.using
	}
	return w.files
}

// search is one look for the ways to make a name known.
type search struct {
	// ctx is the asker's. It is looked at between places and between files, of which there may be
	// thousands, so that one who leaves is not worked for.
	ctx      context.Context
	finder   *Finder
	snap     *retrieval.Snapshot
	doc      *document
	root     string
	language language
	unknown  unknown
	// users are the files that use the member; crates what is known of the folders of crates.
	users  map[retrieval.FileID]bool
	crates map[string]string
	// texts and facts are of the files that were read.
	texts map[string]string
	facts map[string]*syntax.File
	// headers are those that C files include in brackets, by the file.
	headers map[string]map[string]bool
	// modules are names of Python's files, near how near files are, declaring which of Rust's have the
	// unknown name, each as far as it was asked for.
	modules   map[string]pythonModule
	near      map[string]int
	declaring map[string]bool
	// relative is by how many more Python's files import it by a relative path than by a whole one.
	relative int
}

const (
	// mostRead is how many files are read to see how a name is imported from a place.
	mostRead = 3
	// mostDeclared is how many declarations of a name are looked at: a name that more have says
	// nothing.
	mostDeclared = 8
	// mostPlaces is how many imports of a name are counted: more change nothing.
	mostPlaces = 10_000
)

// ways are those that are known, the best first.
func (s *search) ways() []way {
	family := lang.Family(lang.Canonical(s.doc.Language))
	type place struct {
		file retrieval.FileID
		im   syntax.Import
	}
	var places []place
	s.snap.Importing(s.unknown.name, func(p string) bool { return s.language.mayGive(p, s.unknown.name) },
		func(file retrieval.FileID, im syntax.Import) {
			if len(places) < mostPlaces && s.ctx.Err() == nil {
				places = append(places, place{file, im})
			}
		})
	by := map[given]*way{}
	var list []*way
	allowed := map[retrieval.FileID]bool{}
	last := map[*way]retrieval.FileID{}
	for i := range places {
		if s.ctx.Err() != nil {
			return nil
		}
		p := &places[i]
		file := s.snap.Path(p.file)
		if file == s.doc.rel || lang.Family(s.snap.Language(p.file)) != family {
			continue
		}
		if _, asked := allowed[p.file]; !asked {
			allowed[p.file] = s.finder.workspace.Allows(s.root, file)
		}
		g, ok := s.language.gives(s, file, &p.im)
		if !ok || !allowed[p.file] {
			continue
		}
		w := by[g]
		if w == nil {
			w = &way{given: g}
			by[g], list = w, append(list, w)
		}
		if of, counted := last[w]; counted && of == p.file {
			continue
		}
		last[w] = p.file
		w.files++
		if s.unknown.member != "" && s.uses(p.file) {
			w.using++
		}
		if w.near = append(w.near, file); w.files == 1 || s.nearer(file, w.example) {
			w.example, w.im = file, p.im
		}
	}
	var ways []way
	for _, w := range list {
		slices.SortStableFunc(w.near, func(a, b string) int { return s.nearness(b) - s.nearness(a) })
		ways = append(ways, *w)
	}
	slices.SortStableFunc(ways, func(a, b way) int {
		return cmp.Or(cmp.Compare(b.weight(s.unknown), a.weight(s.unknown)), cmp.Compare(b.files, a.files),
			cmp.Compare(s.nearness(b.example), s.nearness(a.example)), cmp.Compare(len(a.module), len(b.module)), strings.Compare(a.module, b.module))
	})
	for _, w := range s.language.declared(s) {
		if s.ctx.Err() != nil {
			return nil
		}
		if !slices.ContainsFunc(ways, func(have way) bool { return have.module == w.module && have.name == w.name }) {
			ways = append(ways, w)
		}
	}
	ways = s.withoutTwins(ways)
	s.takeForms(ways)
	return ways
}

// withoutTwins leaves out, of ways to take a name from files of one name, all but the one nearest to the
// document: the others are copies that a build made, or other ways to write the same path.
func (s *search) withoutTwins(ways []way) []way {
	type file struct{ stem, name, local string }
	nearest := map[file]int{}
	key := func(w *way) file {
		base := path.Base(w.module)
		return file{strings.TrimSuffix(base, path.Ext(base)), w.name, w.local}
	}
	away := func(w *way) int { return s.nearness(strings.TrimPrefix(w.module, "/")) }
	for i := range ways {
		if w := &ways[i]; strings.HasPrefix(w.module, "/") {
			if at, ok := nearest[key(w)]; !ok || away(w) > away(&ways[at]) {
				nearest[key(w)] = i
			}
		}
	}
	var kept []way
	for i := range ways {
		if at, ok := nearest[key(&ways[i])]; !ok || at == i || !strings.HasPrefix(ways[i].module, "/") {
			kept = append(kept, ways[i])
		}
	}
	return kept
}

// uses answers whether a file uses the member that the document takes from the name.
func (s *search) uses(file retrieval.FileID) bool {
	if s.users == nil {
		s.users = map[retrieval.FileID]bool{}
		for _, id := range s.snap.Using(s.unknown.member) {
			s.users[id] = true
		}
	}
	return s.users[file]
}

// takeForms looks at some files for what the index does not know of their imports: most of
// them decide.
func (s *search) takeForms(ways []way) {
	for i := range ways[:min(len(ways), mostOffered)] {
		w := &ways[i]
		votes := map[form]int{}
		best := w.given
		for _, file := range w.near[:min(len(w.near), mostRead)] {
			if s.ctx.Err() != nil {
				return
			}
			text := s.textOf(file)
			if text == "" || len(text) > longestExample {
				continue
			}
			g := s.language.form(text, &w.im, w.given)
			votes[g.form]++
			if votes[g.form] > votes[best.form] || len(votes) == 1 {
				best = g
			}
		}
		w.given = best
	}
}

func (s *search) nearer(a, b string) bool { return s.nearness(a) > s.nearness(b) }

// nearness is how many folders a file shares with the document.
func (s *search) nearness(file string) (n int) {
	if file == "" {
		return -1
	}
	n, known := s.near[file]
	if known {
		return n
	}
	a, b := strings.Split(path.Dir(file), "/"), strings.Split(s.doc.dir(), "/")
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	if path.Dir(file) == s.doc.dir() {
		n++
	}
	if s.near == nil {
		s.near = map[string]int{}
	}
	s.near[file] = n
	return n
}

// declaration is a declaration of the name at the top of a file that the document can have.
type declaration struct {
	file string
	retrieval.Signature
	signature string
}

// declarations are those of a name in the files of the language's family, the nearest first.
func (s *search) declarations(name string) (list []declaration) {
	ids := s.snap.DeclarationsOf(name)
	family := lang.Family(lang.Canonical(s.doc.Language))
	for _, id := range ids {
		if s.ctx.Err() != nil || len(list) > mostDeclared {
			return nil
		}
		sig := s.snap.Signature(id)
		file := s.snap.Path(sig.File)
		language := s.snap.Language(sig.File)
		if file == s.doc.rel || lang.Family(language) != family || sig.Kind == syntax.KindField || !s.finder.workspace.Allows(s.root, file) {
			continue
		}
		text := s.snap.SignatureText(id)
		if !lang.Of(language).IsPublic(name, text, false) && language != "python" { // which has private names within a package
			continue
		}
		list = append(list, declaration{file, sig, text})
	}
	if len(list) > mostDeclared {
		return nil
	}
	slices.SortStableFunc(list, func(a, b declaration) int {
		return cmp.Or(cmp.Compare(isTestAs(a.file), isTestAs(b.file)), s.nearness(b.file)-s.nearness(a.file), strings.Compare(a.file, b.file))
	})
	return list
}

func isTestAs(file string) int {
	if lang.IsTest(file) {
		return 1
	}
	return 0
}

// evidence is where a way is seen: an import in the nearest file, or a declaration.
func (s *search) evidence(w *way) (file string, line int) {
	if file = w.example; file == "" {
		file = w.declared
	}
	facts := s.factsOf(file)
	if facts == nil {
		return "", 0
	}
	for i := range facts.Imports {
		im := &facts.Imports[i]
		same := im.Path == w.im.Path && im.Alias == w.im.Alias && slices.Equal(im.Names, w.im.Names)
		if header := w.im.Path == "" && im.Path == w.module; w.example != "" && (same || header) {
			line = int(im.Span.StartLine)
			break
		}
	}
	for i := range facts.Symbols {
		if sym := &facts.Symbols[i]; line == 0 && w.example == "" && sym.Name == s.unknown.name && sym.Container == "" {
			line = int(sym.NameSpan.StartLine)
		}
	}
	if line == 0 {
		return "", 0
	}
	return filepath.Join(filepath.FromSlash(s.root), filepath.FromSlash(file)), line
}

func (s *search) isFile(file string) bool {
	_, ok := s.snap.FileAt(file)
	return ok
}

// textOf is the present text of a file of the folder, "" if it cannot be had.
func (s *search) textOf(file string) string {
	text, read := s.texts[file]
	if !read {
		var err error
		if text, err = s.finder.workspace.Text(filepath.Join(filepath.FromSlash(s.root), filepath.FromSlash(file))); err != nil {
			text = ""
		}
		if s.texts == nil {
			s.texts = map[string]string{}
		}
		s.texts[file] = text
	}
	return text
}

// factsOf is what a file of the folder yields, nil if it cannot be had or would take too long.
func (s *search) factsOf(file string) *syntax.File {
	facts, read := s.facts[file]
	if !read {
		if text := s.textOf(file); text != "" && len(text) <= longestExample {
			facts, _ = syntax.Analyze(s.doc.Language, []byte(text)) // its only error is a text of 4 GB
			if facts != nil && !isUsual(facts) {
				facts = nil
			}
		}
		if s.facts == nil {
			s.facts = map[string]*syntax.File{}
		}
		s.facts[file] = facts
	}
	return facts
}
