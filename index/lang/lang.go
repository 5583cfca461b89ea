// Package lang is the table of languages: which files are written in one, how it
// writes comments and blocks, how its tests are called, and which languages share
// their declarations. Whatever is said of a language by its name alone is said here,
// once; grammars and queries are in package syntax, which reads this table too.
//
// A language is known by its identifier, the LSP's where the LSP has one. [Detect]
// tells a file's, [Canonical] what an editor or a user means by another name, [Of]
// its row. Everything is read-only after the package is initialised and safe for
// concurrent use.
package lang

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// PlainText is the language of a file that nothing else is known of.
const PlainText = "plaintext"

// Language is a row of the table.
type Language struct {
	// ID is the identifier, in lower case.
	ID string
	// Aliases are what editors and users call it besides, in lower case. A file name
	// extension is one without being listed.
	Aliases []string
	// Extensions are those of its files, without the dot and in lower case; Files are
	// base names that tell it whatever the extension, Interpreters the programs that
	// a first line names (#!), without their version.
	Extensions, Files, Interpreters []string
	// Family is the name of the languages whose declarations see each other, the ID
	// where there is none but this.
	Family  string
	Content Content
	Comment Comment
	// Triple are the quotes that stand three times around a string of several lines.
	Triple string
	Blocks *Blocks
	// Tests is how a file of tests is called after the file it tests.
	Tests TestName
	// EntryFiles are base names, without extension, of the files that stand for their folder when
	// the folder is imported. FileImports says that imports name files rather than modules.
	EntryFiles  []string
	FileImports bool
	// Reexports are the files whose imports others see as theirs. FolderScope says that the
	// files of a folder see each other's declarations without an import.
	Reexports   Reexports
	FolderScope bool
	// Reserved are words that name nothing, where the grammar takes them for names all the same.
	Reserved []string
	// Public is nil where a declaration does not show who can use it.
	Public *Public
}

// Reexports are which files of a language pass on what they import.
type Reexports uint8

// The files.
const (
	NoFiles Reexports = iota
	EntryFiles
	AllFiles
)

// Public tells the declarations that other packages or modules can use, as far as a name
// and a signature show it.
type Public struct {
	Capital bool // those whose name begins with a capital, and no others
	// Words are those of a signature that make a declaration public. Without any, and for
	// Members where that is set, it is public unless its name begins with one of Prefixes or its
	// signature has a word of Hidden.
	Words, Hidden []string
	Prefixes      string
	Members       bool
}

// IsPublic answers whether other packages or modules can use a declaration; a member stands in another one.
func (l *Language) IsPublic(name, signature string, member bool) bool {
	p := l.Public
	if p == nil || name == "" {
		return false
	}
	has := func(words []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(" "+signature+" ", " "+w+" ") })
	}
	first, _ := utf8.DecodeRuneInString(name)
	switch {
	case p.Capital:
		return unicode.IsUpper(first)
	case has(p.Words):
		return true
	case len(p.Words) > 0 && !(p.Members && member):
		return false
	}
	return !strings.ContainsRune(p.Prefixes, first) && !has(p.Hidden)
}

// PassesOn answers whether others see what a file imports as its own.
func PassesOn(name string) bool {
	base := path.Base(name)
	l := OfExtension(path.Ext(base))
	if l == nil || l.Reexports == NoFiles {
		return false
	}
	stem, _, _ := strings.Cut(base, ".")
	return l.Reexports == AllFiles || slices.Contains(l.EntryFiles, stem)
}

// Content says what the text of a file is, outside its comments.
type Content uint8

// The contents.
const (
	Code Content = iota
	Prose
	Config
)

// Comment is how a language writes comments. All of it may be empty.
type Comment struct {
	// Line are the signs of a comment that ends with its line, the usual one first.
	Line []string
	// Open and Shut enclose a comment of several lines.
	Open, Shut string
	// Quotes begin and end strings of several lines, which are documentation where one
	// begins a file.
	Quotes []string
}

// Marks are the signs a line of comment starts with: those of a comment of one line
// or, in a language without them, what opens a longer one.
func (c Comment) Marks() []string {
	if len(c.Line) == 0 && c.Open != "" {
		return []string{c.Open}
	}
	return c.Line
}

