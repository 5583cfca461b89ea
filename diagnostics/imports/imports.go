// Package imports mends what is unknown to a tool because its import is missing, with no
// model: what a name means is what the other files of the workspace import by it.
//
// A diagnostic is read for the name that it does not know (unknown.go). The evidence is
// counted in what searches know of the workspace: which imports of other files give a file
// that name, which declarations it has, and for Go what the standard library calls so
// (evidence.go). Paths that are relative to a file are made the same for all files first.
// Then the import is written where the language's formatter would put it: into the
// statement that takes from the same place, else among its like (place.go, and one file a
// language).
//
// Nothing here writes a file. What is excluded from the index is no evidence.
package imports

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"quarry/agent"
	"quarry/index/lang"
	"quarry/index/syntax"
	"quarry/index/visible"
	"quarry/retrieval"
)

// Workspace is what imports are looked up in; workspace.Workspace has it.
type Workspace interface {
	// Snapshot is what is known of the folder that holds an absolute path, with the path
	// relative to it; nil if no folder does.
	Snapshot(path string) (snap *retrieval.Snapshot, rel string)
	// Text is the present text of a file by its absolute path; one that may not be shown is an
	// error.
	Text(path string) (string, error)
	// Allows answers whether a file may be shown, by its folder and its path there.
	Allows(root, path string) bool
}

const (
	// mostOffered is how many imports are offered for a name: a menu is read, not searched.
	mostOffered = 3
	// certainFiles is how many files must import a name in one way, and none in another, for a
	// fix to need no second opinion (bench/imports.md).
	certainFiles = 3
	// longestText is the longest text that is mended. Where an editor asks at every move of the
	// cursor, parsing more than that would be felt.
	longestText = 256 << 10
	// longestExample is the longest file that is parsed to see how others import a name.
	longestExample = 128 << 10
	// mostImports and mostNames are how many imports a file may have, and how many names with them,
	// for it to be read closely: each is looked at with what stands before it. No code that people
	// write has so many.
	mostImports, mostNames = 200, 1000
)

// isUsual answers whether a file has no more imports than code that people write.
func isUsual(file *syntax.File) bool {
	names := 0
	for i := range file.Imports {
		names += len(file.Imports[i].Names)
	}
	return len(file.Imports) <= mostImports && names <= mostNames
}

// What a module or a name is made of in languages that write it without quotes. A file's name may have
// more: what ends a statement, or begins a comment.
var (
	pythonName = regexp.MustCompile(`^(?:[\p{L}_][\p{L}\p{N}\p{M}_]*(?:\.[\p{L}_][\p{L}\p{N}\p{M}_]*)*)?$`)
	rustName   = regexp.MustCompile(`^(?:(?:r#)?[\p{L}_][\p{L}\p{N}\p{M}_]*(?:::(?:r#)?[\p{L}_][\p{L}\p{N}\p{M}_]*)*)?$`)
	jvmName    = regexp.MustCompile(`^(?:[\p{L}_$][\p{L}\p{N}\p{M}_$]*(?:\.[\p{L}_$][\p{L}\p{N}\p{M}_$]*)*)?$`)
)

// isPlain answers whether a module or a name can stand in an import as it is. A file's name may hold
// what ends a string or a statement, and code behind it.
func isPlain(l language, text string) bool {
	switch l.(type) {
	case python:
		return pythonName.MatchString(text)
	case rust:
		return rustName.MatchString(text)
	case jvm:
		return jvmName.MatchString(text)
	case clang:
		if strings.ContainsAny(text, "<>*") {
			return false
		}
	}
	return !strings.ContainsAny(text, "'\"`\\;") && !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || visible.Hidden(r) })
}

// Candidate is an import that would make a name known.
type Candidate struct {
	// What is what would be imported, as code says it: "strings", os, Path from pathlib.
	What string
	// Why is what speaks for it, in a few words: as 12 files do.
	Why string
	// Files is how many files import it so; 0 if it was found as a declaration.
	Files int
	Edits []agent.TextEdit
	// Evidence is the nearest file that does so, or declares it, by its absolute path, and Line where; ""
	// and 0 if there is none.
	Evidence string
	Line     int
}

// Title says what a candidate does and from where it is known.
func (c Candidate) Title() string { return fmt.Sprintf("Import %s (%s)", c.What, c.Why) }

