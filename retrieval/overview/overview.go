// Package overview describes a repository from its index alone: what it is for, how it is laid
// out, where it begins, what it declares that much else uses, what it needs and how it is
// tested. Everything it says stands at a place that it names.
package overview

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"quarry/index/lang"
	"quarry/index/syntax"
	"quarry/retrieval"
	"quarry/retrieval/workspace"
)

// Source is what an overview is made from; workspace.Workspace has it.
type Source interface {
	Files(ctx context.Context, keep func(workspace.File) bool) ([]workspace.File, *workspace.Missing, error)
	Text(path string) (string, error)
	// Learned waits until Searchable has everything, and answers what it lacks then.
	Learned(ctx context.Context) (*workspace.Missing, error)
	Searchable() []*workspace.Searchable
	Name(path string) string
	LeftOut(ctx context.Context) (map[string]int, error)
}

// Place is lines of a file, 1-based and inclusive, as they are cited: path:line-line.
type Place struct {
	Path       string
	Start, End int
}

func (p Place) String() string { return fmt.Sprintf("%s:%d-%d", p.Path, p.Start, p.End) }

// Note is a sentence with the place it rests on.
type Note struct {
	Place
	Text string
}

// Folder is a folder with what it is for.
type Folder struct {
	Path string
	// Files are those below it, Tests those of them that test.
	Files, Tests int
	// Purpose is what a README or a doc comment says, with no text if none does.
	Purpose Note
}

// Declaration is a declaration that is used.
type Declaration struct {
	Place
	Name      string
	Signature string
	// UsedBy is how many files use the name.
	UsedBy int
}

// Manifest is a file that says what a package needs.
type Manifest struct {
	Place
	Needs []string
}

// Count is how many files there are of something.
type Count struct {
	Name  string
	Files int
}

// Overview is what is said of a repository or of a folder in it.
type Overview struct {
	// Folder is what is described, "" for all of it.
	Folder    string
	Purpose   []Note
	Files     int
	Languages []Count
	Folders   []Folder
	// Entries are where programs begin and packages are entered.
	Entries []Note
	// Used are the declarations that most files use, of names that one declaration has.
	Used      []Declaration
	Manifests []Manifest
	// Commands are how it is built, run and tested, as manifests say.
	Commands []Note
	// TestFiles is how many files test, TestFolders where they are.
	TestFiles   int
	TestFolders []Count
	// Documents are pieces of prose, the README left out; prose are all of them near the top.
	Documents []string
	prose     []string
	// LeftOut counts what is not indexed, by reason.
	LeftOut map[string]int
	// Missing is what the index did not know yet, nil if nothing.
	Missing *workspace.Missing
	// Cut: there was no time to read all that is to be said.
	Cut bool
}

// How much an overview looks at and says.
const (
	maxFolders   = 40
	maxUsed      = 40
	maxEntries   = 30
	maxDocuments = 20
	// maxGuideDepth is how many folders above a document that is found by its name: docs/ in
	// one folder of several.
	maxGuideDepth = 2
	maxManifests  = 20
	// maxPurposes is how many folders' own words are looked up: each is a file that is
	// parsed.
	maxPurposes = 40
	// minName is the shortest name whose uses are counted: of shorter ones many mean
	// something else.
	minName = 4
)

// Make describes what lies in a folder, named as files are; "" is everything.
//
// It reads files for at most patience, the wait for the index included: while that is made, each
// takes many times as long.
func Make(ctx context.Context, src Source, folder string) (*Overview, error) {
	until := time.Now().Add(patience)
	return describe(ctx, src, folder, func() bool { return time.Now().After(until) })
}

// patience is twice what a question waits for the index.
const patience = 10 * time.Second