// Starts answers whether a line without indentation is a comment by its first sign.
// A sign that is a word (REM) ends where a word does.
func (c Comment) Starts(line string) bool {
	return slices.ContainsFunc(c.Marks(), func(mark string) bool {
		rest, ok := strings.CutPrefix(line, mark)
		return ok && (rest == "" || !isLetter(mark[len(mark)-1]) || !isLetter(rest[0]))
	})
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// BlockStyle is how a language marks the extent of a block.
type BlockStyle uint8

// The styles.
const (
	Braced   BlockStyle = iota // { … }
	Offside                    // a colon, then indentation
	EndWords                   // def … end, if … fi
	Markup                     // <a> … </a>
	Flat                       // no blocks worth following
)

// Blocks is what tells on which lines a block opens and ends, besides brackets.
type Blocks struct {
	Style BlockStyle
	// Heads are first words that open a block closed by a later line, Openers last
	// words or signs that open one, Closers first words that end or continue one
	// (end, else, fi).
	Heads, Openers, Closers []string
	// BraceBelow: the brace of a block may stand on a line of its own.
	BraceBelow bool
	// Parameters: what a block is given stands between bars behind the word that opens it
	// (do |x|).
	Parameters bool
}

// TestName is what is put before and behind a file's name, without its extension.
type TestName struct{ Prefix, Suffix string }

var (
	byID          = map[string]*Language{}
	byAlias       = map[string]*Language{}
	byExtension   = map[string]*Language{}
	byFile        = map[string]*Language{}
	byInterpreter = map[string]*Language{}
)

func init() {
	for i := range table {
		l := &table[i]
		if l.Family == "" {
			l.Family = l.ID
		}
		if l.Tests == (TestName{}) {
			l.Tests.Suffix = "_test"
		}
		byID[l.ID] = l
		for _, names := range []struct {
			list []string
			in   map[string]*Language
		}{{l.Aliases, byAlias}, {l.Extensions, byExtension}, {l.Files, byFile}, {l.Interpreters, byInterpreter}} {
			for _, name := range names.list {
				names.in[name] = l
			}
		}
	}
}

// All are the languages in the order of their identifiers.
func All() []Language { return table }

// Find answers the language that a user, an editor or a file name extension names, in
// any case; ok is false for a name that is in no row.
func Find(name string) (l *Language, ok bool) {
	name = strings.ToLower(name)
	for _, table := range []map[string]*Language{byID, byAlias, byExtension} {
		if l, ok = table[name]; ok {
			return l, true
		}
	}
	return nil, false
}

// Canonical returns the identifier of a language named otherwise: "shellscript" for an
// editor's "sh". Names in no row are returned unchanged, "" as PlainText.
func Canonical(name string) string {
	if name == "" {
		return PlainText
	}
	if l, ok := Find(name); ok {
		return l.ID
	}
	return name
}

// Of returns the row of a language by any of its names. One that is in no row is taken
// for code in braces whose comments are not known.
func Of(name string) *Language {
	if l, ok := Find(name); ok {
		return l
	}
	return &Language{ID: name, Family: name, Blocks: braces, Tests: TestName{Suffix: "_test"}}
}

// Family returns the name of the languages whose declarations see those of one.
func Family(name string) string {
	if l, ok := byID[name]; ok { // the common case, without the rest of a row
		return l.Family
	}
	return Of(name).Family
}

// OfExtension returns the language of a file name extension, with its dot, nil if it tells none.
func OfExtension(ext string) *Language {
	return byExtension[strings.ToLower(strings.TrimPrefix(ext, "."))]
}

// IsTest tells the files of tests by the habits of all languages, from the base name
// of a path with slashes. The suffixes Test and Spec need their capital: contest.java is no test.
func IsTest(name string) bool {
	stem := path.Base(name)
	stem = strings.TrimSuffix(stem, path.Ext(stem))
	lower := strings.ToLower(stem)
	switch lower {
	case "conftest", "test", "tests":
		return true
	}
	return strings.HasPrefix(lower, "test_") ||
		hasSuffix(lower, "_test", "_tests", "_spec", ".test", ".spec", "-test", ".test-d", ".bench") ||
		hasSuffix(stem, "Test", "Tests", "Spec", "TestCase")
}

func hasSuffix(s string, suffixes ...string) bool {
	return slices.ContainsFunc(suffixes, func(suffix string) bool { return strings.HasSuffix(s, suffix) })
}

// TestFile is where the tests of a file stand by the habit of its language; a file of
// tests is its own.
func TestFile(name, language string) string {
	if IsTest(name) {
		return name
	}
	dir, base := path.Split(name)
	ext := path.Ext(base)
	t := Of(language).Tests
	return dir + t.Prefix + strings.TrimSuffix(base, ext) + t.Suffix + ext
}