// Found is what a name may mean, the most used first.
type Found struct {
	Name       string
	Candidates []Candidate
	// Certain says that the first candidate needs no second opinion.
	Certain bool
}

// Finder finds missing imports. It is safe for concurrent use and keeps nothing.
type Finder struct{ workspace Workspace }

// New makes a finder.
func New(w Workspace) *Finder { return &Finder{w} }

// Find answers what the name may mean that a diagnostic does not know; no candidates if it
// says something else, or nothing is known of the name.
func (f *Finder) Find(ctx context.Context, p agent.Problem) Found {
	l := languages[lang.Family(lang.Canonical(p.Document.Language))]
	if l == nil || len(p.Document.Text) > longestText {
		return Found{}
	}
	u, ok := unknownIn(p)
	if !ok {
		return Found{}
	}
	snap, rel := f.workspace.Snapshot(p.Document.Path)
	if snap == nil || ctx.Err() != nil {
		return Found{}
	}
	d, ok := readAt(ctx, p.Document, rel, &u)
	if !ok || !isUsual(d.file) || d.knows(l, u) {
		return Found{}
	}
	s := &search{
		ctx: ctx, finder: f, snap: snap, doc: d, language: l, unknown: u,
		root: strings.TrimSuffix(filepath.ToSlash(p.Document.Path), "/"+rel),
	}
	ways := s.ways()
	d.beside = s
	if (l == python{}) {
		d.pkg = s.pythonPackage()
	}
	found := Found{Name: u.name}
	d.ways = ways
	for _, w := range ways {
		if len(found.Candidates) == mostOffered || ctx.Err() != nil {
			break
		}
		if !isPlain(l, w.module) || !isPlain(l, w.name) || !isPlain(l, w.local) {
			continue
		}
		edits, ok := l.add(d, w.given)
		if !ok {
			continue
		}
		slices.SortStableFunc(edits, func(a, b agent.TextEdit) int { return a.Start - b.Start })
		c := Candidate{What: l.what(d, w.given), Why: w.why(), Files: w.files, Edits: edits}
		c.Evidence, c.Line = s.evidence(&w)
		found.Candidates = append(found.Candidates, c)
	}
	if ctx.Err() != nil {
		return Found{}
	}
	found.Certain = len(found.Candidates) > 0 && !u.isVague && !d.isNamed(u) && s.isCertain(ways)
	return found
}

// isCertain answers whether the first of the ways needs no second opinion: enough files go it, and
// none goes another. An include does not say which names it is for, so that C has no certainty.
func (s *search) isCertain(ways []way) bool {
	if (s.language == clang{}) {
		return false
	}
	used := 0
	for _, w := range ways {
		if w.files > 0 {
			used++
		}
	}
	return used == 1 && ways[0].files >= certainFiles
}

// language is what a family of languages says of imports.
type language interface {
	// mayGive answers whether an import of a path with no name taken from it may give a name.
	mayGive(path, name string) bool
	// gives is the name as an import of another file gives it, in terms that mean the same in
	// the file of s; ok is false if it does not, or that file cannot use it.
	gives(s *search, file string, im *syntax.Import) (g given, ok bool)
	// form completes what an index does not know of an import by a text that has it.
	form(text string, im *syntax.Import, g given) given
	// declared adds the ways to have declarations of the workspace, or of the standard library.
	declared(s *search) []way
	// add writes the import into a document.
	add(d *document, g given) ([]agent.TextEdit, bool)
	// what says it as the document's code would.
	what(d *document, g given) string
	// list are the imports at the head of a document.
	list(d *document) []entry
}

// languages by their families.
var languages = map[string]language{
	"go": golang{}, "python": python{}, "js": script{}, "rust": rust{}, "jvm": jvm{}, "c": clang{},
}

// given is a name as an import gives it to a file.
type given struct {
	// module is what it is taken from.
	module string
	// name is what is taken, "" for the module itself; local is what code calls it.
	name, local string
	form        form
}

// form is how an import is written, where there are several ways.
type form uint8

const (
	plain form = iota
	byDefault
	namespace
	typeOnly   // TypeScript's import type, Python's for type checkers
	required   // CommonJS
	ofRequired // CommonJS, a name of what is required
	static     // Java's, of a member
	bracketed  // C's of a system header
)