// describe is Make, which reads nothing more when it is late.
func describe(ctx context.Context, src Source, folder string, late func() bool) (*Overview, error) {
	prefix := ""
	if folder != "" {
		prefix = strings.TrimSuffix(folder, "/") + "/"
	}
	ctx = workspace.Question(ctx)
	files, missing, err := src.Files(ctx, func(f workspace.File) bool { return strings.HasPrefix(f.Name, prefix) })
	if err != nil {
		return nil, err
	}
	m := maker{Overview: &Overview{Folder: strings.TrimSuffix(folder, "/"), Files: len(files), Missing: missing}, ctx: ctx, src: src, late: late, prefix: prefix, byDir: map[string][]workspace.File{}, built: map[string]bool{}, managers: map[string]string{}}
	for _, f := range files {
		m.byDir[path.Dir(f.Name)] = append(m.byDir[path.Dir(f.Name)], f)
	}
	if m.LeftOut, err = src.LeftOut(ctx); err != nil {
		return nil, err
	}
	m.count(files)
	m.folders(files)
	if err := m.manifests(files); err != nil {
		return nil, err
	}
	learning, err := src.Learned(ctx)
	if err != nil {
		return nil, err
	}
	m.Missing = cmp.Or(m.Missing, learning)
	if err := m.declarations(); err != nil {
		return nil, err
	}
	m.Purpose = m.purposes()
	return m.Overview, ctx.Err()
}

// maker is an overview that is being made.
type maker struct {
	*Overview
	ctx    context.Context
	src    Source
	late   func() bool
	prefix string
	byDir  map[string][]workspace.File
	// described are what manifests say of their packages, those near the root first.
	described []Note
	// built are the kinds of manifests that said how they are built.
	built map[string]bool
	// managers are the tools that run the scripts of manifests, by folders that say so.
	managers map[string]string
}

var errLate = errors.New("there is no time left to read it")

// text is the text of a file, while there is time to read it.
func (m *maker) text(path string) (string, error) {
	if m.Cut = m.Cut || m.late(); m.Cut {
		return "", errLate
	}
	return m.src.Text(path)
}

// count counts languages and tests, and lists the documents.
func (m *maker) count(files []workspace.File) {
	languages, tests := map[string]int{}, map[string]int{}
	for _, f := range files {
		l := lang.Detect(f.Name, nil)
		t, auxiliary := retrieval.TypeOf(f.Name)
		switch {
		case t == retrieval.TypeTest && isCode(l):
			m.TestFiles++
			tests[path.Dir(f.Name)]++
		case t == retrieval.TypeDoc && !auxiliary && !isReadme(f.Name):
			m.Documents = append(m.Documents, f.Name)
		}
		if isCode(l) {
			languages[l]++
		}
		if base := path.Base(f.Name); !auxiliary && t != retrieval.TypeTest && (base == "__main__.py" || base == "manage.py") {
			m.Entries = append(m.Entries, Note{Place{f.Name, 1, 1}, "python runs this file"})
		}
		if dir := strings.TrimPrefix(path.Dir(f.Name), m.prefix); !auxiliary && t != retrieval.TypeTest && (dir == "bin" || dir == "exe") {
			m.program(f)
		}
	}
	m.Languages, m.TestFolders = counted(languages), counted(tests)
	// Those near the root come first: they are about all of it.
	slices.SortStableFunc(m.Documents, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
	for _, d := range m.Documents {
		if strings.Count(strings.TrimPrefix(d, m.prefix), "/") <= maxGuideDepth {
			m.prose = append(m.prose, d)
		}
	}
	m.Documents = m.Documents[:min(maxDocuments, len(m.Documents))]
}

// program notes a file that a shell runs as a program.
func (m *maker) program(f workspace.File) {
	text, err := m.text(f.Path)
	if err != nil || !strings.HasPrefix(text, "#!") || len(m.Entries) >= maxEntries {
		return
	}
	first, _, _ := strings.Cut(text, "\n")
	m.Entries = append(m.Entries, Note{Place{f.Name, 1, 1}, "a program, " + oneLine(first)})
}

// isTemplate answers whether what a file declares is text that is filled in for elsewhere.
func isTemplate(name string) bool {
	switch path.Ext(name) {
	case ".erb", ".tmpl", ".tpl", ".j2", ".jinja", ".mustache", ".in":
		return true
	}
	return false
}

func isCode(language string) bool {
	l, ok := lang.Find(language)
	return ok && l.Content == lang.Code
}

// counted are counts, the largest first.
func counted(counts map[string]int) (list []Count) {
	for name, n := range counts {
		list = append(list, Count{name, n})
	}
	slices.SortFunc(list, func(a, b Count) int { return cmp.Or(cmp.Compare(b.Files, a.Files), cmp.Compare(a.Name, b.Name)) })
	return list
}

func isReadme(name string) bool {
	base := strings.ToLower(path.Base(name))
	return strings.TrimSuffix(base, path.Ext(base)) == "readme"
}

// folders describes the folders down to two levels, of many those with most files.
func (m *maker) folders(files []workspace.File) {
	by := map[string]*Folder{}
	for _, f := range files {
		rest := strings.TrimPrefix(f.Name, m.prefix)
		t, _ := retrieval.TypeOf(f.Name)
		dir := ""
		for level := range 2 {
			next, deeper, ok := strings.Cut(rest, "/")
			if !ok {
				break
			}
			if dir, rest = path.Join(dir, next), deeper; level >= 0 && by[dir] == nil {
				by[dir] = &Folder{Path: path.Join(m.prefix, dir)}
			}
			by[dir].Files++
			if t == retrieval.TypeTest {
				by[dir].Tests++
			}
		}
	}
	var list []*Folder
	for _, f := range by {
		list = append(list, f)
	}
	// Those of the first level come first, and then the fuller ones.
	level := func(f *Folder) int { return strings.Count(strings.TrimPrefix(f.Path, m.prefix), "/") }
	slices.SortFunc(list, func(a, b *Folder) int {
		return cmp.Or(cmp.Compare(level(a), level(b)), cmp.Compare(b.Files, a.Files), cmp.Compare(a.Path, b.Path))
	})
	list = list[:min(maxFolders, len(list))]
	for i, f := range list {
		if i < maxPurposes && m.ctx.Err() == nil {
			f.Purpose = m.purposeOf(f.Path)
		}
		m.Folders = append(m.Folders, *f)
	}
	slices.SortFunc(m.Folders, func(a, b Folder) int { return cmp.Compare(a.Path, b.Path) })
}

// speaking are the files that speak for their folder, the best first; a file named like the
// folder is one, too.
var speaking = []string{"doc", "__init__", "mod", "lib", "index", "main", "package-info", "package"}

// purposeOf is what a folder's README says it is for, or the doc comment of a file that speaks
// for it.
func (m *maker) purposeOf(dir string) Note {
	var best workspace.File
	rank := len(speaking) + 2
	for _, f := range m.byDir[dir] {
		base := strings.ToLower(path.Base(f.Name))
		stem := strings.TrimSuffix(base, path.Ext(base))
		r := slices.Index(speaking, stem) + 1
		switch t, _ := retrieval.TypeOf(f.Name); {
		case isReadme(f.Name):
			r = 0
		case t != retrieval.TypeCode || !isCode(lang.Detect(f.Name, nil)):
			continue
		case stem == strings.ToLower(path.Base(dir)):
			r = 1
		case r == 0:
			r = len(speaking) + 1 // any other file, the first of them
		}
		if r < rank {
			best, rank = f, r
		}
	}
	if best.Path == "" {
		return Note{}
	}
	text, err := m.text(best.Path)
	if err != nil {
		return Note{} // gone, or left out by now
	}
	if isReadme(best.Name) {
		if opening, from, to := syntax.Opening(text); opening != "" {
			return Note{Place{best.Name, from, to}, opening}
		}
		return Note{}
	}
	return headOf(best.Name, text)
}

// headOf is the first paragraph of the comment or doc string at the head of a file.
func headOf(name, text string) Note {
	tree, err := syntax.Parse(lang.Detect(name, []byte(text)), []byte(text))
	if err != nil {
		return Note{}
	}
	defer tree.Close()
	doc := tree.Analyze().Doc
	opening, _, _ := syntax.Opening(doc)
	if opening == "" || strings.HasPrefix(opening, "@") { // or it only names itself: @module Doc
		return Note{}
	}
	// Where it stands: the first line that has its beginning.
	first, _, _ := strings.Cut(strings.TrimSpace(doc), "\n")
	lines := strings.Split(text, "\n")
	at := slices.IndexFunc(lines, func(l string) bool { return first != "" && strings.Contains(l, strings.TrimSpace(first)) })
	if at < 0 {
		at = 0
	}
	end := min(len(lines), at+1+strings.Count(strings.SplitN(strings.TrimSpace(doc), "\n\n", 2)[0], "\n"))
	return Note{Place{name, at + 1, end}, opening}
}

// used is a declaration whose name other files use.
type used struct {
	snap  *retrieval.Snapshot
	id    retrieval.DeclarationID
	name  string // of its file
	files int
}

// declarations finds where programs begin and which declarations are used most.
func (m *maker) declarations() error {
	var all []used
	for _, s := range m.src.Searchable() {
		snap := s.Snapshot
		last := ""
		for _, dir := range slices.Sorted(snap.Folders()) {
			if dir == last {
				continue
			}
			last = dir
			for _, file := range snap.FilesIn(dir) {
				if m.ctx.Err() != nil {
					return m.ctx.Err()
				}
				rel := snap.Path(file)
				name := m.src.Name(filepath.Join(s.Root, filepath.FromSlash(rel)))
				t, auxiliary := retrieval.TypeOf(rel)
				if t != retrieval.TypeCode || auxiliary || !strings.HasPrefix(name, m.prefix) || !isCode(snap.Language(file)) {
					continue
				}
				for id := range snap.DeclaredIn(file) {
					if u := (used{snap, id, name, 0}); m.isUsed(&u) {
						all = append(all, u)
					}
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b used) int { return cmp.Compare(b.files, a.files) })
	for _, u := range all[:min(maxUsed, len(all))] {
		sig := u.snap.Signature(u.id)
		name := sig.Name
		if sig.Container != "" {
			name = sig.Container + "." + sig.Name
		}
		m.Used = append(m.Used, Declaration{Place{u.name, sig.Line, sig.End}, name, oneLine(u.snap.SignatureText(u.id)), u.files})
	}
	slices.SortStableFunc(m.Entries, func(a, b Note) int { return strings.Count(a.Path, "/") - strings.Count(b.Path, "/") })
	m.Entries = m.Entries[:min(maxEntries, len(m.Entries))]
	return nil
}

// isUsed counts the files that use a declaration's name, and answers whether there are some
// and the name is that of no other. Where a program begins is noted.
func (m *maker) isUsed(u *used) bool {
	sig := u.snap.Signature(u.id)
	// A method begins a program where it stands for no object.
	function := sig.Kind == syntax.KindFunction || sig.Kind == syntax.KindMethod && strings.Contains(u.snap.SignatureText(u.id), "static")
	switch {
	case ownAnnotations[sig.Name]:
		return false
	case function && (sig.Name == "main" || sig.Name == "Main") && isTemplate(u.name):
		return false
	case function && (sig.Name == "main" || sig.Name == "Main"):
		m.Entries = append(m.Entries, Note{Place{u.name, sig.Line, sig.End}, oneLine(u.snap.SignatureText(u.id))})
		return false
	case len(sig.Name) < minName, sig.Kind == syntax.KindField, sig.Kind == syntax.KindVar && sig.Container != "":
		return false
	}
	u.files = u.snap.UsedBy(sig.Name)
	return u.files > 1 && len(u.snap.DeclarationsOf(sig.Name)) == 1
}

// ownAnnotations are Java's own, which are no uses of what has such a name here.
var ownAnnotations = map[string]bool{"Override": true, "Deprecated": true, "FunctionalInterface": true, "SuppressWarnings": true, "SafeVarargs": true}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
